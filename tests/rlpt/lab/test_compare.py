"""Two runs: a verdict if one thing was changed, a refusal without a number otherwise."""

import json
from pathlib import Path

import pytest

from rlpt.lab import compare, evaluate
from tests.rlpt.lab import made


def run(words, capsys):
    return made.ran(compare.main, words, capsys)


@pytest.fixture
def runs(tmp_path, capsys):
    """Makes a run, and returns its folder."""

    def new(*words):
        evaluate.main([str(word) for word in words] + ["--out", str(tmp_path / "runs")], "lab")
        return capsys.readouterr().out.splitlines()[0]

    return new


def test_the_two_runs_of_m6_are_called_real_and_come_from_one_policy(runs, capsys):
    old, new = (runs("--split", "all", "--samples", sample) for sample in (6, 3))
    status, shown, wrong = run([old, new], capsys)
    assert (status, wrong) == (0, "")
    assert "15 of 40 completions" in shown and "24 of 40 completions" in shown
    assert "prompts    4 better in the old run, 13 better in the new run, 23 alike" in shown
    assert "in 4.9 % of all cases" in shown and "verdict    real, although both runs come from one policy" in shown


def test_a_run_and_itself_differ_in_nothing(runs, capsys):
    one = runs()
    status, shown, _ = run([one, one], capsys)
    assert status == 0 and "changed    nothing" in shown and "0 better in the old run, 0 better in the new" in shown
    assert "in 100 % of all cases" in shown and "verdict    noise" in shown


def policies(tmp_path, many):
    """Files of a policy that solves no prompt and of one that solves all, with so many prompts."""
    examples = [dict(id=f"p{i}", split="dev", prompt=f"Say {i}.", expected_answer=str(i)) for i in range(many)]
    for name, shift in (("old", 1), ("new", 0)):
        (tmp_path / name).mkdir()
        rows = [dict(example_id=f"p{i}", sample_id=0, completion=f"Final: {i + shift}") for i in range(many)]
        yield made.files(tmp_path / name, examples, rows)[2:]


@pytest.mark.parametrize("many, verdict", [(5, "noise"), (6, "real")])
def test_two_policies_with_the_same_prompts_and_scorer_are_the_normal_case(many, verdict, runs, tmp_path, capsys):
    old, new = (runs(*words) for words in policies(tmp_path, many))
    status, shown, _ = run([old, new], capsys)
    assert status == 0 and "changed    the policy" in shown and f"verdict    {verdict}" in shown


def test_two_scorers_of_one_version_may_be_compared_and_two_versions_may_not(runs, tmp_path, capsys):
    lenient = made.python(tmp_path, "mine.py", "from sim.lab.instruments import score_1_1_0 as score\n")
    one, two, three = runs(), runs("--scorer", f"{lenient}:score"), runs("--spec", "1.1.0")
    status, shown, _ = run([one, two], capsys)
    assert status == 0 and "changed    the scorer" in shown
    status, shown, wrong = run([one, three], capsys)
    assert (status, shown) == (3, "") and "the rules are 1.0.0 and 1.1.0" in wrong and wrong.count("\n") == 1


def test_what_must_be_the_same_is_named_and_no_number_is_shown(runs, tmp_path, capsys):
    (first, second) = policies(tmp_path, 6)
    one = runs(*first)
    for other, said in (
        (
            runs("--split", "dev", "--samples", "0"),
            "the expected answers, the prompts, the settings of sampling must be the same in both runs",
        ),
        (runs(*second, "--sampling", "temperature 2"), "the settings of sampling must be the same in both runs"),
    ):
        status, shown, wrong = run([one, other], capsys)
        assert (status, shown) == (3, "") and said in wrong and wrong.count("\n") == 1
    eight, two = runs(), runs("--samples", "0-1")
    assert "the number of samples of each prompt (8 and 2) must be the same" in run([eight, two], capsys)[2]


def test_two_changes_at_once_ask_for_a_run_in_between(runs, tmp_path, capsys):
    mine = made.python(tmp_path, "mine.py", "from sim.worlds.scorer import score\n")
    first, second = policies(tmp_path, 6)
    status, shown, wrong = run([runs(*first), runs(*second, "--scorer", f"{mine}:score")], capsys)
    assert (status, shown) == (3, "") and "the policy and the scorer changed at once; make a run in between" in wrong


@pytest.mark.parametrize(
    "file, text", [("manifest.json", "{"), ("manifest.json", "[]"), ("manifest.json", '{"format": 1}')]
)
def test_a_damaged_run_ends_in_one_sentence(file, text, runs, tmp_path, capsys):
    one, two = runs(), runs()
    (Path(two) / file).write_text(text)
    status, shown, wrong = run([one, two], capsys)
    assert (status, shown) == (2, "") and "is not a whole run" in wrong and wrong.count("\n") == 1


def test_scores_that_were_changed_by_hand_are_refused(runs, capsys):
    one, two = runs(), runs()
    scores = Path(two) / "scores.jsonl"
    scores.write_text(scores.read_text().replace('"reward": 0.0', '"reward": 1.0'))
    status, shown, wrong = run([one, two], capsys)
    assert (status, shown) == (2, "") and "scores.jsonl was changed after the run; run eval again" in wrong


def test_a_manifest_that_was_changed_by_hand_is_refused(runs, capsys):
    one, two = runs(), runs()
    manifest = Path(two) / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"split": "dev"', '"split": "holdout"'))
    assert "manifest.json was changed after the run; run eval again" in run([one, two], capsys)[2]


def test_a_run_whose_scorer_broke_its_contract_has_nothing_to_compare(runs, tmp_path, capsys):
    mine = made.python(tmp_path, "mine.py", "def score(example, completion):\n    return 1.0\n")
    status, _, wrong = run([runs(), runs("--scorer", f"{mine}:score")], capsys)
    assert status == 2 and "its scorer broke its contract" in wrong


def test_a_run_of_another_format_and_a_folder_that_is_none(runs, tmp_path, capsys):
    one, two = runs(), runs()
    head = json.loads((Path(two) / "manifest.json").read_text())
    (Path(two) / "manifest.json").write_text(json.dumps(head | {"format": 2}))
    assert "has the format 2, and this command reads 1" in run([one, two], capsys)[2]
    assert "cannot be written or read" in run([one, tmp_path / "nowhere"], capsys)[2]
