"""What the groups of a run say: which are tied, and how many completions teach. Counting, and not a model.

A tie is judged by the reward: a trainer that computes in float32 leaves advantages of 0.0006 in groups that are tied.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

TOP, BETWEEN, ZERO, MIXED, UNKNOWN = "top", "between", "zero", "mixed", "unknown"
ALIKE = 1e-6  # of the range of the rewards: a sum in float32


def reward_range(reward):
    """(lowest, highest) of the finite rewards; if all are the same, the lowest is 0 or below."""
    known = reward[np.isfinite(reward)]
    if not len(known):
        return 0.0, 0.0
    low, top = float(known.min()), float(known.max())
    return (low if low < top else min(0.0, low)), top


def states(reward, group):
    """(G,) of TOP, BETWEEN, ZERO, MIXED, or UNKNOWN without a finite reward or with a single completion. TOP is a
    tie at the highest reward of the file, if that is above 0 or above another reward; ZERO one at any other reward of 0
    or below.
    """
    low, top = reward_range(reward)
    slack = ALIKE * max(1.0, top - low)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    if not len(starts):
        return np.empty(0, "<U7")
    most, least = np.fmax.reduceat(reward, starts), np.fmin.reduceat(reward, starts)
    state = np.where(most <= slack, ZERO, BETWEEN)
    state = np.where((most >= top - slack) & (top > low + slack), TOP, state)
    state = np.where(most - least > slack, MIXED, state)
    return np.where(np.isnan(most) | (np.bincount(group) < 2), UNKNOWN, state)


def rates(reward, group):
    """Each group's mean reward on the scale from the file's lowest (0) to its highest reward (1), (G,): the pass rate
    if rewards are 0 and 1.
    """
    low, top = reward_range(reward)
    known = np.isfinite(reward)
    count = np.bincount(group, known)
    mean = np.bincount(group, np.where(known, reward, 0)) / np.maximum(count, 1)
    return np.where(count > 0, (mean - low) / max(top - low, 1e-300), np.nan)


def well_paid(reward):
    """Which completions (N,) are at least halfway from the lowest to the highest reward: the ones of 0 and 1."""
    low, top = reward_range(reward)
    return (reward >= (low + top) / 2) & (top > low)


@dataclass(frozen=True)
class Step:
    """The numbers of one step. Means are over completions whose value is known; None if nothing is known."""

    step: int
    completions: int
    groups: int
    reward: float | None
    scores: dict[str, float]
    tied: dict[str, int] | None  # groups that are tied at the TOP, BETWEEN, at ZERO
    effective: int | None  # completions in groups that are not tied
    distinct: int  # texts
    commonest: int  # completions with the most frequent text
    cut: int | None
    tokens: float | None


def steps(rollouts):
    """One Step per step, in order. Ties are judged by `reward`."""
    reward = rollouts.reward
    state = None if reward is None else states(reward, rollouts.group)
    starts = np.searchsorted(rollouts.step, rollouts.steps)
    return [
        numbers(rollouts, slice(first, last), state) for first, last in zip(starts, [*starts[1:], len(rollouts.step)])
    ]


def numbers(rollouts, rows, state):
    reward, cut, tokens = rollouts.reward, rollouts.cut, rollouts.tokens
    groups, sizes = np.unique(rollouts.group[rows], return_counts=True)
    texts = Counter(rollouts.completions[rows])
    return Step(
        step=int(rollouts.step[rows][0]),
        completions=int(sizes.sum()),
        groups=len(groups),
        reward=None if reward is None else known_mean(reward[rows]),
        scores={name: known_mean(score[rows]) for name, score in rollouts.scores.items()},
        tied=None if state is None else {name: int((state[groups] == name).sum()) for name in (TOP, BETWEEN, ZERO)},
        effective=None if state is None else int(sizes[state[groups] == MIXED].sum()),
        distinct=len(texts),
        commonest=max(texts.values()),
        cut=None if cut is None else int(cut[rows].sum()),
        tokens=None if tokens is None else known_mean(tokens[rows]),
    )


def known_mean(values):
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def prompt_numbers(rollouts):
    """The number of each group's prompt, (G,): groups of one text in several steps have the same."""
    number = {}
    return np.array([number.setdefault(text, len(number)) for text in rollouts.prompts], np.int64)
