"""What a reader is asked to do: guess, change a function, reach a goal, write a function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from widgets.frame.drawing.marks import Panel


@dataclass(frozen=True)
class Guess:
    """A question to answer before a run. It tests what the reader believes and never names a break."""

    question: str
    answers: tuple[str, ...]  # two or three
    knobs: Any  # the setting whose run gives the answer
    right: int  # index of the right answer
    told: Callable[[Any, Any], str]  # f(knobs, result): one sentence with the answer
    reveals: str = ""  # the label of a readout that would answer it: its number waits for the guess or the first move


@dataclass(frozen=True)
class Exercise:
    """What readers should make a changed function do, checked by the numbers that it must return."""

    ask: str  # one or two sentences
    calls: tuple[tuple[Any, ...], ...]  # arguments with which the changed function is called
    wanted: Callable[..., Any]  # what each call must return, from elsewhere: another function of sim/, a closed form
    hints: tuple[str, str]  # the second appears after the first
    answer: tuple[str, str]  # (our lines, the lines that replace them) in one solution
    function: Callable[..., Any] | None = None  # the function that it is about; by default the first


@dataclass(frozen=True)
class Change:
    """The functions of one module of sim/ that readers can edit below a widget and run in it."""

    functions: tuple[Callable[..., Any], ...]  # plain functions of one file, two to twenty lines each
    named: str  # what they compute, in a few words
    exercises: tuple[Exercise, ...] = ()  # one or two


@dataclass(frozen=True)
class Challenge:
    """A goal, checked against the results of a run."""

    goal: str  # one sentence that includes its numbers
    met: Callable[[Any, Any], bool]  # f(knobs, result) for a run that has ended
    way: Any  # knobs that meet it; the default must not


@dataclass(frozen=True)
class Goal:
    """What a function that readers write should achieve, checked against what came of calling it."""

    words: str  # "Choose correctly in all nine cases", without a full stop
    met: Callable[[Any], bool]  # f(called)


@dataclass(frozen=True)
class Table:
    """The results of a reader's function, one row per case; whatever is left out of a long table is named in
    `caption`.
    """

    caption: str
    head: tuple[str, ...]  # one word per column
    rows: tuple[tuple[Any, ...], ...]  # words
    taken: bool = False  # whether readers may take it with them: a button copies it


@dataclass(frozen=True)
class Shown:
    """What the run of a function that readers edit shows: one sentence, tables, panels."""

    sentence: str
    tables: tuple[Table, ...] = ()
    panels: Sequence[Panel] = ()
