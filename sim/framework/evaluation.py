"""Evaluation: the newest weights on prompts that training never draws, by the scorer, with an interval.

It has a generator of its own for every update, made of the run's seed and the number of the update: a run learns the
same with and without it, and has nothing of it to keep for going on. What a reader of such numbers has to know, Miller
(2024), arXiv:2411.00640.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators import wilson
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine

INTERVAL = "Wilson's 95 % interval over completions, of these prompts and no others"


@dataclass(frozen=True)
class Evaluation:
    update: int  # how many the weights had seen
    right: int
    completions: int

    @property
    def mean(self):
        """Share of right completions."""
        return self.right / self.completions

    @property
    def interval(self):
        """(low, high) of it, INTERVAL."""
        return wilson.interval(self.right, self.completions)

    def __str__(self):
        return "{:.3f} [{:.3f}, {:.3f}]".format(self.mean, *self.interval)


def evaluated(task, policy, prompts, K, seed, update):
    """K completions of each of prompts (P,), sampled at temperature 1, as an Evaluation."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(update,)))  # never the stream of the run
    batch = Verifier(task).verify(*RolloutEngine(policy).generate(task, prompts, K, rng))
    return Evaluation(update, int(batch.accuracy.sum()), len(batch.tokens))
