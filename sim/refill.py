"""What drawing again costs: completions until a group has a right and a wrong one. Closed form, for K independent completions, each right with p.

The rule is DAPO's dynamic sampling, Yu et al. (2025), arXiv:2503.14476; the loop that draws is `Controller.collect`.
"""
import numpy as np


def live_probability(p, K):
    """1 - p^K - (1 - p)^K: not all right and not all wrong."""
    return -np.expm1(K * np.log1p(-p)) - p**K               # written so that a p of 1e-9 does not round to 0


def completions_per_live_group(p, K):
    """K over that probability: whole groups are drawn until one is live."""
    return K / live_probability(p, K)
