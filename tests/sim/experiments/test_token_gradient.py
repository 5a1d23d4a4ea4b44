import numpy as np
import pytest

from sim.algorithms import grpo
from sim.experiments.token_gradient import before_the_last_step, token_gradient
from sim.framework.algorithm import Algorithm
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum
from sim.worlds.optimizer import SGD

ALGORITHM = Algorithm(grpo, dict(beta=0.0, inner_epochs=1))


def batch_of(policy):
    batch = Verifier(modsum.Task()).verify(
        RolloutEngine(policy).generate(modsum.Task(), np.arange(4), 8, np.random.default_rng(0))[0]
    )
    batch.advantage, _ = ALGORITHM.compute_advantages(batch)
    return batch


def steps(policy, batch, epochs, minibatches=1):
    return before_the_last_step(
        policy, SGD(5.0), batch, ALGORITHM.compute_loss, epochs, minibatches, np.random.default_rng(0)
    )


def drawn(policy, batch):
    return token_gradient(ALGORITHM, policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)[0], batch)


def test_before_the_only_step_every_ratio_is_one_and_no_token_is_clipped():
    policy = modsum.Policy()
    batch = batch_of(policy)
    parts = drawn(steps(policy, batch, epochs=1), batch)
    np.testing.assert_allclose(parts.ratio, batch.response_mask, atol=1e-14)
    assert not parts.clipped.any()


def test_later_ratios_leave_one_and_the_start_is_left_alone():
    policy = modsum.Policy()
    batch, before = batch_of(policy), policy.params["theta"].copy()
    parts = drawn(steps(policy, batch, epochs=4), batch)
    assert parts.ratio.max() > 1.2 and parts.clipped.any()
    np.testing.assert_array_equal(policy.params["theta"], before)


def test_two_passes_stop_after_the_first():
    policy = modsum.Policy()
    batch = batch_of(policy)
    _, _, cache = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    once = policy.params["theta"] - 5.0 * policy.backward(cache, drawn(policy, batch).dlogp)["theta"]
    np.testing.assert_allclose(steps(policy, batch, epochs=2).params["theta"], once, atol=1e-14)


def test_the_push_is_weight_times_ratio_times_advantage_unless_the_clip_removed_it():
    policy = modsum.Policy()
    batch = batch_of(policy)
    parts = drawn(steps(policy, batch, epochs=4), batch)
    np.testing.assert_allclose(parts.dlogp, -parts.weight * parts.ratio * parts.advantage * ~parts.clipped, atol=1e-15)
    assert (parts.dlogp[batch.response_mask == 0] == 0).all()


def test_from_a_token_to_its_logits():
    policy = modsum.Policy()  # four tokens; the fourth gets no probability
    policy.params = {"theta": np.tile([1.0, 0, -1, -1e9], (4, 7, 1))}
    one = np.array([[0]]), np.array([[0]]), np.ones((1, 1))
    _, entropy, cache = policy.token_logp(*one)
    pushed = policy.backward(cache, np.array([[-2.0]]))["theta"][0, 0]
    np.testing.assert_allclose(
        pushed[:3], [-0.6695180885, 0.4894569421, 0.1800611463], atol=1e-9
    )  # torch float64, A = 2
    assert entropy[0, 0] == pytest.approx(0.8323955818, abs=1e-9)  # torch float64
