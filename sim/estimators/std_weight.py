"""What dividing by the group's standard deviation does to a prompt: it gets a weight that depends on its pass rate.
Closed form, for rewards 0 and 1.

For a policy with one parameter and pass rate p, a group's mean push is E[(1/K) sum A_i s_i]; the true gradient is p (1
- p). Liu et al. (2025), arXiv:2503.20783, call this the difficulty bias; the limit of large groups is in Mroueh (2025),
arXiv:2503.06639.
"""

from math import lgamma

import numpy as np


def std_weight(p, K):
    """w_K(p): the mean push with the division, over p (1 - p). It equals sqrt((K - 1) / K) E sqrt(q (1 - q)) / (p (1 -
    p)), with K q binomial.
    """
    p = np.asarray(p, float)
    right = np.arange(1, K)  # a group that is all correct or all wrong pushes nothing
    chosen = np.array([lgamma(K + 1) - lgamma(i + 1) - lgamma(K - i + 1) for i in range(1, K)])
    probability = np.exp(chosen + right * np.log(p[..., None]) + (K - right) * np.log1p(-p[..., None]))
    spread = np.sqrt(right / K * (1 - right / K))
    return np.sqrt((K - 1) / K) * (probability * spread).sum(axis=-1) / (p * (1 - p))


def limit_weight(p):
    """w in the limit of large groups: 1 / sqrt(p (1 - p)), which turns the objective p into 2 arcsin sqrt(p)."""
    return 1 / np.sqrt(p * (1 - p))
