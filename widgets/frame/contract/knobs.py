"""What a reader turns: the fields of a widget's `Knobs`, for example `rate: float = slider("Learning rate", 0.1, 0.0,
1.0, 0.1)`.

The functions return Any, as dataclasses.field does, because the annotation states the type of the value.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any


def slider(label: str, default: float, low: float, high: float, step: float, symbol: str = "", unit: str = "") -> Any:
    return field(
        default=default,
        metadata=dict(kind="slider", label=label, low=low, high=high, step=step, symbol=symbol, unit=unit),
    )


def ladder(label: str, default: float, rungs: Sequence[float], symbol: str = "", unit: str = "") -> Any:
    return field(
        default=default, metadata=dict(kind="ladder", label=label, rungs=rungs, symbol=symbol, unit=unit, exact=False)
    )


def number(label: str, default: float, rungs: Sequence[float], symbol: str = "", unit: str = "") -> Any:
    """A ladder that takes every number between its ends as it is typed, and whole ones where the default is whole: the
    rungs are where its slider stops.
    """
    return field(
        default=default, metadata=dict(kind="ladder", label=label, rungs=rungs, symbol=symbol, unit=unit, exact=True)
    )


def choice(label: str, default: Any, options: Sequence[Any], symbol: str = "") -> Any:
    return field(default=default, metadata=dict(kind="choice", label=label, options=options, symbol=symbol, unit=""))


def toggle(label: str, default: bool, symbol: str = "") -> Any:
    return field(
        default=default, metadata=dict(kind="toggle", label=label, options=["on", "off"], symbol=symbol, unit="")
    )


PASTED = 2**16  # characters of a text that a reader may paste, unless its knob allows more


def pasted(label: str, read: Callable[[str], tuple[str, str]], example: str, most: int = PASTED) -> Any:
    """A text that a reader pastes, "" if none. `read(text)` returns (the same text, as short as possible; a sentence
    that says what was understood), or raises a ValueError whose one sentence says what is wrong and what is valid.
    """
    return field(
        default="", metadata=dict(kind="pasted", label=label, read=read, example=example, most=most, symbol="", unit="")
    )
