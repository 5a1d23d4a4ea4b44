"""Sums of two digits that two sources pay: a checker, 0 or 1, and a reward model on a scale of its own; and one answer
of a batch that is paid far too much.

The divisors of sim/estimators/normalizers.py under one loss, that of Dr.GRPO at one pass; Liu et al. (2025),
arXiv:2503.20783. Which prompts the reward model pays, its scale and its noise are assumptions of ours.
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
    """CHECKER or MODEL of prompts, (N,): a sum whose second digit is odd is paid by the reward model."""
    return example % 2


class MixedAdd(tasks.Add):
    """`Add`, paid by two sources, half of the prompts of a batch each. The reward model pays scale * (right + N(0,
    noise)); with an `outlier` one answer of a batch, whichever it is, is paid that much; all pay is multiplied by `c`.
    """

    def __init__(self, scale=1.0, noise=0.0, outlier=None, c=1.0, seed=0):
        super().__init__()
        self.scale, self.noise, self.outlier, self.c = scale, noise, outlier, c
        self.rng = np.random.default_rng([seed, 14])  # not the run's: its prompts and answers stay what they were
        self.loud = None  # the row that is paid too much

    def batch_prompts(self, n, rng):
        """The checker's first."""
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
    right: np.ndarray | None  # (2,) exact, of the checker's and of the model's sums; None where it was not computed
    shares: np.ndarray  # (2,) of the squared advantage
    wanted: float  # mean advantage of a right answer; nan where none is right
    loud: int | None  # the row that was paid too much
    batch: Batch  # with its advantages


def optimizer(name):
    """Those of this page: AdamW as in all runs on these sums, and plain SGD."""
    return AdamW(0.02, clip=1.0) if name == "AdamW" else SGD(0.3)


def run(over, task, optimizer, *, limit=np.inf, price=0.0, seed=0, updates=100, every=10):
    """An Update for each of `updates`. Rewards are cut at `limit`, then less `price` times the completion's log-ratio
    to the start (k1), then less the group's mean, over the deviation of one of normalizers.PARTS.
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
    """(2,) the mean pass rate of the prompts of each source."""
    source = source_of(np.arange(len(rates)))
    return np.array([rates[source == one].mean() for one in SOURCES])
