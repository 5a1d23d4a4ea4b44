"""What groups of K learn at a given pass rate and over a pool of prompts, and how little a few tries reveal. Closed
form.

Pass rates that follow Beta(a, b) are an assumption; it makes the mean a ratio of Beta functions. Groups without both
verdicts are wasted: Yu et al. (2025), arXiv:2503.14476. The bound on a rate after no success: Clopper and Pearson
(1934), doi:10.1093/biomet/26.4.404.
"""

from math import exp, lgamma

import numpy as np


def log_beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def informative_beta(a, b, K):
    """Share of live groups in a pool with pass rates from Beta(a, b):
    1 - B(a + K, b) / B(a, b) - B(a, b + K) / B(a, b).
    """
    return 1 - exp(log_beta(a + K, b) - log_beta(a, b)) - exp(log_beta(a, b + K) - log_beta(a, b))


def oversampling(a, b, K):
    """Groups sampled per live group in such a pool, i.e. the cost of resampling until a batch is full."""
    return 1 / informative_beta(a, b, K)


def never_solved(p, k):
    """Probability that a prompt with pass rate p fails in all k tries: (1 - p)^k."""
    return (1 - np.asarray(p, float)) ** k


def hidden_rate(k, alpha=0.05):
    """The highest pass rate compatible with k failures in k tries at confidence 1 - alpha: 1 - alpha^(1 / k)."""
    return 1 - alpha ** (1 / k)


def gradient_share(groups, deviation):
    """Each source's share of the summed size of the advantages, (sources,): its groups times the reward's deviation
    within a group, divided by the sum over sources. If rewards are divided by their source's deviation, all deviations
    are equal.
    """
    pushed = np.asarray(groups, float) * np.asarray(deviation, float)
    return pushed / pushed.sum()
