from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from sim import algorithms
from sim.algorithms import ppo, reinforce
from sim.framework.algorithm import HOOKS, Algorithm
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum

FILES = [import_module(f"sim.algorithms.{p.stem}") for p in sorted(Path(algorithms.__file__).parent.glob("[!_]*.py"))]


def sampled(algorithm, seed=0):
    """A verified batch with an advantage on every own token, and log-probs of a policy that has moved since."""
    rng, policy = np.random.default_rng(seed), modsum.Policy()
    batch = Verifier(modsum.Task()).verify(*RolloutEngine(policy).generate(modsum.Task(), np.arange(4), 6, rng))
    batch.ref_logp = (batch.old_logp + rng.normal(size=batch.tokens.shape)) * batch.response_mask
    batch.value = rng.normal(size=batch.tokens.shape) * batch.response_mask
    batch.reward = rng.normal(size=len(batch.tokens))
    batch.advantage, batch.returns = algorithm.compute_advantages(batch)
    return batch, (batch.old_logp + 0.3 * rng.normal(size=batch.tokens.shape)) * batch.response_mask


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.__name__)
def test_dlogp_is_the_derivative_of_the_loss(file):
    algorithm, h = Algorithm(file, dict(beta=0.1)), 1e-6
    batch, logp = sampled(algorithm)
    dlogp, rng = algorithm.compute_loss(logp, batch).dlogp, np.random.default_rng(1)
    for row, t in rng.permutation(np.argwhere(batch.response_mask > 0))[:30]:
        nudge = np.zeros(logp.shape)
        nudge[row, t] = h
        up, down = (algorithm.compute_loss(logp + d, batch).loss for d in (nudge, -nudge))
        assert dlogp[row, t] == pytest.approx((up - down) / (2 * h), abs=1e-8)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.__name__)
def test_nothing_is_pushed_off_the_mask(file):
    algorithm = Algorithm(file, dict(beta=0.1))
    batch, logp = sampled(algorithm)
    off = batch.response_mask == 0
    assert (batch.advantage[off] == 0).all() and (algorithm.compute_loss(logp, batch).dlogp[off] == 0).all()
    assert (batch.advantage[~off] != 0).any()


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.__name__)
def test_an_algorithm_file_holds_its_settings_and_six_functions_in_one_order(file):
    own = [name for name, thing in vars(file).items() if getattr(thing, "__module__", "") == file.__name__]
    assert own == list(HOOKS)
    assert {"inner_epochs", "beta"} <= set(file.HP)


def test_changed_settings_leave_the_file_alone():
    narrow, wide = Algorithm(ppo, dict(eps=0.1)), Algorithm(ppo, dict(eps=0.5))
    at = (np.log(1.3), 0.0, np.float64(1.0))
    assert (narrow.surrogate(*at)[1], wide.surrogate(*at)[1]) == (0, pytest.approx(1.3))
    assert ppo.HP["eps"] == 0.2 and ppo.surrogate(*at)[1] == 0


def test_a_replaced_hook_reads_the_runs_settings_and_keeps_its_closure_and_defaults():
    scale = 3.0
    algorithm = Algorithm(reinforce, hooks=dict(advantage=lambda R, aux, half=0.5: scale * half * R[..., None]))
    np.testing.assert_array_equal(algorithm.advantage(np.array([[1.0, 2.0]]), {}), [[[1.5], [3.0]]])
    borrowed = Algorithm(reinforce, dict(eps=0.5), dict(surrogate=ppo.surrogate))
    assert borrowed.surrogate(np.log(1.3), 0.0, np.float64(1.0))[1] == pytest.approx(1.3)


def test_the_clip_fraction_counts_own_tokens_that_lost_their_gradient():
    algorithm = Algorithm(ppo)
    batch, logp = sampled(algorithm)
    ratio = np.exp(logp - batch.old_logp)
    lost = ((batch.advantage > 0) & (ratio > 1.2)) | ((batch.advantage < 0) & (ratio < 0.8))
    assert algorithm.compute_loss(logp, batch).clip_fraction == pytest.approx(lost.sum() / batch.response_mask.sum())
    assert lost.any()


def test_with_lambda_one_the_advantage_is_the_reward_less_the_critics_value():
    algorithm = Algorithm(ppo)
    batch, _ = sampled(algorithm)
    np.testing.assert_allclose(batch.advantage, (batch.reward[:, None] - batch.value) * batch.response_mask, atol=1e-12)
    np.testing.assert_allclose(batch.returns, batch.reward[:, None] * batch.response_mask, atol=1e-12)


def test_the_kl_of_a_completion_reaches_the_reward():
    algorithm = Algorithm(reinforce, hooks=dict(shape_reward=lambda r, kl, length, trunc, T: r - 0.5 * kl))
    batch, _ = sampled(algorithm)
    shaped = batch.reward - 0.5 * ((batch.old_logp - batch.ref_logp) * batch.response_mask).sum(axis=1)
    np.testing.assert_allclose(batch.advantage, shaped[:, None] * batch.response_mask, atol=1e-12)


def test_a_baseline_made_of_the_group_cannot_learn_from_one_completion():
    def leave_one_out(R, aux):
        return (R - (R.sum(axis=1, keepdims=True) - R) / (R.shape[1] - 1))[..., None]

    def less_group_mean(R, aux):
        return (R - R.mean(axis=1, keepdims=True))[..., None]

    def less_batch_mean(R, aux):
        return (R - R.mean())[..., None]

    assert Algorithm(reinforce).learns_from_one() and Algorithm(ppo).learns_from_one()
    assert Algorithm(reinforce, hooks=dict(advantage=less_batch_mean)).learns_from_one()
    assert not Algorithm(reinforce, hooks=dict(advantage=leave_one_out)).learns_from_one()
    assert not Algorithm(reinforce, hooks=dict(advantage=less_group_mean)).learns_from_one()


def test_unknown_settings_and_hooks_are_refused_by_name():
    with pytest.raises(ValueError, match="hyper must name settings of the file, inner_epochs, beta, not eps"):
        Algorithm(reinforce, dict(eps=0.2))
    with pytest.raises(ValueError, match=r"hooks must be among .*, not clip"):
        Algorithm(reinforce, hooks=dict(clip=np.clip))


def test_shapes_that_do_not_match_are_refused():
    algorithm = Algorithm(ppo)
    batch, logp = sampled(algorithm)
    with pytest.raises(ValueError, match="logp must have the shape of response_mask"):
        algorithm.compute_loss(logp[:, :-1], batch)
    with pytest.raises(ValueError, match="K must divide the rows of the batch: 24 rows are not groups of 5"):
        algorithm.compute_advantages(replace(batch, K=5))
