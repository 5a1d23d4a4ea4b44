"""RLOO: a completion's baseline is the mean reward of the prompt's other completions. Kool et al. (2019);
Ahmadian et al. (2024), arXiv:2402.14740.

It is unbiased because the baseline does not depend on the completion that it is subtracted from. It differs from
REINFORCE in one line and has neither ratio nor clip. A KL penalty belongs in the reward here (shape_reward).
"""

import numpy as np

HP = dict(inner_epochs=1, beta=0.0)
MIN_K = 2  # completions per prompt


def shape_reward(reward, hp, batch):  # (N,) -> (N,)
    return reward


def keep_group(accuracy, hp, batch):  # (P, K), never the shaped reward -> (P,)
    return np.ones(len(accuracy), bool)


def advantage(R, hp, batch):  # (P, K) -> (P, K), or (P, K, T) for each token
    A = R - (R.sum(1, keepdims=True) - R) / (R.shape[1] - 1)
    return A


def surrogate(logp, old_logp, A, hp, batch):  # (N, T) each -> each token's objective and its d/dlogp
    obj, dobj = A * logp, A
    return obj, dobj


def weights(mask, hp, batch):  # (N, T) -> (N, T); loss = -(weights * obj).sum()
    return mask / len(mask)


def kl_term(logp, ref_logp, hp, batch):  # (N, T) each -> each token's penalty and its d/dlogp
    return 0 * logp, 0 * logp
