"""Runs of steps that are compared with each other and with the run's beginning. Thresholds, not a model."""

import numpy as np

BLOCKS = 8  # at most
FINE_BLOCKS = 16  # for means over all completions, which need fewer groups
GROUPS = 20  # per block on average; with fewer, a run in which nothing went wrong had two false alarms
BASE = 64  # completions that the beginning must hold


def blocks(rollouts, most=BLOCKS):
    """Rows, one boolean (N,) per block: at most `most` blocks of equally many steps, of 20 groups on average."""
    steps = rollouts.steps
    count = max(1, min(most, len(steps), len(rollouts.prompts) // GROUPS))
    return [np.isin(rollouts.step, part) for part in np.array_split(steps, count)]


def base(rollouts):
    """Rows (N,) of the first steps that hold 64 completions between them."""
    steps, sizes = np.unique(rollouts.step, return_counts=True)
    last = steps[min(np.searchsorted(np.cumsum(sizes), BASE), len(steps) - 1)]
    return rollouts.step <= last


def some_groups(group, part, most):
    """Rows (n,) of whole groups, evenly spaced in a part (N,) of the run: about `most` rows, at least one group."""
    groups = np.unique(group[part])
    kept = max(1, min(len(groups), len(groups) * most // int(part.sum())))
    return np.flatnonzero(np.isin(group, groups[np.linspace(0, len(groups) - 1, kept).round().astype(np.int64)]))
