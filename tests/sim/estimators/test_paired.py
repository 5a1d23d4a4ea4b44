"""Paired comparisons: p-values against binomial coefficients, false alarms against exact fractions, and both on the
frozen completions of the Lab.
"""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from sim.estimators import paired
from sim.lab import packs

FIVE, TEN = paired.more_than(5), paired.more_than(10)
PASSED = packs.passed()  # (40, 8)
RATES = PASSED.mean(axis=1)
COMPARED = [  # the Lab's pack of noise cases: only_old, only_new, prompts, p to six digits, whether the gain is real
    (3, 9, 30, 0.145996, False),
    (10, 15, 100, 0.424356, False),
    (2, 12, 100, 0.012939, True),
    (0, 5, 40, 0.0625, False),
    (0, 6, 40, 0.03125, True),
    (20, 38, 400, 0.024746, True),
]


@pytest.mark.parametrize("only_old, only_new, prompts, p, real", COMPARED)
def test_the_sign_test_judges_the_packs_six_comparisons(only_old, only_new, prompts, p, real):
    assert paired.mcnemar(only_old, only_new) == pytest.approx(p, abs=5e-7)
    assert paired.sign_test(only_old, only_new, prompts) == real


@pytest.mark.parametrize(
    "only_old, only_new, p",
    [
        (0, 0, Fraction(1)),
        (4, 4, Fraction(1)),  # as evenly as coins can fall
        (0, 2, Fraction(2, 4)),
        (0, 11, Fraction(2, 2**11)),
        (1, 7, Fraction(2 * (1 + 8), 2**8)),
        (13, 4, Fraction(2 * (1 + 17 + 136 + 680 + 2380), 2**17)),
    ],
)
def test_the_p_value_counts_the_outcomes_of_fair_coins(only_old, only_new, p):
    assert paired.mcnemar(only_old, only_new) == pytest.approx(float(p), rel=1e-14)
    assert paired.mcnemar(only_new, only_old) == paired.mcnemar(only_old, only_new)


@pytest.mark.parametrize("n", [3, 30, np.int64(30), 900])
def test_counts_that_differ_by_two_leave_out_the_middle_alone(n):
    # all outcomes of 2n + 2 coins but n + 1 heads are as uneven, also where a power of 2 exceeds 64 bits and float64
    middle = Fraction(comb(2 * int(n) + 2, int(n) + 1), 2 ** (2 * int(n) + 2))
    assert paired.mcnemar(n, n + 2) == pytest.approx(float(1 - middle), rel=1e-14)


@pytest.mark.parametrize("only_old, only_new", [(-1, 3), (3, -1)])
def test_a_negative_count_is_refused(only_old, only_new):
    with pytest.raises(ValueError, match=f"at least 0, not {only_old} and {only_new}"):
        paired.mcnemar(only_old, only_new)


@pytest.mark.parametrize(
    "lead, prompts, real", [(2, 40, False), (3, 40, True), (500, 10_000, False), (501, 10_000, True)]
)
def test_exactly_five_points_are_not_more_than_five(lead, prompts, real):
    assert FIVE(lead, 0, prompts) == FIVE(0, lead, prompts) == real


def test_one_policy_passes_between_15_and_24_of_forty_prompts():
    assert PASSED.sum(axis=0).tolist() == [22, 18, 22, 24, 19, 24, 15, 20]  # the course's count


def test_every_two_of_three_runs_are_counted_once():
    # by hand: prompt 0 is passed by the first run, prompt 1 by the last two, and prompt 2 by all
    passed = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 1]])
    assert paired.twins(passed).tolist() == [[1, 1], [1, 1], [0, 0]]


def test_the_widest_of_28_pairs_looks_real_to_the_right_rule():
    pairs = paired.twins(PASSED)
    assert len(pairs) == comb(8, 2) and [13, 4] in pairs.tolist()  # samples 3 and 6
    widest = pairs[np.abs(pairs[:, 0] - pairs[:, 1]).argmax()]
    assert sorted(widest.tolist()) == [4, 13]
    assert paired.mcnemar(*widest) == pytest.approx(0.049, abs=5e-4)


