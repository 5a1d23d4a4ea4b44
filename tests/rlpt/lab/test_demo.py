"""The logs behind M0.5, M1, M2 and M3: the numbers of their pages, and one sentence for what does not fit."""

import csv
import io
import json

import pytest

from rlpt.lab import demo
from tests.rlpt.lab import made


def run(words, tmp_path, capsys):
    return made.ran(demo.main, [*words, "--out", tmp_path / "runs"], capsys)


def rows(folder, name):
    return [json.loads(line) for line in (folder / "runs" / name).read_text().splitlines()]


@pytest.mark.parametrize("picker, reported, correct", [("exact", 33, 33), ("occurs", 40, 25)])
def test_select_has_the_counts_of_m05(picker, reported, correct, tmp_path, capsys):
    status, shown, _ = run(["select", "--picker", picker], tmp_path, capsys)
    found = rows(tmp_path, "select_001/selection_demo.jsonl")
    assert status == 0 and shown.strip().endswith("select_001") and len(found) == 40
    assert sum(row["reward"] for row in found) == reported and sum(row["correct"] for row in found) == correct
    assert (tmp_path / "runs" / "select_001" / "README.md").read_text().count("\n") == 4


def test_bandit_has_the_draws_of_m1_after_a_line_on_the_sign(tmp_path, capsys):
    status, shown, _ = run(["bandit", "--summary"], tmp_path, capsys)
    first, *pushes = rows(tmp_path, "bandit_001/bandit_train_log.jsonl")
    assert status == 0 and first["note"] == demo.SIGN == shown.splitlines()[0]
    assert [push["arm"] - 1 for push in pushes] == [2, 3, 1, 0, 3, 1, 1, 2, 3, 3]
    assert [push["reward"] for push in pushes] == [0, 1, 0, 0, 1, 1, 0, 1, 1, 0]
    assert pushes[-1]["after"] == pytest.approx([0.181464, 0.178366, 0.256485, 0.383685], abs=1e-6)


def test_slow_asks_before_each_push_and_counts_what_was_right(tmp_path, capsys, monkeypatch):
    moves = "stay grow shrink s grow gr shrink grow grow\n".replace(" ", "\n")  # "s" could be two of them
    monkeypatch.setattr("sys.stdin", io.StringIO(moves))
    status, shown, _ = run(["bandit", "--slow"], tmp_path, capsys)
    assert status == 0 and shown.count("Does its share grow, shrink, stay?") == 10 and "8 of 10 predicted" in shown


def test_slow_without_anybody_to_answer_comes_to_its_end(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    status, shown, _ = run(["bandit", "--slow"], tmp_path, capsys)
    assert status == 0 and "0 of 10 predicted" in shown


def test_two_step_has_the_climb_of_m2(tmp_path, capsys):
    assert run(["two-step"], tmp_path, capsys)[0] == 0
    found = rows(tmp_path, "two_step_001/toy_mdp_log.jsonl")
    assert (found[0]["push_first"], found[0]["push_second"]) == pytest.approx((-0.025, 0.125))
    assert [found[i]["p_first"] for i in (4, 10, 200)] == pytest.approx([0.4865, 0.516679, 0.984333], abs=5e-5)


def test_kl_has_the_prices_of_m3(tmp_path, capsys):
    assert run(["kl"], tmp_path, capsys)[0] == 0
    text = (tmp_path / "runs" / "kl_001" / "kl_tradeoff.csv").read_text()
    found = {row["beta"]: row for row in csv.DictReader(text.splitlines())}
    assert [float(found["0.1"][name]) for name in ("paid", "kl_nats", "worth")] == pytest.approx(
        [0.886153, 2.425705, 0.226424], abs=1e-6
    )
    assert found["0.1"]["top_three"].split()[0] == "7"


def test_a_second_log_has_the_next_number_and_the_same_bytes(tmp_path, capsys):
    for _ in range(2):
        run(["bandit"], tmp_path, capsys)
    one, two = (tmp_path / "runs" / f"bandit_00{i}" / "bandit_train_log.jsonl" for i in (1, 2))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    "words, said",
    [
        (["kl", "--slow"], "--seed, --slow and --summary belong to demo bandit"),
        (["bandit", "--picker", "occurs"], "--picker belongs to demo select"),
        (["grpo"], "invalid choice: 'grpo'"),
        ([], "required: select|bandit|two-step|kl"),
    ],
)
def test_what_does_not_fit_ends_in_one_sentence(words, said, tmp_path, capsys):
    status, shown, wrong = run(words, tmp_path, capsys)
    assert (status, shown) == (2, "") and said in wrong and wrong.count("\n") == 1
    assert not (tmp_path / "runs").exists()
