"""What each update of DAPO draws, and which of it is trained on: dynamic sampling of Yu et al. (2025),
arXiv:2503.14476.

An update that draws again pays for every group that it throws away. It pays for nothing where ten updates in a row draw
more than four batches each, in the mean, and the pass rate moves by less than a point: thresholds of ours.
"""

from dataclasses import dataclass

import numpy as np

WINDOW = 10  # updates over which price and gain are taken
BATCHES = 4  # drawn for one
GAIN = 0.01  # of the pass rate


@dataclass(frozen=True)
class Drawn:
    """All groups that one update drew, in the order of drawing."""

    right: np.ndarray  # (G, K)
    kept: np.ndarray  # (G,) what is trained on


def drawn(rows, algorithm):
    """Of all rows drawn in an iteration, `StageEvent.summary["drawn"]`."""
    accuracy = rows.accuracy.reshape(-1, rows.K)
    return Drawn(accuracy > 0, algorithm.keep_group(accuracy, algorithm.hp, rows))


def updates(controller, n):
    """(Frame, Drawn) of each of n updates."""
    for event in controller.iterate(n):
        if event.stage == 3:
            what = drawn(event.summary["drawn"], controller.algorithm)
        if event.stage == 7:
            yield event.summary["frame"], what


def by_reward(shape_reward):
    """A `keep_group` with a mistake: a group that differs in nothing but the price on length is kept."""

    def keep_group(accuracy, hp, batch):
        return shape_reward(batch.reward, hp, batch).reshape(accuracy.shape).std(axis=1) > 1e-9

    return keep_group


def rounds(kept, groups):
    """The groups of each round, as ranges: a round draws as many as are missing of a batch."""
    rounds_of_groups, first, missing = [], 0, groups
    while first < len(kept):
        rounds_of_groups.append(range(first, first + missing))
        first, missing = first + missing, missing - int(kept[first : first + missing].sum())
    return rounds_of_groups


def for_nothing(completions, pass_rate, batch):
    """Whether that is so of the window that ends with these; both (updates + 1,), from the start on."""
    if len(completions) <= WINDOW:
        return False
    paid = (completions[-1] - completions[-1 - WINDOW]) / WINDOW
    return bool(paid > BATCHES * batch and pass_rate[-1] - pass_rate[-1 - WINDOW] < GAIN)