RULES = [  # rule, right of the six comparisons, alarms among the 28 twins, share of false alarms at forty prompts
    (FIVE, 3, 17, 0.446),
    (TEN, 2, 9, 0.170),
    (paired.two_standard_errors, 5, 2, 0.041),
    (paired.sign_test, 6, 2, 0.023),
    (lambda *counts: False, 3, 0, 0.0),
]


@pytest.mark.parametrize("rule, right, alarms, share", RULES, ids=["five", "ten", "errors", "sign", "never"])
def test_how_often_each_rule_is_right_and_cries_wolf(rule, right, alarms, share):
    assert sum(rule(b, c, n) == real for b, c, n, _, real in COMPARED) == right
    assert sum(rule(*pair, 40) for pair in paired.twins(PASSED).tolist()) == alarms
    assert paired.false_alarms(rule, RATES) == pytest.approx(share, abs=5e-4)


def test_false_alarms_are_exact_fractions():
    # the pass rates are eighths, so the same sum is one over whole numbers, 64 to the power of 40
    ways = {(0, 0): 1}
    for passes in PASSED.sum(axis=1).tolist():
        lone, longer = passes * (8 - passes), {}
        for (i, j), count in ways.items():
            for at, weight in [((i, j), 64 - 2 * lone), ((i + 1, j), lone), ((i, j + 1), lone)]:
                longer[at] = longer.get(at, 0) + count * weight
        ways = longer
    for rule in (FIVE, paired.sign_test):
        share = Fraction(sum(count for at, count in ways.items() if rule(*at, 40)), 64**40)
        assert paired.false_alarms(rule, RATES) == pytest.approx(float(share), abs=1e-13)


@pytest.mark.parametrize("prompts, share", [(40, 0.5764), (100, 0.4368)])
def test_two_runs_at_a_half_often_differ_by_more_than_five_points(prompts, share):
    # their difference plus the number of prompts is the number of heads of twice as many coins
    heads = sum(comb(2 * prompts, k) for k in range(2 * prompts + 1) if 20 * abs(k - prompts) > prompts)
    assert heads / 4**prompts == pytest.approx(share, abs=5e-5)
    assert paired.false_alarms(FIVE, np.full(prompts, 0.5)) == pytest.approx(heads / 4**prompts, abs=1e-12)


@pytest.mark.parametrize("rates", [np.array([0.5]), RATES, np.linspace(0, 1, 17)], ids=["one", "forty", "even"])
def test_the_sign_test_keeps_its_level_whatever_the_rates(rates):
    assert paired.false_alarms(paired.sign_test, rates) < paired.LEVEL


def test_the_table_of_two_prompts_by_hand():
    # prompt 0: only old .5 * .25, only new .5 * .75; prompt 1: only old 1 * .5, only new 0
    table = paired.discordant(np.array([0.5, 1.0]), np.array([0.75, 0.5]))
    np.testing.assert_allclose(table, [[0.25, 0.1875, 0], [0.0625 + 0.25, 0.1875, 0], [0.0625, 0, 0]], atol=1e-15)


def test_a_true_gain_of_twelve_points_is_missed_at_forty_prompts_and_found_at_160():
    better = RATES + (1 - RATES) / 4  # each probability of failing is smaller by a quarter
    assert (better - RATES).mean() == pytest.approx((1 - 164 / 320) / 4, abs=1e-12)  # 12.2 points
    assert paired.power(paired.sign_test, RATES, better) == pytest.approx(0.18, abs=0.005)
    four = np.tile(RATES, 4), np.tile(better, 4)
    assert paired.power(paired.sign_test, *four) == pytest.approx(0.75, abs=0.005)


def test_a_gain_that_nothing_can_hide_is_always_found():
    assert paired.power(paired.sign_test, np.zeros(6), np.ones(6)) == 1  # six coins on one side: p = 2/64
    assert paired.power(paired.sign_test, np.ones(6), np.zeros(6)) == 1  # and so is a loss
    assert paired.power(paired.sign_test, np.zeros(5), np.ones(5)) == 0  # five: p = 2/32
