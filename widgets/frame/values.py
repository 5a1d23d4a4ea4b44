"""Values as a form holds them, as a sentence has them, and as JSON."""

import re
from collections.abc import Mapping
from dataclasses import Field, asdict, fields
from math import isfinite
from typing import Any, cast
from urllib.parse import urlencode

import numpy as np


def knobs_from(cls: type[Any], form: Mapping[str, Any]) -> Any:
    """A form's strings as the types the defaults have; a value that is not on offer is a ValueError that says what
    is.
    """
    return cls(**{f.name: parsed(f, form[f.name]) for f in fields(cls) if f.name in form})


def is_pasted(knob: Field[Any]) -> bool:
    return knob.metadata["kind"] == "pasted"


def understood(knob: Field[Any], text: object) -> dict[str, str | None]:
    """{value, said} of a text that a reader brought; no value where it is refused, and why."""
    try:
        value, said = read(knob, text)
    except ValueError as refusal:
        return dict(value=None, said=f"{refusal}")
    return dict(value=value, said=said)


def read(knob: Field[Any], text: object) -> tuple[str, str]:
    if not isinstance(text, str):
        raise ValueError("This takes text.")
    if len(text) > (most := knob.metadata["most"]):
        raise ValueError(f"Over {most:,} characters; this takes {most:,} at most.")
    return knob.metadata["read"](text) if text.strip() else ("", "")


def parsed(knob: Field[Any], text: Any) -> Any:
    m, kind, offered = knob.metadata, cast(type[Any], type(knob.default)), None
    if m["kind"] == "pasted":
        try:
            return read(knob, text)[0]
        except ValueError as refusal:
            raise ValueError(f"{knob.name}: {refusal}") from None
    if m["kind"] == "toggle":
        value, offered = {"on": True, "off": False}.get(text, text), [True, False]
    else:
        try:
            value = whole(text) if issubclass(kind, int) else kind(text)
        except (TypeError, ValueError, OverflowError):
            number = "a whole number" if issubclass(kind, int) else "a number"
            raise ValueError(f"{knob.name} must be {number}, not {text!r}") from None
        offered = None if between(m) else m.get("rungs") or m.get("options")
    if offered and value not in offered:
        raise ValueError(f"{knob.name} must be one of {', '.join(map(spelled, offered))}, not {text!r}")
    if ends := between(m):
        low, high = ends
        if not low <= value <= high:
            raise ValueError(f"{knob.name} must be from {spelled(low)} to {spelled(high)}, not {text!r}")
    return value


def whole(text: Any) -> int:
    if (number := float(text)) != int(number):
        raise ValueError("not whole")
    return int(number)


def between(metadata: Mapping[str, Any]) -> tuple[float, float] | None:
    """(least, most) of a knob that takes every number between; None of one that offers single values."""
    if metadata["kind"] == "slider":
        return metadata["low"], metadata["high"]
    return (metadata["rungs"][0], metadata["rungs"][-1]) if metadata.get("exact") else None


def query(knobs: Any) -> str:
    """Knobs as the query of a permalink: offset=10&baseline=none."""
    return urlencode({name: spelled(value) for name, value in asdict(knobs).items()})


def spelled(value: object) -> str:
    """A knob's value as the form holds it."""
    return (
        {True: "on", False: "off"}[value]
        if isinstance(value, bool)
        else f"{value:.12g}"
        if isinstance(value, float)
        else str(value)
    )


def figures(value: float | str) -> str:
    """Three significant digits, thousands grouped: 0.0312, 1,240, 3.10 × 10⁻⁷; a word stays a word."""
    if isinstance(value, str):
        return value
    value = float(value)
    if not isfinite(value):
        return "–" if value != value else "∞" if value > 0 else "−∞"
    if abs(value) >= 999.5:
        text = f"{value:,.0f}" if abs(value) < 1e7 else f"{value:.3g}"
    else:
        text = f"{value:#.3g}" if value != int(value) else str(int(value))
    digits, _, power = text.rstrip(".").partition("e")
    return f"{digits} × 10{raised(int(power))}".replace("-", "−") if power else digits.replace("-", "−")


def with_unit(text: str, unit: str) -> str:
    """A number with its unit: 0.5 nats, 1 nat, 3 tokens/s, 1 token/s, 50 %."""
    return f"{text} {unit_after(text, unit)}".strip()


def unit_after(text: str, unit: str) -> str:
    """A unit as it is read after a number; none after the dash of no value."""
    if text == "–":
        return ""
    return re.sub(r"^([A-Za-z-]{2,})s\b", r"\1", unit) if text.split()[-1:] == ["1"] else unit


def raised(power: int) -> str:
    """A power as it stands above the line: ⁻⁷."""
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def decimal(value: float, digits: int = 2) -> str:
    """0.25, −0.25; what rounds to zero has no sign."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 2) -> str:
    """+0.25, −0.25; what rounds to zero is +0.00."""
    return f"{round(float(value), digits) + 0.0:+.{digits}f}".replace("-", "−")


def plain(x: Any) -> Any:
    """Arrays as lists. NaN and infinity are not JSON: plotly draws a gap for null."""
    if isinstance(x, float):
        return x if isfinite(x) else None
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [plain(v) for v in x]
    if isinstance(x, np.ndarray | np.generic):
        return x.tolist() if x.dtype.kind != "f" or np.isfinite(x).all() else plain(x.tolist())
    return x
