"""Eight actions, paid and worth. Expected values are exact sums written out, or those of a prototype written apart."""

from math import exp, fsum, log

import numpy as np
import pytest

from sim.estimators import hacking, off_policy
from sim.lab import eight_actions

REF = [0.30, 0.22, 0.16, 0.12, 0.09, 0.06, 0.04, 0.01]
PAID = [0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.9, 1.0]
WORTH = [0.2, 0.3, 0.4, 0.55, 0.6, 0.65, 0.3, 0.0]
PRICES = [5, 2, 1, 0.5, 0.352, 0.24, 0.19, 0.1, 0.05, 0.01]


def summed(beta):
    """Pay, worth, KL and ln Z by sums over the table."""
    Z = fsum(p * exp(r / beta) for p, r in zip(REF, PAID, strict=True))
    policy = [p * exp(r / beta) / Z for p, r in zip(REF, PAID, strict=True)]
    pay = fsum(p * r for p, r in zip(policy, PAID, strict=True))
    return pay, fsum(p * v for p, v in zip(policy, WORTH, strict=True)), pay / beta - log(Z), log(Z)


def test_the_reference_is_paid_and_worth_what_the_table_adds_up_to():
    # .06 + .066 + .064 + .06 + .0495 + .036 + .036 + .01, and .06 + .066 + .064 + .066 + .054 + .039 + .012
    assert eight_actions.outcome(eight_actions.REF) == pytest.approx((0.3815, 0.361, 0), abs=1e-12)


@pytest.mark.parametrize(
    "beta, paid, kl, worth", [(0.1, 0.886153, 2.425705, 0.226424), (1.0, 0.418493, 0.019170, 0.376197)]
)
def test_two_rows_of_the_table_of_prices(beta, paid, kl, worth):
    assert eight_actions.outcome(eight_actions.leashed(beta)) == pytest.approx((paid, worth, kl), abs=5e-7)


@pytest.mark.parametrize("beta", PRICES)
def test_the_optimum_is_the_tilted_table_and_is_worth_beta_log_Z(beta):
    pay, worth, kl, log_Z = summed(beta)
    seen = eight_actions.outcome(eight_actions.leashed(beta))
    assert seen == pytest.approx((pay, worth, kl), abs=1e-10)
    assert seen[0] - beta * seen[2] == pytest.approx(beta * log_Z, abs=1e-10)


def test_pay_rises_to_the_end_and_worth_does_not():
    seen = np.array([eight_actions.outcome(eight_actions.leashed(beta)) for beta in PRICES])
    assert (np.diff(seen[:, 0]) > 0).all() and (np.diff(seen[:, 2]) > 0).all()
    assert 0 < seen[:, 1].argmax() < len(PRICES) - 1


def test_at_a_tenth_the_seventh_action_is_the_most_probable():
    assert eight_actions.leashed(0.1).argmax() == 6


def test_where_worth_peaks():
    beta = eight_actions.best_price()
    assert beta == pytest.approx(0.352, abs=5e-4)
    paid, worth, kl = eight_actions.outcome(eight_actions.leashed(beta))
    assert (paid, worth, kl) == (
        pytest.approx(0.510, abs=5e-4),
        pytest.approx(0.390038, abs=5e-7),
        pytest.approx(0.200, abs=5e-4),
    )
    assert all(summed(beta * factor)[1] < worth for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2))


def test_below_which_price_worth_is_lower_than_at_the_start():
    beta = eight_actions.crossover()
    assert beta == pytest.approx(0.1917, abs=5e-5)
    assert summed(beta - 1e-6)[1] < 0.361 < summed(beta + 1e-6)[1]


def test_which_price_is_half_a_nat():
    beta = eight_actions.price_at(0.5)
    assert beta == pytest.approx(0.2386, abs=5e-5) and summed(beta)[2] == pytest.approx(0.5, abs=1e-9)


BEST = [(1, 0.361), (2, 0.433), (4, 0.481), (8, 0.474), (16, 0.400), (32, 0.284), (64, 0.171)]


@pytest.mark.parametrize("N, worth", BEST)
def test_best_of_n_is_worth_most_at_four(N, worth):
    policy = eight_actions.cloned(N, 1)
    below = np.cumsum(REF) ** N  # no sample is paid better than an action
    np.testing.assert_allclose(policy, np.diff(below, prepend=0), atol=1e-12)
    assert eight_actions.outcome(policy)[1] == pytest.approx(worth, abs=5e-4)


def test_best_of_eight():
    seen = eight_actions.outcome(eight_actions.cloned(8, 1))
    assert seen == pytest.approx((0.675515, 0.473550, 1.182283), abs=1e-6)


@pytest.mark.parametrize("N, kl", [(2, 0.173), (4, 0.618), (8, 1.182)])
def test_the_distance_of_best_of_n_stays_below_its_bound(N, kl):
    seen = eight_actions.outcome(eight_actions.cloned(N, 1))[2]
    assert seen == pytest.approx(kl, abs=5e-4) and seen < log(N) - (N - 1) / N


@pytest.mark.parametrize("rounds, worth", [(0, 0.361), (1, 0.481), (2, 0.400), (3, 0.171)])
def test_rounds_of_cloning_the_best_of_four_are_best_of_a_power_of_four(rounds, worth):
    policy = eight_actions.cloned(4, rounds)
    np.testing.assert_allclose(policy, eight_actions.cloned(4**rounds, 1), atol=1e-12)
    assert eight_actions.outcome(policy)[1] == pytest.approx(worth, abs=5e-4)


GOODHART = [(0, 0.3815, 0.3610), (28, 0.5075, 0.3900), (53, 0.6694, 0.3590), (100, 0.8862, 0.2264)]


@pytest.mark.parametrize("steps, paid, worth", GOODHART)
def test_steps_toward_the_pay_pass_the_peak_of_the_worth(steps, paid, worth):
    policy = eight_actions.climbed(steps, 0.1)
    assert eight_actions.outcome(policy)[:2] == pytest.approx((paid, worth), abs=5e-5)
    if steps:  # t steps of .1 are the optimum at a price of 10/t
        np.testing.assert_allclose(policy, eight_actions.leashed(10 / steps), atol=1e-12)


def test_the_twenty_eighth_step_is_the_best_and_the_fifty_third_the_first_below_the_start():
    worth = np.array([eight_actions.outcome(eight_actions.climbed(steps, 0.1))[1] for steps in range(101)])
    assert worth.argmax() == 28 and np.flatnonzero(worth[1:] < 0.361)[0] + 1 == 53


@pytest.mark.parametrize("beta, share", [(1.0, 0.9596), (0.1, 0.0519)])
def test_the_share_of_frozen_samples_that_still_counts(beta, share):
    policy = eight_actions.leashed(beta)
    assert 1 / (np.square(policy) / REF).sum() == pytest.approx(share, abs=5e-5)
    assert 1 / (1 + off_policy.second_moment(policy, eight_actions.REF, 1)) == pytest.approx(share, abs=5e-5)


def test_nothing_is_farther_than_the_best_paid_action_alone():
    assert hacking.distance(eight_actions.leashed(0.001), eight_actions.REF) == pytest.approx(-log(0.01), abs=1e-9)
