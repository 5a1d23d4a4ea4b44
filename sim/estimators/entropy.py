"""The entropy of a softmax: what raises it and what lowers it. Closed form.

A bonus rewards entropy, and a penalty is charged for the distance to a reference policy; both are part of the
objective. The slopes follow from the derivative of the softmax. A policy-gradient step changes the entropy by minus a
covariance: Cui et al. (2025), arXiv:2505.22617. A bonus that applies only below a target: Skywork-OR1, He et al.
(2025), arXiv:2505.22312.
"""

import numpy as np

TINY = 1e-300  # the log of a probability that has become 0


def entropy(pi):
    """H = −Σ π log π in nats, along the last axis."""
    return -(pi * np.log(pi + TINY)).sum(axis=-1)


def bonus(pi):
    """The slope of the entropy with respect to the logits: −π (log π + H), (..., actions) -> (..., actions)."""
    return -pi * (np.log(pi + TINY) + entropy(pi)[..., None])


def price(pi, reference):
    """The slope of KL(π ‖ reference) with respect to the logits of π: π (log π/reference − KL)."""
    log_ratio = np.log(pi + TINY) - np.log(reference)
    return pi * (log_ratio - (pi * log_ratio).sum(axis=-1, keepdims=True))


def rate(pi, advantage, natural):
    """dH/dη for a step η along the policy gradient, −Cov(log π, π A), or along the natural gradient, −Cov(log π, A).

    Advantages are relative to the policy's mean, and the covariance is taken under π.
    """
    A = advantage - (pi * advantage).sum()
    push = A if natural else pi * A
    logp = np.log(pi + TINY)
    return -((pi * logp * push).sum() - (pi * logp).sum() * (pi * push).sum())


def bonus_optimum(reward, alpha):
    """The policy that maximizes E[reward] + alpha H: e^(reward/alpha), normalized."""
    exp = np.exp((reward - reward.max()) / alpha)
    return exp / exp.sum()
