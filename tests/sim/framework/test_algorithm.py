from dataclasses import replace

import numpy as np
import pytest

from sim.algorithms import ppo, reinforce
from sim.algorithms.names import FILES
from sim.experiments import one_group
from sim.framework.algorithm import HOOKS, Algorithm
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum

every_file = pytest.mark.parametrize("file", FILES.values(), ids=FILES)


def sampled(algorithm, seed=0):
    """A verified batch with an advantage on every own token, and log-probs of a policy that has moved since."""
    rng, policy = np.random.default_rng(seed), modsum.Policy()
    batch = Verifier(modsum.Task()).verify(*RolloutEngine(policy).generate(modsum.Task(), np.arange(4), 6, rng))
    batch.ref_logp = (batch.old_logp + rng.normal(size=batch.tokens.shape)) * batch.response_mask
    batch.value = rng.normal(size=batch.tokens.shape) * batch.response_mask
    batch.reward = rng.normal(size=len(batch.tokens))
    batch.advantage, batch.returns = algorithm.compute_advantages(batch)
    return batch, (batch.old_logp + 0.3 * rng.normal(size=batch.tokens.shape)) * batch.response_mask


@every_file
def test_dlogp_is_the_derivative_of_the_loss(file):
    algorithm, h = Algorithm(file, dict(beta=0.1)), 1e-6
    batch, logp = sampled(algorithm)
    dlogp, rng = algorithm.compute_loss(logp, batch).dlogp, np.random.default_rng(1)
    for row, t in rng.permutation(np.argwhere(batch.response_mask > 0))[:30]:
        nudge = np.zeros(logp.shape)
        nudge[row, t] = h
        up, down = (algorithm.compute_loss(logp + d, batch).loss for d in (nudge, -nudge))
        assert dlogp[row, t] == pytest.approx((up - down) / (2 * h), abs=1e-8)


@every_file
def test_nothing_is_pushed_off_the_mask(file):
    algorithm = Algorithm(file, dict(beta=0.1))
    batch, logp = sampled(algorithm)
    off = batch.response_mask == 0
    assert (batch.advantage[off] == 0).all() and (algorithm.compute_loss(logp, batch).dlogp[off] == 0).all()
    assert (batch.advantage[~off] != 0).any()


@every_file
def test_an_algorithm_file_holds_its_settings_and_six_functions_in_one_order(file):
    own = [name for name, thing in vars(file).items() if getattr(thing, "__module__", "") == file.__name__]
    assert own == list(HOOKS)
    assert {"inner_epochs", "beta"} <= set(file.HP)


@every_file
@pytest.mark.filterwarnings("ignore:Degrees of freedom")  # of one completion
def test_the_advantage_makes_sense_from_the_number_of_completions_on_that_the_file_states(file):
    def advantage(R):
        return Algorithm(file).compute_advantages(one_group.batch_of(R, [2] * len(R)))[0][:, 0]

    with np.errstate(all="ignore"):
        useless = {
            K: not advantage([1.0] + [0.0] * (K - 1)).any() or np.isnan(advantage([1.0] * K)).any() for K in (1, 2)
        }
    assert useless == {1: file.MIN_K == 2, 2: False}


@every_file
def test_a_file_changes_neither_its_settings_nor_the_batch(file):
    batch, logp = sampled(Algorithm(file))
    for field in vars(batch).values():
        if isinstance(field, np.ndarray):
            field.flags.writeable = False
    algorithm = Algorithm(file, dict(beta=0.1))
    algorithm.keep_group(batch.accuracy.reshape(-1, batch.K), algorithm.hp, batch)
    algorithm.compute_advantages(batch)
    algorithm.compute_loss(logp, batch)
    with pytest.raises(TypeError):
        algorithm.hp["beta"] = 1.0


def test_changed_settings_leave_the_file_alone():
    narrow, wide = Algorithm(ppo, dict(eps=0.1)), Algorithm(ppo, dict(eps=0.5))
    batch = one_group.batch_of([1.0], [1])
    batch.advantage = batch.response_mask
    logp = batch.old_logp + np.log(1.3) * batch.response_mask
    assert [a.compute_loss(logp, batch).dlogp[0, 0] for a in (narrow, wide)] == [0, pytest.approx(-1.3)]
    assert ppo.HP["eps"] == 0.2 and Algorithm(ppo).compute_loss(logp, batch).dlogp[0, 0] == 0


def test_a_hook_gets_the_settings_of_the_run_and_the_rows_at_hand():
    seen = {}

    def keep(name, result):
        def hook(*arguments):
            seen[name] = arguments[-2:]
            return result(*arguments)

        return hook

    hooks = {name: keep(name, getattr(reinforce, name)) for name in HOOKS}
    algorithm = Algorithm(reinforce, dict(beta=0.1), hooks)
    batch, _ = sampled(Algorithm(reinforce))
    algorithm.keep_group(batch.accuracy.reshape(-1, batch.K), algorithm.hp, batch)
    algorithm.compute_advantages(batch)
    algorithm.compute_loss(batch.old_logp, batch)
    assert set(seen) == set(HOOKS) and all(hp["beta"] == 0.1 and rows is batch for hp, rows in seen.values())


def test_a_function_borrowed_from_another_file_may_bring_a_setting_of_its_own():
    borrowed = Algorithm(reinforce, dict(eps=0.5), dict(surrogate=ppo.surrogate))
    assert borrowed.surrogate(np.log(1.3), 0.0, np.float64(1.0), borrowed.hp, None)[1] == pytest.approx(1.3)


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
    algorithm = Algorithm(reinforce, hooks=dict(shape_reward=lambda reward, hp, batch: reward - 0.5 * batch.kl))
    batch, _ = sampled(algorithm)
    shaped = batch.reward - 0.5 * ((batch.old_logp - batch.ref_logp) * batch.response_mask).sum(axis=1)
    np.testing.assert_allclose(batch.advantage, shaped[:, None] * batch.response_mask, atol=1e-12)


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
