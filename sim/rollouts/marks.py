"""Which unpaid scores say how good a completion is, and which of them says whether it is correct.

A file can hold flags of any kind, and one that is 0 where all is well would call every good completion wrong. A name
tells, or the correlation with the reward at the run's beginning. The thresholds are the book's own, not a model.
"""

import re

import numpy as np

from sim.rollouts.blocks import base
from sim.rollouts.rows import mean_of

CORRECT = re.compile(
    r"exact|correct|accura|right|solved|verif|held.?out|gold|(^|[_/-])acc([_/-]|$)|pass", re.I
)  # names
GOES_WITH = 0.2  # correlation with the reward, within groups
EXTREME = 0.5  # of the values of a score that are its lowest or highest, if its name does not say that it is a mark


def good(rollouts, names):
    """The names of scores that are higher for better completions; those whose name says so come first."""
    named = [name for name in names if CORRECT.search(name)]
    return named + [name for name in names if name not in named and goes_with_reward(rollouts, name)]


def goes_with_reward(rollouts, name):
    if rollouts.reward is None:
        return False
    score, reward = rollouts.scores[name], rollouts.reward
    rows = base(rollouts) & np.isfinite(score) & np.isfinite(reward)
    score, reward = (values[rows] - mean_of(values[rows], rollouts.group[rows]) for values in (score, reward))
    spread = np.sqrt((score**2).sum() * (reward**2).sum())
    return bool(spread > 0 and (score * reward).sum() / spread > GOES_WITH)


def judge(rollouts, names):
    """The name of the score that says whether a completion is correct, or "": it lies between 0 and 1, and varies."""
    return next((name for name in good(rollouts, names) if is_mark(rollouts.scores[name], name)), "")


def is_mark(score, name):
    known = score[np.isfinite(score)]
    if not len(known) or known.min() < 0 or known.max() > 1 or np.ptp(known) == 0:
        return False
    return bool(CORRECT.search(name)) or np.isin(known, [known.min(), known.max()]).mean() >= EXTREME
