"""Three completions of one prompt, with two, five and one tokens, and the single number that a trainer computes from
them.

The first is correct; each advantage is the reward minus the mean of the other two. The token loss is that of fresh
samples before any clip, -ratio * advantage, as in Schulman et al. (2017), arXiv:1707.06347.
"""

import numpy as np

from sim.estimators import aggregation

LENGTHS = (2, 5, 1)
MASK = np.array([[float(t < n) for t in range(max(LENGTHS))] for n in LENGTHS])  # (3, 5)
ADVANTAGE = np.array([1.0, -0.5, -0.5])


def shares(mode="seq-mean-token-mean", ratio=1.0):
    """(3, 5) each token's contribution to the loss: weight times -ratio A, with `ratio` for the very first token and 1
    for all others.
    """
    ratios = MASK.copy()
    ratios[0, 0] = ratio
    return aggregation.MODES[mode](MASK) * -ratios * ADVANTAGE[:, None]


def loss(mode="seq-mean-token-mean", ratio=1.0):
    return shares(mode, ratio).sum()
