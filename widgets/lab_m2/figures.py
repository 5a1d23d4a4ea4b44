"""The pictures of M2: a hundred runs that take two steps while a policy is trained, and two thousand updates from
different starts.
"""

from functools import cache

import numpy as np

from sim.lab import two_steps
from sim.words import counted
from widgets.frame.drawing import forks, piles, scene
from widgets.frame.drawing.marks import Panel, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time

FIRST, SECOND, MEAN, PUSH_1, PUSH_2 = range(5)  # columns of two_steps.climb
EVEN, LAST = 0.5, 200
AT = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 20, 25, 30, 40, 50, 80, 120, LAST)  # updates
NAMES = ("start", "first step is 0", "first step is 1", "whatever follows", "second step is 0", "second step is 1")
ENDS = (f"reward {two_steps.SURE:g}", "reward 0", "reward 1")
SHOWN = 10  # updates whose pushes are drawn as arrows

LONG, GOOD = 2000, 0.9  # updates from each start, and the mean reward of a run that has escaped
STARTS = tuple(i / 100 for i in range(1, 21))
SPACING = 20  # updates between points of a curve


@cache
def even() -> np.ndarray:
    return two_steps.climb(EVEN, EVEN, 1.0, LAST)


def pushes(column: int, updates: int) -> list[int]:
    """What each of the first updates does: 1 if it makes a step of 1 more likely, -1 if less, 0 if it is to come."""
    return [(1 if even()[i, column] > 0 else -1) if i < updates else 0 for i in range(SHOWN)]


def hundred(updates: int) -> list[int]:
    """The end of each of a hundred runs after so many updates; dots that need not move stay."""
    owned: list[int] | None = None
    for at in AT[: AT.index(updates) + 1]:
        first, second = even()[at, [FIRST, SECOND]]
        counts = piles.hundredths([1 - first, first * (1 - second), first * second])
        owned = piles.moved(owned or [end for end, many in enumerate(counts) for _ in range(many)], counts)
    return owned or []


def walked(updates: int) -> list[Panel]:
    first, second = even()[updates, [FIRST, SECOND]]
    owners = hundred(updates)
    ends = ", ".join(f"{owners.count(end)} end with {words}" for end, words in enumerate(ENDS))
    first_pushes = pushes(PUSH_1, updates)
    alt = f"After {counted(updates, 'update')}, 1 is the first step with probability {first:.3f}."
    alt += f" Of a hundred runs, {ends}."
    alt += f" The first ten updates so far: {first_pushes.count(-1)} down, {first_pushes.count(1)} up."
    drawing = forks.view("f", alt, NAMES, ENDS, owners, (first, second), (first_pushes, pushes(PUSH_2, updates)))
    return [scene.scene("A hundred runs of two steps", "a branch is as wide as the share of the runs on it", drawing)]


def told(updates: int) -> str:
    first, second, mean = even()[updates, :3]
    odds = f"1 has probability {first:.4f} at the first step and {second:.4f} at the second."
    return f"{odds} The mean reward is {mean:.3f}."


def curves() -> list[list[float]]:
    return [[float(even()[at, FIRST]) for at in AT]]


@cache
def long(start: float) -> np.ndarray:
    return two_steps.climb(EVEN, start, 1.0, LONG)


def from_start(start: float) -> list[Panel]:
    rows = long(start)
    at = np.arange(0, LONG + 1, SPACING)
    mean, first = rows[at, MEAN], rows[at, FIRST]
    return [
        panel(
            "Mean reward, and how often the first step is 1",
            f"exact, over {LONG:,} updates",
            line(at, mean, "mean reward", 1),
            line(at, first, "first step is 1", 2),
            label(LONG, float(mean[-1]) - 0.02, "mean reward", 1, "right", below=True),
            label(0.55 * LONG, float(first[len(at) // 2]) + 0.02, "first step is 1", 2, "left"),
            x="update",
            x_range=(0, LONG),
            y_range=(0, 1.1),
        )
    ]


def ended(start: float) -> str:
    first, _, mean = long(start)[-1, :3]
    runs = 1000 * first
    return f"After {LONG:,} updates the mean reward is {mean:.4f}, and the first step is 1 in {runs:.0f} of 1,000 runs."


FIGURES = {
    "tree": Figure(
        walked,
        two_steps.climb,
        None,
        told,
        Time(
            "Updates",
            AT,
            tuple(f"after {at} updates" if at != 1 else "after 1 update" for at in AT),
            ticks={i: str(AT[i]) for i in (0, 2, 4, 6, 8, 10, 13, 15, 17, 20)},
            strip=Strip(
                "Probability that the first step is 1", curves, lambda updates: f"{even()[updates, FIRST]:.4f}"
            ),
            milliseconds=800,
        ),
        stills=((0, AT.index(0)), (0, AT.index(4)), (0, len(AT) - 1)),
    ),
    "starts": Figure(
        from_start,
        two_steps.climb,
        Handle("Second step is 1, at the start", STARTS, start=len(STARTS) - 1, words=[f"{s:.2f}" for s in STARTS]),
        ended,
    ),
}
