"""Figures that move without Python: a small figure of one idea and at most one handle, and the opening of a lesson."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from widgets.frame.marks import Panel


@dataclass(frozen=True)
class Handle:
    """What the reader moves: a slider over the positions, or, for at most five short words, buttons side by side."""

    label: str
    positions: Sequence[Any]  # at most 24 values, each drawn when the page is built
    start: int = 0  # the index of the one that stands there untouched: the end of the story
    words: Sequence[str] = ()  # what each position is called; its value where nothing is said
    symbol: str = ""

    def __len__(self) -> int:
        return len(self.positions)

    def spoken(self, i: int) -> str:
        return str(self.words[i] if self.words else self.positions[i])


@dataclass(frozen=True)
class Figure:
    panels: Callable[..., Sequence[Panel]]  # one or two, of a position of the handle, of nothing where there is none
    source: Callable[..., Any]  # the sim function that computes them
    handle: Handle | None = None
    sentence: Callable[..., str] | None = None  # at most one sentence from the result, of the same arguments


@dataclass(frozen=True)
class Opening:
    """Two runs of a widget that differ in one setting, on the first screen of its lesson."""

    plain: Any  # knobs of the run without the break
    other: Any  # of the run with it
    panels: Callable[[Any, Any], Sequence[Panel]]  # of both results: an outcome any reader can read, what is watched
    source: Callable[..., Any]
    line: str = "Same code, same seed, one setting differs. Find which."
