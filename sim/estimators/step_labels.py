"""Labels of steps: by K endings from a step, by a person, by both; and how often a label calls a step good.

The rule "any of K": Wang et al. (2023), arXiv:2312.08935. Endings and people where they agree: Zhang et al. (2025),
arXiv:2501.07301. Rates and the best K: closed form, binomial; the best K is where Youden's index (1950), true less
false positives, is largest.
"""

from math import comb, floor, log

import numpy as np

from sim.worlds import step_chain

PERSON = 0.05  # assumed: share of the steps that a person labels wrongly
ANY, MORE, SHARE, PEOPLE, AGREE = ("any is right", "more than a part", "share right", "a person says so", "both agree")
RULES = (ANY, MORE, SHARE, PEOPLE, AGREE)


def any_rates(v, K):
    """Chance that one of K endings or more is right, where each is with chance v."""
    return 1 - (1 - v) ** K


def more_than_rate(v, K, part):
    """Chance that strictly more than part * K of K endings are right."""
    most = floor(part * K + 1e-9)  # of 0.3 * 10, which a computer makes a little less than 3
    return 1 - sum(comb(K, j) * v**j * (1 - v) ** (K - j) for j in range(min(most, K) + 1))


def best_K(v1, v0):
    """The number of endings, not a whole one, at which "any of K" parts sound steps from flawed ones best."""
    if v0 <= 0:
        return np.inf
    fail1, fail0 = log(1 - v1), log(1 - v0)
    return log(fail0 / fail1) / (fail1 - fail0)


def labels(soundness, V, rule, K, part, rng):
    """The label of each step, (n, L) from 0 to 1, and whether it is kept: where endings and a person have to agree.

    No ending is written: what K of them say is drawn from the exact chance that one from that step is right.
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
