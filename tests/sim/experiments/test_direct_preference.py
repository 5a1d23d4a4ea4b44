"""Where training on pairs ends, against closed forms, a reward model's fit, and runs of another script."""

from functools import cache

import numpy as np
import pytest

from sim.experiments import direct_preference
from sim.worlds import preferences

WORLD = preferences.GridWorld()


@cache
def pairs(seed=0, n=200, **labels):
    return preferences.sample_prefs(WORLD, n, np.random.default_rng(seed), **labels)


@cache
def trained(name, beta, seed=0, n=200, steps=400, deterministic=False, bias=0.0):
    win, lose = pairs(seed, n, deterministic=deterministic, bias=bias)
    return direct_preference.train(WORLD, win, lose, name, beta, steps)


def ends(*args, **kwargs):
    return trained(*args, **kwargs).wins[-1]


@pytest.mark.parametrize("beta", [0.5, 0.2, 0.1])
def test_converged_dpo_is_the_reward_model_of_the_same_pairs(beta):
    # fitted without a ridge by scipy's BFGS: (0.92003126, 0.65962709)
    course = trained("sigmoid", beta, steps=4000)
    assert beta * course.theta[-1] == pytest.approx([0.92003126, 0.65962709], abs=1e-5)


def test_dpo_ends_where_the_tilt_by_that_reward_model_lies():
    course = trained("sigmoid", 0.4)
    # a normal reference moved by θ: KL |θ|²/2; gold of a concave quadratic with slopes 1, 1 and curvatures .2, 1
    quality, length = np.array([0.92003126, 0.65962709]) / 0.4
    assert course.kl[-1] == pytest.approx((quality**2 + length**2) / 2, abs=0.01)
    assert course.gold[-1] == pytest.approx(quality - 0.1 * quality**2 + length - 0.5 * length**2, abs=0.01)
    assert (course.kl[-1], course.gold[-1]) == pytest.approx((4.00, 2.06), abs=0.01)


@pytest.mark.when_changed()
def test_the_final_loss_does_not_depend_on_beta():
    # the best fit of the pairs is one, whatever it is divided by
    ends = [trained("sigmoid", beta, steps=4000).loss[-1] for beta in (0.1, 0.2, 0.4, 1.0)]
    assert ends == pytest.approx([ends[0]] * 4, abs=1e-9)


# ran by another script
@pytest.mark.parametrize(
    "name, beta, deterministic, gold, kl",
    [("sigmoid", 0.1, False, -13.0, 58.2), ("sigmoid", 0.4, True, -2.57, 21.46), ("ipo", 0.1, True, 1.88, 2.92)],
)
def test_where_the_others_end(name, beta, deterministic, gold, kl):
    course = trained(name, beta, deterministic=deterministic)
    assert course.gold[-1] == pytest.approx(gold, abs=0.05 if name == "ipo" else 0.2)
    assert course.kl[-1] == pytest.approx(kl, rel=0.02)


