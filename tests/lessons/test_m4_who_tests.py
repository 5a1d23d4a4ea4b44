"""M4: what its numbers are computed by."""

from sim.lab import instruments, packs
from sim.worlds import scorer
from widgets.lab_m4 import figures


def found_by(rows):
    return instruments.found_out(rows)


def best_of_eight(split, judge):
    """The share of the prompts of a split of which at least one answer is paid."""
    solved = [
        any(judge({"expected_answer": example.expected_answer}, rollout.completion)["reward"] for rollout in row)
        for example, row in zip(packs.examples(split), packs.rollouts(split), strict=True)
    ]
    return sum(solved) / len(solved)


def test_fifteen_of_nineteen_pass_the_five_tests_and_one_of_them_is_right():
    rows = figures.scorers()
    assert len(rows) == 19 and sum(row.stop == len(figures.TESTS) for row in rows) == 15
    assert instruments.misread(figures.FIVE) == {}


def test_the_shares_are_those_of_the_answer_key():
    shares = [
        best_of_eight(split, judge) for split in ("dev", "holdout") for judge in (scorer.score, instruments.score_1_1_0)
    ]
    assert [round(share, 3) for share in shares] == [0.8, 0.867, 0.9, 1.0]


def test_six_answers_are_judged_otherwise():
    assert figures.flipped() == ["d15#0", "d19#7", "d25#7", "h08#3", "h09#1", "h09#3"]
