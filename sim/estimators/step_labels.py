"""Labels for steps from K endings, from a person, or from both; and how often a label calls a step good.

The rule "any of K": Wang et al. (2023), arXiv:2312.08935. Endings and people where they agree: Zhang et al. (2025),
arXiv:2501.07301. Rates and the best K have closed forms from the binomial distribution; the best K maximizes Youden's
index (1950), true positives minus false positives.
"""

from math import comb, floor, log

import numpy as np

from sim.worlds import step_chain

PERSON = 0.05  # assumed: fraction of the steps that a person labels wrongly
ANY, MORE, SHARE, PEOPLE, AGREE = ("any is right", "more than a part", "share right", "a person says so", "both agree")
RULES = (ANY, MORE, SHARE, PEOPLE, AGREE)


def any_rates(v, K):
    """Probability that at least one of K endings is correct, each with probability v."""
    return 1 - (1 - v) ** K


def more_than_rate(v, K, part):
    """Probability that strictly more than part * K of K endings are correct."""
    most = floor(part * K + 1e-9)  # for cases like 0.3 * 10, which comes out a little below 3
    return 1 - sum(comb(K, j) * v**j * (1 - v) ** (K - j) for j in range(min(most, K) + 1))


def best_K(v1, v0):
    """The number of endings, not rounded, at which "any of K" separates sound steps from flawed ones best."""
    if v0 <= 0:
        return np.inf
    fail1, fail0 = log(1 - v1), log(1 - v0)
    return log(fail0 / fail1) / (fail1 - fail0)


def labels(soundness, V, rule, K, part, rng):
    """The label of each step, (n, L) from 0 to 1, and whether it is kept, which requires that endings and person agree
    if both label.

    No ending is written: the outcome of K endings is sampled from the exact probability of success from that step.
    """
    v = step_chain.values_of(soundness, V)
    any_right = rng.random(v.shape) < any_rates(v, K)
    right = rng.binomial(K, v)
    person = soundness ^ (rng.random(v.shape) < PERSON)
    kept = np.ones(v.shape, bool)
    if rule == MORE:
        return (right > part * K).astype(float), kept
    if rule == SHARE:
        return right / K, kept
    if rule == PEOPLE:
        return person.astype(float), kept
    if rule == AGREE:
        return person.astype(float), person == any_right
    return any_right.astype(float), kept
