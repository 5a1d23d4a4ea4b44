"""A long answer as a lane: its first token as a square, all tokens after it in parts, toned by what lands on them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from widgets.frame.drawing import scene, vocabulary

PARTS = 19  # of the tokens after the first: at 20 tokens each part is one
STEPS = (0.02, 0.1, 0.25)  # from here on a quantity has a tone, a middle one, a dark one
FIRST, AFTER, PITCH, TOP, APART = 3.1, 4.3, 0.8, 1.9, 1.3  # in squares: the first token, the parts, the lanes
WIDE = AFTER + PARTS * PITCH + 3.5


@dataclass(frozen=True)
class Lane:
    name: str  # at its left
    token: str  # the text of the first token
    values: Sequence[float]  # a number a token
    words: str = ""  # at its right


def role(value: float) -> str:
    """How a quantity is toned."""
    return vocabulary.toned(int(np.sign(value) * np.searchsorted(STEPS, abs(value), side="right")))


def in_parts(values: Sequence[float]) -> list[float]:
    """The mean of each part of what follows the first token."""
    return [float(part.mean()) for part in np.array_split(np.asarray(values, float)[1:], PARTS)]


def marks(key: str, lanes: Sequence[Lane], right: str, rest: str = "") -> Iterator[scene.Mark]:
    """The lanes below their heads; `right` is the head of what is said at the right of each, `rest` that of all tokens
    after the first.
    """
    rest = rest or after(len(lanes[0].values))
    yield scene.word("first token", (FIRST, 1.4), "head")
    yield scene.word(rest, (AFTER + PARTS * PITCH, 1.4), "head", "end", key=f"{key}n")
    yield scene.word(right, (WIDE, 1.4), "head", "end")
    for i, lane in enumerate(lanes):
        y = TOP + APART * i
        yield scene.word(lane.name, (0, y + 0.66), "strong")
        yield scene.tokens(f"{key}{i}f", [[(lane.token, role(lane.values[0]))]], 1, (FIRST, y))
        yield scene.parts(f"{key}{i}p", [role(value) for value in in_parts(lane.values)], (AFTER, y), PITCH)
        yield scene.word(lane.words, (WIDE, y + 0.66), "", "end", key=f"{key}{i}w")


def after(length: int) -> str:
    each = (length - 1) / PARTS
    return f"the {length - 1:,} tokens after it" + ("" if each == 1 else f", {each:.0f} in each part")


def first_tokens(key: str, lanes: Sequence[int], words: str, seen: bool, role: str = "broken") -> scene.Mark:
    """A ring around the first tokens from one lane to another."""
    low, high = min(lanes), max(lanes)
    return scene.ring(key, (FIRST, TOP + APART * low), words, seen, (1, APART * (high - low) + 1), "below", role)


def tones(lanes: int) -> Iterator[scene.Mark]:
    """What the tones of pushes say, below the last lane."""
    y, end = TOP + APART * lanes + 0.45, AFTER + PARTS * PITCH
    yield scene.word("pushed up,", (end - 2.9, y), "followed", "end")
    yield scene.word("down", (end, y), "against", "end")


def high(lanes: int) -> float:
    """Squares from the heads to the words of a ring below the last lane."""
    return TOP + APART * lanes + 1.2
