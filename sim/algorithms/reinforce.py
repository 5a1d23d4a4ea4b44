"""REINFORCE: every token of a completion is pushed by the completion's reward. Williams (1992), doi:10.1007/BF00992696.

The objective is summed over tokens and averaged over completions, which gives an unbiased policy gradient of the pass
rate.
"""

import numpy as np

HP = dict(inner_epochs=1, beta=0.0)
MIN_K = 1  # completions per prompt


def shape_reward(reward, hp, batch):  # (N,) -> (N,)
    return reward


def keep_group(accuracy, hp, batch):  # (P, K), never the shaped reward -> (P,)
    return np.ones(len(accuracy), bool)


def advantage(R, hp, batch):  # (P, K) -> (P, K), or (P, K, T) for each token
    A = R
    return A


def surrogate(logp, old_logp, A, hp, batch):  # (N, T) each -> each token's objective and its d/dlogp
    obj, dobj = A * logp, A
    return obj, dobj


def weights(mask, hp, batch):  # (N, T) -> (N, T); loss = -(weights * obj).sum()
    return mask / len(mask)


def kl_term(logp, ref_logp, hp, batch):  # (N, T) each -> each token's penalty and its d/dlogp
    return 0 * logp, 0 * logp
