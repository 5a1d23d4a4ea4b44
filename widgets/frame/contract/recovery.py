"""Ways back from a break: which knobs of the page to set to which values, {knob: value}, and how to say so.

The searches try settings of the page until `holds(knobs)` is true; they return None if none of those they try works.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from widgets.frame.drawing.written import with_unit

Fix = dict[str, Any]


def different(knobs: Any, values: Mapping[str, Any]) -> Fix:
    """Those of these {knob: value} that are not set already."""
    return {name: value for name, value in values.items() if value != getattr(knobs, name)}


def one_knob(knobs: Any, names: Iterable[str], holds: Callable[[Any], bool]) -> Fix | None:
    """The first of these knobs that alone is enough, at the value nearest to the present one."""
    metadata = {f.name: f.metadata for f in fields(knobs)}
    for name in names:
        for value in nearest(metadata[name], getattr(knobs, name)):
            if holds(replace(knobs, **{name: value})):
                return {name: value}
    return None


def first_of(knobs: Any, changes: Iterable[Mapping[str, Any]], holds: Callable[[Any], bool]) -> Fix | None:
    """The first of several {knob: value} that turns something and is enough."""
    for change in changes:
        turned = different(knobs, change)
        if turned and holds(replace(knobs, **turned)):
            return turned
    return None


def fewest(knobs: Any, values: Mapping[str, Any], holds: Callable[[Any], bool]) -> Fix | None:
    """As few of these {knob: value} as are enough together. Those that come first are spared first."""
    turned = different(knobs, values)
    if not turned or not holds(replace(knobs, **turned)):
        return None
    for name in list(turned):
        fewer = {other: value for other, value in turned.items() if other != name}
        if holds(replace(knobs, **fewer)):
            turned = fewer
    return turned


def nearest(metadata: Mapping[str, Any], present: Any) -> list[Any]:
    """All other values of a knob, the nearest first."""
    if metadata["kind"] == "slider":
        low, high, step = metadata["low"], metadata["high"], metadata["step"]
        values = [type(step)(round(low + n * step, 9)) for n in range(round((high - low) / step) + 1)]
        return sorted((v for v in values if v != present), key=lambda v: abs(v - present))
    values = metadata["rungs"] if metadata["kind"] == "ladder" else metadata["options"]
    if present not in values:  # a typed number between two rungs
        values = sorted([*values, present])
    at = values.index(present)
    return [values[i] for i in sorted(range(len(values)), key=lambda i: abs(i - at)) if i != at]


def in_words(knobs: Any, fix: Mapping[str, Any]) -> str:
    """ "Clip: on, Longest completion: 4,600 tokens." """
    metadata = {f.name: f.metadata for f in fields(knobs)}
    return ", ".join(f"{metadata[name]['label']}: {spoken(metadata[name], value)}" for name, value in fix.items()) + "."


def spoken(metadata: Mapping[str, Any], value: Any) -> str:
    """A knob's value as a sentence has it, with its unit."""
    if metadata["kind"] == "toggle":
        value = "on" if value else "off"
    if metadata["kind"] == "pasted":
        return value or "nothing"
    text = value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:,g}"
    return with_unit(text, metadata["unit"])
