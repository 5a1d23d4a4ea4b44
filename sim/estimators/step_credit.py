"""The variance of a policy gradient when every step gets the whole return, and when every step gets its own score.

There are L steps, each good with probability p. The gradient at a step is (a - p) times its credit, and the variances
are added up over the steps. There are two rewards: additive, the sum of the steps' contributions, and all-or-nothing,
their product. Closed form; for GAE, all 2^L chains are enumerated.
"""

from itertools import product

import numpy as np

from sim.estimators import advantages


def additive(L, p, noise):
    """(flat, per step): the credit is the sum of all a - p, or that of the step alone, each with noise."""
    v = p * (1 - p)
    fourth = v * ((1 - p) ** 3 + p**3)  # E (a - p)^4
    return L * (fourth + v * ((L - 1) * v + L * noise**2) - v**2), L * (fourth + v * noise**2 - v**2)


def all_or_nothing(L, p):
    """(flat, per step): the credit is the product minus its mean p^L, or the change that the step made to its
    probability.
    """
    b, mean = p**L, p**L * (1 - p)
    missed = (p - b) * (1 - p) ** 2 + (1 - p) * p**2  # E (a - p)^2 where the product is 0
    flat = L * (b * (1 - p) ** 2 * (1 - b) ** 2 + missed * b**2 - mean**2)
    t = np.arange(L)
    up, down = p ** (L - t - 1) * (1 - p), p ** (L - t)
    step = p**t * (p * (1 - p) ** 2 * up**2 + (1 - p) * p**2 * down**2) - mean**2
    return flat, float(step.sum())


def sampled_values(L, p, K):
    """Per step, all-or-nothing, if the probability of success from a prefix is estimated by the share of K completions
    that end correctly, as in VinePPO (Kazemnejad et al., 2024, arXiv:2410.01679). Closed form: the noise of two shares
    is added.
    """
    t = np.arange(L + 1)
    v = p ** (L - t)
    noise = v * (1 - v) / K  # 0 at the end, where the reward is known
    before, after = noise[:-1], noise[1:]  # after a bad step every completion fails, so there is no noise
    added = p ** t[:-1] * (p * (1 - p) ** 2 * (before + after) + (1 - p) * p**2 * before)
    return all_or_nothing(L, p)[1] + float(added.sum())


def prefix_tokens(L, K):
    """Tokens in K completions of each of the L prefixes of an answer with L equal steps, including the bare prompt, in
    units of that answer's length.
    """
    return K * sum(range(1, L + 1)) / L


def gae_variance(L, p, lam):
    """The all-or-nothing variance with GAE, whose critic knows the exact probability of success from each prefix."""
    a = np.array(list(product((0.0, 1.0), repeat=L)))  # (2^L, L)
    chance = np.prod(np.where(a == 1, p, 1 - p), axis=1)
    so_far = np.concatenate([np.ones((len(a), 1)), np.cumprod(a, axis=1)], axis=1)
    reward = np.zeros(a.shape)
    reward[:, -1] = so_far[:, -1]
    value = so_far[:, :-1] * p ** (L - np.arange(L))
    advantage, _ = advantages.gae(reward, value, np.ones(a.shape), 1.0, lam)
    push = (a - p) * advantage
    mean = chance @ push
    return float((chance @ push**2 - mean**2).sum())
