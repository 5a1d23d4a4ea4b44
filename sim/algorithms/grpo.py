"""GRPO: the other completions of a prompt in place of a critic. Shao et al. (2024), DeepSeekMath, arXiv:2402.03300.

Against PPO: the advantage is the reward's z-score within the group, each completion counts the same however long it is
(1/|o|), and the KL to the reference is a penalty in the loss (k3). The paper does not say which standard deviation: the
sample's and the 1e-6 are verl's.
"""

import numpy as np

from sim.experiments.runs import run

HP = dict(inner_epochs=4, beta=0.04, eps=0.2)


def shape_reward(r, kl, length, trunc, T):  # (N,) each; kl = log pi - log pi_ref of the completion
    return r


def keep_group(R):  # R: (P, K), accuracy, never the shaped reward
    return np.ones(len(R), bool)


def advantage(R, aux):  # R: (P, K) -> (P, K, 1) or (P, K, T)
    A = R - R.mean(1, keepdims=True)
    A = A / (R.std(1, ddof=1, keepdims=True) + 1e-6)
    return A[..., None]


def surrogate(logp, old_logp, A):  # per-token objective and its d/dlogp
    r = np.exp(logp - old_logp)
    lo, hi = 1 - HP["eps"], 1 + HP["eps"]
    obj = np.minimum(r * A, np.clip(r, lo, hi) * A)
    dobj = r * A * ~(((A > 0) & (r > hi)) | ((A < 0) & (r < lo)))
    return obj, dobj


def weights(mask):  # per-token weights; loss = -(w * obj).sum()
    return mask / mask.sum(1, keepdims=True) / len(mask)


def kl_term(logp, ref_logp):  # per-token penalty and its d/dlogp
    d = ref_logp - logp  # k3
    return np.exp(d) - d - 1, 1 - np.exp(d)


if __name__ == "__main__":
    run(__file__)
