"""A way back from a break, found by turning the knobs of the page."""

from dataclasses import fields, replace


def way_back(knobs, names, holds):
    """The first of these knobs that alone makes `holds(knobs)` true, at the value nearest to the present one, as
    "Label: value."; None if none does.
    """
    metadata = {f.name: f.metadata for f in fields(knobs)}
    for name in names:
        for value in nearest(metadata[name], getattr(knobs, name)):
            if holds(replace(knobs, **{name: value})):
                return f"{said(metadata[name], value)}."
    return None


def ways_back(knobs, values, holds):
    """As few of these {knob: value} as make `holds(knobs)` true together, as "Label: value, Label: value."; None if all
    of them do not. Those that come first are spared first.
    """
    metadata = {f.name: f.metadata for f in fields(knobs)}
    turned = {name: value for name, value in values.items() if value != getattr(knobs, name)}
    if not turned or not holds(replace(knobs, **turned)):
        return None
    for name in list(turned):
        fewer = {other: value for other, value in turned.items() if other != name}
        if holds(replace(knobs, **fewer)):
            turned = fewer
    return ", ".join(said(metadata[name], value) for name, value in turned.items()) + "."


def said(metadata, value):
    """ "Label: value unit"."""
    if metadata["kind"] == "toggle":
        value = "on" if value else "off"
    shown = value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return f"{metadata['label']}: {shown} {metadata['unit']}".strip()


def nearest(metadata, present):
    """All other values of a knob, the nearest first."""
    if metadata["kind"] == "slider":
        low, high, step = metadata["low"], metadata["high"], metadata["step"]
        values = [type(step)(round(low + n * step, 9)) for n in range(round((high - low) / step) + 1)]
        return sorted((v for v in values if v != present), key=lambda v: abs(v - present))
    values = metadata["rungs"] if metadata["kind"] == "ladder" else metadata["options"]
    at = values.index(present)
    return [values[i] for i in sorted(range(len(values)), key=lambda i: abs(i - at)) if i != at]
