"""Sixteen answers to a sum in four rows of squares, with frames around the groups in which they are compared."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.words import plural
from widgets.frame.drawing import scene
from widgets.frame.drawing.written import decimal

SIXTEEN, ROW = 16, 4  # answers per view and per row
PITCH, SIDE, LEFT, TOP = 2.08, 1.78, 0.12, 1.4  # in squares: distance between answers, their side, origin
WIDE, HIGH = LEFT + ROW * PITCH, TOP + ROW * PITCH + 1.2  # with room for a ring's words below the last row
NOTHING, PUSHED = "all wrong: no push", "↑ push on a correct answer"


def view(
    key: str,
    asked: str,
    answers: Sequence[str],
    right: Any,
    advantage: Any,
    K: int,
    sizes: Sequence[int],
    ring: str = "",
    note: str = "",
    named: str = " correct",
) -> scene.View:
    """The answers to one sum, (16,) each, in groups of K, where `sizes` are the possible values of K. `ring` is what is
    said about the last row, `note` what else is written below, `named` what the count above is called.
    """
    right = np.asarray(right, bool)
    many = f"{right.sum()} of {SIXTEEN}"
    cells = [
        answered(text, ok, push, compared)
        for text, ok, push, compared in zip(answers, right, advantage, np.repeat(mixed(right, K), K), strict=True)
    ]
    marks = [
        framed(key, size, group, live, size == K) for size in sizes for group, live in enumerate(mixed(right, size))
    ]
    marks += [
        scene.word(asked, (LEFT, 0.8), "asked"),
        scene.word(f"{many}{named}", (WIDE - 0.2, 0.8), "head", "end", key=f"{key}n"),
        scene.word(note, (LEFT, HIGH - 0.3), "head", key=f"{key}w"),
        scene.answers(f"{key}a", cells, [place(i) for i in range(SIXTEEN)], SIDE),
        scene.ring(f"{key}r", place(SIXTEEN - ROW), ring, bool(ring), (ROW * PITCH - 0.3, SIDE), anchor="middle"),
    ]
    alt = f"{asked} {', '.join(answers)}: {many} correct, {told(right, K)}."
    return scene.view(key, WIDE, HIGH, alt, *marks, role="quarter")


def views(
    asked: Sequence[str], answers: Any, right: Any, advantage: Any, K: int, sizes: Sequence[int]
) -> list[scene.View]:
    """A view of each sum, (sums, 16) answers; the meaning of a mark is written at the first sum that has it. If no
    answer is correct, a ring says what follows.
    """
    silent = not np.any(right)
    live = [bool(mixed(each, K).any()) for each in right]
    notes = dict.fromkeys(range(len(right)), "")
    if not silent:
        wrong = [i for i, each in enumerate(right) if not np.any(each)]
        notes |= {i: NOTHING for i in wrong[:1]} | {i: PUSHED for i in [*np.flatnonzero(live)][:1]}
    return [
        view(
            f"s{i}",
            asked[i],
            answers[i],
            right[i],
            advantage[i],
            K,
            sizes,
            ring=NOTHING if silent and i == 0 else "",
            note=notes[i],
            named="" if i else " correct",
        )
        for i in range(len(right))
    ]


def place(i: int) -> scene.Place:
    row, column = divmod(i, ROW)
    return LEFT + PITCH * column, TOP + PITCH * row


def answered(text: str, ok: bool, push: float, compared: bool) -> tuple[str, str, str]:
    role = "hit" if ok else "miss" if compared else "mute"
    return text, role, f"↑{decimal(push).rstrip('0')}" if ok and compared else ""


def framed(key: str, size: int, group: int, live: bool, seen: bool) -> scene.Mark:
    x, y = place(group * size)
    across, down = min(size, ROW), max(size // ROW, 1)
    return scene.frame(f"{key}{size}-{group}", (x + 0.05, y - 0.01), PITCH * across - 0.02, live, seen, PITCH * down)


def mixed(right: Any, K: int) -> Any:
    """(groups,) whether each group of K has both correct and wrong answers."""
    groups = np.reshape(right, (-1, K)) > 0
    return groups.any(axis=1) & ~groups.all(axis=1)


def live_groups(right: Any, K: int) -> tuple[int, int]:
    """(groups of K, live ones among them)."""
    live = mixed(right, K)
    return len(live), int(live.sum())


def told(right: Any, K: int) -> str:
    many, live = live_groups(right, K)
    return f"{live} of {many} {plural(many, 'group')} with something to compare"
