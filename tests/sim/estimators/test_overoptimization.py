from itertools import pairwise

import numpy as np
import pytest

from sim.estimators import bradley_terry, overoptimization
from sim.worlds import preferences

FOUR, PAID = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.0, 1, 2, 3])
WORLD = preferences.GridWorld()
THETA = np.array([0.91769388, 0.65780316])  # the reward model of 200 pairs, seed 0, by scipy's BFGS
PROXY = WORLD.phi @ THETA


def at(beta, theta=THETA, world=WORLD):
    reward = world.phi @ theta
    return overoptimization.outcome(world, reward, overoptimization.tilt(world.ref, reward, beta)[0])


def test_the_tilt_of_four_answers():
    policy, kl = overoptimization.tilt(FOUR, PAID, 0.5)
    # closed form: ref e^(r/beta) / Z, and the value is beta log Z
    np.testing.assert_allclose(policy, [0.01608861, 0.0713278, 0.26352257, 0.64906101], atol=1e-8)
    assert kl == pytest.approx(1.654615687, abs=1e-8)
    assert policy @ PAID == pytest.approx(2.545555983, abs=1e-8)
    assert policy @ PAID - 0.5 * kl == pytest.approx(1.718248140, abs=1e-8)


def test_the_value_of_the_tilt_is_beta_log_Z():
    policy, kl = overoptimization.tilt(FOUR, PAID, 1.0)
    assert kl == pytest.approx(0.5313546332, abs=1e-9)
    assert policy @ PAID - kl == pytest.approx(1.2320119504, abs=1e-9)


def test_no_other_policy_is_worth_more_at_that_price():
    best, kl = overoptimization.tilt(FOUR, PAID, 0.5)
    for seed in range(20):
        logits = np.log(best) + 0.3 * np.random.default_rng(seed).standard_normal(4)
        other = np.exp(logits) / np.exp(logits).sum()
        assert other @ PAID - 0.5 * (other * np.log(other / FOUR)).sum() < best @ PAID - 0.5 * kl


def test_the_sum_over_the_map_is_the_gaussian_closed_form():
    seen, (kl, gold) = at(0.5, np.array([0.9, 0.7])), overoptimization.shifted(WORLD, np.array([0.9, 0.7]), 0.5)
    # mu = (1.8, 1.4): KL = 5.2 / 2, gold = 1.8 - 0.324 + 1.4 - 0.98
    assert (seen.kl, seen.gold, seen.proxy) == pytest.approx((2.6, 1.896, 2.6), abs=1e-6)
    assert (kl, gold) == pytest.approx((2.6, 1.896), abs=1e-12)


def test_the_law_of_the_default_reward_model():
    alpha, b = overoptimization.coefficients(WORLD, THETA)
    assert (alpha, b) == pytest.approx((1.97333, 0.47153), abs=1e-5)  # sqrt(2) (u_q + u_l), 0.2 u_q^2 + u_l^2
    d = alpha / (2 * b)
    assert (d, d**2) == pytest.approx((2.09248, 4.378), abs=1e-3)
    assert overoptimization.gao_best_of_n(d, alpha, b) == pytest.approx(2.06458, abs=1e-4)
    assert (alpha / b) ** 2 == pytest.approx(17.514, abs=1e-3)  # where gold is back at the reference's


def test_the_law_of_best_of_n_peaks_where_its_slope_is_zero():
    d = np.linspace(0.01, 20, 200_001)
    assert d[np.argmax(overoptimization.gao_best_of_n(d, 2, 0.5))] == pytest.approx(2.0, abs=2e-4)


@pytest.mark.parametrize("beta, gold, kl", [(0.4, 2.060, 3.984), (0.2, 0.363, 15.936), (0.15, -2.855, 28.330)])
def test_a_lower_price_is_farther_and_beyond_the_peak_worse(beta, gold, kl):
    seen = at(beta)
    assert (seen.gold, seen.kl) == pytest.approx((gold, kl), abs=5e-3)  # the specification's grid sums
    assert not seen.edge


