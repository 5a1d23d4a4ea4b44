"""M2's cases: the answers are those of a calculation by hand, and each wrong answer gets a hint of its own."""

import pytest

from widgets.lab_m2 import figures, sorts

GRADIENT_1, GRADIENT_2 = 0.5 * 0.5 * (0.5 - 0.6), 0.5 * 0.5 * 0.5


def right(case, value):
    return any(low <= value <= high for low, high in case.within)


def test_the_gradients_by_hand_are_right_and_each_typical_slip_is_not():
    _, first, second = sorts.PREDICT.cases
    assert right(first, GRADIENT_1) and right(second, GRADIENT_2)
    for case, slips in ((first, (0.025, -0.1, -0.05, 0.1, GRADIENT_2)), (second, (0.25, 0.5, -0.125, GRADIENT_1))):
        for slip in slips:
            assert not right(case, slip) and f"{slip:g}" in case.hints


def test_ten_updates_raise_the_first_step():
    first = figures.even()[:, figures.FIRST]
    assert first[10] > first[0] and sorts.PREDICT.cases[0].answer == "more likely"


def test_the_smallest_start_that_escapes_is_right_and_its_neighbors_are_not():
    case = sorts.TRAP.cases[0]
    for start in figures.STARTS:
        before = round(start - 0.01, 2)
        escapes = figures.long(start)[-1, figures.MEAN] > figures.GOOD
        smallest = escapes and not (before > 0 and figures.long(before)[-1, figures.MEAN] > figures.GOOD)
        assert right(case, start) == smallest


@pytest.mark.parametrize("typed", [0, 5, 500, 600])
def test_one_of_a_thousand_runs_still_begins_with_one(typed):
    case = sorts.TRAP.cases[1]
    assert right(case, 1000 * 0.001048) and right(case, 1) and not right(case, typed) and str(typed) in case.hints
    assert figures.long(0.05)[-1, figures.FIRST] == pytest.approx(0.001048, abs=5e-7)


def test_a_gradient_has_the_share_of_visits_as_a_factor_and_never_turns_negative():
    rows = figures.long(0.05)
    assert (rows[:, figures.PUSH_2] > 0).all() and rows[-1, figures.PUSH_2] < rows[0, figures.PUSH_2] / 100
    assert sorts.TRAP.cases[2].answer == sorts.RARER
