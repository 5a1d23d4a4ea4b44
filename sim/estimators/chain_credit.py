"""The exact bias and variance of a policy gradient with GAE advantages, as a function of λ and of the critic's quality.

A completion is a chain of L tokens, each good with the same probability p = σ(θ), and gets a reward of 1 at its end if
at least `need` of them were good. The value at every position is therefore a binomial tail, and all 2^L completions can
be enumerated. The policy has one parameter, so a bias can shorten or lengthen a step but not turn it. GAE: Schulman et
al. (2015), arXiv:1506.02438.
"""

from math import comb

import numpy as np

from sim.estimators.advantages import gae


def chain_value(length, p, need):
    """V[t, g], (L + 1, L + 1): the probability of a reward after t tokens, g of them good; 1 or 0 at the end."""

    def tail(left, missing):
        return sum(comb(left, k) * p**k * (1 - p) ** (left - k) for k in range(max(missing, 0), left + 1))

    return np.array([[tail(length - t, need - g) for g in range(length + 1)] for t in range(length + 1)])


def critic(value, shrink, offset):
    """An imperfect critic's values before the end. Its mean is right, but differences are shrunk by the factor
    1 - `shrink`: 0 is a perfect critic, and 1 one that says the same everywhere. Then `offset` is added.
    """
    opinion = value[0, 0] + (1 - shrink) * (value - value[0, 0]) + offset
    return np.concatenate([opinion[:-1], value[-1:]])


def completions(length):
    """All completions, (2^L, L): 1 where a token is good."""
    return (np.arange(2**length)[:, None] >> np.arange(length)) & 1


def gradients(length, p, need, lam, shrink=0.0, offset=0.0):
    """(each completion's gradient estimate for θ, Σ_t A_t (good_t − p); its probability), (2^L,) each."""
    good = completions(length)
    before = np.cumsum(good, axis=1) - good
    values = critic(chain_value(length, p, need), shrink, offset)[np.arange(length), before]
    reward = np.zeros(good.shape)
    reward[:, -1] = good.sum(axis=1) >= need
    advantage, _ = gae(reward, values, np.ones(good.shape), 1.0, lam)
    return (advantage * (good - p)).sum(axis=1), np.prod(np.where(good, p, 1 - p), axis=1)


def exact_gradient(length, p, need):
    """dJ/dθ, with J the probability of a reward: p (1 − p) L times the probability that one token decides."""
    return length * comb(length - 1, need - 1) * p**need * (1 - p) ** (length - need + 1)


def bias_and_variance(length, p, need, lam, shrink=0.0, offset=0.0):
    """(mean, bias, variance) of one completion's gradient estimate."""
    each, probability = gradients(length, p, need, lam, shrink, offset)
    mean = probability @ each
    return mean, mean - exact_gradient(length, p, need), probability @ (each - mean) ** 2


def squared_error(length, p, need, lam, completions_a_batch, shrink=0.0, offset=0.0):
    """(bias², variance / N): the two parts of the squared error when N completions are averaged."""
    _, bias, variance = bias_and_variance(length, p, need, lam, shrink, offset)
    return bias**2, variance / completions_a_batch
