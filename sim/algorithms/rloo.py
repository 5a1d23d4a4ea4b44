"""RLOO: a completion's baseline is the mean of the prompt's other completions. Kool et al. (2019); Ahmadian et al.
(2024), arXiv:2402.14740.

Unbiased, because the baseline does not depend on the completion it is subtracted from. One line away from REINFORCE: no
ratio, no clip. A KL penalty belongs in the reward here (shape_reward).
"""

import numpy as np

from sim.experiments.runs import run

HP = dict(inner_epochs=1, beta=0.0)


def shape_reward(r, kl, length, trunc, T):  # (N,) each; kl = log pi - log pi_ref of the completion
    return r


def keep_group(R):  # R: (P, K), accuracy, never the shaped reward
    return np.ones(len(R), bool)


def advantage(R, aux):  # R: (P, K) -> (P, K, 1) or (P, K, T)
    K = R.shape[1]
    A = R - (R.sum(1, keepdims=True) - R) / (K - 1)
    return A[..., None]


def surrogate(logp, old_logp, A):  # per-token objective and its d/dlogp
    obj, dobj = A * logp, A
    return obj, dobj


def weights(mask):  # per-token weights; loss = -(w * obj).sum()
    return mask / len(mask)


def kl_term(logp, ref_logp):  # per-token penalty and its d/dlogp
    return 0 * logp, 0 * logp


if __name__ == "__main__":
    run(__file__)
