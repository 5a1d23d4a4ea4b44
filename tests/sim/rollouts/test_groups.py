from dataclasses import replace

import numpy as np
import pytest

from sim.rollouts import groups
from sim.rollouts.attribution import attribution, paid
from tests.sim.rollouts.shipped import NAMES, rollouts, small

# file, step, reward, exact, tied groups, completions in groups that are not tied, distinct texts, count of the most
# frequent, cut off, tokens; by the script that recorded the runs
TABLE = """
sound     1    0.0625  -       5 24  49  5   0   9.547
sound     40   0.5469  -       1 56  30  18  0   6.781
sound     80   0.6875  -       1 56  24  12  0   6.047
sound     120  0.7500  -       3 40  16  12  0   4.219
sound     160  0.8281  -       6 16  18  15  0   5.172
verifier  1    0.4531  0.2969  0 64  48  4   0   9.750
verifier  8    0.5312  0.1562  0 64  42  9   0  10.547
verifier  20   0.8125  0.0469  1 56  25  15  0  10.281
verifier  60   0.6250  0.0000  2 48  37  14  3  11.766
verifier  160  0.9375  0.0000  5 24  59  2   56 31.062
length    1    0.3914  0.1406  0 64  60  2   0  10.031
length    5    0.4344  0.1719  0 64  50  5   0  10.500
length    10   0.7945  0.5000  1 56  39  7   0  11.781
length    20   0.9379  0.6250  1 56  40  6   1  12.516
length    40   0.8000  0.0000  8 0   29  20  64 32.000
one-text  1    0.3563  -       2 48  51  5   0   9.578
one-text  40   0.2297  -       1 56  56  7   11 16.172
one-text  80   0.6484  -       2 48  17  16  1   6.703
one-text  120  0.6375  -       3 40  18  30  3   7.953
one-text  160  0.6562  -       6 16  14  42  4   7.656
cut-off   1    0.0000  -       8 0   52  4   64 12.000
cut-off   25   0.0000  -       8 0   42  6   63 11.922
cut-off   50   0.0000  -       8 0   47  5   63 11.938
cut-off   75   0.0000  -       8 0   51  5   64 12.000
cut-off   100  0.0000  -       8 0   38  7   63 11.906
"""
ROWS = [line.split() for line in TABLE.split("\n") if line]


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_of_each_step_are_those_that_the_recording_script_counted(name):
    file = rollouts(name)
    found = groups.steps(paid(file, attribution(file)))
    expected = [row[1:] for row in ROWS if row[0] == name]
    assert len(found) == len(expected) == 5
    for one, (step, reward, exact, tied, *counts, tokens) in zip(found, expected):
        assert (one.step, one.completions, one.groups) == (int(step), 64, 8)
        assert one.reward == pytest.approx(float(reward), abs=5.1e-5)
        if exact != "-":
            assert one.scores["exact"] == pytest.approx(float(exact), abs=5.1e-5)
        assert sum(one.tied.values()) == int(tied)
        assert [one.effective, one.distinct, one.commonest, one.cut] == [int(count) for count in counts]
        assert one.tokens == pytest.approx(float(tokens), abs=5.1e-4)


def test_groups_are_tied_at_the_top_at_0_or_between_and_a_single_completion_is_not():
    file = small([[1, 1], [0, 0], [0.7, 0.7], [1, 0], [np.nan, np.nan], [np.nan, 1], [1]])
    states = groups.states(file.scores["paid"], file.group)
    top, between, zero, mixed, unknown = groups.TOP, groups.BETWEEN, groups.ZERO, groups.MIXED, groups.UNKNOWN
    assert states.tolist() == [top, zero, between, mixed, unknown, top, unknown]


def test_a_run_that_always_gets_1_is_at_the_top_and_one_that_gets_minus_1_was_never_paid():
    for reward, state in ((1.0, groups.TOP), (0.0, groups.ZERO), (-1.0, groups.ZERO)):
        assert groups.states(np.full(4, reward), np.zeros(4, np.int64)).tolist() == [state]


def test_the_best_reward_may_be_0_or_below():
    for best, worst in ((0, -1), (-1, -2)):
        file = small([[best, best], [worst, worst], [best, worst]])
        states = groups.states(file.scores["paid"], file.group)
        assert states.tolist() == [groups.TOP, groups.ZERO, groups.MIXED]


def test_three_solved_and_two_failed_groups_of_twelve_leave_56_of_96_completions():
    rewards = 3 * [8 * [1]] + 2 * [8 * [0]] + 7 * [[1] + 7 * [0]]
    file = small(rewards)
    (step,) = groups.steps(replace(file, reward=file.scores["paid"]))
    assert (step.effective, step.completions) == (56, 96)  # 7 groups of 8
    assert step.tied == {groups.TOP: 3, groups.BETWEEN: 0, groups.ZERO: 2}


def test_rates_are_pass_rates_of_0_and_1_and_of_minus_1_and_1():
    for low in (0, -1):
        file = small([[1, 1, low, low], [1, low, low, low], [low, low, low, low]])
        np.testing.assert_allclose(groups.rates(file.scores["paid"], file.group), [0.5, 0.25, 0])
        np.testing.assert_array_equal(groups.well_paid(file.scores["paid"]), file.scores["paid"] == 1)


def test_a_file_without_rewards_and_lengths_says_so():
    (step,) = groups.steps(replace(small([[np.nan]]), scores={}))
    assert (step.reward, step.tied, step.effective, step.cut, step.tokens) == (None,) * 5