def test_winners_lose_probability_in_a_run_that_holds_and_losers_lose_more():
    course = trained("sigmoid", 0.4)
    assert course.chosen[-1] == pytest.approx(-2.40, abs=0.01) and course.rejected[-1] == pytest.approx(-5.07, abs=0.01)
    # θ·φ less |θ|²/2, of the mean winner and of the mean loser
    theta = course.theta[-1]
    for gained, of in zip((course.chosen[-1], course.rejected[-1]), pairs()):
        assert gained == pytest.approx(theta @ WORLD.phi[of].mean(axis=0) - theta @ theta / 2, abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_winners_gain_first_and_are_below_their_start_while_wins_still_rise(seed):
    course = trained("sigmoid", 0.4, seed)
    best = course.chosen.argmax()
    below = int(np.argmax((course.chosen < 0) & (course.step > course.step[best])))
    assert 0 < course.step[best] < 12 and course.chosen[best] > 0.05
    assert course.step[below] <= 28 and course.wins[below + 2] > course.wins[below] + 0.002


@pytest.mark.parametrize("seed", range(8))
def test_the_three_ways_off_and_their_ways_back_in_every_seed(seed):
    assert ends("sigmoid", 0.4, seed) > 0.6
    assert ends("sigmoid", 0.1, seed) < 0.02 < 0.74 < trained("sigmoid", 0.1, seed).wins.max()
    assert ends("sigmoid", 0.4, seed, deterministic=True) < 0.4
    assert ends("sigmoid", 0.4, seed, bias=1.0) < 0.4
    for name, beta in (("ipo", 0.1), ("sigmoid", 4.0)):
        assert ends(name, beta, seed, deterministic=True) > 0.6


@pytest.mark.parametrize("seed", range(6))
def test_the_better_loss_is_the_worse_policy(seed):
    sure, sampled = trained("sigmoid", 0.4, seed, deterministic=True), trained("sigmoid", 0.4, seed)
    assert sure.loss[-1] < sampled.loss[-1] - 0.1 and sure.wins[-1] < sampled.wins[-1] - 0.2


def test_on_pairs_that_separate_dpo_goes_on_and_ipo_ends():
    # twelve sure pairs, some draws of which a line parts: no pair speaks against it, so no length is enough
    course = [trained("sigmoid", beta, 0, 12, steps, True) for beta in (0.4, 4.0) for steps in (400, 800)]
    assert course[1].kl[-1] > 1.2 * course[0].kl[-1] and course[3].kl[-1] > 1.2 * course[2].kl[-1]
    assert course[3].kl[-1] < course[1].kl[-1]
    ipo = [trained("ipo", 0.1, 0, 12, steps, True).kl[-1] for steps in (800, 1600)]
    assert ipo[1] == pytest.approx(ipo[0], rel=1e-3)


@pytest.mark.parametrize("name, beta", [("simpo", 0.1), ("sigmoid_norm", 0.4)])
def test_without_a_strong_pull_per_token_adam_walks_off_the_map(name, beta):
    for seed in range(3):
        assert ends(name, beta, seed) < 0.01


@pytest.mark.parametrize("name", ["sigmoid", "ipo", "simpo", "orpo", "bco_pair", "apo_zero", "sigmoid_norm"])
def test_the_gradient_is_the_difference_of_the_loss(name):
    batch = direct_preference.Batch(WORLD, *pairs())
    options = dict(gamma=0.5, label_smoothing=0.0, length_normalize=False)

    def loss(theta):
        return batch.pairs(name, theta, *batch.normalizer(theta), 0.3, options)

    theta, step = np.array([0.7, -0.4]), 1e-5
    difference = [(loss(theta + step * e)[0] - loss(theta - step * e)[0]) / (2 * step) for e in np.eye(2)]
    assert loss(theta)[1] == pytest.approx(difference, abs=1e-7)


def test_kto_pushes_with_its_z0_held_still():
    batch, theta = direct_preference.Batch(WORLD, *pairs()), np.array([0.7, -0.4])
    win, lose = pairs()
    policy, log_z = batch.policy(theta)
    z0 = (policy * (WORLD.phi @ theta - log_z)).sum()

    def loss(at):
        gain = WORLD.phi @ at - batch.policy(at)[1]
        good, bad = 0.3 * (gain[win] - z0), 0.3 * (z0 - gain[lose])
        return np.concatenate([1 - 1 / (1 + np.exp(-good)), 1 - 1 / (1 + np.exp(-bad))]).mean()

    got, gradient = batch.kto(theta, 0.3)
    step = 1e-5
    assert got == pytest.approx(loss(theta), abs=1e-12)
    assert gradient == pytest.approx(
        [(loss(theta + step * e) - loss(theta - step * e)) / (2 * step) for e in np.eye(2)], abs=1e-7
    )


@pytest.mark.parametrize("name", ["sigmoid", "hinge", "robust", "ipo"])
def test_log_z_cancels_where_it_is_said_to(name):
    batch, theta = direct_preference.Batch(WORLD, *pairs()), np.array([1.2, 0.3])
    options = dict(gamma=0.5, label_smoothing=0.1, length_normalize=False)
    assert direct_preference.cancels(name, False)
    whole, gradient = batch.pairs(name, theta, *batch.normalizer(theta), 0.4, options)
    short, same = batch.pairs(name, theta, 0.0, np.zeros(2), 0.4, options)
    assert short == pytest.approx(whole, abs=1e-10) and same == pytest.approx(gradient, abs=1e-10)


def test_the_population_optimum_of_four_responses_is_the_tilt():
    # every ordered pair, weighed by how often Bradley and Terry's people choose it; reference and rewards of lesson 15
    ref, reward, beta = np.array([0.5, 0.3, 0.15, 0.05]), np.arange(4.0), 0.5
    theta = np.zeros(4)
    first, second = np.nonzero(~np.eye(4, dtype=bool))
    weight = ref[first] * ref[second] / (1 + np.exp(reward[second] - reward[first]))
    for _ in range(20000):
        logp = np.log(ref) + theta
        _, slope, back = direct_preference.pref_loss(
            "sigmoid", logp[first], logp[second], np.log(ref)[first], np.log(ref)[second], 1.0, 1.0, beta
        )
        gradient = np.zeros(4)
        np.add.at(gradient, first, weight * slope)
        np.add.at(gradient, second, weight * back)
        theta -= 20 * gradient
    policy = ref * np.exp(theta)
    assert policy / policy.sum() == pytest.approx([0.01608861, 0.0713278, 0.26352257, 0.64906101], abs=1e-6)
