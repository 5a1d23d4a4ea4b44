"""The words a widget is written in: knobs, readouts, the break. Those of its figure are in marks.py; what a widget must
hold is in CONTRIBUTING.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


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


@dataclass(frozen=True)
class Readout:
    label: str
    value: float | str  # a number, or a word ("holds") where the quantity is an invariant
    unit: str = ""
    source: Callable | None = None  # the sim function that computed it
    state: str = ""  # "violated" | "holds" | "assumed" | ""


@dataclass(frozen=True)
class Break:
    why: str  # one sentence: what happened, and because of what
    mend: str  # one way back, "Label: value.", or several such; a test turns the knobs and looks
