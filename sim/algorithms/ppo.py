"""PPO: advantages from a critic, the ratio to the policy that sampled, and a clip. Schulman et al. (2017),
arXiv:1707.06347.

ε is the paper's, gamma = lam = 1 are verl's settings for language models, and there are four passes where the paper
uses 3 to 15. Advantage whitening and the clipped value loss of RLHF implementations (Huang et al. (2024),
arXiv:2403.17031) are left out.
"""

import numpy as np

HP = dict(inner_epochs=4, beta=0.0, eps=0.2, lam=1.0)
MIN_K = 1  # completions per prompt


def shape_reward(reward, hp, batch):  # (N,) -> (N,)
    return reward


def keep_group(accuracy, hp, batch):  # (P, K), never the shaped reward -> (P,)
    return np.ones(len(accuracy), bool)


def advantage(R, hp, batch):  # (P, K) -> (P, K), or (P, K, T) for each token
    A = batch.gae(R, hp["lam"])
    return A


def surrogate(logp, old_logp, A, hp, batch):  # (N, T) each -> each token's objective and its d/dlogp
    ratio = np.exp(logp - old_logp)
    lo, hi = 1 - hp["eps"], 1 + hp["eps"]
    obj = np.minimum(ratio * A, np.clip(ratio, lo, hi) * A)
    dobj = ratio * A * ~(((A > 0) & (ratio > hi)) | ((A < 0) & (ratio < lo)))
    return obj, dobj


def weights(mask, hp, batch):  # (N, T) -> (N, T); loss = -(weights * obj).sum()
    return mask / mask.sum()


def kl_term(logp, ref_logp, hp, batch):  # (N, T) each -> each token's penalty and its d/dlogp
    return 0 * logp, 0 * logp
