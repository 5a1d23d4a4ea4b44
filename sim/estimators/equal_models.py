"""Two equally good models are each asked the same number of prompts once. How far apart do their scores lie by chance?

Closed form at a pass rate of one half, where the noise is largest: the difference between two counts of heads in n
tosses is d with probability C(2n, n + d) / 4^n (Vandermonde).
"""

import numpy as np


def difference(n):
    """(2n + 1,) differences in points, and the probability of each one."""
    d = np.arange(-n, n + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 2 * n + 1)))])
    log_ways = log_factorial[2 * n] - log_factorial[n + d] - log_factorial[n - d]
    return 100 * d / n, np.exp(log_ways - 2 * n * np.log(2))


def at_least(n, points):
    """Probability that the two scores differ by at least `points`, in either direction."""
    apart, probability = difference(n)
    return float(probability[np.abs(apart) >= points - 1e-9].sum())


def half_width(n):
    """Half of the difference's 95 % interval in points, from its standard error."""
    return 100 * 1.96 * np.sqrt(2 * 0.25 / n)
