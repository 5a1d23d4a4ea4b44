"""Every widget of the book, and what it answers to a setting; runs are kept, because many tests look at the same one."""
import json
from collections import deque
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

from widgets import host

NAMES = sorted(file.stem for file in (Path(__file__).parents[2] / "widgets").glob("*.py") if file.stem not in ("__init__", "contract", "host"))


@cache
def last_frame(name, query=""):
    """The settled frame of a setting, given as a permalink's query."""
    form = dict(pair.split("=", 1) for pair in query.split("&") if pair) if query else {}
    return json.loads(deque(host.stream(name, json.dumps(form)), maxlen=1)[0])


def frame_of(name, knobs):
    return last_frame(name, "&".join(f"{f.name}={host.spelled(getattr(knobs, f.name))}" for f in fields(knobs)))


def ends(field):
    """The extreme values of a knob: both ends of a range, every option of a choice."""
    m = field.metadata
    if m["kind"] == "toggle":
        return [True, False]
    if m["kind"] == "choice":
        return list(m["options"])
    values = m["rungs"] if m["kind"] == "ladder" else [m["low"], m["high"]]
    return [type(field.default)(v) for v in (values[0], values[-1])]


def settings(name):
    """Every setting that differs from the default in one knob, taken to an end."""
    knobs = host.widget(name).Knobs()
    return [replace(knobs, **{f.name: v}) for f in fields(knobs) for v in ends(f) if v != f.default]