def test_the_proxy_never_falls_with_distance_and_gold_peaks_inside():
    seen = overoptimization.curve(WORLD, PROXY, np.geomspace(5, 0.1, 60))
    assert all(a.kl < b.kl and a.proxy < b.proxy for a, b in pairwise(seen))
    gold = np.array([o.gold for o in seen])
    assert 0 < gold.argmax() < 59
    alpha, b = overoptimization.coefficients(WORLD, THETA)
    d = np.sqrt([o.kl for o in seen if o.kl < 30])
    np.testing.assert_allclose(gold[: len(d)], alpha * d - b * d**2, atol=1e-3)  # the parabola, up to the map's cells


def test_without_saturation_gold_rises_with_the_proxy():
    world = preferences.GridWorld(kappa=0.0, kq=0.0)
    seen = overoptimization.curve(world, world.phi @ THETA, np.geomspace(5, 0.15, 20))
    assert all(a.gold < b.gold for a, b in pairwise(seen))


def test_a_policy_that_ran_off_the_map_says_so():
    assert not at(0.10).edge and at(0.09).edge


def test_a_perfect_reward_leaves_one_response():
    world, entropy = WORLD, []
    for beta in (0.4, 0.1, 0.003, 0.001):
        seen = overoptimization.outcome(world, world.gold, overoptimization.tilt(world.ref, world.gold, beta)[0])
        entropy.append(seen.entropy)
        assert seen.gold == pytest.approx(seen.proxy, abs=1e-9)
    assert entropy[1:] == pytest.approx([3.86, 0.72, 0.04], abs=5e-3)
    # Gaussian at .4: variances 1 / (1 + 0.2 / beta) and 1 / (1 + 1 / beta), in cells of 1/16
    variances = 1 / (1 + 0.2 / 0.4) / (1 + 1 / 0.4)
    assert entropy[0] == pytest.approx(np.log(2 * np.pi * np.e * 16) + np.log(variances) / 2, abs=1e-3)
    assert world.gold.max() == pytest.approx(2.5 + 0.5 + 0.6, abs=1e-9)  # q = 5, l = 1


@pytest.mark.parametrize("N, kl", [(4, 0.63629436), (16, 1.83508872), (64, 3.17450808)])
def test_the_distance_of_best_of_n_hangs_on_n_alone(N, kl):
    for score in (PROXY, WORLD.q):
        policy, seen = overoptimization.best_of_n(WORLD.ref, score, N)
        assert policy.sum() == pytest.approx(1, abs=1e-12)
        assert kl - 2e-4 < seen <= kl + 1e-9  # log N - (N - 1)/N; cells of one score cost at most 2e-4


def test_the_law_of_best_of_n_is_that_of_drawing_and_picking():
    ref, score, rng = np.array([0.4, 0.3, 0.2, 0.1]), np.array([2.0, 0.0, 3.0, 1.0]), np.random.default_rng(0)
    drawn = rng.choice(4, size=(100_000, 3), p=ref)
    picked = drawn[np.arange(100_000), score[drawn].argmax(axis=1)]
    policy, _ = overoptimization.best_of_n(ref, score, 3)
    np.testing.assert_allclose(np.bincount(picked, minlength=4) / 100_000, policy, atol=4 * 0.5 / np.sqrt(100_000))
    assert overoptimization.best_of_n(ref, score, 1)[0] == pytest.approx(ref, abs=1e-12)


def test_mirror_ascent_without_a_price_walks_along_the_same_curve():
    logp = np.log(FOUR)
    for _ in range(5):
        logp = overoptimization.mirror_step(logp, PAID, np.log(FOUR), 0.0, 0.3)
    np.testing.assert_allclose(np.exp(logp), overoptimization.tilt(FOUR, PAID, 1 / 1.5)[0], atol=1e-12)


