"""Training on the completions of an older policy: a lag or a rare delivery, and what is done about the ratio.

The asynchronous setting of AReaL, Fu et al. (2025), arXiv:2505.24298, on sums of two digits, one optimizer step a
batch.

The words, here and in the lessons on machines: the *lag* of a token is the trainer's version at the update less the
version that sampled it, that of a completion the lag of its first token, that of a batch their mean. A completion
*spans* newest − oldest + 1 versions. The *effective share* of a batch is its effective sample size over its size.
"""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from sim.algorithms import grpo
from sim.estimators.importance import CORRECTIONS, effective_sample_size
from sim.estimators.precision import cast_params
from sim.experiments.standard_runs import add_run
from sim.framework.controller import Frame
from sim.framework.weight_sync import WeightSync


@dataclass(frozen=True)
class Drift:
    frame: Frame
    distance: float  # mean |log ratio| of the own tokens, nats
    effective: float  # effective sample size of the token ratios, a share
    trainer_version: int  # when the batch was trained on
    rollout_version: int  # of the weights that sampled it


def updates(correction, n, *, lag=0, every=1, learning_rate=0.02, form="fp32", seed=0):
    """One Drift an update. The rollout has the weights of `lag` updates ago, or, with `every`, those of the last
    delivery.
    """

    def surrogate(logp, old_logp, A, hp, batch):
        return CORRECTIONS[correction](logp, old_logp, A)

    controller = add_run(
        grpo,
        seed=seed,
        learning_rate=learning_rate,
        hyper=dict(inner_epochs=1, beta=0.0),
        hooks=dict(surrogate=surrogate),
        sync=WeightSync(every, lag, form),
    )
    controller.rollout.load(cast_params(controller.start.params, form), 0)
    for event in controller.iterate(n):
        if event.stage == 2:
            sampled_by, trained_at = event.summary["version"], controller.trainer.version
        if event.stage == 6:
            log_ratio = event.summary["log_ratio"]
        if event.stage == 7:
            yield Drift(
                event.summary["frame"],
                np.abs(log_ratio).mean(),
                effective_sample_size(np.exp(log_ratio)) / len(log_ratio),
                trained_at,
                sampled_by,
            )


def versions(n, *, lag=0, every=1):
    """(n, 2) of the trainer and of the rollout before each of n updates: the deliveries alone, without the training."""
    trainer, rollout = SimpleNamespace(version=0, policy=SimpleNamespace(params={})), SimpleNamespace(version=0)
    rollout.load = lambda params, version: setattr(rollout, "version", version)
    sync, seen = WeightSync(every, lag), []
    for _ in range(n):
        seen.append((trainer.version, rollout.version))
        trainer.version += 1
        sync.push(trainer, rollout)
    return np.array(seen)
