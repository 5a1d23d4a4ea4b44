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
    """The watched quantity on its way to the threshold: what `watched` may return."""

    label: str
    value: float
    threshold: float
    unit: str = ""
    below: bool = False  # it breaks below the threshold, not above
    expression: str = ""  # the predicate as code, for the data table


@dataclass(frozen=True)
class At:
    """Where a break is seen in the picture, and what is seen there: a ring with its words."""

    panel: str  # by its title
    x: float | str | None  # in units of the axis, a category by its name; None is the end of `curve`
    y: float | str | None  # None is as high as `curve` is there
    words: str  # at most six: what stands at this place, not why; "{y:.2f} at the end" has its height
    curve: str = ""  # the name of the mark that is guilty; the others of the panel fade


@dataclass(frozen=True)
class Break:
    """Damage to an outcome in the readouts; crossing a threshold alone is none."""

    why: str  # one sentence: what happened, and because of what
    fix: Mapping[str, Any] | None  # {knob: value}, one way back; None where no knob of the page leads back
    cause: str  # at most six words, the same for every setting that breaks for this reason: what there is to find
