"""What a pass rate is worth to a group of K, over a whole pool of prompts, and how little a few tries say about it.
Closed form.

A pool whose pass rates follow Beta(a, b) is an assumption that makes the mean a ratio of Beta functions. That groups
without two verdicts are wasted: Yu et al. (2025), arXiv:2503.14476. The bound on a rate that was never seen: Clopper
and Pearson (1934), doi:10.1093/biomet/26.4.404.
"""

from math import exp, lgamma

import numpy as np


def log_beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def informative_beta(a, b, K):
    """Share of live groups over a pool with pass rates from Beta(a, b): 1 - B(a + K, b) / B(a, b) - B(a, b + K) / B(a,
    b).
    """
    return 1 - exp(log_beta(a + K, b) - log_beta(a, b)) - exp(log_beta(a, b + K) - log_beta(a, b))


def oversampling(a, b, K):
    """Groups drawn for each live one, over such a pool: what drawing again until a batch is full costs."""
    return 1 / informative_beta(a, b, K)


def never_solved(p, k):
    """Chance that a prompt of pass rate p is wrong in all of k tries: (1 - p)^k."""
    return (1 - np.asarray(p, float)) ** k


def hidden_rate(k, alpha=0.05):
    """The highest pass rate that k tries, all wrong, leave open at confidence 1 - alpha: 1 - alpha^(1 / k)."""
    return 1 - alpha ** (1 / k)


def gradient_share(groups, deviation):
    """Share of each source in the summed size of the advantages, (sources,): groups · deviation of the reward within a
    group, over their sum. Rewards divided by the deviation of their source are the case of equal deviations.
    """
    pushed = np.asarray(groups, float) * np.asarray(deviation, float)
    return pushed / pushed.sum()
