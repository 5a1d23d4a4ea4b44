"""What a result says beside its curves: numbers, the watched quantity, and the break."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Readout:
    label: str
    value: float | str  # a number, or a word ("holds") if the quantity is an invariant
    unit: str = ""
    source: Callable[..., Any] | None = None  # the sim function that computed it
    state: str = ""  # "violated" | "holds" | "assumed" | ""


@dataclass(frozen=True)
class Gauge:
    """The watched quantity relative to its threshold: what `watched` may return."""

    label: str
    value: float
    threshold: float
    unit: str = ""
    below: bool = False  # whether it breaks below the threshold instead of above
    expression: str = ""  # the predicate as code, for the data table


@dataclass(frozen=True)
class At:
    """Where in the picture a break is visible, and what is seen there: a ring with a few words."""

    panel: str  # the panel's title
    x: float | str | None  # in units of the axis, or a category's name; None is the end of `curve`
    y: float | str | None  # None is the height of `curve` there
    words: str  # at most six: what is seen there, not why; "{y:.2f} at the end" inserts the height
    curve: str = ""  # the name of the mark that shows the break; the panel's other marks fade


@dataclass(frozen=True)
class Break:
    """Damage to an outcome in the readouts; crossing a threshold alone does not count."""

    why: str  # one sentence: what happened, and why
    fix: Mapping[str, Any] | None  # {knob: value}, one way back; None if no knob of the page leads back
    cause: str  # at most six words, the same for all settings that break for this reason: what there is to find
