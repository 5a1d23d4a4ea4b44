"""REINFORCE: every token of a completion is pushed by the completion's reward. Williams (1992), doi:10.1007/BF00992696.

Token weights: sum over the tokens, mean over the completions, which is the policy gradient of the pass rate without
bias.
"""

import numpy as np

from sim.experiments.runs import run

HP = dict(inner_epochs=1, beta=0.0)


def shape_reward(r, kl, length, trunc, T):  # (N,) each; kl = log pi - log pi_ref of the completion
    return r


def keep_group(R):  # R: (P, K), accuracy, never the shaped reward
    return np.ones(len(R), bool)


def advantage(R, aux):  # R: (P, K) -> (P, K, 1) or (P, K, T)
    A = R[..., None]
    return A


def surrogate(logp, old_logp, A):  # per-token objective and its d/dlogp
    obj, dobj = A * logp, A
    return obj, dobj


def weights(mask):  # per-token weights; loss = -(w * obj).sum()
    return mask / len(mask)


def kl_term(logp, ref_logp):  # per-token penalty and its d/dlogp
    return 0 * logp, 0 * logp


if __name__ == "__main__":
    run(__file__)
