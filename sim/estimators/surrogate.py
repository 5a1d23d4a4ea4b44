"""PPO's clipped surrogate for one token at a time, and where its gradient is not zero. Schulman et al. (2017),
arXiv:1707.06347.

`sim/algorithms/ppo.py` trains with the same formula and one eps. Here the two sides of the clip range are separate (Yu
et al. (2025), DAPO, arXiv:2503.14476), and the dual clip can be added (Ye et al. (2019), arXiv:1912.09729). Nothing is
averaged here.
"""

import numpy as np


def clipped(logp, old_logp, advantage, eps_low, eps_high, dual_clip=np.inf):
    """min(r A, clip(r, 1 - eps_low, 1 + eps_high) A) with r = exp(logp - old_logp), and its d/dlogp.

    For A < 0 the objective is at least dual_clip A.
    """
    ratio = np.exp(logp - old_logp)
    inside = np.clip(ratio, 1 - eps_low, 1 + eps_high)
    objective = np.minimum(ratio * advantage, inside * advantage)
    dead = removed(ratio, advantage, eps_low, eps_high) | beyond_dual(ratio, advantage, dual_clip)
    if np.isfinite(dual_clip):  # otherwise inf * 0 below would be nan
        at_least = np.maximum(objective, dual_clip * advantage)
        objective = np.where(advantage < 0, at_least, objective)
    return objective, ratio * advantage * ~dead


def removed(ratio, advantage, eps_low, eps_high):
    """Where the clip removes the gradient, because the token has already moved far enough in the intended direction."""
    return ((advantage > 0) & (ratio > 1 + eps_high)) | ((advantage < 0) & (ratio < 1 - eps_low))


def beyond_dual(ratio, advantage, dual_clip):
    """Where the dual clip removes the gradient: an unwanted token that has become dual_clip times as likely."""
    return (advantage < 0) & (ratio > dual_clip)


def loss_and_slope(ratio, advantage, eps_low, eps_high, dual_clip=np.inf):
    """A token's loss, which is minus its objective, and dL/dr as functions of the ratio, for the figure of
    one token.
    """
    objective, slope = clipped(np.log(ratio), 0.0, advantage, eps_low, eps_high, dual_clip)
    return -objective, -slope / ratio  # dL/dlogp = r dL/dr