def test_twelve_steps_with_a_price_are_the_optimum_of_a_higher_one():
    logp = WORLD.logref
    for _ in range(12):
        logp = overoptimization.mirror_step(logp, PROXY, WORLD.logref, 0.4, 0.5)
    # (1 - (1 - 0.5 * 0.4)^12) / 0.4 = 2.32820130816
    np.testing.assert_allclose(np.exp(logp), overoptimization.tilt(WORLD.ref, PROXY, 1 / 2.32820130816)[0], atol=1e-12)


@pytest.mark.parametrize("kl, beta", [(0.5, 0.0204096), (0.09, 0.0197952), (0.01, 0.0195904)])
def test_the_controller_is_that_of_verl(kl, beta):
    # AdaptiveKLController with target 0.1, 1,024 samples and a horizon of 10,000
    assert overoptimization.controlled(0.02, kl, 0.1, 1024 / 10_000) == pytest.approx(beta, abs=1e-12)


def test_a_small_gain_settles_and_a_large_one_cycles():
    def prices(gain):
        beta = [0.15]
        for _ in range(300):
            kl = THETA @ THETA / (2 * beta[-1] ** 2)
            beta.append(overoptimization.controlled(beta[-1], kl, 4.378, gain))
        return beta

    assert prices(0.1024)[48] == pytest.approx(0.37425, abs=1e-5)  # the specification's
    assert prices(0.1024)[-1] == pytest.approx(0.381575, abs=2e-5)  # |theta| / sqrt(2 KL*)
    late = np.array(prices(2.0)[-20:])
    assert late.max() / late.min() > 1.5


def test_noisy_labels_shorten_the_reward_model_in_every_seed():
    for seed in range(8):
        lengths = []
        for flip in (0.0, 0.2):
            win, lose = preferences.sample_prefs(WORLD, 200, np.random.default_rng(seed), flip=flip)
            lengths.append(np.linalg.norm(bradley_terry.fit(WORLD.phi, win, lose)))
        assert lengths[1] < lengths[0]


def test_a_constant_in_the_reward_is_no_score():
    policy, _ = overoptimization.tilt(WORLD.ref, PROXY, 0.4)
    plain, raised = (overoptimization.outcome(WORLD, PROXY + constant, policy).proxy for constant in (0.0, 5.0))
    assert plain == pytest.approx(THETA @ THETA / 0.4, abs=1e-4) and raised == pytest.approx(plain, abs=1e-9)


def test_the_reference_is_at_no_distance_from_itself_and_scores_nothing():
    seen = overoptimization.outcome(WORLD, PROXY, WORLD.ref)
    assert 0 <= seen.kl < 1e-9 and seen.proxy == 0 and seen.wins == pytest.approx(0.5, abs=1e-4)


def test_a_step_of_thousands_of_nats_stays_finite():
    logp = overoptimization.mirror_step(np.log(FOUR), 1000 * PAID, np.log(FOUR), 0.0, 1.0)
    np.testing.assert_allclose(np.exp(logp), [0, 0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("kl", [0.5, 4.0, 12.0])
def test_a_distance_is_reached_by_the_price_of_a_straight_reward(kl):
    # closed form: beta = |theta| / sqrt(2 KL)
    policy = overoptimization.at_distance(WORLD.ref, PROXY, kl)
    there, _ = overoptimization.tilt(WORLD.ref, PROXY, np.linalg.norm(THETA) / np.sqrt(2 * kl))
    np.testing.assert_allclose(policy, there, atol=1e-6)


def test_a_reward_with_a_peak_cannot_be_followed_farther_than_to_it():
    # one completion is left, and its distance is minus the log of its probability at the start
    reward = -((WORLD.q - 1) ** 2) - WORLD.l**2
    policy = overoptimization.at_distance(WORLD.ref, reward, 100.0)
    peak = reward.argmax()
    assert policy[peak] > 0.99
    assert overoptimization.outcome(WORLD, reward, policy).kl == pytest.approx(-WORLD.logref[peak], abs=0.01)
