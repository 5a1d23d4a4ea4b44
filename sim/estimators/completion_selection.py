"""Picking one of N completions: the one with the best score, or the most frequent answer. Closed form.

These are order statistics. Best of N under a trained verifier: Cobbe et al. (2021), arXiv:2110.14168. The most frequent
answer, called self-consistency: Wang et al. (2022), arXiv:2203.11171.
"""

from itertools import product
from math import factorial, prod

import numpy as np


def best_of_n(chance, score, N):
    """Probability that each completion has the best score among N samples, (…, completions): F(s)^N − F(s−)^N, where
    F(s) is the probability that a sample scores at most s, and F(s−) that it scores less.

    Completions with equal scores share theirs in proportion to their probabilities. N is a number or a sequence; for a
    sequence the result is (sizes, …, completions).
    """
    order = np.argsort(score, axis=-1, kind="stable")
    chance, score = np.take_along_axis(chance, order, axis=-1), np.take_along_axis(score, order, axis=-1)
    most = np.minimum(np.cumsum(chance, axis=-1), 1)
    less = np.concatenate([np.zeros_like(most[..., :1]), most[..., :-1]], axis=-1)
    rises = np.diff(score, axis=-1) > 0
    edge = np.ones_like(rises[..., :1])
    # among completions with equal scores, F at the first and at the last
    less = np.maximum.accumulate(np.where(np.concatenate([edge, rises], axis=-1), less, 0), axis=-1)
    most = np.where(np.concatenate([rises, edge], axis=-1), most, 1)
    most = np.minimum.accumulate(most[..., ::-1], axis=-1)[..., ::-1]
    share = np.divide(chance, most - less, out=np.zeros_like(chance), where=most > less)
    sizes = np.reshape(N, np.shape(N) + (1,) * chance.ndim)
    picked = (most**sizes - less**sizes) * share
    back = np.broadcast_to(np.argsort(order, axis=-1), picked.shape)
    return np.take_along_axis(picked, back, axis=-1)


def plurality(chance, N):
    """Probability that each answer is the most frequent among N samples, (answers,); tied answers share it."""
    answers = len(chance)
    won = np.zeros(answers)
    for counts in product(range(N + 1), repeat=answers):
        if sum(counts) == N:
            ways = factorial(N) // prod(map(factorial, counts))
            most = np.equal(counts, max(counts))
            won += ways * np.prod(np.power(chance, counts)) * most / most.sum()
    return won
