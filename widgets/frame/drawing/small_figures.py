"""Figures that move without Python: a small figure with one idea and at most one handle, and the opening of a
lesson.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from widgets.frame.drawing.marks import Panel


@dataclass(frozen=True)
class Handle:
    """What the reader moves: a slider over the positions or, for at most five short words, a row of buttons."""

    label: str
    positions: Sequence[Any]  # at most 24 values, each drawn when the page is built
    start: int = 0  # the index of the initial one: the end of the story
    words: Sequence[str] = ()  # the name of each position; by default its value
    symbol: str = ""

    def __len__(self) -> int:
        return len(self.positions)

    def spoken(self, i: int) -> str:
        return str(self.words[i] if self.words else self.positions[i])


@dataclass(frozen=True)
class Strip:
    """A small plot of the quantity that a scene measures, above its time slider: one curve for each position of the
    handle.
    """

    words: str  # what is measured, with its unit
    curves: Callable[[], Sequence[Sequence[float]]]  # values at each moment, from 0 to 1
    reading: Callable[..., str] | None = None  # the number at a position, with the panels' arguments
    names: Sequence[str] = ()  # names at the ends of the curves, if not the handle's


@dataclass(frozen=True)
class Time:
    """The time of a scene that plays: ▶ steps through moments that were drawn when the page was built."""

    label: str
    positions: Sequence[Any]  # the moments, at most 25
    words: Sequence[str]  # the name of each: "pass 3 of 16"
    start: int = 0  # the index of the initial one
    ticks: Mapping[int, str] = field(default_factory=dict)  # labels under the slider, by index
    strip: Strip | None = None
    milliseconds: int = 420  # between moments
    holds: Mapping[int, int] = field(default_factory=dict)  # milliseconds for moments at which the eye needs longer
    over: tuple[float, float] | None = None  # if set, nothing plays: a line of the picture is dragged between these
    # shares of its width

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True)
class Figure:
    panels: Callable[..., Sequence[Panel]]  # one or two, or one scene; f(position of the handle, moment)
    source: Callable[..., Any]  # the sim function that computes them
    handle: Handle | None = None
    sentence: Callable[..., str] | None = None  # at most one sentence about the result, same arguments
    time: Time | None = None  # if it is a scene that plays
    stills: Sequence[tuple[int, int]] = ()  # (handle, time) by index: shown side by side on paper

    def places(self) -> list[tuple[int, int]]:
        """Every (handle, time) by index; 0 if the figure has no handle or no time."""
        return [(c, t) for c in range(len(self.handle or "-")) for t in range(len(self.time or "-"))]

    def at(self, choice: int, moment: int) -> list[Any]:
        """The arguments of `panels` and `sentence` there."""
        arguments = [self.handle.positions[choice]] if self.handle else []
        return [*arguments, self.time.positions[moment]] if self.time else arguments

    def spoken(self, choice: int, moment: int) -> str:
        """The name of a position: that of the moment if there is a time."""
        if self.time:
            return self.time.words[moment]
        return self.handle.spoken(choice) if self.handle else ""


@dataclass(frozen=True)
class Played:
    """An opening that plays: two settings of a widget that differ in one knob, as a figure with a switch between them.
    One that is dragged has no switch: the line in the picture leads from one to the other.
    """

    plain: Any  # knobs without the break
    other: Any  # knobs with it
    figure: str  # a figure in the page's figures.py; its handle has these two positions, named by what differs
    names: tuple[str, str] | None = None  # of the two settings if the figure shows both at once, without a handle


@dataclass(frozen=True)
class Opening:
    """Two runs of a widget that differ in one setting, on the first screen of its lesson."""

    plain: Any  # knobs of the run without the break
    other: Any  # knobs of the run with it
    panels: Callable[[Any, Any], Sequence[Panel]]  # f(both results): an outcome any reader can read, what to watch
    source: Callable[..., Any]
    names: tuple[str, str]  # names of the two runs by what differs: "with the clip", "without it"
