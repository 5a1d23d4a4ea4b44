"""DAPO: a wider clip above, groups without a signal drawn again, token mean, a price on overlong completions. Yu et al.
(2025), arXiv:2503.14476.

Not here: overlong filtering, and the paper's rewards of 1 and -1: ours are 1 and 0, so the same punishment weighs twice
as much.
"""

import numpy as np

from sim.experiments.runs import run

HP = dict(inner_epochs=4, beta=0.0, eps=0.2, eps_high=0.28, L_cache=4)


def shape_reward(r, kl, length, trunc, T):  # (N,) each; kl = log pi - log pi_ref of the completion
    return r + np.clip((T - HP["L_cache"] - length) / HP["L_cache"], -1, 0)


def keep_group(R):  # R: (P, K), accuracy, never the shaped reward
    return R.std(1) > 0


def advantage(R, aux):  # R: (P, K) -> (P, K, 1) or (P, K, T)
    A = R - R.mean(1, keepdims=True)
    A = A / (R.std(1, ddof=1, keepdims=True) + 1e-6)
    return A[..., None]


def surrogate(logp, old_logp, A):  # per-token objective and its d/dlogp
    r = np.exp(logp - old_logp)
    lo, hi = 1 - HP["eps"], 1 + HP["eps_high"]
    obj = np.minimum(r * A, np.clip(r, lo, hi) * A)
    dobj = r * A * ~(((A > 0) & (r > hi)) | ((A < 0) & (r < lo)))
    return obj, dobj


def weights(mask):  # per-token weights; loss = -(w * obj).sum()
    return mask / mask.sum()


def kl_term(logp, ref_logp):  # per-token penalty and its d/dlogp
    return 0 * logp, 0 * logp


if __name__ == "__main__":
    run(__file__)
