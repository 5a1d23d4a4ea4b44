"""Bias and variance of a policy gradient whose advantages are GAE, exact, by the λ and by what the critic knows.

A completion is a chain of L tokens, each good with one probability p = σ(θ), and is paid 1 at its end if at least
`need` of them were good. So the value of every place is a binomial tail, and all 2^L completions can be enumerated.
The policy has one parameter, so a bias shortens or lengthens a step and cannot turn it. GAE: Schulman et al. (2015),
arXiv:1506.02438.
"""

from math import comb

import numpy as np

from sim.estimators.advantages import gae


def chain_value(length, p, need):
    """V[t, g], (L + 1, L + 1): the chance to be paid after t tokens of which g were good; 1 or 0 at the end."""

    def tail(left, missing):
        return sum(comb(left, k) * p**k * (1 - p) ** (left - k) for k in range(max(missing, 0), left + 1))

    return np.array([[tail(length - t, need - g) for g in range(length + 1)] for t in range(length + 1)])


def critic(value, shrink, offset):
    """What a critic makes of the values before the end: its mean is right and what it tells apart is `shrink` too
    little, 0 for a perfect one and 1 for one that says the same everywhere; then `offset` is added.
    """
    opinion = value[0, 0] + (1 - shrink) * (value - value[0, 0]) + offset
    return np.concatenate([opinion[:-1], value[-1:]])


def completions(length):
    """All of them, (2^L, L): 1 where a token is good."""
    return (np.arange(2**length)[:, None] >> np.arange(length)) & 1


def gradients(length, p, need, lam, shrink=0.0, offset=0.0):
    """(the gradient of θ that each completion gives, (2^L,); the probability of each): Σ_t A_t (good_t − p)."""
    good = completions(length)
    before = np.cumsum(good, axis=1) - good
    values = critic(chain_value(length, p, need), shrink, offset)[np.arange(length), before]
    reward = np.zeros(good.shape)
    reward[:, -1] = good.sum(axis=1) >= need
    advantage, _ = gae(reward, values, np.ones(good.shape), 1.0, lam)
    return (advantage * (good - p)).sum(axis=1), np.prod(np.where(good, p, 1 - p), axis=1)


def exact_gradient(length, p, need):
    """dJ/dθ of the chance to be paid: p (1 − p) times L times the chance that one token decides. Closed form."""
    return length * comb(length - 1, need - 1) * p**need * (1 - p) ** (length - need + 1)


def bias_and_variance(length, p, need, lam, shrink=0.0, offset=0.0):
    """(mean, bias, variance) of the gradient that one completion gives."""
    each, probability = gradients(length, p, need, lam, shrink, offset)
    mean = probability @ each
    return mean, mean - exact_gradient(length, p, need), probability @ (each - mean) ** 2


def squared_error(length, p, need, lam, completions_a_batch, shrink=0.0, offset=0.0):
    """(bias², variance / N): what the mean of N completions is off by, in the two parts that add up."""
    _, bias, variance = bias_and_variance(length, p, need, lam, shrink, offset)
    return bias**2, variance / completions_a_batch
