"""Sums of two digits where the engine that writes differs from the policy that trains, by its temperature, by older
weights, or by both, and ten ways to weight what it wrote.

The temperature stands for anything that makes an engine differ from a trainer at equal weights. In production that is
number formats and kernels, and the gap is smaller. The ways are those of sim/estimators/off_policy.py, with trainers'
default limits; the clip is PPO's, Schulman et al. (2017), arXiv:1707.06347, decoupled from the weight as in Hilton et
al. (2021), arXiv:2110.00641.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import grpo
from sim.estimators import off_policy, surrogate
from sim.estimators.importance import effective_sample_size
from sim.experiments.standard_runs import add_run
from sim.framework.rollout import Batch
from sim.framework.weight_sync import WeightSync
from sim.worlds import tasks
from sim.worlds.optimizer import SGD, AdamW

UPDATES, EPS = 100, 0.2
LIMIT, LOW, MOST = 2.0, 0.5, 3.0  # limits of a ratio, of a token mask from below, of a completion's product
MEAN, APART = 1.25, 0.05  # limits of a completion's geometric mean, both sides; of its KL in nats
EVERY = 4  # updates between two exact pass rates
OPTIMIZERS = {
    "AdamW": lambda: AdamW(0.02, clip=1.0),
    "SGD": lambda: SGD(1.0),
    "SGD, norm at most 1": lambda: SGD(1.0, clip=1.0),
}


@dataclass(frozen=True)
class Read:
    """Log-probs of a batch, (N, T) each, 0 outside the mask."""

    now: np.ndarray  # under the training policy
    engine: np.ndarray  # under the sampling policy, recorded during sampling
    before: np.ndarray  # under the trainer before the first step on this batch
    advantage: np.ndarray
    mask: np.ndarray

    @property
    def log_ratio(self):
        return self.now - self.engine


def around(now, center, advantage):
    """The ratio to `center` where PPO's clip leaves the push, otherwise 0."""
    ratio = np.exp(now - center)
    return ratio * ~surrogate.removed(ratio, advantage, EPS, EPS)


WAYS = {
    "none": lambda read: read.mask,
    "token ratio, at most 2": lambda read: off_policy.token_truncated(read.log_ratio, read.mask, LIMIT),
    "token mask, 0.5 to 2": lambda read: off_policy.token_masked(read.log_ratio, read.mask, LOW, LIMIT),
    "answer ratio, at most 2": lambda read: off_policy.completion_truncated(read.log_ratio, read.mask, LIMIT),
    "answer ratio, whole": lambda read: off_policy.completion_truncated(read.log_ratio, read.mask, np.inf),
    "answer mask, at most 3": lambda read: off_policy.completion_masked(read.log_ratio, read.mask, MOST),
    "answer mean, 0.8 to 1.25": lambda read: off_policy.mean_masked(read.log_ratio, read.mask, 1 / MEAN, MEAN),
    "bad answers masked": lambda read: off_policy.negative_masked(read.log_ratio, read.mask, read.advantage, APART),
    "clip around the engine": lambda read: around(read.now, read.engine, read.advantage) * read.mask,
    "decoupled": lambda read: (
        around(read.now, read.before, read.advantage)
        * off_policy.token_truncated(read.before - read.engine, read.mask, LIMIT)
    ),
}


class Loss:
    """The surrogate of a way; it remembers what the trainer computes before its first step on a batch."""

    def __init__(self, way):
        self.way, self.before = WAYS[way], None

    def read(self, logp, batch):
        return Read(logp, batch.old_logp, self.before, batch.advantage, batch.response_mask)

    def surrogate(self, logp, old_logp, A, hp, batch):
        weight = self.way(self.read(logp, batch))
        return weight * A * logp, weight * A


@dataclass(frozen=True)
class Update:
    number: int  # from 1
    batch: Batch
    log_ratio: np.ndarray  # (N, T) in the first pass, before the step
    weight: np.ndarray  # (N, T) each token's weight in that pass
    gap: float  # mean |log ratio|, nats per token
    effective: float  # effective sample size of the weights as a fraction of the tokens
    silenced: float  # fraction of the tokens with an advantage that get no gradient
    largest: float  # largest weight of a token
    right: float | None  # exact pass rate after the update, at some updates only


def run(engine_temperature, lag, way, passes, optimizer, seed, updates=UPDATES):
    """One Update each, for GRPO whose trainer computes at temperature 1 while its engine samples at a different one,
    from the weights of `lag` updates ago.
    """
    loss = Loss(way)
    training = add_run(
        grpo,
        seed=seed,
        hyper=dict(inner_epochs=passes, beta=0.0),
        hooks=dict(surrogate=loss.surrogate),
        optimizer=OPTIMIZERS[optimizer](),
        sync=WeightSync(1, lag),
        temperature=engine_temperature,
        trainer_temperature=1.0,
        exact_every=EVERY,
    )
    for event in training.iterate(updates):
        if event.stage == 3:
            batch = event.summary["batch"]
            loss.before = training.trainer.policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)[0]
        if event.stage == 5:
            seen = first_pass(loss, batch)
        if event.stage == 7:
            exact = event.summary["frame"].exact
            yield Update(event.iteration + 1, batch, *seen, float(exact["pass_rate"].mean()) if exact else None)


def first_pass(loss, batch):
    """The fields of `Update` from `log_ratio` to `largest`."""
    read, own = loss.read(loss.before, batch), batch.response_mask > 0
    weight, pushed = loss.way(read), own & (batch.advantage != 0)
    counted = weight[own]
    effective = effective_sample_size(counted) / len(counted) if counted.any() else 0.0
    silenced = float((weight[pushed] == 0).mean()) if pushed.any() else 0.0
    gap = float(np.abs(read.log_ratio[own]).mean())
    return read.log_ratio * own, weight, gap, float(effective), silenced, float(weight.max())


def before_training():
    """Exact pass rate of the policy with which all runs start."""
    return float(tasks.exact_pass(tasks.checkpoint("add")).mean())
