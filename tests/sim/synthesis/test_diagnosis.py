"""Against bills added up by hand."""

from itertools import permutations
from statistics import median

import pytest

from sim.synthesis import diagnosis
from sim.synthesis.diagnosis import CAUSES, PLAYBOOK, TESTS


def test_the_priors_add_up_and_every_test_has_an_outcome_for_every_cause():
    assert sum(CAUSES.values()) == pytest.approx(1.0)
    assert all(len(test.outcomes) == len(CAUSES) for test in TESTS.values())


def test_two_tests_tell_all_causes_apart():
    assert all(diagnosis.left(cause, PLAYBOOK[:2]) == (cause,) for cause in CAUSES)


def test_the_playbook_takes_five_minutes_and_five_more_for_three_quarters():
    """Sync, checker and mismatch, a quarter in all, are known after the wall clock."""
    assert diagnosis.expected_minutes() == pytest.approx(5 + 0.75 * 5)


def test_no_order_is_faster_and_the_median_takes_ten_times_as_long():
    bills = [diagnosis.expected_minutes(order) for order in permutations(TESTS)]
    assert len(bills) == 720 and min(bills) == pytest.approx(8.75)
    assert sum(abs(bill - 8.75) < 1e-9 for bill in bills) == 24  # whatever follows the first two
    assert median(bills) == pytest.approx(90.45) and max(bills) == pytest.approx(126.3)


def test_nsight_first():
    """90 minutes, then the wall clock for 65 %, then utilization for the tail and the evictions, 37 %."""
    order = ("Nsight", "wall clock", "utilization", "profiler", "memory", "ratios")
    assert diagnosis.expected_minutes(order) == pytest.approx(90 + 5 * 0.65 + 5 * 0.37) == pytest.approx(95.1)


def test_a_session_ends_when_one_cause_is_left():
    found = diagnosis.session("long tail")
    assert [spent for spent, _ in found] == [0, 5, 10]
    assert [len(causes) for _, causes in found] == [8, 3, 1] and found[-1][1] == ("long tail",)
    assert diagnosis.minutes("mismatch") == 5


def test_what_one_test_leaves():
    """The wall clock: three with 57 %, two with 18 %, one with a quarter. Ratios: seven with 93 %."""
    assert diagnosis.expected_left("wall clock") == pytest.approx(3 * 0.57 + 2 * 0.18 + 0.25)
    assert diagnosis.expected_left("ratios") == pytest.approx(7 * 0.93 + 0.07)
