from itertools import chain

import numpy as np
import pytest

from sim.framework.algorithm import LossOut
from sim.framework.rollout import RolloutEngine
from sim.framework.trainer import Trainer, gradient
from sim.worlds import modsum
from sim.worlds.optimizer import SGD


def rollout(policy):
    return RolloutEngine(policy).generate(modsum.Task(), np.arange(4), 4, np.random.default_rng(0))[0]


def raise_every_token(logp, batch):
    return LossOut(-(logp * batch.response_mask).sum(), -batch.response_mask, 0.0)


def step(trainer, batch, loss=raise_every_token, epochs=1, minibatches=1, seed=0):
    return trainer.step(batch, loss, epochs, minibatches, np.random.default_rng(seed), 1.0)


def test_at_the_first_pass_every_ratio_is_exactly_one():
    policy = modsum.Policy()
    metrics = step(Trainer(policy, SGD(0.5)), rollout(policy))
    assert metrics["ratio_min"] == metrics["ratio_max"] == pytest.approx(1, abs=1e-15)


def test_the_step_is_the_gradient_of_the_loss():
    policy = modsum.Policy()
    batch, before = rollout(policy), policy.copy()
    step(Trainer(policy, SGD(0.5)), batch)
    _, _, cache = before.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    grad = before.backward(cache, -batch.response_mask)["theta"]
    np.testing.assert_allclose(policy.params["theta"], before.params["theta"] - 0.5 * grad, atol=1e-15)


def test_every_pass_and_every_minibatch_is_an_optimizer_step_and_a_version():
    policy = modsum.Policy()
    trainer, rows = Trainer(policy, SGD(0.01)), []

    def watched(logp, batch):
        rows.append(batch.tokens.tolist())
        return raise_every_token(logp, batch)

    batch = rollout(policy)
    assert step(trainer, batch, watched, epochs=3, minibatches=4)["version"] == trainer.version == 12
    first, second = list(chain(*rows[:4])), list(chain(*rows[4:8]))
    assert sorted(first) == sorted(second) == sorted(batch.tokens.tolist())  # each row once a pass
    assert first != second  # in another order


def test_the_extreme_ratios_are_those_of_all_passes_and_the_entropy_that_of_the_first():
    policy = modsum.Policy()
    batch = rollout(policy)
    _, entropy, _ = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    signs = iter([1, -1])  # up, then back: at the third pass the policy is where it was

    def there_and_back(logp, mini):
        sign = next(signs, 0)
        return LossOut(0.0, -sign * mini.response_mask, 0.0)

    metrics = step(Trainer(policy, SGD(1e-3)), batch, there_and_back, epochs=3)
    assert metrics["ratio_max"] > 1.001 > np.exp(metrics["log_ratio"]).max()
    assert metrics["token_entropy"] == pytest.approx(entropy.sum() / batch.response_mask.sum(), abs=1e-15)


@pytest.mark.parametrize("count", [2, 3, 16])
def test_microbatches_give_the_gradient_of_the_whole_batch(count):
    policies = [modsum.Policy() for _ in range(3)]
    batch = rollout(policies[0])

    def token_mean(logp, mini):  # a divisor that no micro-batch knows by itself
        weights = mini.response_mask / mini.response_mask.sum()
        return LossOut(-(weights * logp).sum(), -weights, 0.0)

    seen = [
        Trainer(policy, SGD(0.5)).step(batch, token_mean, 2, 2, np.random.default_rng(0), 1.0, parts)
        for policy, parts in zip(policies, (1, count, 99))
    ]
    for policy, metrics in zip(policies[1:], seen[1:]):
        np.testing.assert_allclose(policy.params["theta"], policies[0].params["theta"], atol=1e-14)
        for name in ("loss", "grad_norm", "token_entropy", "logp_gap", "ratio_max", "version"):
            assert metrics[name] == pytest.approx(seen[0][name], abs=1e-14)


def test_every_microbatch_goes_back_by_itself():
    policy, rows = modsum.Policy(), []
    batch = rollout(policy)
    backward = policy.backward
    policy.backward = lambda cache, dlogp: rows.append(len(dlogp)) or backward(cache, dlogp)
    gradient(policy, batch, raise_every_token, 1.0, 5)
    assert rows == [4, 3, 3, 3, 3]


def test_the_gap_is_the_mean_difference_to_the_sampler_before_the_first_step():
    policy = modsum.Policy()
    batch = rollout(policy)
    batch.old_logp = batch.old_logp - 0.3 * batch.response_mask
    assert step(Trainer(policy, SGD(0.5)), batch, epochs=3)["logp_gap"] == pytest.approx(0.3, abs=1e-14)
