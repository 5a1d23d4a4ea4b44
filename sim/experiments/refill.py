"""What each update of DAPO samples, and which of it is trained on: dynamic sampling, Yu et al. (2025),
arXiv:2503.14476.

An update that resamples pays for every group that it throws away. The cost is considered wasted if ten updates in a row
sample more than four batches each on average while the pass rate moves by less than one point; these thresholds are
ours.
"""

from dataclasses import dataclass

import numpy as np

WINDOW = 10  # the number of updates over which cost and gain are measured
BATCHES = 4  # batches sampled per batch trained on
GAIN = 0.01  # of the pass rate


@dataclass(frozen=True)
class Drawn:
    """All groups that one update sampled, in order of sampling."""

    right: np.ndarray  # (G, K)
    kept: np.ndarray  # (G,) which groups are trained on


def drawn(rows, algorithm):
    """The Drawn for all rows sampled in an iteration, `StageEvent.summary["drawn"]`."""
    accuracy = rows.accuracy.reshape(-1, rows.K)
    return Drawn(accuracy > 0, algorithm.keep_group(accuracy, algorithm.hp, rows))


def updates(controller, n):
    """(Frame, Drawn) for each of n updates."""
    for event in controller.iterate(n):
        if event.stage == 3:
            what = drawn(event.summary["drawn"], controller.algorithm)
        if event.stage == 7:
            yield event.summary["frame"], what


def by_reward(shape_reward):
    """A faulty `keep_group`: it keeps a group whose completions differ only in the length penalty."""

    def keep_group(accuracy, hp, batch):
        return shape_reward(batch.reward, hp, batch).reshape(accuracy.shape).std(axis=1) > 1e-9

    return keep_group


def rounds(kept, groups):
    """The groups of each round, as ranges: a round samples as many groups as the batch still lacks."""
    rounds_of_groups, first, missing = [], 0, groups
    while first < len(kept):
        rounds_of_groups.append(range(first, first + missing))
        first, missing = first + missing, missing - int(kept[first : first + missing].sum())
    return rounds_of_groups


def for_nothing(completions, pass_rate, batch):
    """Whether the cost was wasted in the window that ends with these; both (updates + 1,), from the start."""
    if len(completions) <= WINDOW:
        return False
    paid = (completions[-1] - completions[-1 - WINDOW]) / WINDOW
    return bool(paid > BATCHES * batch and pass_rate[-1] - pass_rate[-1 - WINDOW] < GAIN)
