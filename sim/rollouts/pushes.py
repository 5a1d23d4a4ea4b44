"""Whom one step pushes: each completion's part of the update's total weight, up or down. Closed form.

The weight of a token is its advantage divided as the loss divides it: by the completion's length and the number of
completions (GRPO, arXiv:2402.03300), or by the number of tokens in the step (DAPO, arXiv:2503.14476). A constant
divisor per token (Dr. GRPO, arXiv:2503.20783) gives the same shares as the second.
"""

import numpy as np

from sim.rollouts import advantages

PER_COMPLETION, PER_TOKEN = UNITS = ("per completion", "per token")
# RLOO gives the shares of Dr. GRPO if groups have one size, and a whitened reward those of the batch mean
RULES = {"GRPO": "GRPO", "RLOO": "RLOO, Dr. GRPO", "batch mean": "batch mean"}  # {rule: whose push it is}


def pushes(rollouts, rule, unit):
    """Each completion's weight in the update of one step, summed over its tokens, (N,); None if that needs numbers of
    tokens that the file does not have, or a reward.
    """
    if rollouts.reward is None or (unit == PER_TOKEN and rollouts.tokens is None):
        return None
    A = advantages.RULES[rule](rollouts.reward, rollouts.group, rollouts.step)
    if unit == PER_COMPLETION:
        return A / len(A)
    return A * rollouts.tokens / max(rollouts.tokens.sum(), 1)


def shares(rollouts, rule, unit):
    """The same with a sign, in parts of the step's total |push|, (N,); all 0 if nobody is pushed."""
    push = pushes(rollouts, rule, unit)
    if push is None:
        return None
    total = np.abs(push).sum()
    return push / total if total > 0 else push


def held(share, rows):
    """The part of the step's total |push| that these rows (N,) hold."""
    return float(np.abs(share[rows]).sum())


def held_by_long(share, tokens):
    """The part held by completions longer than the median; None if lengths are unknown, or none is longer because half
    of the completions stop at the limit.
    """
    if tokens is None:
        return None
    long = tokens > np.median(tokens)
    return held(share, long) if long.any() else None


def held_up(share, rows):
    """Of what is pushed up, the part in these rows (N,); None if nothing is pushed up."""
    up = np.maximum(share, 0)
    return float(up[rows].sum() / up.sum()) if up.any() else None
