"""Training on completions from an older policy, because of a lag or of rare deliveries, and what is done about the
ratio.

It is the asynchronous setting of AReaL, Fu et al. (2025), arXiv:2505.24298, on sums of two digits, with one optimizer
step per batch.

Terms, here and in the lessons on machines: the *lag* of a token is the trainer's version at the update minus the
version that sampled the token. The lag of a completion is that of its first token, and the lag of a batch is the mean
over completions. A completion *spans* newest − oldest + 1 versions. The *effective share* of a batch is its effective
sample size divided by its size.
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
    distance: float  # mean |log ratio| of the own tokens in nats
    effective: float  # effective sample size of the token ratios, as a fraction
    trainer_version: int  # the trainer's version at the update
    rollout_version: int  # the version of the weights that sampled the batch


def updates(correction, n, *, lag=0, every=1, learning_rate=0.02, form="fp32", seed=0):
    """One Drift per update. The rollout has the weights from `lag` updates ago or, with `every`, those of the last
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
    """(n, 2) the versions of trainer and rollout before each of n updates; only deliveries are simulated, not
    training.
    """
    trainer, rollout = SimpleNamespace(version=0, policy=SimpleNamespace(params={})), SimpleNamespace(version=0)
    rollout.load = lambda params, version: setattr(rollout, "version", version)
    sync, seen = WeightSync(every, lag), []
    for _ in range(n):
        seen.append((trainer.version, rollout.version))
        trainer.version += 1
        sync.push(trainer, rollout)
    return np.array(seen)
