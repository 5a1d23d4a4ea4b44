"""What a reader is asked to do: to guess, to change a function, to reach a goal, to write a function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from widgets.frame.drawing.marks import Panel


@dataclass(frozen=True)
class Guess:
    """A question to be answered before a run; it tests what the reader believes, and never names a break."""

    question: str
    answers: tuple[str, ...]  # two or three
    knobs: Any  # the setting that answers it
    right: int  # index of the right answer
    told: Callable[[Any, Any], str]  # f(knobs, result): one sentence, what it is
    reveals: str = ""  # the label of a readout that would answer it: its number waits for the guess or the first move


@dataclass(frozen=True)
class Exercise:
    """What a reader is asked to make of a function that is changed; held by the numbers that it must return."""

    ask: str  # one or two sentences
    calls: tuple[tuple[Any, ...], ...]  # arguments with which the changed function is called
    wanted: Callable[..., Any]  # what each call must return, from elsewhere: another function of sim/, a closed form
    hints: tuple[str, str]  # the second shows after the first
    answer: tuple[str, str]  # (the lines of ours, the lines in their place), as one solution has them
    function: Callable[..., Any] | None = None  # which of the functions it is about; the first where nothing is said


@dataclass(frozen=True)
class Change:
    """The functions of one module of sim/ that readers edit below a widget, and run in it."""

    functions: tuple[Callable[..., Any], ...]  # plain functions of one file, two to twenty lines each
    named: str  # what they compute, in a few words
    exercises: tuple[Exercise, ...] = ()  # one or two


@dataclass(frozen=True)
class Challenge:
    """A goal that the outputs of a run are checked for."""

    goal: str  # one sentence, with its numbers
    met: Callable[[Any, Any], bool]  # f(knobs, result), of a run that has ended
    way: Any  # knobs that meet it; the default does not


@dataclass(frozen=True)
class Table:
    """What came of a reader's function, a row a case; what is left out of a long one is said in `caption`."""

    caption: str
    head: tuple[str, ...]  # a word a column
    rows: tuple[tuple[Any, ...], ...]  # words
    taken: bool = False  # whether readers take it with them: a button copies it


@dataclass(frozen=True)
class Shown:
    """What the run of a function that readers edit shows: one sentence, tables, panels."""

    sentence: str
    tables: tuple[Table, ...] = ()
    panels: Sequence[Panel] = ()
