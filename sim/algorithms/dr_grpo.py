"""Dr.GRPO: GRPO without its two divisors, the group's standard deviation and the completion's length. Liu et al.
(2025), arXiv:2503.20783.

A sum over tokens divided by a constant, the longest length T, so that a token weighs the same in a short and in a long
completion.
"""

import numpy as np

from sim.experiments.runs import run

HP = dict(inner_epochs=4, beta=0.0, eps=0.2)


def shape_reward(r, kl, length, trunc, T):  # (N,) each; kl = log pi - log pi_ref of the completion
    return r


def keep_group(R):  # R: (P, K), accuracy, never the shaped reward
    return np.ones(len(R), bool)


def advantage(R, aux):  # R: (P, K) -> (P, K, 1) or (P, K, T)
    A = R - R.mean(1, keepdims=True)
    return A[..., None]


def surrogate(logp, old_logp, A):  # per-token objective and its d/dlogp
    r = np.exp(logp - old_logp)
    lo, hi = 1 - HP["eps"], 1 + HP["eps"]
    obj = np.minimum(r * A, np.clip(r, lo, hi) * A)
    dobj = r * A * ~(((A > 0) & (r > hi)) | ((A < 0) & (r < lo)))
    return obj, dobj


def weights(mask):  # per-token weights; loss = -(w * obj).sum()
    return mask / mask.shape[1] / len(mask)


def kl_term(logp, ref_logp):  # per-token penalty and its d/dlogp
    return 0 * logp, 0 * logp


if __name__ == "__main__":
    run(__file__)
