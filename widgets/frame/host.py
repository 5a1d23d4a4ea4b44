"""Run a widget by name. The page, the build and the tests all come in through `stream`; `table` writes what a frame of
it shows.
"""

import hashlib
import json
from dataclasses import asdict, fields
from importlib import import_module
from math import isfinite
from urllib.parse import urlencode

import numpy as np

from widgets.frame import data


def widget(name):
    return import_module(f"widgets.{name}")


def stream(name, form="{}"):
    """The frame of every result of one run, in turn; `form` holds knobs as the page's strings."""
    w = widget(name)
    knobs = knobs_from(w.Knobs, json.loads(form))
    for result in w.run(knobs):
        yield frame(w, knobs, result)


def frame(w, knobs, result):
    """What a widget shows of a result, as JSON: {panels, readouts, watched, broken, progress, hash}."""
    broken = w.broken(knobs, result)
    drawn = list(w.figure(knobs, result))
    return json.dumps(
        dict(
            panels=[dict(p, alt=described(p)) for p in plain(drawn)],
            readouts=[row(r) for r in w.readouts(knobs, result)],
            watched=row(w.watched(knobs, result)),
            broken=broken and asdict(broken),
            progress=w.progress(knobs, result) if hasattr(w, "progress") else None,
            hash=fingerprint(drawn),
        )
    )


def table(name, frame):
    """The data of a frame as an HTML table, with a link to save all of it."""
    panels = json.loads(frame)["panels"]
    return data.table(panels, more=data.file(panels, name))


def knobs_from(cls, form):
    """A form's strings as the types the defaults have; a value that is not on offer is a ValueError that says what
    is.
    """
    return cls(**{f.name: parsed(f, form[f.name]) for f in fields(cls) if f.name in form})


def parsed(knob, text):
    m, offered = knob.metadata, None
    if m["kind"] == "toggle":
        value, offered = {"on": True, "off": False}.get(text, text), [True, False]
    else:
        try:
            value = type(knob.default)(float(text)) if isinstance(knob.default, int) else type(knob.default)(text)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"{knob.name} must be a number, not {text!r}") from None
        offered = m.get("rungs") or m.get("options")
    if offered and value not in offered:
        raise ValueError(f"{knob.name} must be one of {', '.join(map(spelled, offered))}, not {text!r}")
    if m["kind"] == "slider" and not m["low"] <= value <= m["high"]:
        raise ValueError(f"{knob.name} must be from {spelled(m['low'])} to {spelled(m['high'])}, not {text!r}")
    return value


def query(knobs):
    """Knobs as the query of a permalink: offset=10&baseline=none."""
    return urlencode({name: spelled(value) for name, value in asdict(knobs).items()})


def spelled(value):
    """A knob's value as the form holds it."""
    return (
        {True: "on", False: "off"}[value]
        if isinstance(value, bool)
        else f"{value:.12g}"
        if isinstance(value, float)
        else str(value)
    )


def row(readout):
    return dict(
        label=readout.label,
        text=figures(readout.value),
        unit=readout.unit,
        source=line_of(getattr(readout, "source", None)),  # a gauge has none
        state=getattr(readout, "state", ""),
    )


def figures(value):
    """Three significant digits, thousands grouped: 0.0312, 1,240, 3.1e-7; a word stays a word."""
    if isinstance(value, str):
        return value
    value = float(value)
    if not isfinite(value):
        return "–" if value != value else "∞" if value > 0 else "−∞"
    if abs(value) >= 999.5:
        return (
            f"{value:,.0f}".replace("-", "−")
            if abs(value) < 1e7
            else f"{value:.3g}".replace("e+0", "e").replace("e+", "e").replace("-", "−")
        )
    text = f"{value:#.3g}" if value != int(value) else str(int(value))
    return text.rstrip(".").replace("e-0", "e−").replace("-", "−")


def line_of(function):
    """Where a sim function stands: sim/estimators/kl.py#L41."""
    return function and f"{function.__module__.replace('.', '/')}.py#L{function.__code__.co_firstlineno}"


def amplified(name, preset):
    """{label of a readout: how far machines differ} of a preset, empty if they do not."""
    return getattr(widget(name), "AMPLIFIES", {}).get(preset, {})


def plain(x):
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


def described(panel):
    """A sentence for those who do not see the panel: what is drawn, over what range, up to what value."""
    curves = [m for m in panel["data"] if m["type"] != "heatmap"]
    # what is left of a zero after rounding, 1e-17, is another on each machine
    values = [round(v, 12) + 0.0 for m in curves for v in m["y"] if isinstance(v, int | float)]
    named = ", ".join(dict.fromkeys(m["name"] for m in curves if m["name"]))
    ends = f": from {figures(min(values))} to {figures(max(values))}" if values else ""
    return f"{panel['title']}, {panel['note']}{' (' + named + ')' if named else ''}{ends}"


def fingerprint(panels):
    """Eight hexadecimal digits of what is drawn, to a thousandth of each curve's largest value, about a pixel: the last
    bits of `exp` and of sums, in which processors differ, do not show.
    """
    digest = hashlib.sha256()
    for mark in (mark for p in panels for mark in p["data"]):
        for values in (mark[axis] for axis in "xyz" if axis in mark):
            try:
                digest.update(rounded(np.asarray(values, np.float64)))
            except ValueError:  # words
                digest.update(repr(plain(values)).encode())
    return digest.hexdigest()[:8]


def rounded(values):
    """The bytes of numbers in steps of a thousandth of the largest, and of the largest itself; one NaN, whatever its
    sign.
    """
    finite = np.isfinite(values)
    largest = np.abs(values[finite]).max(initial=1e-9)  # a curve that stays below is zero and its rounding errors
    # 0.377: the edges of the steps lie where round numbers and simple fractions do not, or a last bit would cross them
    steps = np.floor(1000 * np.where(finite, values, 0) / largest + 0.377)
    special = np.nan_to_num(values, nan=1e5, posinf=1e6, neginf=-1e6)
    return np.append(np.where(finite, steps, special), np.floor(1000 * np.log(largest) + 0.377)).tobytes()
