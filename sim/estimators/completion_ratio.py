"""The clipped surrogate with one ratio for a whole completion, the product of its tokens' ratios.

This ratio treats the completion as one action; TRL's RLOOTrainer (1.16.0, 2026) clips it. In
sim/estimators/surrogate.py every token has its own ratio. The clip: Schulman et al. (2017), arXiv:1707.06347. Nothing
is averaged here.
"""

import numpy as np


def clipped(logp, old_logp, advantage, eps):
    """Objective and its d/dlogp, both (N, T); logp, old_logp and advantage (N, T) are 0 outside the mask.

    A completion's objective, min(r A, clip(r) A), is placed at its first token, with 0 elsewhere; its slope is the same
    at every own token.
    """
    A = advantage[:, :1]  # the first token is always the completion's own
    ratio = np.exp((logp - old_logp).sum(axis=1, keepdims=True))
    objective = np.minimum(ratio * A, np.clip(ratio, 1 - eps, 1 + eps) * A)
    dead = ((A > 0) & (ratio > 1 + eps)) | ((A < 0) & (ratio < 1 - eps))
    first = np.arange(logp.shape[1]) == 0
    return objective * first, ratio * advantage * ~dead
