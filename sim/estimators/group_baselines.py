"""What a group of K completions of one prompt says about the prompt's gradient, computed by enumerating every outcome.
Closed form; no training here.

The advantages: Shao et al. (2024), arXiv:2402.03300 (z-score), Liu et al. (2025), arXiv:2503.20783 (mean only), Kool et
al. (2019) (leave-one-out). They are measured where the truth is known: a policy with one logit is correct with
probability p. A correct completion has the score 1 - p, a wrong one -p, and the true gradient is p (1 - p).
"""

from math import comb

import numpy as np


def less_mean(rewards):
    """(groups, K) -> (groups, K): the reward minus the mean of its group, itself included."""
    return rewards - rewards.mean(axis=1, keepdims=True)


def z_score(rewards, eps=1e-6, ddof=1):
    """(groups, K) -> (groups, K): the reward minus the group's mean, divided by the group's standard deviation. ddof=1
    gives the sample standard deviation, as torch.std does.
    """
    return less_mean(rewards) / (rewards.std(axis=1, ddof=ddof, keepdims=True) + eps)


def leave_one_out(rewards):
    """(groups, K) -> (groups, K): each reward minus the mean of the other K - 1, which equals K / (K - 1) times
    less_mean.
    """
    K = rewards.shape[1]
    return rewards - (rewards.sum(axis=1, keepdims=True) - rewards) / (K - 1)


def outcomes(K):
    """(K + 1, K): one row per number of correct completions, with the correct ones first."""
    return (np.arange(K) < np.arange(K + 1)[:, None]).astype(float)


def outcome_probability(p, K):
    """(..., K + 1): the probabilities of 0 to K correct completions if each is correct with probability p, an array
    (...).
    """
    right = np.arange(K + 1)
    ways = np.array([float(comb(K, k)) for k in right])  # floats, because comb(64, 32) does not fit into an int32
    p = np.asarray(p, float)[..., None]
    return ways * p**right * (1 - p) ** (K - right)


def estimate_moments(p, K, advantage):
    """Mean and variance of the estimate (1/K) sum_i A_i s_i over all groups, each (...); the true gradient is p (1 -
    p).
    """
    A, right = advantage(outcomes(K)), np.arange(K + 1)
    wanted, unwanted = A[:, 0] * right / K, A[:, -1] * (K - right) / K  # a row has at most two different advantages
    p = np.asarray(p, float)
    estimate = wanted * (1 - p[..., None]) - unwanted * p[..., None]  # (..., K + 1)
    chance = outcome_probability(p, K)
    mean = (chance * estimate).sum(axis=-1)
    return mean, (chance * (estimate - mean[..., None]) ** 2).sum(axis=-1)


def share_of_gradient(p, K, advantage):
    """The mean estimate divided by the true gradient, (...): 1 is unbiased."""
    p = np.asarray(p, float)
    return estimate_moments(p, K, advantage)[0] / (p * (1 - p))


def signal_to_noise_per_completion(p, K, advantage):
    """Squared mean over variance of a group's estimate, divided by K so that groups of different sizes compare."""
    mean, variance = estimate_moments(p, K, advantage)
    return mean**2 / variance / K


def dead_probability(p, K):
    """The probabilities (all wrong, all correct) of the two kinds of group in which every advantage is 0."""
    p = np.asarray(p, float)
    return (1 - p) ** K, p**K


def live_probability(p, K):
    wrong, right = dead_probability(p, K)
    return 1 - wrong - right


def completions_per_live_group(p, K):
    return K / live_probability(p, K)


def pass_rate_seen_alive(p, K):
    """The mean share of correct completions in groups that are not dead: (p - p^K) / live."""
    return (p - p**K) / live_probability(p, K)
