"""GRPO: a prompt's other completions take the place of a critic. Shao et al. (2024), DeepSeekMath, arXiv:2402.03300.

Differences from PPO: the advantage is the reward's z-score within the group, every completion counts the same whatever
its length (1/|o|), and the KL to the reference is a penalty in the loss (k3). The paper does not say which standard
deviation it uses; the sample standard deviation and the 1e-6 are verl's.
"""

import numpy as np

HP = dict(inner_epochs=4, beta=0.04, eps=0.2)
MIN_K = 2  # completions per prompt


def shape_reward(reward, hp, batch):  # (N,) -> (N,)
    return reward


def keep_group(accuracy, hp, batch):  # (P, K), never the shaped reward -> (P,)
    return np.ones(len(accuracy), bool)


def advantage(R, hp, batch):  # (P, K) -> (P, K), or (P, K, T) for each token
    A = R - R.mean(1, keepdims=True)
    A = A / (R.std(1, ddof=1, keepdims=True) + 1e-6)
    return A


def surrogate(logp, old_logp, A, hp, batch):  # (N, T) each -> each token's objective and its d/dlogp
    ratio = np.exp(logp - old_logp)
    lo, hi = 1 - hp["eps"], 1 + hp["eps"]
    obj = np.minimum(ratio * A, np.clip(ratio, lo, hi) * A)
    dobj = ratio * A * ~(((A > 0) & (ratio > hi)) | ((A < 0) & (ratio < lo)))
    return obj, dobj


def weights(mask, hp, batch):  # (N, T) -> (N, T); loss = -(weights * obj).sum()
    return mask / mask.sum(1, keepdims=True) / len(mask)


def kl_term(logp, ref_logp, hp, batch):  # (N, T) each -> each token's penalty and its d/dlogp
    d = ref_logp - logp  # k3
    return np.exp(d) - d - 1, 1 - np.exp(d)
