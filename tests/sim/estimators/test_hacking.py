"""What a KL penalty buys against an overpaid completion. The expected numbers were computed by hand or with scipy, not
with this code.
"""

import numpy as np
import pytest

from sim.estimators import hacking, kl

REF, LEAKY = hacking.reference(0.15), hacking.proxy(1.5)


@pytest.mark.parametrize(
    "beta, gold, distance",
    [
        (1.0, 0.4001910868, 0.1832034302),  # ref * exp(r / beta) / Z, by hand
        (0.5, 0.3835450579, 0.5766400878),
        (0.1, 0.0132966942, 1.8172329043),
    ],
)
def test_gold_first_rises_and_then_falls_as_the_price_falls(beta, gold, distance):
    (far,), _, (true,) = hacking.frontier(REF, LEAKY, hacking.GOLD, [beta])
    assert true == pytest.approx(gold, abs=1e-9) and far == pytest.approx(distance, abs=1e-9)


def test_each_nat_is_charged_and_a_negative_log_ratio_is_paid():
    np.testing.assert_allclose(hacking.charged(np.array([1.0, 0, 1.5]), np.array([0.5, -2, 3]), 0.1), [0.95, 0.2, 1.2])


def test_the_optimum_at_beta_1():
    policy = hacking.optimum(REF, LEAKY, 1.0)
    np.testing.assert_allclose(
        policy, [0.400191, 0.073611, 0.073611, 0.122685, 0.329902], atol=5e-7
    )  # e, 1, 1, 1, e^1.5 times the shares, over Z
    assert policy @ LEAKY == pytest.approx(0.8950437548, abs=1e-9)


def test_what_the_optimum_is_worth_is_beta_times_log_Z():
    policy = hacking.optimum(REF, LEAKY, 1.0)
    assert hacking.value(REF, LEAKY, 1.0) == pytest.approx(0.7118403245, abs=1e-9)  # ln of .3 e + .55 + .15 e^1.5
    assert policy @ LEAKY - hacking.distance(policy, REF) == pytest.approx(0.7118403245, abs=1e-9)


@pytest.mark.parametrize("beta", [0.1, 0.5, 2.0])
def test_no_other_policy_is_worth_more(beta):
    def loss(logits):
        p = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        return -(p @ LEAKY - beta * (p * (np.log(p) - np.log(REF))).sum())

    optimize = pytest.importorskip(
        "scipy.optimize", reason="scipy, which knows nothing of the closed form, is not in the page's runtime"
    )
    found = optimize.minimize(loss, np.zeros(5), tol=1e-12)
    assert -found.fun == pytest.approx(hacking.value(REF, LEAKY, beta), abs=1e-6)


def test_log_odds_move_by_the_difference_in_pay_over_beta():
    policy = hacking.optimum(REF, LEAKY, 0.4)
    moved = np.log(policy[4] / policy[0]) - np.log(REF[4] / REF[0])
    assert moved == pytest.approx((1.5 - 1) / 0.4, abs=1e-12)


def test_the_best_price_is_where_the_mean_pay_is_that_of_an_honest_answer():
    beta = hacking.best_price(REF, 1.5)
    assert beta == pytest.approx(0.7528, abs=1e-4)
    assert hacking.optimum(REF, LEAKY, beta) @ LEAKY == pytest.approx(1, abs=1e-9)
    golds = hacking.frontier(REF, LEAKY, hacking.GOLD, [beta, 0.99 * beta, 1.01 * beta])[2]
    assert golds[0] == pytest.approx(0.40698, abs=5e-6) and golds[0] > golds[1:].max()


def test_below_the_crossover_gold_is_lower_than_it_was():
    beta = hacking.crossover(REF, 1.5)
    assert beta == pytest.approx(0.33320, abs=1e-5)  # brentq on .3 e^(1/b) / Z = .3
    below, above = hacking.frontier(REF, LEAKY, hacking.GOLD, [beta - 1e-3, beta + 1e-3])[2]
    assert below < 0.3 < above


@pytest.mark.parametrize("hack_reward", [0.0, 0.5, 0.9, 1.0])
def test_a_hack_that_pays_no_better_than_honesty_has_no_crossover(hack_reward):
    golds = hacking.frontier(REF, hacking.proxy(hack_reward), hacking.GOLD, np.geomspace(20, 0.001, 40))[2]
    assert hacking.crossover(REF, hack_reward) == hacking.best_price(REF, hack_reward) == 0
    assert (np.diff(golds) >= 0).all() and golds[-1] > golds[0]


def test_a_common_hack_that_pays_enough_is_never_worth_any_drift():
    assert hacking.crossover(hacking.reference(0.5), 3.0) == np.inf  # mean pay at the start: .3 * .5 / .85 + 1.5 > 1


@pytest.mark.parametrize("hack_reward, end", [(0.9, [1, 0]), (1.5, [0, 1]), (1.0, [2 / 3, 1 / 3])])
def test_with_no_price_the_best_paid_is_all_that_is_left_and_ties_keep_the_proportions_of_the_reference(
    hack_reward, end
):
    for beta in (0.0, 0.001):
        np.testing.assert_allclose(hacking.optimum(REF, hacking.proxy(hack_reward), beta)[[0, 4]], end, atol=1e-9)


def test_at_equal_pay_a_price_of_a_twentieth_is_already_the_limit():
    assert hacking.optimum(REF, hacking.proxy(1.0), 0.05)[0] == pytest.approx(
        0.6666666650, abs=1e-9
    )  # .3 e^20 / (.45 e^20 + .55)


def test_reaching_the_hack_costs_the_same_however_well_it_pays():
    assert hacking.nats_to_reach(0.15) == pytest.approx(1.8971199849, abs=1e-9)  # -ln .15
    for hack_reward in (1.5, 3.0):
        assert hacking.distance(hacking.optimum(REF, hacking.proxy(hack_reward), 0.0), REF) == pytest.approx(
            -np.log(0.15), abs=1e-12
        )


def test_the_reference_keeps_its_proportions_when_the_hack_becomes_rarer():
    rare = hacking.reference(0.001)
    assert rare.sum() == pytest.approx(1, abs=1e-12) and rare[0] / rare[3] == pytest.approx(0.30 / 0.25, abs=1e-12)
    np.testing.assert_allclose(REF, hacking.SHARES, atol=1e-15)


def test_sampled_k1_and_k3_are_right_on_average_and_k2_is_not():
    policy = hacking.optimum(REF, LEAKY, 0.5)
    exact, moments = hacking.distance(policy, REF), kl.k_moments(policy, REF, policy)
    means = hacking.sampled_kl(policy, REF, 4096, 400, np.random.default_rng(0)).mean(axis=1)
    error = 4 * np.sqrt(moments.variance / (4096 * 400))
    assert (
        abs(means[0] - exact) < error[0] and abs(means[2] - exact) < error[2] and abs(means[1] - exact) > 10 * error[1]
    )


def test_on_a_collapsed_policy_sampled_k3_misses_the_mass_that_is_never_drawn():
    k1, _, k3 = hacking.sampled_kl(hacking.optimum(REF, LEAKY, 0.0), REF, 16, 3, np.random.default_rng(0))
    np.testing.assert_allclose(k1, -np.log(0.15), atol=1e-12)
    np.testing.assert_allclose(k3, -np.log(0.15) - 0.85, atol=1e-12)  # e^-r = .15 for the one completion left
