"""Figures that move without Python: a small figure of one idea and at most one handle, and the opening of a lesson."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from widgets.frame.drawing.marks import Panel


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
class Strip:
    """The measurement of a scene, small, above its time: one curve for each position of the handle."""

    words: str  # what is measured, with its unit
    curves: Callable[[], Sequence[Sequence[float]]]  # a value at each moment, from 0 to 1
    reading: Callable[..., str] | None = None  # the number at a position, of the same arguments as the panels
    names: Sequence[str] = ()  # of the curves, at their ends, where they are not those of the handle


@dataclass(frozen=True)
class Time:
    """What passes when a scene plays: ▶ steps through moments that were drawn when the page was built."""

    label: str
    positions: Sequence[Any]  # the moments, at most 25
    words: Sequence[str]  # what each is called: "pass 3 of 16"
    start: int = 0  # the index of the one that stands there untouched
    ticks: Mapping[int, str] = field(default_factory=dict)  # what stands under the slider, by index
    strip: Strip | None = None
    milliseconds: int = 420  # from one moment to the next
    holds: Mapping[int, int] = field(default_factory=dict)  # milliseconds at moments where the eye needs longer
    over: tuple[float, float] | None = None  # nothing plays: a line of the picture is dragged, from and to these shares
    # of its width

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True)
class Figure:
    panels: Callable[..., Sequence[Panel]]  # one or two, or one scene; of a position of the handle and of the time
    source: Callable[..., Any]  # the sim function that computes them
    handle: Handle | None = None
    sentence: Callable[..., str] | None = None  # at most one sentence from the result, of the same arguments
    time: Time | None = None  # of a scene that plays
    stills: Sequence[tuple[int, int]] = ()  # (handle, time) by index: what stands side by side on paper

    def places(self) -> list[tuple[int, int]]:
        """Every (handle, time) by index, 0 for what there is none of."""
        return [(c, t) for c in range(len(self.handle or "-")) for t in range(len(self.time or "-"))]

    def at(self, choice: int, moment: int) -> list[Any]:
        """The arguments of `panels` and `sentence` there."""
        arguments = [self.handle.positions[choice]] if self.handle else []
        return [*arguments, self.time.positions[moment]] if self.time else arguments

    def spoken(self, choice: int, moment: int) -> str:
        """What a position is called: the moment, where there is a time."""
        if self.time:
            return self.time.words[moment]
        return self.handle.spoken(choice) if self.handle else ""


@dataclass(frozen=True)
class Played:
    """An opening that plays: two settings of a widget that differ in one knob, as a figure with the switch of both. One
    that is dragged has no switch: the line in the picture leads from one to the other.
    """

    plain: Any  # knobs without the break
    other: Any  # with it
    figure: str  # of the page's figures.py; its handle has two positions, in this order, named by what differs
    names: tuple[str, str] | None = None  # of the two settings where the figure shows both at once, without a handle


@dataclass(frozen=True)
class Opening:
    """Two runs of a widget that differ in one setting, on the first screen of its lesson."""

    plain: Any  # knobs of the run without the break
    other: Any  # of the run with it
    panels: Callable[[Any, Any], Sequence[Panel]]  # of both results: an outcome any reader can read, what is watched
    source: Callable[..., Any]
    names: tuple[str, str]  # of the two runs, by what differs: "with the clip", "without it"
