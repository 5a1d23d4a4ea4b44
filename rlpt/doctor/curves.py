"""Batches of a run, how its curves begin, whether a change lasts, and how noisy its reward is.

A batch is a row in which the reward has a value; where each batch has several updates, the rows between are of the same
batch. All places are batches, counted from 0, and all times steps of the log. The variance of N rewards of 0 and 1 is
closed form: s² = p (1 − p) N/(N − 1).
"""

from functools import cached_property
from math import sqrt

import numpy as np

ALIKE = 1e-6  # a deviation below this is none: equal rewards that are no binary fractions differ in the seventh digit


class Run:
    """The quantities of a log at its batches."""

    def __init__(self, found):
        self.found = found
        first = next((name for name in ("reward", "margin") if name in found.curves), None)
        self.batches = found.curves[first].steps if first else found.steps

    @property
    def unit(self):
        """What the log counts: “step”, or “row”."""
        return self.found.unit

    def __len__(self):
        return len(self.batches)

    def has(self, *names):
        return all(name in self.found.curves for name in names)

    def at(self, name):
        """(batches,) values of a quantity: the first in each batch's rows; NaN where it has none."""
        return self.placed(self.found.curves[name]) if self.has(name) else np.full(len(self), np.nan)

    def placed(self, curve):
        """The same of any Curve."""
        ends = np.append(self.batches[1:], np.inf)
        place = np.searchsorted(curve.steps, self.batches)
        values = np.append(curve.values, np.nan)[place]
        steps = np.append(curve.steps, np.inf)[place]
        return np.where(steps < ends, values, np.nan)

    def batch_of(self, step):
        """The batch that a step's row belongs to."""
        return int(max(0, np.searchsorted(self.batches, step, side="right") - 1))

    @cached_property
    def reward(self):
        return self.at("reward")

    @cached_property
    def deviation(self):
        """The reward's own deviation in each batch."""
        return self.at("reward_sd")

    @cached_property
    def agree(self):
        """(batches,) whether the logged deviation is 0; all False where none is logged."""
        return self.deviation <= ALIKE * np.maximum(1, np.abs(self.reward))

    @cached_property
    def grouped(self):
        """Whether the deviation is the mean of the groups' own, as in TRL of 2025, and not that of a batch: of rewards
        of 0 and 1 the latter is at least p (1 − p).
        """
        p, s = self.reward, self.deviation
        known = p[np.isfinite(p)]
        mixed = (p > 1e-6) & (p < 1 - 1e-6) & (s <= 1)
        if not mixed.any() or np.any((known < 0) | (known > 1)):
            return False
        return bool(np.median(s[mixed] ** 2 / (p[mixed] * (1 - p[mixed]))) < 0.8)

    @cached_property
    def alike(self):
        """(batches,) whether all completions of a batch have one reward; all False where the log does not tell."""
        if not self.grouped:
            return self.agree
        return self.agree & ((self.reward == np.nanmin(self.reward)) | (self.reward == np.nanmax(self.reward)))

    @cached_property
    def scale(self):
        """What a change of the reward is measured in: its deviation at the beginning, or where there is none there, its
        largest; half of the curve's range where none is logged.
        """
        known = self.deviation[np.isfinite(self.deviation)]
        if not len(known):
            values = self.reward[np.isfinite(self.reward)]
            return float(np.ptp(values)) / 2 or None if len(values) > 3 else None
        early = known[: window(len(self))]
        early = early[early > ALIKE]
        return float(early.mean()) if len(early) else float(known.max())

    @property
    def measure(self):
        """What `scale` is, in words."""
        return "standard deviations" if np.isfinite(self.deviation).any() else "times half of its range"

    @cached_property
    def size(self):
        """Completions in a batch, where rewards are 0 and 1 and their deviation says so; else None."""
        p, s = self.reward, self.deviation
        mixed = (p > 1e-6) & (p < 1) & (s <= 1)
        if mixed.sum() < 1:
            return None
        excess = s[mixed] ** 2 / (p[mixed] * (1 - p[mixed]))
        if np.any(excess <= 1 + 1e-6):
            return None
        sizes = excess / (excess - 1)
        return float(np.median(sizes)) if sizes.max() <= 1.02 * sizes.min() else None

    @cached_property
    def noise(self):
        """Standard deviation of a batch's mean reward."""
        known = self.deviation[np.isfinite(self.deviation)]
        most = float(known.max()) if len(known) else 0.0
        if self.size:
            return most / sqrt(self.size)
        return neighbors(self.reward) or most / 4

    @cached_property
    def jitter(self):
        """The same with what prompts add that differ from batch to batch."""
        return max(self.noise, neighbors(self.reward))

    @cached_property
    def rise(self):
        """(how much the last fifth's reward lies above the first batches', standard error); None below four batches."""
        return rise(self.reward, self.noise)

    @property
    def rose(self):
        return self.rise is not None and self.rise[0] > max(0.2 * (self.scale or 0), 3 * self.rise[1], 1e-9)

    def begin(self, name):
        """A curve's beginning; None where it has no value in batch 1."""
        return beginning(self.at(name))


def window(batches):
    """Batches of a run's beginning."""
    return max(1, min(10, batches // 4))


def rise(values, noise):
    """(mean of the last fifth minus that of the first batches, its standard error); None below four values."""
    values = values[np.isfinite(values)]
    if len(values) < 4:
        return None
    first, last = window(len(values)), max(1, len(values) // 5)
    error = noise * sqrt(1 / first + 1 / last)
    return float(values[-last:].mean() - values[:first].mean()), error


def neighbors(values):
    """The noise of a curve from the differences of neighbors that differ; 0.0 with fewer than five of them."""
    steps = np.abs(np.diff(values[np.isfinite(values)]))
    steps = steps[steps > 0]
    return float(1.48 * np.median(steps) / sqrt(2)) if len(steps) >= 5 else 0.0


def beginning(values):
    """The median of the first three values if they lie within 1.5 times of each other, else the first."""
    first = values[:3][np.isfinite(values[:3])]
    if not len(first):
        return None
    close = len(first) == 3 and first.min() > 0 and first.max() <= 1.5 * first.min()
    return float(np.median(first)) if close else float(first[0])


def ahead(batches):
    """How many batches a change has to be seen in to last."""
    return max(3, min(10, batches // 10))


def first_lasting(mask, known):
    """The first place where a mask holds there and in eight tenths of the next batches; None without one."""
    places = np.flatnonzero(known)
    held = mask[places]
    need = ahead(len(mask))
    for n in np.flatnonzero(held):
        following = held[n + 1 : n + 1 + need]
        if len(following) >= min(3, need) and following.mean() >= 0.8:
            return int(places[n])
    return None
