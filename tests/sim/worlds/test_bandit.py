from itertools import product

import numpy as np
import pytest

from sim.estimators import kl
from sim.worlds import bandit

SHOWN = np.array([0.30, 0.15, 0.15, 0.25, 0.15])
REWARD = np.array([1.0, 0, 0, 0, 0])


def ending(gradient, learning_rate=1.0, steps=200, logits=None):
    return bandit.path(np.log(SHOWN) if logits is None else logits, gradient, learning_rate, steps)[-1]


def sampled(baseline, offset=0.0, runs=200, learning_rate=1.0, shown=SHOWN, N=8, seed=0):
    """J along 200 steps, (201, runs)."""
    rng = np.random.default_rng(seed)
    policies = bandit.path(
        np.tile(np.log(shown), (runs, 1)),
        lambda pi: bandit.sampled_gradient(pi, REWARD + offset, baseline, N, rng),
        learning_rate,
        200,
    )
    return policies @ REWARD


def test_a_completion_above_the_average_is_pushed_up_and_the_others_down():
    np.testing.assert_allclose(
        bandit.policy_gradient(SHOWN, REWARD), [0.21, -0.045, -0.045, -0.075, -0.045], atol=1e-12
    )  # pi (r - 0.3)


def test_the_policy_gradient_is_the_derivative_of_the_expected_reward():
    logits, h = np.log(SHOWN) + np.array([0.3, -0.2, 0.5, 0.0, 0.1]), 1e-6
    reward = np.array([1.0, 0.2, -0.4, 0.5, 0.0])
    numeric = [(bandit.softmax(logits + h * e) - bandit.softmax(logits - h * e)) @ reward / (2 * h) for e in np.eye(5)]
    np.testing.assert_allclose(bandit.policy_gradient(bandit.softmax(logits), reward), numeric, atol=1e-9)


@pytest.mark.parametrize(
    "steps, J", [(1, 0.3585446010636873), (10, 0.8554443279162544), (50, 0.981380802665333), (200, 0.9958206333334743)]
)
def test_exact_ascent(steps, J):
    assert ending(lambda pi: bandit.policy_gradient(pi, REWARD), steps=steps) @ REWARD == pytest.approx(
        J, abs=1e-12
    )  # float64, written apart


def test_variance_of_one_sample():
    variance = bandit.gradient_variance  # sum pi (r - b)^2 (1 - 2 pi_a + |pi|^2) - |grad J|^2, by hand
    assert variance(SHOWN, REWARD) == pytest.approx(0.1302, abs=1e-12)
    assert variance(SHOWN, REWARD, 0.3) == pytest.approx(0.0888, abs=1e-12)
    assert variance(SHOWN, REWARD + 10) == pytest.approx(81.8502, abs=1e-9)
    assert bandit.best_baseline(SHOWN, REWARD) == pytest.approx(0.186 / 0.78, abs=1e-12)
    assert variance(SHOWN, REWARD, 0.186 / 0.78) == pytest.approx(0.08584615385, abs=1e-11)


def test_the_best_baseline_has_the_least_variance_of_all():
    reward, b = np.array([1.0, 0.3, 0, 0.5, -1]), np.linspace(-2, 2, 4001)
    around = [bandit.gradient_variance(SHOWN, reward, x) for x in b]
    assert b[np.argmin(around)] == pytest.approx(bandit.best_baseline(SHOWN, reward), abs=1e-3)


@pytest.mark.parametrize("offset", [-3.0, 0.5, 10.0])
def test_a_constant_added_to_every_reward_moves_the_best_baseline_and_not_the_gradient(offset):
    np.testing.assert_allclose(
        bandit.policy_gradient(SHOWN, REWARD + offset), bandit.policy_gradient(SHOWN, REWARD), atol=1e-12
    )
    assert bandit.best_baseline(SHOWN, REWARD + offset) == pytest.approx(
        bandit.best_baseline(SHOWN, REWARD) + offset, abs=1e-12
    )


def test_every_sampled_arm_against_nothing_and_against_the_other_three():
    arms = np.array([0, 3, 3, 1])
    rewards = REWARD[arms]
    after = bandit.softmax(np.log(SHOWN) + bandit.push(SHOWN, arms, rewards - bandit.no_baseline(rewards)))
    np.testing.assert_allclose(
        after, [0.3484315033, 0.1408639433, 0.1408639433, 0.2289766669, 0.1408639433], atol=1e-9
    )  # logits + (1, 0, 0, 0, 0)/4 - pi/4
    advantage = rewards - bandit.leave_one_out(rewards)
    np.testing.assert_allclose(advantage, [1, -1 / 3, -1 / 3, -1 / 3], atol=1e-12)
    after = bandit.softmax(np.log(SHOWN) + bandit.push(SHOWN, arms, advantage))
    np.testing.assert_allclose(after, [0.3722407242, 0.133361067, 0.1449506837, 0.2044968413, 0.1449506837], atol=1e-9)


