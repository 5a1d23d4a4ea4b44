"""Several attempts at one prompt: the probability that one of k is correct, and that a group of K has something to
compare. Closed form.

The unbiased pass@k: Chen et al. (2021), Evaluating Large Language Models Trained on Code, arXiv:2107.03374.
"""

import numpy as np


def pass_at_k(n, c, k):
    """Probability that k of the n attempts include one of the c correct ones: 1 - C(n - c, k) / C(n, k)."""
    if k > n:
        raise ValueError(f"k must be at most n = {n}: there are no more attempts to draw from")
    return 1 - float(np.prod(1 - c / (n - np.arange(k)))) if c <= n - k else 1.0


def plug_in_pass_at_k(n, c, k):
    """1 - (1 - c/n)^k, with the observed share in place of the probability. Its mean is too low, because the curve is
    concave.
    """
    return 1 - (1 - c / n) ** k


def informative(p, K):
    """Probability that K completions are neither all correct nor all wrong: 1 - p^K - (1 - p)^K."""
    return 1 - p**K - (1 - p) ** K
