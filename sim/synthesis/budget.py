"""Which optimizations to buy with a budget of engineer-weeks if some need others and some devalue others.

Closed form over all sets from a menu: a step is the sum of its roles' shares, each divided by its speed-up (Amdahl,
1967); with asynchrony on a fixed number of GPUs it is the longer of two pools at their best split. Weeks, speed-ups and
shares are assumptions of typical size; nothing here is measured. Choosing the set is a knapsack with prerequisites
(Kellerer, Pferschy and Pisinger, 2004) whose values interact.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf

import numpy as np

ROLES = ("rollout", "tail", "train", "reference", "sync", "verify", "other")
# assumed: fractions of a single-turn reasoning step; the tail is the rollout's wait for its last completions
SHARES = (0.43, 0.25, 0.17, 0.05, 0.05, 0.03, 0.02)
GPUS = 64
FIX = "mismatch fix"
ASYNC = "asynchrony"
EXTRA = 2.0  # assumed: updates to the same quality on samples from a different policy, relative to on-policy samples


@dataclass(frozen=True)
class Option:
    name: str
    weeks: int  # assumed
    lesson: str
    effects: dict = field(default_factory=dict)  # role -> (fraction affected, speed-up of that), assumed
    requires: str = ""

    @property
    def speedup(self):
        return max((s for _, s in self.effects.values()), default=1.0)


MENU = (
    Option("batch tuning", 1, "21", {"rollout": (1, 1.25)}),
    Option("shared prefixes", 6, "20", {"rollout": (0.75, 1.45)}),
    Option(FIX, 2, "06"),
    Option("rollout in fp8", 4, "25", {"rollout": (1, 1.4), "tail": (1, 1.4)}, FIX),
    Option("drafted tokens", 5, "21", {"rollout": (1, 1.1), "tail": (1, 2)}),
    Option("partial rollouts", 5, "22b", {"tail": (1, 4)}, FIX),
    Option("packing", 2, "22a", {"train": (1, 1.6), "reference": (1, 1.6)}),
    Option("fused log-probs", 2, "25", {"train": (0.15, 3), "reference": (0.4, 3)}),
    Option("less recomputation", 1, "22", {"train": (1, 1.15)}),
    Option("no reference", 1, "13", {"reference": (1, inf)}),
    Option("fast weight sync", 4, "24", {"sync": (0.9, 10)}),
    Option("pool of checkers", 2, "08", {"verify": (0.9, 10)}),
    Option(ASYNC, 8, "22c", {}, FIX),
)
NAMES = tuple(option.name for option in MENU)
WEEKS = np.array([option.weeks for option in MENU])


def scaled(menu, by):
    """The menu with every excess of a speed-up over 1 multiplied by `by`; an item that removes a role still
    removes it.
    """

    def grown(effects):
        return {role: (f, 1 + (s - 1) * by) for role, (f, s) in effects.items()}

    return tuple(replace(option, effects=grown(option.effects)) for option in menu)


# The step of a set


def step_time(chosen, shares=SHARES, gpus=GPUS, menu=MENU):
    """The step with a set of names, in units of the step without any."""
    row = np.array([[name in chosen for name in NAMES]])
    return float(step_times(row, shares, gpus, menu)[0])


def step_times(chosen, shares=SHARES, gpus=GPUS, menu=MENU):
    """The same for many sets, (sets, options) of bool -> (sets,)."""
    left = dict(zip(ROLES, remaining(chosen, shares, menu).T))
    in_turn = sum(left.values())
    generating, training = left["rollout"] + left["verify"], left["train"] + left["reference"]
    beside = two_pools(generating, training, gpus) + left["other"]
    return np.where(chosen[:, NAMES.index(ASYNC)], beside, in_turn)


def remaining(chosen, shares=SHARES, menu=MENU):
    """The time that each role still takes when it runs alone, (sets, options) -> (sets, roles)."""
    out = np.tile(np.array(shares, float), (len(chosen), 1))
    for at, option in enumerate(menu):
        for role, (touched, speedup) in option.effects.items():
            out[:, ROLES.index(role)] *= np.where(chosen[:, at], 1 - touched + touched / speedup, 1.0)
    return out


def two_pools(generating, training, gpus=GPUS):
    """The step of two pools side by side at their best split, max(a G / x, b G / (G − x)) over integers x. It is at
    least a + b, since the work is the same. Generation has no tail, and the weights arrive behind it.
    """
    a, b = np.atleast_1d(generating)[:, np.newaxis], np.atleast_1d(training)[:, np.newaxis]
    return np.maximum(*sides(a, b, np.arange(1, gpus), gpus)).min(axis=1)


def sides(generating, training, x, gpus=GPUS):
    """(generation on x of the GPUs, training on the others), each in units of the first step."""
    return generating * gpus / x, training * gpus / (gpus - x)


def corrected(chosen):
    """Whether every item that needs the mismatch fix has it."""
    return all(option.requires in chosen for option in MENU if option.name in chosen and option.requires)


def time_to_quality(chosen, shares=SHARES, gpus=GPUS, menu=MENU, extra=EXTRA):
    """Step × updates to the same quality, in units of the start: uncorrected samples from a different policy take
    `extra` times as many updates.
    """
    return step_time(chosen, shares, gpus, menu) * (1.0 if corrected(chosen) else extra)


# What to buy


@lru_cache(maxsize=1)
def feasible_sets():
    """All sets that contain their prerequisites, (4,608, options) of bool."""
    sets = (np.arange(2 ** len(MENU))[:, np.newaxis] >> np.arange(len(MENU))) % 2 == 1
    for at, option in enumerate(MENU):
        if option.requires:
            sets = sets[~sets[:, at] | sets[:, NAMES.index(option.requires)]]
    return sets


@lru_cache(maxsize=32)
def priced(shares, gpus, scale):
    """(weeks, step) of every feasible set."""
    sets = feasible_sets()
    return sets @ WEEKS, step_times(sets, shares, gpus, scaled(MENU, scale))


def best(budget, shares=SHARES, gpus=GPUS, scale=1.0):
    """The set with the shortest step within `budget` weeks; among equal ones the cheapest, then the first on
    the menu.
    """
    weeks, times = priced(shares, gpus, scale)
    rounded = np.where(weeks <= budget, np.round(times, 12), inf)
    order = np.lexsort((*(~feasible_sets().T[::-1]), weeks, rounded))
    return tuple(name for name, taken in zip(NAMES, feasible_sets()[order[0]]) if taken)


def frontier(most, shares=SHARES, gpus=GPUS, scale=1.0):
    """The shortest step for 0, 1, … `most` weeks."""
    weeks, times = priced(shares, gpus, scale)
    return np.array([times[weeks <= budget].min() for budget in range(most + 1)])


RULES = ("return", "gain", "speed-up")


def in_order(rule, budget, shares=SHARES, gpus=GPUS, scale=1.0):
    """Names in the order in which a rule buys them: the largest saving per week, the largest saving, or the largest
    speed-up whatever it saves. An item brings along its missing prerequisite, with its weeks.
    """
    menu, bought = scaled(MENU, scale), ()

    def cost(names):
        return sum(option.weeks for option in MENU if option.name in names)

    while True:
        offers = []
        for option in menu:
            if option.name in bought:
                continue
            names = tuple(name for name in (option.requires, option.name) if name and name not in bought)
            if cost(bought + names) <= budget:
                saved = step_time(bought, shares, gpus, menu) - step_time(bought + names, shares, gpus, menu)
                worth = {"return": saved / cost(names), "gain": saved, "speed-up": option.speedup}[rule]
                offers.append((worth, saved, names))
        if rule != "speed-up":
            offers = [offer for offer in offers if offer[1] > 1e-12]
        if not offers:
            return bought
        bought += max(offers, key=lambda offer: offer[0])[2]  # among equal ones, the first on the menu


def course(bought, shares=SHARES, gpus=GPUS, scale=1.0):
    """(weeks, step) at the start and after each purchase in this order."""
    menu, weeks = scaled(MENU, scale), dict(zip(NAMES, WEEKS.tolist()))
    spent, times = [0], [step_time((), shares, gpus, menu)]
    for n, name in enumerate(bought):
        spent.append(spent[-1] + weeks[name])
        times.append(step_time(bought[: n + 1], shares, gpus, menu))
    return np.array(spent), np.array(times)


def marginal(chosen, shares=SHARES, gpus=GPUS, menu=MENU):
    """{name: what it would still save, including its prerequisite} for the items that were not bought."""
    now = step_time(chosen, shares, gpus, menu)
    return {
        option.name: now - step_time({*chosen, option.requires, option.name}, shares, gpus, menu)
        for option in menu
        if option.name not in chosen
    }


def idle(chosen, shares=SHARES, gpus=GPUS, menu=MENU):
    """Names whose joint removal leaves the step unchanged, i.e. weeks that bought nothing. An item that another one
    needs is not idle.
    """
    now = step_time(chosen, shares, gpus, menu)
    needed = {option.requires for option in MENU if option.name in chosen}
    kept = set(chosen)
    for name in chosen:
        if name not in needed and step_time(kept - {name}, shares, gpus, menu) - now < 1e-9:
            kept.remove(name)
    return tuple(name for name in chosen if name not in kept)
