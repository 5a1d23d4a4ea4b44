"""PPO: a critic's advantages, the ratio to the policy that sampled, and a clip. Schulman et al. (2017),
arXiv:1707.06347.

ε as in the paper; gamma = lam = 1 as verl sets them for language models; four passes, where the paper has 3 to 15. Not
here: advantage whitening and the clipped value loss of the RLHF implementations (Huang et al. (2024),
arXiv:2403.17031).
"""

import numpy as np

from sim.experiments.runs import run

HP = dict(inner_epochs=4, beta=0.0, eps=0.2, lam=1.0)


def shape_reward(r, kl, length, trunc, T):  # (N,) each; kl = log pi - log pi_ref of the completion
    return r


def keep_group(R):  # R: (P, K), accuracy, never the shaped reward
    return np.ones(len(R), bool)


def advantage(R, aux):  # R: (P, K) -> (P, K, 1) or (P, K, T)
    A = aux["gae"](R, HP["lam"])
    return A


def surrogate(logp, old_logp, A):  # per-token objective and its d/dlogp
    r = np.exp(logp - old_logp)
    lo, hi = 1 - HP["eps"], 1 + HP["eps"]
    obj = np.minimum(r * A, np.clip(r, lo, hi) * A)
    dobj = r * A * ~(((A > 0) & (r > hi)) | ((A < 0) & (r < lo)))
    return obj, dobj


def weights(mask):  # per-token weights; loss = -(w * obj).sum()
    return mask / mask.sum()


def kl_term(logp, ref_logp):  # per-token penalty and its d/dlogp
    return 0 * logp, 0 * logp


if __name__ == "__main__":
    run(__file__)
