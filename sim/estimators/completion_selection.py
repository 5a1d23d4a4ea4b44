"""Which of N completions is picked: the best scored one, or the answer that most of them give. Closed form.

Order statistics. The best of N by a trained verifier: Cobbe et al. (2021), arXiv:2110.14168. The plurality of the
answers, called self-consistency: Wang et al. (2022), arXiv:2203.11171.
"""

from itertools import product
from math import factorial, prod

import numpy as np


def best_of_n(chance, score, N):
    """Chance that each completion is the best scored of N draws, (…, completions): F(s)^N − F(s−)^N, with F(s) the
    chance that a draw scores at most s, and F(s−) that it scores less.

    Completions with one score share theirs by their chance. N is a number, or a sequence: (sizes, …, completions).
    """
    order = np.argsort(score, axis=-1, kind="stable")
    chance, score = np.take_along_axis(chance, order, axis=-1), np.take_along_axis(score, order, axis=-1)
    most = np.minimum(np.cumsum(chance, axis=-1), 1)
    less = np.concatenate([np.zeros_like(most[..., :1]), most[..., :-1]], axis=-1)
    rises = np.diff(score, axis=-1) > 0
    edge = np.ones_like(rises[..., :1])
    # of completions with one score, F at the first and at the last
    less = np.maximum.accumulate(np.where(np.concatenate([edge, rises], axis=-1), less, 0), axis=-1)
    most = np.where(np.concatenate([rises, edge], axis=-1), most, 1)
    most = np.minimum.accumulate(most[..., ::-1], axis=-1)[..., ::-1]
    share = np.divide(chance, most - less, out=np.zeros_like(chance), where=most > less)
    sizes = np.reshape(N, np.shape(N) + (1,) * chance.ndim)
    picked = (most**sizes - less**sizes) * share
    back = np.broadcast_to(np.argsort(order, axis=-1), picked.shape)
    return np.take_along_axis(picked, back, axis=-1)


def plurality(chance, N):
    """Chance that each answer is the one that most of N draws give, (answers,); answers that tie share it."""
    answers = len(chance)
    won = np.zeros(answers)
    for counts in product(range(N + 1), repeat=answers):
        if sum(counts) == N:
            ways = factorial(N) // prod(map(factorial, counts))
            most = np.equal(counts, max(counts))
            won += ways * np.prod(np.power(chance, counts)) * most / most.sum()
    return won
