"""The inputs on which verl and TRL were run, and an enumeration of every group."""

from itertools import product

import numpy as np

GROUPS = np.array([[1, 0, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0], [0.9, -0.3, 0.2, 2]])

# the case of the TRL oracles: log-probs of the sampling policy -1, three completions of 4, 3 and 2 tokens
RATIO = np.array([[0.5, 0.9, 1, 1.5], [0.5, 0.9, 1.1, 1.5], [1.6, 1.25, 0.7, 1]])
MASK = np.array([[1.0, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]])
OLD, A = np.full((3, 4), -1.0), np.array([[1.0], [-1], [-0.5]]) * MASK


def expected_push(file, p, K):
    """E[(1/K) sum A_i s_i] on a one-parameter Bernoulli policy, where s_i = reward - p: all 2^K groups. The true
    gradient is p (1 - p).
    """
    total = 0.0
    for group in product([0.0, 1.0], repeat=K):
        R = np.array([group])
        total += p ** R.sum() * (1 - p) ** (K - R.sum()) * (file.advantage(R, file.HP, None)[0] * (R[0] - p)).mean()
    return total
