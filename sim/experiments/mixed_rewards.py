"""Sums of two digits with rewards from two sources, a checker with 0 or 1 and a reward model on its own scale, and one
answer per batch whose reward may be far too high.

The divisors of sim/estimators/normalizers.py under one loss, that of Dr.GRPO with one pass; Liu et al. (2025),
arXiv:2503.20783. Which prompts the reward model scores, its scale and its noise are our assumptions.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import dr_grpo, recipes
from sim.estimators import normalizers
from sim.experiments.standard_runs import add_run
from sim.framework.rollout import Batch
from sim.worlds import tasks
from sim.worlds.optimizer import SGD, AdamW

GROUPS, K = 16, 8
CHECKER, MODEL = SOURCES = range(2)


def source_of(example):
    """CHECKER or MODEL for prompts, (N,): sums whose second digit is odd are scored by the reward model."""
    return example % 2


class MixedAdd(tasks.Add):
    """`Add` with rewards from two sources, each for half of a batch's prompts. The reward model gives scale * (right +
    N(0, noise)). With an `outlier`, one random answer of a batch gets that reward instead. All rewards are multiplied
    by `c`.
    """

    def __init__(self, scale=1.0, noise=0.0, outlier=None, c=1.0, seed=0):
        super().__init__()
        self.scale, self.noise, self.outlier, self.c = scale, noise, outlier, c
        self.rng = np.random.default_rng([seed, 14])  # not the run's generator, so prompts and answers stay the same
        self.loud = None  # the row with the excessive reward

    def batch_prompts(self, n, rng):
        """The checker's prompts come first."""
        return np.concatenate([rng.choice(self.prompts[source_of(self.prompts) == one], n // 2) for one in SOURCES])

    refill_prompts = batch_prompts

    def pay(self, batch):
        of_model = self.scale * (batch.accuracy + self.noise * self.rng.normal(size=len(batch.accuracy)))
        paid = np.where(source_of(batch.example) == MODEL, of_model, batch.accuracy)
        loud = int(self.rng.integers(len(paid)))
        if self.outlier is not None:
            self.loud, paid[loud] = loud, self.outlier
        return self.c * paid


@dataclass(frozen=True)
class Update:
    step: int
    right: np.ndarray | None  # (2,) exact pass rates on the checker's and the model's sums; None if not computed
    shares: np.ndarray  # (2,) shares of the squared advantage
    wanted: float  # mean advantage of a correct answer; nan if none is correct
    loud: int | None  # the row with the excessive reward
    batch: Batch  # the batch with its advantages


def optimizer(name):
    """The optimizers of this page: AdamW as in all runs on these sums, and plain SGD."""
    return AdamW(0.02, clip=1.0) if name == "AdamW" else SGD(0.3)


def run(over, task, optimizer, *, limit=np.inf, price=0.0, seed=0, updates=100, every=10):
    """An Update for each of `updates`. Rewards are clipped at `limit`; then `price` times the completion's log-ratio to
    the start (k1) and the group's mean are subtracted, and the result is divided by one of the deviations in
    normalizers.PARTS.
    """

    def shape_reward(reward, hp, batch):
        return recipes.less_kl(normalizers.clipped(reward, limit), hp, batch)

    def advantage(R, hp, batch):
        return normalizers.normalized(R, sources(batch), normalizers.GROUP, over)

    training = add_run(
        dr_grpo,
        seed=seed,
        groups=GROUPS,
        K=K,
        task=task,
        hyper=dict(inner_epochs=1, beta=price),
        hooks=dict(shape_reward=shape_reward, advantage=advantage),
        optimizer=optimizer,
        exact_every=every,
    )
    for event in training.iterate(updates):
        if event.stage == 3:
            batch = event.summary["batch"]
        if event.stage == 7:
            yield seen(event.summary["frame"], batch, task.loud)


def seen(frame, batch, loud):
    each, right = batch.advantage[:, 0], batch.accuracy == 1
    return Update(
        frame.step + 1,
        halves(frame.exact["pass_rate"]) if frame.exact else None,
        normalizers.shares(each.reshape(-1, batch.K), sources(batch)),
        float(each[right].mean()) if right.any() else np.nan,
        loud,
        batch,
    )


def sources(batch):
    """(groups,)"""
    return source_of(batch.example[:: batch.K])


def halves(rates):
    """(2,) the mean pass rate on the prompts of each source."""
    source = source_of(np.arange(len(rates)))
    return np.array([rates[source == one].mean() for one in SOURCES])
