"""Two training curves compared at equal cost: at as many completions drawn, not at as many updates. Closed form, linear
between the points.

An update of DAPO, arXiv:2503.14476, draws as many completions as it takes to fill its batch, so a curve by updates
compares runs that have paid differently.
"""

import numpy as np


def lead(completions, rate, other_completions, other_rate):
    """How far the other method is ahead where both have drawn as many completions as the one that drew fewer, mean of
    the seeds; all are sequences of one curve (points,) a seed, and seeds are paired.
    """
    gaps = []
    for x, y, other_x, other_y in zip(completions, rate, other_completions, other_rate):
        both = min(x[-1], other_x[-1])
        gaps.append(np.interp(both, other_x, other_y) - np.interp(both, x, y))
    return np.mean(gaps)
