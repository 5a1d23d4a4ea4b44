"""Whether longer texts get more reward than other texts of their group: the rank correlation of Spearman (1904),
averaged per prompt. Closed form.
"""

from dataclasses import dataclass

import numpy as np

from sim.rollouts.groups import prompt_numbers
from sim.rollouts.rows import mean_of


@dataclass(frozen=True)
class Correlation:
    """`mean` over prompts, `low` the lower end of its 95 % interval over prompts, `groups` those in which both vary."""

    mean: float
    low: float
    groups: int


def lengths(rollouts):
    """Tokens if they are known, otherwise characters, which serve for ranks alone, (N,)."""
    return np.array([len(text) for text in rollouts.completions]) if rollouts.tokens is None else rollouts.tokens


def of_length(rollouts):
    """The Correlation of reward and length within groups; nan without groups in which both vary."""
    known = np.isfinite(rollouts.reward)
    kept, group = np.unique(rollouts.group[known], return_inverse=True)
    if not len(kept):
        return Correlation(np.nan, np.nan, 0)
    x, y = (ranks(values[known], group) for values in (lengths(rollouts), rollouts.reward))
    x, y = x - mean_of(x, group), y - mean_of(y, group)
    xx, yy, xy = (np.bincount(group, product) for product in (x * x, y * y, x * y))
    both = (xx > 1e-9) & (yy > 1e-9)
    if not both.any():
        return Correlation(np.nan, np.nan, 0)
    rho = xy[both] / np.sqrt(xx[both] * yy[both])
    prompt = np.unique(prompt_numbers(rollouts)[kept][both], return_inverse=True)[1]
    per_prompt = np.bincount(prompt, rho) / np.bincount(prompt)
    n = len(per_prompt)
    error = per_prompt.std(ddof=1) / np.sqrt(n) if n > 1 else np.inf
    return Correlation(float(per_prompt.mean()), float(per_prompt.mean() - 1.96 * error), int(both.sum()))


def ranks(values, group):
    """Each value's rank within its group, (N,), equal values sharing the mean of their ranks."""
    order = np.lexsort((values, group))
    new = np.diff(values[order], prepend=np.nan) != 0
    new |= np.diff(group[order], prepend=-1) != 0
    run = np.cumsum(new) - 1
    out = np.empty(len(values))
    out[order] = (np.bincount(run, np.arange(len(values))) / np.bincount(run))[run]
    return out  # counted over the whole file: within a group a constant is added
