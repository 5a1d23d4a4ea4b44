"""A chain of steps: the probability that it is sound to its end, and ways to combine its step scores. Closed form.

The product: Lightman et al. (2023), arXiv:2305.20050. The minimum: Wang et al. (2023), arXiv:2312.08935. The best use
of all scores is the forward recursion of a hidden Markov model: Rabiner (1989), doi.org/10.1109/5.18626.
"""

import numpy as np

WAYS = ("product", "min", "last", "mean")


def all_sound(p, steps):
    """Probability that every step is sound if each is with probability p, given that those before are: p^steps."""
    return p**steps


def chain_score(log_odds, how):
    """One score for the steps along the last axis, (…, steps) -> (…): the log of the product of their probabilities of
    being sound, or the minimum, last or mean of their log-odds.
    """
    if how == "product":
        return -np.log1p(np.exp(-log_odds)).sum(axis=-1)
    if how == "last":
        return log_odds[..., -1]
    return log_odds.min(axis=-1) if how == "min" else log_odds.mean(axis=-1)


def soundness(log_ratios, p):
    """Probability that a chain is sound to its end given all its scores, (…, steps) -> (…).

    `log_ratios` are the log-likelihood ratios of each score, sound prefix over flawed prefix. Each step is sound with
    probability p if those before are, and a flawed prefix stays flawed.
    """
    sound = np.ones(log_ratios.shape[:-1])
    for step in range(log_ratios.shape[-1]):
        before = p * sound
        likely = before * np.exp(log_ratios[..., step])
        sound = likely / (likely + 1 - before)
    return sound
