"""The pushes that M1 asks for, and how often its runs fail. The moves and the means are those of a prototype that was
written apart from this code.
"""

import numpy as np
import pytest

from widgets.lab_m1 import figures, sorts


def test_ten_predictions_and_their_moves():
    moves = ["stays", "grows", "shrinks", "shrinks", "grows", "grows", "shrinks", "grows", "grows", "shrinks"]
    assert [case.answer for case in sorts.PREDICT.cases] == moves
    assert [dict(case.shown)["draw"][-1] for case in sorts.PREDICT.cases] == list("3421422344")
    assert [dict(case.shown)["reward"] for case in sorts.PREDICT.cases] == list("0100110110")


def test_a_pile_moves_as_the_answer_says():
    for draw, case in enumerate(sorts.PREDICT.cases, 1):
        arm = figures.pushes(figures.WITH)[draw - 1].arm
        before, after = (figures.many(figures.WITH, t)[arm] for t in (draw - 1, draw))
        assert np.sign(after - before) == {"grows": 1, "shrinks": -1, "stays": 0}[case.answer]


def test_what_the_reader_is_told_of_all_ten():
    answers = [case.answer for case in sorts.PREDICT.cases]
    assert [answers.count(move) for move in sorts.MOVES] == [5, 4, 1]


@pytest.mark.parametrize(
    "setting, mean, fail", [(0, 0.8615, 4), (1, 0.8865, 0), (2, 0.5364, 36), (3, 0.7312, 21), (4, 0.8869, 0)]
)
def test_where_fifty_runs_end(setting, mean, fail):
    assert np.mean(figures.ends(setting)) == pytest.approx(mean, abs=5e-5)
    assert figures.low(setting) == fail
    assert sorts.FAILS.cases[setting].answer == ("none" if not fail else "one to five" if fail < 6 else sorts.MANY)
    assert sorts.FAILS.cases[setting].why.startswith(f"{fail} of 50" if fail else "None of these fifty")


def test_always_one_answer_reaches_no_goal():
    for sort in sorts.SORTS.values():
        for label in sort.labels:
            right = [i for i, case in enumerate(sort.cases) if case.answer == label]
            assert len(right) < sort.need


def test_the_picture_has_a_moment_for_each_case():
    for sort in sorts.SORTS.values():
        time = figures.FIGURES[sort.figure.partition(".")[2]].time
        assert sort.in_turn and len(time) == len(sort.cases) + 1 and time.start == 0


def test_a_dot_stays_one_dot_and_the_piles_sum_to_a_hundred():
    for which in figures.BASELINES:
        for draw in range(11):
            owned = figures.owners(which, draw)
            assert [owned.count(arm) for arm in range(4)] == figures.many(which, draw)
            assert len(owned) == 100
