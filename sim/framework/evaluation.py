"""Evaluation: the newest weights, scored on prompts that training never uses, with an interval.

Every evaluation has its own generator, seeded by the run's seed and the number of the update. A run therefore learns
the same with and without evaluations, and a checkpoint needs nothing from them. On how to read such numbers, see Miller
(2024), arXiv:2411.00640.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators import wilson
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine

INTERVAL = "Wilson's 95 % interval over completions, for these prompts and no others"


@dataclass(frozen=True)
class Evaluation:
    update: int  # number of updates that the weights had seen
    right: int
    completions: int

    @property
    def mean(self):
        """Fraction of correct completions."""
        return self.right / self.completions

    @property
    def interval(self):
        """(low, high) of the mean; see INTERVAL."""
        return wilson.interval(self.right, self.completions)

    def __str__(self):
        return "{:.3f} [{:.3f}, {:.3f}]".format(self.mean, *self.interval)


def evaluated(task, policy, prompts, K, seed, update):
    """An Evaluation of K completions for each of `prompts` (P,), sampled at temperature 1."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(update,)))  # never the run's own stream
    batch = Verifier(task).verify(*RolloutEngine(policy).generate(task, prompts, K, rng))
    return Evaluation(update, int(batch.accuracy.sum()), len(batch.tokens))
