"""Which of the concepts that a first reading leaves out are worth an evening: a plan of lessons within a budget of
minutes, where some must come before others.

It is a knapsack with precedence, solved by listing every set of lessons that contains its prerequisites (Kellerer,
Pferschy and Pisinger (2004), chapter 9.2, name the problem and its hardness; seventeen lessons are few enough to list).
Minutes and values are editorial judgment, not a model.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

JOBS = ("research", "rewards and data", "infrastructure", "kernels and serving", "agents")
FORCES = ("signal", "estimator", "cost")


@dataclass(frozen=True)
class Gap:
    id: str  # position in the book; 17a comes after 17
    title: str
    force: str
    minutes: int  # assumed
    needs: tuple  # ids of gaps
    values: tuple  # 0 to 3 for each of JOBS: judgement
    written: bool = False  # whether the book has a lesson on it


GAPS = (
    Gap("03a", "KL estimators", "estimator", 20, (), (3, 1, 1, 1, 1), True),
    Gap("10a", "GAE", "estimator", 30, (), (3, 1, 1, 0, 3), True),
    Gap("13a", "Entropy and exploration", "estimator", 25, (), (3, 1, 1, 0, 2), True),
    Gap("14a", "Scaling and clipping of rewards", "estimator", 20, (), (2, 3, 1, 0, 2), True),
    Gap("15a", "Inside a reward model", "signal", 30, (), (2, 3, 0, 0, 1), True),
    Gap("15b", "Judges and constitutions", "signal", 25, ("15a",), (2, 3, 0, 0, 2), True),
    Gap("17a", "Training a process reward model", "signal", 35, ("10a",), (2, 2, 0, 0, 2), True),
    Gap("18a", "Curricula, mixing, rejection sampling", "signal", 35, (), (2, 3, 1, 0, 2), True),
    Gap("18b", "Hacks and red teams", "signal", 25, (), (2, 3, 0, 0, 3), True),
    Gap("18c", "Sandboxes", "signal", 30, ("18b",), (0, 2, 3, 1, 3), True),
    Gap("19a", "Off-policy correction and replay", "estimator", 30, ("03a",), (3, 0, 3, 1, 2), True),
    Gap("20a", "Offloading the KV cache", "cost", 20, (), (0, 0, 2, 3, 2)),
    Gap("22d", "FP8 in training and inference", "cost", 30, (), (1, 0, 3, 3, 0)),
    Gap("22e", "Mixtures of experts under RL", "cost", 35, ("19a",), (2, 0, 3, 3, 0)),
    Gap("22f", "Collectives and fabrics", "cost", 25, (), (0, 0, 3, 3, 0)),
    Gap("28a", "Checkpoints and recovery", "cost", 25, (), (0, 0, 3, 1, 1)),
    Gap("28b", "Many adapters in one engine", "cost", 25, ("28a",), (1, 0, 2, 3, 2)),
)
IDS = tuple(g.id for g in GAPS)
MINUTES = np.array([g.minutes for g in GAPS])
FAMOUS = "10a"  # named first when somebody asks for the one missing concept


@dataclass(frozen=True)
class Plan:
    ids: tuple  # in an order in which every gap comes after those it needs
    minutes: int
    value: float


def value_of(job):
    """The values, (17,), for one of JOBS."""
    return np.array([g.values[JOBS.index(job)] for g in GAPS], float)


def needed(gap_id, known=()):
    """Everything that must be read for a gap, including itself, in order. Known gaps need nothing and are left out."""
    if gap_id in known:
        return ()
    gap = GAPS[IDS.index(gap_id)]
    before = [n for need in gap.needs for n in needed(need, known)]
    return tuple(dict.fromkeys([*before, gap_id]))


@cache
def closed_sets(known=()):
    """(members (n, 17) of 0 and 1, minutes (n,)) of every set that contains its members' prerequisites. Known gaps cost
    nothing and are in no set.
    """
    bits = np.arange(2 ** len(GAPS))

    def has(gap_id):
        return bits >> IDS.index(gap_id) & 1

    closed = np.ones(len(bits), bool)
    for gap in GAPS:
        if gap.id in known:
            closed &= has(gap.id) == 0
            continue
        for need in set(gap.needs) - set(known):
            closed &= has(gap.id) <= has(need)
    member = (bits[closed][:, None] >> np.arange(len(GAPS)) & 1).astype(float)
    return member, member @ MINUTES


def plan(values, budget, known=()):
    """The Plan with the most value within a budget of minutes, then the fewest minutes, then the earliest lessons."""
    member, minutes = closed_sets(tuple(sorted(known)))
    worth = member @ values
    fits = np.flatnonzero(minutes <= budget)
    # minutes are at most 465, so a hundred-thousandth of them never outweighs a value
    best = fits[np.argmax(worth[fits] - 1e-5 * minutes[fits])]
    return made([IDS[i] for i in np.flatnonzero(member[best])], values)


def greedy(values, budget, known=(), first=()):
    """The Plan that takes lessons by value per minute, each with its prerequisites, while they fit; `first` comes
    before everything.
    """
    taken, left = [], budget
    for gap_id in first:
        bundle = [n for n in needed(gap_id, known) if n not in taken]
        if minutes_of(bundle) <= left:
            taken += bundle
            left -= minutes_of(bundle)
    while True:
        choices = []
        for gap_id in IDS:
            bundle = [n for n in needed(gap_id, (*known, *taken)) if n not in taken]
            worth = sum(values[IDS.index(n)] for n in bundle)
            if bundle and worth > 0 and minutes_of(bundle) <= left:
                choices.append((-worth / minutes_of(bundle), gap_id, bundle))
        if not choices:
            return made(taken, values)
        _, _, bundle = min(choices)
        taken += bundle
        left -= minutes_of(bundle)


def minutes_of(ids):
    return int(sum(GAPS[IDS.index(n)].minutes for n in ids))


def made(ids, values):
    order = []
    for gap_id in ids:
        order += [n for n in needed(gap_id) if n in ids and n not in order]
    return Plan(tuple(order), minutes_of(order), float(sum(values[IDS.index(n)] for n in order)))


def frontier(values, budgets, known=()):
    """The most value that each budget allows, (len(budgets),)."""
    member, minutes = closed_sets(tuple(sorted(known)))
    worth = member @ values
    return np.array([worth[minutes <= b].max() for b in budgets])


def next_minutes(values, found, budget, known=()):
    """The smallest number of further minutes that would raise the value of a plan; None if nothing is left to gain."""
    member, minutes = closed_sets(tuple(sorted(known)))
    more = minutes[(member @ values > found.value + 1e-9)]
    return int(more.min() - budget) if len(more) else None
