"""The rule that readers repair on M6: is the difference between two runs real? Seven comparisons, 28 pairs of runs of
one policy, and exact chances test it.
"""

from functools import cache

import numpy as np

from sim.estimators import paired
from sim.lab import packs
from widgets.frame.contract.exercises import Goal, Shown, Table

ID, NAMED = "verdict", "A rule that says whether a difference is real"
REAL, NOISE, NEITHER = VERDICTS = ("real", "noise", "not comparable")
KEPT = 0.75  # assumed: the better policy keeps so much of each chance to fail
MOST, ALARMS, NOTICED = 2, 0.05, 0.15  # pairs that may be called real, false alarms, and gains to be noticed
CASES = (  # only the old run is correct, only the new one is, prompts, whether scorer and prompts are the same
    (3, 9, 30, True),
    (10, 15, 100, True),
    (2, 12, 100, True),
    (0, 5, 40, True),
    (0, 6, 40, True),
    (20, 38, 400, True),
    (0, 2, 40, False),
)


def verdict(only_old, only_new, prompts, same):
    """Is the difference real, noise, or not comparable?"""
    points = 100 * abs(only_new - only_old) / prompts
    return "real" if points > 5 else "noise"


EDITED = verdict


def RETURNS(value):
    """One of the three verdicts."""
    if value not in VERDICTS:
        raise ValueError(f'it returned {repr(value)[:40]}, and a verdict is "real", "noise" or "not comparable"')
    return value


@cache
def pairs() -> tuple[tuple[int, int], ...]:
    """The two counts for every two of the eight runs."""
    return tuple((int(one), int(other)) for one, other in paired.twins(packs.passed()))


@cache
def rates() -> np.ndarray:
    """The share of correct answers for each prompt."""
    return packs.passed().mean(1)


def wanted(only_old, only_new, prompts, same):
    """The verdict of the sign test."""
    if not same:
        return NEITHER
    return REAL if paired.sign_test(only_old, only_new, prompts) else NOISE


def called(function):
    """(verdict in each case, how many of the 28 pairs are called real, probability of calling two fresh runs of one
    policy real, the same for a run of a policy that fails less often).
    """

    @cache
    def real(only_old, only_new, prompts):
        return function(only_old, only_new, prompts, True) == REAL

    prompts = len(rates())
    return (
        tuple(function(*case) for case in CASES),
        sum(real(*pair, prompts) for pair in pairs()),
        paired.false_alarms(real, rates()),
        paired.power(real, rates(), 1 - KEPT * (1 - rates())),
    )


def right(called):
    return sum(given == wanted(*case) for given, case in zip(called[0], CASES, strict=True))


GOALS = (
    Goal("Judge all seven comparisons correctly", lambda called: right(called) == len(CASES)),
    Goal("Call at most two of the 28 pairs real", lambda called: called[1] <= MOST),
    Goal(
        "Raise a false alarm in at most 5 % of cases, and notice the better policy in at least 15 %",
        lambda called: called[2] <= ALARMS and called[3] >= NOTICED,
    ),
)
HINTS = (
    "Look at a prompt that only one of the runs solves. If nothing has changed, it could as well have been the other. "
    "So it is like the toss of a fair coin, and there are as many coins as such prompts.",
    "Let n coins fall. In math.comb(n, k) of 2**n cases, k of them show heads. Add up these cases for every k up to "
    "the smaller of the two counts. That is one side, and luck can favor either.",
    """import math

def verdict(only_old, only_new, prompts, same):
    if not same:
        return "not comparable"
    coins = only_old + only_new
    fewer = min(only_old, only_new)
    as_uneven = 2 * sum(math.comb(coins, heads) for heads in range(fewer + 1)) / 2**coins
    return "real" if as_uneven < 0.05 else "noise"
""",
)


def shown(called):
    """The verdicts beside the right ones, and what the rule does with runs of one policy."""
    verdicts, found, alarms, power = called
    return Shown(
        said(called),
        (
            Table(
                f"Seven comparisons: {right(called)} judged correctly",
                ("only old : new", "of", "same", "by luck", "yours", "correct"),
                tuple(
                    (
                        f"{old} : {new}",
                        str(prompts),
                        str(same),
                        by_luck(old, new, same),
                        given,
                        wanted(old, new, prompts, same),
                    )
                    for (old, new, prompts, same), given in zip(CASES, verdicts, strict=True)
                ),
            ),
            Table(
                "What it says of runs on our forty prompts",
                ("called real", "runs"),
                (
                    (f"{found} of {len(pairs())}", "pairs of the eight runs of one policy"),
                    (f"{100 * alarms:.1f} %", "false alarms: two more runs of this policy"),
                    (f"{100 * power:.1f} %", "gains noticed: a better policy, a quarter less likely to fail"),
                ),
            ),
        ),
    )


def by_luck(only_old, only_new, same):
    """How often luck alone makes the runs differ at least as much."""
    return f"{100 * paired.mcnemar(only_old, only_new):.1f} %" if same else "–"


def said(called):
    _, found, alarms, _ = called
    return (
        f"Your rule judges {right(called)} of {len(CASES)} comparisons correctly. It calls {found} of {len(pairs())} "
        f"pairs of one policy real, and would do so with {100 * alarms:.1f} % of all such pairs."
    )
