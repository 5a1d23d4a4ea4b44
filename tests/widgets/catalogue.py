"""Every widget of the book, and what it answers to a setting."""

import json
import sys
from collections import deque
from dataclasses import asdict, fields, replace
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from tools.pages import frames, results
from widgets.frame.contract.values import parsed, spelled
from widgets.frame.reader import host

ROOT = Path(__file__).parents[2]
NAMES = results.WIDGETS


def where_changed(name, **options):
    """The mark of an expensive test of a widget: at night, and on a push that changes what the widget depends on."""
    return pytest.mark.when_changed(f"widgets.{name}.widget", **options)


def each_where_changed(**options):
    """For a test of every widget; the tests of a module on one widget follow each other and share what they compute."""
    each = [pytest.param(name, marks=where_changed(name, **options), id=name) for name in NAMES]
    return pytest.mark.parametrize("name", each, scope="module")


def frame_of(name, knobs=None):
    """The last frame of a run, of the default setting or of one that is given; it is shared, so nobody changes it."""
    return settled(name, knobs or host.widget(name).Knobs(), results.variant)


@cache
def settled(name, knobs, variant):
    return frames.settled(name, knobs)


last_frame = frame_of


def every_frame(name):
    """All frames of the default setting, computed here and now."""
    return traced(name)[0]


def called(name):
    """The functions of sim/ and rlpt/ that these frames call, by first line: {"sim/estimators/kl.py#L41", …}."""
    return traced(name)[1]


@cache
def traced(name):
    forget_what_was_computed()
    called = set()
    sys.setprofile(lambda frame, event, _: event == "call" and called.add(frame.f_code))
    try:
        frames = [json.loads(frame) for frame in host.stream(name)]
    finally:
        sys.setprofile(None)
    files = {code: Path(code.co_filename) for code in called}
    return frames, {
        f"{file.relative_to(ROOT).as_posix()}#L{code.co_firstlineno}"
        for code, file in files.items()
        if file.is_relative_to(ROOT / "sim") or file.is_relative_to(ROOT / "rlpt")
    }


def forget_what_was_computed():
    """Empties the caches of sim/, rlpt/ and widgets/, so that what they hold is computed again."""
    for module in [module for name, module in sys.modules.items() if name.startswith(("sim.", "rlpt.", "widgets."))]:
        for thing in list(vars(module).values()):
            if hasattr(thing, "cache_clear"):
                thing.cache_clear()


@cache
def early_frame(name, knobs):
    """The second frame of a run, or its only one: what a setting looks like, without the whole of its training."""
    return json.loads(deque(islice(host.stream(name, form(knobs)), 2), maxlen=1)[0])


def form(knobs):
    """What the page sends of a setting."""
    return json.dumps({field: spelled(value) for field, value in asdict(knobs).items()})


def last(widget, seeds=None, **knobs):
    """The last result of a run, by whoever made it first; of fewer seeds where only a direction is asked for, of more
    where the claim is about their mean.
    """
    name = host.page_of(widget)
    return results.last(name, widget.Knobs(**knobs), **({"SEEDS": seeds} if seeds else {}))


def broken(widget, **knobs):
    """What a widget says is broken at these knobs, or None."""
    return widget.broken(widget.Knobs(**knobs), last(widget, **knobs))


def cause(widget, **knobs):
    break_ = broken(widget, **knobs)
    return break_ and break_.cause


def marks(panel, kind):
    """The marks of a kind in all views of a scene."""
    return [mark for column in panel["columns"] for view in column for mark in view["marks"] if mark["kind"] == kind]


def ring(panel):
    """What the only ring of a scene says, "" where it is not seen."""
    (mark,) = marks(panel, "ring")
    return mark["words"] if mark["seen"] else ""


def panel(widget, title, result=None, **knobs):
    """One panel of a result, that of the knobs themselves unless another is given."""
    (found,) = [
        p
        for p in widget.figure(widget.Knobs(**knobs), last(widget, **knobs) if result is None else result)
        if p["title"] == title
    ]
    return found


def ends(field):
    """The extreme values of a knob: both ends of a range, every option of a choice."""
    return [values(field)[0], values(field)[-1]] if field.metadata["kind"] in ("ladder", "slider") else values(field)


def values(field):
    """All that a knob can be set to, of a text its example."""
    m = field.metadata
    if m["kind"] == "toggle":
        return [True, False]
    if m["kind"] == "choice":
        return list(m["options"])
    if m["kind"] == "pasted":
        return [m["read"](m["example"])[0]]
    steps = 0 if m["kind"] == "ladder" else round((m["high"] - m["low"]) / m["step"])
    rungs = (
        m["rungs"] if m["kind"] == "ladder" else [m["low"] + step * m["step"] for step in range(steps)] + [m["high"]]
    )
    return [type(field.default)(rung) for rung in rungs]


def breaking(name):
    """The presets that break, in their order: {name of the preset: knobs}."""
    presets = host.widget(name).PRESETS
    return {preset: knobs for preset, knobs in presets.items() if state(frame_of(name, knobs)) == "broken"}


def state(frame):
    return frame["verdict"]["state"]


def fixed(name, knobs, fix):
    """The knobs after a way back, {knob: value}."""
    assert fix, f"widgets/{name}/widget.py: the break of {knobs} has a `fix`, {{knob: value}}"
    return after(knobs, host.steps(knobs, fix))


def after(knobs, steps):
    """The knobs after the steps that the page offers."""
    turned = {step["knob"]: step["value"] for step in steps}
    return replace(knobs, **{f.name: parsed(f, turned[f.name]) for f in fields(knobs) if f.name in turned})


def settings(name):
    """Every setting that differs from the default in one knob, taken to an end."""
    knobs = host.widget(name).Knobs()
    return [replace(knobs, **{f.name: v}) for f in fields(knobs) for v in ends(f) if v != f.default]


def near(name, preset, in_browser, native):
    """Whether the texts shown are the readouts of a preset on another machine: character for character, but for those
    whose last bit the run amplifies, within what the widget's AMPLIFIES says.
    """
    allowed = host.amplified(name, preset)
    return all(
        text == r["text"] or abs(number(text) - number(r["text"])) <= allowed.get(r["label"], -1)
        for text, r in zip(in_browser, native, strict=True)
    )


def number(text):
    """The number that a readout shows; nan for a word."""
    digits, _, power = text.replace("−", "-").replace(",", "").partition(" × 10")
    try:
        return float(digits) * 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)
    except ValueError:
        return float("nan")
