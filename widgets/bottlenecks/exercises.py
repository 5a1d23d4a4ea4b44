"""What a purchase does to a role to be changed, and weeks to be spent where they count."""

from dataclasses import replace

import numpy as np

from sim.synthesis import budget
from sim.synthesis.budget import ASYNC, MENU, NAMES, ROLES, SHARES
from widgets.bottlenecks.widget import BEST, OWN, OWN_KNOBS, Knobs, shares
from widgets.frame.contract.exercises import Challenge, Change, Exercise


def sets(*names):
    """Sets of names as rows of truth."""
    return np.array([[name in each for name in NAMES] for each in names])


FIRST = sets(("batch tuning", "drafted tokens"), NAMES)
TAKEN = "            out[:, ROLES.index(role)] *= np.where(chosen[:, at], 1 - touched + touched / speedup, 1.0)"
SPLIT = "    return np.maximum(*sides(a, b, np.arange(1, gpus), gpus)).min(axis=1)"


def largest_only(chosen, shares=SHARES, menu=MENU):
    """What each role takes with the one purchase that shortens it most."""
    out = np.empty((len(chosen), len(ROLES)))
    for row, bought in enumerate(chosen):
        for at, role in enumerate(ROLES):
            remaining = [1.0]
            for option, is_bought in zip(menu, bought):
                if is_bought and role in option.effects:
                    touched, speedup = option.effects[role]
                    remaining.append(1 - touched * (1 - 1 / speedup))
            out[row, at] = shares[at] * min(remaining)
    return out


CHANGE = Change(
    (budget.remaining, budget.two_pools),
    "what purchases leave of a step",
    (
        Exercise(
            "Change what several items do to the same role: only the item that shortens it most may count.",
            ((FIRST[:1],), (FIRST,), (FIRST, (0.2, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1))),
            largest_only,
            (
                "The product becomes a minimum: a role takes its share times the smallest factor bought.",
                "column = np.minimum(column, shares[…] * np.where(…)), instead of column *= np.where(…).",
            ),
            (
                TAKEN,
                "            left = np.where(chosen[:, at], 1 - touched + touched / speedup, 1.0)\n"
                "            n = ROLES.index(role)\n"
                "            out[:, n] = np.minimum(out[:, n], shares[n] * left)",
            ),
            budget.remaining,
        ),
        Exercise(
            "Give each of asynchrony’s two pools half of the GPUs, instead of looking for the best split.",
            ((0.3, 0.2), (np.array([0.4, 0.1]), np.array([0.1, 0.4]), 8)),
            lambda generating, training, gpus=budget.GPUS: (
                2 * np.maximum(np.atleast_1d(generating), np.atleast_1d(training))
            ),
            (
                "On half of the GPUs, each side takes twice as long, and the longer side sets the step.",
                "Write sides(a, b, gpus / 2, gpus) instead of all splits. With [:, 0] the result is one column again.",
            ),
            (SPLIT, "    return np.maximum(*sides(a, b, gpus / 2, gpus))[:, 0]"),
            budget.two_pools,
        ),
    ),
)

BOUGHT = ("rule", "weeks", *OWN_KNOBS.values(), "cause", "order")
GIVEN = ("rollout", "tail", "train", "reference", "sync", "verify", "other")


def but_for(k, *names):
    """Whether all knobs but these are as by default."""
    return replace(k, **{name: getattr(Knobs(), name) for name in names}) == Knobs()


CHALLENGES = (
    Challenge(
        "Choose items that reach the same quality in 0.4 of the time, in 20 weeks or fewer, and change nothing else.",
        lambda k, r: bool(but_for(k, *BOUGHT) and k.rule == OWN and r.quality <= 0.4 and r.spent[-1] <= 20),
        Knobs(
            rule=OWN,
            batch_tuning=True,
            mismatch_fix=True,
            fp8_rollout=True,
            packing=True,
            no_reference=True,
            checkers=True,
            asynchrony=True,
        ),
    ),
    Challenge(
        "Bring asynchrony into the best set for 10 weeks by changing only the shares. The tail may take at most 25 %.",
        lambda k, r: bool(
            but_for(k, "weeks", "cause", "order", *GIVEN)
            and k.rule == BEST
            and k.weeks == 10
            and shares(k)[ROLES.index("tail")] < 0.2501
            and ASYNC in r.names
        ),
        Knobs(weeks=10, rollout=30, sync=30, train=10, reference=0),
    ),
)
