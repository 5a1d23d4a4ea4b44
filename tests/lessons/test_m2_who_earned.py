"""M2: what its numbers are computed by, and what its sentences say of the two steps without a number."""

from functools import cache
from itertools import pairwise

import pytest

from sim.lab import two_steps

COLUMNS = dict(first=0, second=1, mean=2)


@cache
def climb(start, updates, rate=1.0):
    return two_steps.climb(0.5, start, rate, updates)


def state(updates, column):
    """A probability after so many updates from even odds."""
    return climb(0.5, 200)[updates, COLUMNS[column]]


def turns():
    """How many updates push the first step down from even odds."""
    return int((climb(0.5, 200)[:, 3] < 0).sum())


def gradient(start, column):
    """The gradient of a step before the first update."""
    return climb(start, 0)[0, 3 + COLUMNS[column]]


def mean(start, updates, rate=1.0):
    return climb(start, updates, rate)[-1, 2]


def first(start):
    """How likely 1 is as the first step after 2,000 updates."""
    return climb(start, 2000)[-1, 0]


def escape(start):
    """The first update after which the mean reward is above 0.9."""
    return int((climb(start, 40_000)[:, 2] > 0.9).argmax())


def test_the_first_step_is_pushed_down_while_the_second_is_worth_less_than_the_sure_reward():
    rows = climb(0.5, 200)
    assert rows[3, 1] < two_steps.SURE < rows[4, 1]
    assert (rows[:, 4] > 0).all()


def test_from_a_tenth_a_run_waits_and_escapes():
    assert mean(0.1, 200) < two_steps.SURE and mean(0.1, 2000) > 0.9


@pytest.mark.parametrize("rate", [1.0, 5.0, 20.0])
def test_no_rate_frees_the_start_at_a_twentieth(rate):
    assert 0.599 < mean(0.05, 2000, rate) < 0.6


def test_each_hundredth_less_makes_the_wait_two_to_four_times_longer():
    waits = [escape(start) for start in (0.09, 0.08, 0.07, 0.06)]
    assert all(2 < later / sooner < 4.5 for sooner, later in pairwise(waits))
