"""Values of knobs as held by a form and by an address."""

from collections.abc import Mapping
from dataclasses import Field, asdict, fields
from typing import Any, cast
from urllib.parse import urlencode


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
        value, sentence = read(knob, text)
    except ValueError as refusal:
        return dict(value=None, said=f"{refusal}")
    return dict(value=value, said=sentence)


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
