"""The eight answers of sim/experiments/delayed_gradient.py in four piles: the three best, and all others."""

from dataclasses import replace
from typing import Any

import numpy as np

from sim.experiments.delayed_gradient import ANSWERS
from widgets.frame.drawing import piles, scene

WORTH = np.linspace(0, 1, ANSWERS)
PILES = (
    piles.Pile("best", f"reward {WORTH[-1]:g}", "followed"),
    piles.Pile("second best", f"reward {WORTH[-2]:.2f}", "against"),
    piles.Pile("third best", f"reward {WORTH[-3]:.2f}", "rest"),
    piles.Pile("five others", f"reward 0 to {WORTH[-4]:.2f}", "rest"),
)
NAMES = tuple(pile.name for pile in PILES)


def piled(pi: Any) -> np.ndarray:
    """The share of each pile, of a policy (answers,) from the worst to the best, (piles,)."""
    return np.array([pi[-1], pi[-2], pi[-3], np.sum(pi[:-3])])


def view(
    key: str,
    title: str,
    pi: Any,
    ring: tuple[int, str, str] | None = None,
    role: str = "",
    goal: Any = None,
    worth: bool = True,
) -> scene.View:
    """A policy (answers,); each pile says what its answers are worth, or with a `goal` (answers,) how many it has."""
    uniform = piled(np.full(ANSWERS, 1 / ANSWERS))
    called: tuple[piles.Pile, ...] = PILES
    if not worth:
        called = tuple(replace(pile, note="") for pile in PILES)
    if goal is not None:
        called = tuple(
            replace(pile, note=f"should be {n}") for pile, n in zip(PILES, piles.hundredths(piled(goal)), strict=True)
        )
    return piles.view(key, title, called, uniform, piled(pi), ring, role)
