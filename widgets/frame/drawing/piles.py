"""A hundred answers in piles by what they say: a policy over a few completions, as shown in a scene."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.experiments.five_answers import ANSWERS
from widgets.frame.drawing import scene

DOT = 12 / 26  # in squares: a dot with its gap
WIDE, DOTS, TOP, ROW = 18.0, 112 / 26, 50 / 26, 51 / 26  # the view, where dots begin, the first row, the row pitch


@dataclass(frozen=True)
class Pile:
    name: str
    note: str  # text below its name
    role: str  # role of its dots
    css: str = "strong"  # class of its name


WHY = ("correct", "wrong", "wrong", "no “Final:”", "never ends")
ROLES = ("followed", "rest", "rest", "against", "hmm")
FIVE = tuple(Pile(*five, "strong code") for five in zip(ANSWERS, WHY, ROLES))  # answers to `7 + 5 =`
ASKED = "7 + 5 = ? Write “Final:” and the number."


def hundredths(pi: Any) -> list[int]:
    """How many of a hundred answers are in each pile, with the largest remainders rounded up, (piles,)."""
    exact = 100 * np.asarray(pi, float)
    many = np.floor(exact + 1e-9).astype(np.int64)
    for i in np.argsort(many - exact, kind="stable")[: 100 - many.sum()]:
        many[i] += 1
    return [int(n) for n in many]


def owners(before: Any, pi: Any) -> list[int]:
    """The pile of each of a hundred dots after the policy changed from `before` to `pi`; as many as possible stay."""
    return moved([pile for pile, many in enumerate(hundredths(before)) for _ in range(many)], hundredths(pi))


def moved(owned: Sequence[int], counts: Sequence[int]) -> list[int]:
    """The new pile of each dot, given its old one in `owned` and the new `counts` per pile; as many as
    possible stay.
    """
    room = list(counts)
    stays: list[int | None] = []
    for pile in owned:
        stays.append(pile if room[pile] else None)
        room[pile] -= bool(room[pile])
    spare = iter([pile for pile, many in enumerate(room) for _ in range(many)])
    return [next(spare) if pile is None else pile for pile in stays]


def view(
    key: str,
    title: str,
    piles: Sequence[Pile],
    before: Any,
    pi: Any,
    ring: tuple[int, str, str] | None = None,
    role: str = "",
) -> scene.View:
    """The policy `pi` (piles,), with its dots moved from where they were under `before`; `ring` is (a pile, words,
    "broken" or "look").
    """
    many, marks = hundredths(pi), [scene.word(title, (0, 0.55), "strong", key=f"{key}t")]
    for i, pile in enumerate(piles):
        y = TOP + ROW * i
        marks += [
            scene.word(pile.name, (0, y + 0.6), pile.css),
            scene.word(pile.note, (0, y + 1.3), "head"),
            scene.word(str(many[i]), (WIDE, y + 1.3), "count yes" if i == 0 else "count", "end", key=f"{key}n{i}"),
        ]
    marks.append(scene.piles(key, owners(before, pi), [pile.role for pile in piles], (DOTS, TOP), ROW))
    at, words, kind = ring or (0, "", "broken")
    place, size = (DOTS, TOP + ROW * at), (25 * DOT, 4 * DOT)
    marks.append(scene.ring(f"{key}r", place, words, ring is not None, size, "above", kind))
    counts = ", ".join(f"{pile.name} {n}" for pile, n in zip(piles, many))
    return scene.view(
        key, WIDE, TOP + ROW * len(piles) - 0.2, f"{title}, of a hundred answers: {counts}.", *marks, role=role
    )
