"""Scoring completions: the Lab's own numbers, what is kept of a run, and every kind of bad input."""

from pathlib import Path

import pytest

from tests.rlpt.lab import made

ROOT = Path(__file__).parents[3]


# ── what the Lab's own files give ──
@pytest.mark.parametrize(
    "words, right, of",
    [
        (["--samples", "0"], 17, 30),
        ([], 130, 240),
        (["--split", "all"], 164, 320),
        (["--split", "all", "--spec", "1.1.0"], 170, 320),
    ],
)
def test_the_pass_rates_of_the_frozen_completions(words, right, of, tmp_path, capsys):
    status, shown, wrong = made.scored([*words, "--out", tmp_path / "runs"], capsys)
    assert (status, wrong) == (0, "") and f"{right} of {of} completions" in shown


def test_the_interval_of_17_of_30_is_wilson_s(tmp_path, capsys):
    made.scored(["--samples", "0", "--out", tmp_path / "runs"], capsys)
    assert made.summary(tmp_path)["interval"] == pytest.approx([0.391973, 0.726225], abs=1e-6)


def test_the_reasons_and_pass_at_k_of_all(tmp_path, capsys):
    made.scored(["--split", "all", "--out", tmp_path / "runs"], capsys)
    found = made.summary(tmp_path)
    assert found["reasons"] == dict(
        **dict(ok=164, wrong_value=87, no_prefix=19, extra_text=16, bad_spacing=11, forbidden_char=7, bad_int=7),
        **dict(non_canonical_int=5, multi_line=4),
    )
    made.scored(["--out", tmp_path / "runs"], capsys)
    dev = made.summary(tmp_path, 2)["pass_at"]
    assert list(dev.values()) == pytest.approx([0.542, 0.687, 0.765, 0.8], abs=5e-4)


@pytest.mark.parametrize(
    "words, said",
    [
        (["--examples", "nowhere.jsonl"], "nowhere.jsonl cannot be written or read"),
        (["--examples", "."], "Is a directory"),
        (["--rollouts", ""], "argument --rollouts: names no file; leave it out for the Lab's own"),
        (["--samples", "3-1"], "argument --samples: must be all, or ids such as 0, 0-3 or 0,2,5"),
        (["--samples", "99999"], "argument --samples: must be all"),
        (["--samples", "9"], "no prompt of the split dev has a completion with these sample ids"),
        (["--spec", "2.0.0"], "argument --spec: invalid choice"),
        (["--parent", "run_009"], "run_009"),
        (["--change", "a\nb"], "argument --change: must be one line of at most 200 characters"),
        (["--scorer", "nowhere.py:score"], "nowhere.py cannot be written or read"),
        (["--scorer", "score"], "score names no function; a scorer is given as file.py:name"),
    ],
)
def test_an_option_that_does_not_fit_ends_in_one_sentence(words, said, tmp_path, capsys):
    status, shown, wrong = made.scored([*words, "--out", tmp_path / "runs"], capsys)
    assert (status, shown) == (2, "") and said in wrong and wrong.count("\n") == 1
