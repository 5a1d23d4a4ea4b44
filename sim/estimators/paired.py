"""Two runs on the same prompts, compared in pairs: is a difference real, and how often does a rule say so? Closed form.

A prompt that both runs pass, or that both fail, says nothing about the difference. A prompt that only one run passes is
discordant. If both runs sampled one policy, each discordant prompt is a fair coin, whatever the policy's pass rate on
it. The test of these coins: McNemar (1947), doi:10.1007/BF02295996, here in its exact form. Paired differences of
evaluations: Miller (2024), arXiv:2411.00640. Like every test on fixed prompts, it says nothing about other prompts.

A rule is a function of (only_old, only_new, prompts), three counts, that returns whether it calls the difference real.
"""

from itertools import combinations
from math import comb, sqrt

import numpy as np

LEVEL = 0.05  # by convention, the share of false alarms that a test may have


def mcnemar(only_old, only_new):
    """Two-sided p-value of the exact sign test, from the numbers of prompts that only the old or only the new run
    passes: the probability that as many fair coins fall at least as unevenly.

    Raises ValueError for a negative count.
    """
    if only_old < 0 or only_new < 0:
        raise ValueError(f"both counts of prompts must be at least 0, not {only_old} and {only_new}")
    coins = int(only_old) + int(only_new)  # Python's integers, because numpy's overflow in the power of 2
    tail = sum(comb(coins, heads) for heads in range(min(only_old, only_new) + 1))
    return min(1.0, 2 * tail / 2**coins)


def sign_test(only_old, only_new, prompts):
    """The rule that calls a difference real if the exact sign test rejects chance."""
    return mcnemar(only_old, only_new) < LEVEL


def two_standard_errors(only_old, only_new, prompts):
    """The rule that compares the difference with twice its standard error by chance alone, √(discordant prompts)."""
    return abs(only_new - only_old) > 2 * sqrt(only_old + only_new)


def more_than(points):
    """The rule of thumb that calls every difference of more than this many percentage points real."""
    return lambda only_old, only_new, prompts: 100 * abs(only_new - only_old) > points * prompts


def twins(passed):
    """The counts (only the first, only the second) for every two of a policy's runs, (prompts, runs) booleans ->
    (pairs, 2) integers, in the order of `itertools.combinations`.
    """
    pairs = combinations(np.asarray(passed, bool).T, 2)
    return np.array([((a & ~b).sum(), (b & ~a).sum()) for a, b in pairs], np.int64).reshape(-1, 2)


def discordant(old, new):
    """Probability of each pair of counts (only_old, only_new) if prompts are independent, from the pass rates of two
    policies, (prompts,) each -> (prompts + 1, prompts + 1).
    """
    table = np.zeros((len(old) + 1, len(old) + 1))
    table[0, 0] = 1.0
    for only_old, only_new in zip(old * (1 - new), new * (1 - old)):
        longer = table * (1 - only_old - only_new)
        longer[1:] += table[:-1] * only_old
        longer[:, 1:] += table[:, :-1] * only_new
        table = longer
    return table


def power(rule, old, new):
    """Exact probability that the rule calls the difference real between one run of a policy with the pass rates `old`
    and one run of a policy with the pass rates `new`, (prompts,) each.
    """
    prompts, table = len(old), discordant(old, new)
    counts = ((i, j) for i in range(prompts + 1) for j in range(prompts + 1 - i))
    return float(sum(table[i, j] for i, j in counts if rule(i, j, prompts)))


def false_alarms(rule, rates):
    """Exact probability that the rule calls the difference real between two independent runs of one policy with these
    pass rates, (prompts,).
    """
    return power(rule, rates, rates)