@pytest.mark.parametrize(
    "baseline, share", [(bandit.no_baseline, 1.0), (bandit.leave_one_out, 1.0), (bandit.batch_mean, 2 / 3)]
)
def test_the_mean_of_the_sampled_gradient_over_every_batch_of_three(baseline, share):
    reward = np.array([1.0, 0.3, 0, 0.5, -1])
    batches = np.array(list(product(range(5), repeat=3)))
    estimates = bandit.push(SHOWN, batches, reward[batches] - baseline(reward[batches]))
    mean = SHOWN[batches].prod(axis=1) @ estimates
    np.testing.assert_allclose(mean, share * bandit.policy_gradient(SHOWN, reward), atol=1e-12)


@pytest.mark.parametrize("N", [2, 3, 4])
def test_the_variance_against_the_others_over_every_batch(N):
    reward = np.array([1.0, 0.3, 0, 0.5, -1])
    batches = np.array(list(product(range(5), repeat=N)))
    estimates = bandit.push(SHOWN, batches, reward[batches] - bandit.leave_one_out(reward[batches]))
    off = ((estimates - bandit.policy_gradient(SHOWN, reward)) ** 2).sum(axis=1)
    assert bandit.leave_one_out_variance(SHOWN, reward, N) == pytest.approx(
        SHOWN[batches].prod(axis=1) @ off, abs=1e-12
    )


def test_draws_follow_the_policy():
    counts = np.bincount(bandit.draw(SHOWN, 200_000, np.random.default_rng(0)), minlength=5)
    np.testing.assert_allclose(counts / 200_000, SHOWN, atol=4 * (0.25 / 200_000) ** 0.5)


def test_an_arm_without_probability_is_neither_drawn_nor_moved():
    pi = np.array([0, 0.3, 0.3, 0.2, 0.2])
    assert (bandit.draw(pi, 10_000, np.random.default_rng(0)) > 0).all()
    assert bandit.policy_gradient(pi, REWARD)[0] == 0


def test_imitation_ends_at_its_demonstrations_and_its_loss_at_their_entropy():
    pi = ending(lambda pi: bandit.imitation_gradient(pi, SHOWN), steps=50, logits=np.zeros(5))
    assert pi @ REWARD == pytest.approx(0.29999942990482925, abs=1e-12)  # float64, written apart from this code
    assert bandit.cross_entropy(SHOWN, SHOWN) == pytest.approx(1.5614694247763998, abs=1e-12)
    assert bandit.cross_entropy(SHOWN, pi) == pytest.approx(1.5614694247763998 + kl.divergence(SHOWN, pi), abs=1e-12)


@pytest.mark.parametrize("learning_rate", [0.3, 1.0, 3.0])
def test_no_learning_rate_takes_imitation_past_its_demonstrations(learning_rate):
    J = bandit.path(np.zeros(5), lambda pi: bandit.imitation_gradient(pi, SHOWN), learning_rate, 200)[:, 0]
    assert J.max() < 0.3 + 1e-9 and J[-1] == pytest.approx(0.3, abs=1e-6)


def test_pushing_what_passed_is_imitating_what_passed():
    arms = bandit.draw(SHOWN, 64, np.random.default_rng(0))
    kept = arms[REWARD[arms] == 1]
    shown = np.bincount(kept, minlength=5) / len(kept)
    np.testing.assert_allclose(
        bandit.push(SHOWN, arms, REWARD[arms]), len(kept) / 64 * bandit.imitation_gradient(SHOWN, shown), atol=1e-12
    )


def test_two_hundred_sampled_runs_reach_the_checker():
    assert sampled(bandit.leave_one_out)[-1].mean() == pytest.approx(0.996, abs=0.004)


@pytest.mark.parametrize("offset, fail", [(0.0, 0.0), (1.0, 0.0), (3.0, 0.09), (10.0, 0.62)])
def test_without_a_baseline_a_constant_decides_how_many_runs_fail(offset, fail):
    ends = sampled(bandit.no_baseline, offset)[-1]  # shares of 200 runs, measured on a prototype; 3 standard errors
    assert (ends < 0.5).mean() == pytest.approx(fail, abs=3 * (fail * (1 - fail) / 200) ** 0.5)


@pytest.mark.parametrize("baseline", [bandit.batch_mean, bandit.leave_one_out])
def test_with_a_baseline_a_constant_changes_nothing(baseline):
    np.testing.assert_allclose(sampled(baseline, 10.0, runs=20), sampled(baseline, 0.0, runs=20), atol=1e-6)


def test_rare_is_enough_and_zero_is_not():
    rare = np.array([0.01, *SHOWN[1:] / 0.7 * 0.99])
    assert sampled(bandit.leave_one_out, shown=rare)[-1].mean() == pytest.approx(0.99, abs=0.005)
    with np.errstate(divide="ignore"):
        assert (sampled(bandit.leave_one_out, shown=np.array([0, *SHOWN[1:] / 0.7])) == 0).all()


def test_one_completion_has_no_others():
    with pytest.raises(ValueError, match="N must be at least 2"):
        bandit.leave_one_out(np.ones((3, 1)))
