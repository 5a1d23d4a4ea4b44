"""Dr.GRPO: GRPO without its two divisors, the group's standard deviation and the completion's length. Liu et al.
(2025), arXiv:2503.20783.

The sum over tokens is divided by a constant, the maximum length T, so a token weighs the same in a short completion as
in a long one.
"""

import numpy as np

HP = dict(inner_epochs=4, beta=0.0, eps=0.2)
MIN_K = 2  # completions per prompt


def shape_reward(reward, hp, batch):  # (N,) -> (N,)
    return reward


def keep_group(accuracy, hp, batch):  # (P, K), never the shaped reward -> (P,)
    return np.ones(len(accuracy), bool)


def advantage(R, hp, batch):  # (P, K) -> (P, K), or (P, K, T) for each token
    A = R - R.mean(1, keepdims=True)
    return A


def surrogate(logp, old_logp, A, hp, batch):  # (N, T) each -> each token's objective and its d/dlogp
    ratio = np.exp(logp - old_logp)
    lo, hi = 1 - hp["eps"], 1 + hp["eps"]
    obj = np.minimum(ratio * A, np.clip(ratio, lo, hi) * A)
    dobj = ratio * A * ~(((A > 0) & (ratio > hi)) | ((A < 0) & (ratio < lo)))
    return obj, dobj


def weights(mask, hp, batch):  # (N, T) -> (N, T); loss = -(weights * obj).sum()
    return mask / mask.shape[1] / len(mask)


def kl_term(logp, ref_logp, hp, batch):  # (N, T) each -> each token's penalty and its d/dlogp
    return 0 * logp, 0 * logp
