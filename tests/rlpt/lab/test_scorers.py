"""A scorer of one's own: named with its sum, and checked at each call."""

import json

import pytest

from tests.rlpt.lab import made

FINE = "from sim.worlds.scorer import score\n"


def test_a_scorer_of_one_s_own_is_named_with_its_sum(tmp_path, capsys):
    path = made.python(tmp_path, "mine.py", FINE)
    status, shown, _ = made.scored(["--scorer", f"{path}:score", "--out", tmp_path / "runs"], capsys)
    head = json.loads((tmp_path / "runs" / "run_001" / "manifest.json").read_text())
    assert status == 0 and "130 of 240" in shown and head["scorer"]["name"] == "mine.py:score"
    assert len(head["scorer"]["sha256"]) == 64


@pytest.mark.parametrize(
    "body, said",
    [
        ("raise KeyError('x')", "KeyError: 'x'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("return {'reward': float('nan'), 'details': {}}", "the reward is nan, and it should be a number from 0 to 1"),
        ("return {'reward': 2, 'details': {}}", "the reward is 2, and it should be a number from 0 to 1"),
        ("return {'reward': True, 'details': {}}", "the reward is True"),
        ("return 1.0", "it returned 1.0 instead of"),
        ("return {'reward': 1.0}", "it returned {'reward': 1.0} instead of"),
        ("return {'reward': 1.0, 'details': {'at': object()}}", "TypeError"),
        ("example['expected_answer'] = ''; return {'reward': 1.0, 'details': {}}", "it changed the example"),
        ("calls.append(1); return {'reward': len(calls) % 2, 'details': {}}", "two calls gave two answers"),
    ],
)
def test_a_scorer_that_breaks_its_contract_is_named_and_there_is_no_rate(body, said, tmp_path, capsys):
    path = made.python(tmp_path, "mine.py", f"calls = []\ndef score(example, completion):\n    {body}\n")
    status, shown, wrong = made.scored([*made.files(tmp_path), "--scorer", f"{path}:score"], capsys)
    assert (status, wrong) == (1, "") and said in shown and "pass rate  none" in shown
    found = made.summary(tmp_path)
    assert found["scorer_error"] == 2 and found["pass_rate"] is None


@pytest.mark.parametrize(
    "text, said",
    [
        ("def score(:", "mine.py cannot be run: SyntaxError"),
        ("import nothing_like_it", "mine.py cannot be run: ModuleNotFoundError"),
        ("score = 3", "mine.py has no function score"),
    ],
)
def test_a_file_without_a_scorer_ends_in_one_sentence(text, said, tmp_path, capsys):
    path = made.python(tmp_path, "mine.py", text)
    status, _, wrong = made.scored([*made.files(tmp_path), "--scorer", f"{path}:score"], capsys)
    assert status == 2 and said in wrong and wrong.count("\n") == 1
