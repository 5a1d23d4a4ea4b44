"""The words a widget is written in: knobs, readouts, the break; and those of a small figure, which has one idea and at
most one handle. The words of what is drawn are in marks.py; what a widget and a figure must hold is in CONTRIBUTING.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

KNOBS_IN_VIEW = 5  # the others wait in a fold


def slider(label, default, low, high, step, symbol="", unit=""):
    return field(
        default=default,
        metadata=dict(kind="slider", label=label, low=low, high=high, step=step, symbol=symbol, unit=unit),
    )


def ladder(label, default, rungs, symbol="", unit=""):
    return field(default=default, metadata=dict(kind="ladder", label=label, rungs=rungs, symbol=symbol, unit=unit))


def choice(label, default, options, symbol=""):
    return field(default=default, metadata=dict(kind="choice", label=label, options=options, symbol=symbol, unit=""))


def toggle(label, default, symbol=""):
    return field(
        default=default, metadata=dict(kind="toggle", label=label, options=["on", "off"], symbol=symbol, unit="")
    )


def pasted(label, read, example):
    """What a reader brings, "" for nothing: `read(text)` -> (the same text, as short as it can be; a sentence that says
    what was understood), or a ValueError of one sentence that says what is wrong and what is valid.
    """
    return field(default="", metadata=dict(kind="pasted", label=label, read=read, example=example, symbol="", unit=""))


@dataclass(frozen=True)
class Readout:
    label: str
    value: float | str  # a number, or a word ("holds") where the quantity is an invariant
    unit: str = ""
    source: Callable | None = None  # the sim function that computed it
    state: str = ""  # "violated" | "holds" | "assumed" | ""


@dataclass(frozen=True)
class Break:
    """Damage to an outcome in the readouts; crossing a threshold alone is none."""

    why: str  # one sentence: what happened, and because of what
    fix: Mapping[str, object] | None  # {knob: value}, one way back; None where no knob of the page leads back
    cause: str  # at most six words, the same for every setting that breaks for this reason: what there is to find


@dataclass(frozen=True)
class Gauge:
    """The watched quantity on its way to the threshold, as a rail from `low` to `high`: what `watched` may return."""

    label: str
    value: float
    threshold: float
    unit: str = ""
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    below: bool = False  # it breaks below the threshold, not above
    expression: str = ""  # the predicate as code, for the data table


@dataclass(frozen=True)
class Guess:
    """A question to be answered before a run; it tests what the reader believes, and never names a break."""

    question: str
    answers: tuple  # two or three
    knobs: object  # the setting that answers it
    right: int  # index of the right answer
    told: Callable  # f(knobs, result): one sentence, what it is


@dataclass(frozen=True)
class Handle:
    """What the reader moves: a slider over the positions, or, for at most five short words, buttons side by side."""

    label: str
    positions: tuple  # at most 24 values, each drawn when the page is built
    start: int = 0  # the index of the one that stands there untouched: the end of the story
    words: tuple = ()  # what each position is called; its value where nothing is said
    symbol: str = ""

    def __len__(self):
        return len(self.positions)

    def spoken(self, i):
        return str(self.words[i] if self.words else self.positions[i])


@dataclass(frozen=True)
class Figure:
    panels: Callable  # one or two panels or grids, of a position of the handle, of nothing where there is none
    source: Callable  # the sim function that computes them
    handle: Handle | None = None
    sentence: Callable | None = None  # at most one sentence from the result, of the same arguments


@dataclass(frozen=True)
class Opening:
    """Two runs of a widget that differ in one setting, on the first screen of its lesson."""

    plain: object  # knobs of the run without the break
    other: object  # of the run with it
    panels: Callable  # (result, result) -> an outcome any reader can read, and the watched quantity
    source: Callable
    line: str = "Same code, same seed, one setting differs. Find which."


@dataclass(frozen=True)
class Table:
    """What came of a reader's function, a row a case; what is left out of a long one is said in `caption`."""

    caption: str
    head: tuple  # a word a column
    rows: tuple  # tuples of words


@dataclass(frozen=True)
class Shown:
    """What the run of a function that readers edit shows: one sentence, tables, panels."""

    sentence: str
    tables: tuple = ()
    panels: tuple = ()


@dataclass(frozen=True)
class Exercise:
    """What a reader is asked to make of a function that is changed; held by the numbers that it must return."""

    ask: str  # one or two sentences
    calls: tuple  # of tuples of arguments, with which the changed function is called
    wanted: Callable  # what each call must return, from elsewhere: another function of sim/, a closed form
    hints: tuple  # two, of which the second shows after the first
    answer: tuple  # (the lines of ours, the lines in their place), as one solution has them
    function: Callable | None = None  # which of the functions it is about; the first where nothing is said


@dataclass(frozen=True)
class Change:
    """The functions of one module of sim/ that readers edit below a widget, and run in it."""

    functions: tuple  # plain functions of one file, two to twenty lines each
    named: str  # what they compute, in a few words
    exercises: tuple = ()  # one or two


@dataclass(frozen=True)
class Challenge:
    """A goal that the outputs of a run are checked for."""

    goal: str  # one sentence, with its numbers
    met: Callable  # f(knobs, result) -> bool, of a run that has ended
    way: object  # knobs that meet it; the default does not
