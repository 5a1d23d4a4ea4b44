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
                unit = f" {metadata[name]['unit']}" if metadata[name]["unit"] else ""
                shown = value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:g}"
                return f"{metadata[name]['label']}: {shown}{unit}."
    return None


def nearest(metadata, present):
    """All other values of a knob, the nearest first."""
    if metadata["kind"] == "slider":
        low, high, step = metadata["low"], metadata["high"], metadata["step"]
        values = [type(step)(round(low + n * step, 9)) for n in range(round((high - low) / step) + 1)]
        return sorted((v for v in values if v != present), key=lambda v: abs(v - present))
    values = metadata["rungs"] if metadata["kind"] == "ladder" else metadata["options"]
    at = values.index(present)
    return [values[i] for i in sorted(range(len(values)), key=lambda i: abs(i - at)) if i != at]
