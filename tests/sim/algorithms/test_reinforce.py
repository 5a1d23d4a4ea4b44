import numpy as np
import pytest

from sim.algorithms import reinforce
from sim.experiments.standard_runs import modsum_run
from sim.framework.algorithm import Algorithm
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum


@pytest.mark.when_changed()
def test_the_mean_of_many_sampled_gradients_is_the_exact_gradient_of_the_pass_rate():
    policy, algorithm, N = modsum.Policy(), Algorithm(reinforce), 100_000
    batch = Verifier(modsum.Task()).verify(
        *RolloutEngine(policy).generate(modsum.Task(), np.arange(4), N, np.random.default_rng(0))
    )
    batch.advantage, _ = algorithm.compute_advantages(batch)
    logp, _, cache = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    sampled = (
        -4 * policy.backward(cache, algorithm.compute_loss(logp, batch).dlogp)["theta"]
    )  # 4: the loss is a mean over four prompts
    exact = gradient_of_the_pass_rate(policy.params["theta"])
    assert np.abs(sampled - exact).max() < 5 * 1.0 / N**0.5  # five standard errors of a term of size <= 1
    assert np.abs(exact).max() > 0.1


def gradient_of_the_pass_rate(theta):
    """d pass_rate[prompt] / d theta[prompt], by central differences."""
    grad, h = np.zeros_like(theta), 1e-5
    for where in np.ndindex(theta.shape):
        nudge = np.zeros_like(theta)
        nudge[where] = h
        up, down = (modsum.exact(theta + sign * nudge)["pass_rate"].sum() for sign in (1, -1))
        grad[where] = (up - down) / (2 * h)
    return grad


def test_a_reward_of_zero_pushes_nothing():
    A, logp = np.zeros((2, 3)), np.full((2, 3), -1.0)
    assert (reinforce.surrogate(logp, logp, A, reinforce.HP, None)[1] == 0).all()


def test_tokens_are_summed_and_completions_averaged():
    mask = np.array([[1.0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(reinforce.weights(mask, reinforce.HP, None), [[0.5, 0.5, 0], [0.5, 0, 0]])


def test_a_hundred_steps_from_the_start():
    final = np.mean(
        [list(modsum_run(reinforce, seed=seed).frames(100))[-1].exact["pass_rate"].mean() for seed in range(4)]
    )
    assert final == pytest.approx(0.935, abs=0.025)  # band of two independent implementations
