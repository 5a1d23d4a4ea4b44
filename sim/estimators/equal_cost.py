"""Two training curves compared at equal cost, meaning at equal numbers of sampled completions instead of updates.
Closed form, linear between points.

An update of DAPO, arXiv:2503.14476, samples as many completions as it takes to fill its batch, so curves by updates
compare runs with different costs.
"""

import numpy as np


def lead(completions, rate, other_completions, other_rate):
    """By how much the other method is ahead when both have sampled as many completions as the run that sampled fewer,
    averaged over seeds. All arguments are sequences with one curve (points,) per seed, and seeds are paired.
    """
    gaps = []
    for x, y, other_x, other_y in zip(completions, rate, other_completions, other_rate):
        both = min(x[-1], other_x[-1])
        gaps.append(np.interp(both, other_x, other_y) - np.interp(both, x, y))
    return np.mean(gaps)
