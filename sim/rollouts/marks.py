"""Which unpaid scores say how good a completion is, and which of them says whether it is correct.

A file can hold flags of any kind, and one that is 0 where all is well would call every good completion wrong. A name
tells, or the correlation with the reward at the run's beginning. The thresholds are the book's own, not a model.
"""

import re

import numpy as np

from sim.rollouts.blocks import base
from sim.rollouts.rows import mean_of

CORRECT = re.compile(  # names
    r"(?<![a-z])(exact|correct|accura|right|solved|verif|held.?out|gold|pass|acc(?![a-z]))", re.IGNORECASE
)
GOES_WITH = 0.2  # correlation with the reward, within groups
EXTREME = 0.5  # of the values of a score that are its lowest or highest, if its name does not say that it is a mark


def good(rollouts, names):
    """The names of scores that are higher for better completions; those whose name says so come first."""
    along = {name: correlation(rollouts, name) for name in names}
    named = [name for name in names if CORRECT.search(name) and along[name] > -GOES_WITH]
    return named + [name for name in names if name not in named and along[name] > GOES_WITH]


def correlation(rollouts, name):
    """Of a score with the reward, within groups, at the beginning; 0 if nothing varies or is known."""
    if rollouts.reward is None:
        return 0.0
    score, reward = rollouts.scores[name], rollouts.reward
    rows = base(rollouts) & np.isfinite(score) & np.isfinite(reward)
    group = np.unique(rollouts.group[rows], return_inverse=True)[1]
    score, reward = (values[rows] - mean_of(values[rows], group) for values in (score, reward))
    spread = np.sqrt((score**2).sum() * (reward**2).sum())
    return float((score * reward).sum() / spread) if spread > 0 else 0.0


def judge(rollouts, names):
    """The name of the score that says whether a completion is correct, or "": it lies between 0 and 1, and varies."""
    return next((name for name in good(rollouts, names) if is_mark(rollouts.scores[name], name)), "")


def is_mark(score, name):
    known = score[np.isfinite(score)]
    if not len(known) or known.min() < 0 or known.max() > 1 or np.ptp(known) == 0:
        return False
    return bool(CORRECT.search(name)) or np.isin(known, [known.min(), known.max()]).mean() >= EXTREME
