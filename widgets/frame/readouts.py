"""What a result says beside its curves: numbers, what is watched, and the break."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Readout:
    label: str
    value: float | str  # a number, or a word ("holds") where the quantity is an invariant
    unit: str = ""
    source: Callable[..., Any] | None = None  # the sim function that computed it
    state: str = ""  # "violated" | "holds" | "assumed" | ""


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
class Break:
    """Damage to an outcome in the readouts; crossing a threshold alone is none."""

    why: str  # one sentence: what happened, and because of what
    fix: Mapping[str, Any] | None  # {knob: value}, one way back; None where no knob of the page leads back
    cause: str  # at most six words, the same for every setting that breaks for this reason: what there is to find
