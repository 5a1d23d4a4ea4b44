"""Run a widget by name. The page, the build and the tests all come in through `stream`; `table` writes what a frame of
it shows.
"""

import hashlib
import html
import json
from dataclasses import asdict, fields
from importlib import import_module
from itertools import pairwise
from math import inf, isfinite, log10
from urllib.parse import urlencode

import numpy as np

from sim.algorithms import options as algorithm_options
from sim.cluster import options
from widgets.frame import data_table, job, marks, pages, recovery
from widgets.frame.contract import KNOBS_IN_VIEW, Readout

PASTED = 2**16  # characters of a text that a reader may bring


def widget(name):
    return import_module(f"widgets.{name}.widget")


def page_of(w):
    """The name of a widget's page: widgets.ppo.widget -> ppo."""
    return w.__name__.split(".")[1]


def exercises(name):
    """What a reader is given to do with a widget: a module with CHANGE, CHALLENGES or both, or None."""
    return pages.module(name, "exercises")


def stream(name, form="{}"):
    """The frame of every result of one run, in turn; `form` holds knobs as the page's strings, and under `job` what the
    browser has kept of one. Before them, or in their place, goes what was found in the texts that the reader brought,
    and the bar of the job; of a page that was just `opened` with none of its own, the knobs that the job turns.
    """
    w, form = widget(name), json.loads(form)
    stored, opened = form.get("job"), form.get("opened")
    if opened and (turned := job.taken(w.Knobs, job.kept(stored))):
        yield json.dumps(dict(turn=urlencode(turned)))
        return
    brought = {f.name: understood(f, form[f.name]) for f in fields(w.Knobs) if is_pasted(f) and form.get(f.name)}
    if any(found["value"] is None for found in brought.values()):
        yield json.dumps(dict(brought=brought))
        return
    knobs = knobs_from(w.Knobs, form)
    said = dict(brought=brought) if brought else {}
    said |= dict(job=job.bar(knobs, stored)) if "job" in form and job.shared(w.Knobs) else {}
    if said:
        yield json.dumps(said)
    if opened and hasattr(w, "progress"):  # a run that takes a while begins when it is asked for
        return
    if form.get("more"):
        yield from import_module("widgets.frame.seeds").stream(name, knobs, form["more"], form.get("kept"))
        return
    for result in w.run(knobs):
        yield frame(w, knobs, result)


def frame(w, knobs, result):
    """What a widget shows of a result, as JSON: {panels, readouts, watched, verdict, idle, progress, config, met,
    hash}.
    """
    drawn = list(w.figure(knobs, result))
    return json.dumps(
        dict(
            panels=[dict(p, alt=described(p), caption=captioned(p), ghost=ghost(p)) for p in plain(drawn)],
            readouts=[row(r) for r in w.readouts(knobs, result)],
            watched=gauged(w.watched(knobs, result)),
            verdict=verdict(w, knobs, result),
            idle=idle(knobs, w.idle(knobs)) if hasattr(w, "idle") else {},
            progress=w.progress(knobs, result) if hasattr(w, "progress") else None,
            config=config(w, knobs, result),
            met=[bool(challenge.met(knobs, result)) for challenge in challenges(w)],
            hash=fingerprint(drawn),
        )
    )


def idle(knobs, why):
    """{knob: why it changes nothing}, in their order; "" where the next one in view says the same."""
    names = [f.name for f in fields(knobs) if not is_pasted(f)]
    beside = [*pairwise(names[:KNOBS_IN_VIEW]), *pairwise(names[KNOBS_IN_VIEW:])]
    told = {name for name, after in beside if name in why and why[name] == why.get(after)}
    return {name: "" if name in told else why[name] for name in names if name in why}


def challenges(w):
    return getattr(exercises(page_of(w)), "CHALLENGES", ())


def config(w, knobs, result):
    """The setting as options of engines and trainers, as HTML: what a widget sizes, or how its algorithms train; "" of
    one that does neither.
    """
    if hasattr(w, "methods"):
        methods = w.methods(knobs, result)
        each = [(f"{name}, " if len(methods) > 1 else "", method) for name, method in methods.items()]
        return "".join(written_out(algorithm_options.texts(method), before) for before, method in each)
    if not hasattr(w, "export"):
        return ""
    setting = w.export(knobs, result)
    if setting is None:
        return "<p>Nothing to copy: this job does not fit.</p>"
    return written_out(options.texts(setting))


def written_out(texts, before=""):
    return "".join(
        f'<h4>{before}{name}</h4><pre tabindex="0"><code>{html.escape(text)}</code></pre>'
        for name, text in texts.items()
    )


def verdict(w, knobs, result):
    """{state, sentence, cause, fix, back}: broken, worse than the default, or neither; `fix` are the steps of a way
    back, and `back` their buttons.
    """
    if found := w.broken(knobs, result):
        fix = steps(knobs, found.fix or {})
        return dict(state="broken", sentence=found.why, cause=found.cause, fix=fix, back="".join(map(button, fix)))
    worse = w.worse(knobs, result) if hasattr(w, "worse") else None
    holds = w.holds(knobs, result) if hasattr(w, "holds") else "No outcome is damaged at this setting."
    return dict(state="worse" if worse else "holds", sentence=worse or holds, cause="", fix=[], back="")


def steps(knobs, fix):
    """A way back as what the page offers, [{knob, value, words}]."""
    known = {f.name: f.metadata for f in fields(knobs)}
    return [
        dict(
            knob=name,
            value=spelled(value),
            words=f"Set {known[name]['label']} to {recovery.spoken(known[name], value)}",
        )
        for name, value in fix.items()
    ]


def button(step):
    """A step of a way back as the page offers it: anything with data-knobs turns knobs."""
    turned = html.escape(urlencode({step["knob"]: step["value"]}))
    return f'<button type="button" data-knobs="{turned}">{html.escape(step["words"])}</button>'


def gauged(watched):
    """What is watched: {label, text, expression, html}, in words and on its rail; a Readout has words alone."""
    if isinstance(watched, Readout):
        text = f"{figures(watched.value)} {watched.unit}".strip()
        return dict(
            label=watched.label, text=text, expression=watched.label, html=written(watched.label, watched.label, text)
        )
    g = watched
    on_axis = (lambda v: log10(max(v, 1e-300))) if g.log else float
    low, high = on_axis(g.low), on_axis(g.high)
    share = lambda v: 100 * min(1, max(0, (on_axis(v) - low) / (high - low))) if v == v else 0
    value, limit = figures(g.value), f"{g.threshold:,.3g} {g.unit}".strip().replace("-", "−")
    beyond = "breaks below" if g.below else "of" if g.value <= g.threshold else "above"
    text = f"{value}{', ' * (beyond != 'of') or ' '}{beyond} {limit}"
    rail = f'<div class="rail" style="--share:{share(g.value):.1f}%;--at:{share(g.threshold):.1f}%"></div>'
    return dict(label=g.label, text=text, expression=g.expression, html=written(g.label, g.expression, text, rail))


def written(label, expression, text, rail=""):
    label, expression, text = map(html.escape, (label, expression, text))
    return f'<span title="{expression}">{label}</span>{rail}<output>{text}</output>'


def table(name, frame):
    """The data of a frame as an HTML table, with a link to save all of it."""
    panels = json.loads(frame)["panels"]
    return data_table.table(panels, more=data_table.file(panels, name))


def knobs_from(cls, form):
    """A form's strings as the types the defaults have; a value that is not on offer is a ValueError that says what
    is.
    """
    return cls(**{f.name: parsed(f, form[f.name]) for f in fields(cls) if f.name in form})


def is_pasted(knob):
    return knob.metadata["kind"] == "pasted"


def understood(knob, text):
    """{value, said} of a text that a reader brought; no value where it is refused, and why."""
    try:
        value, said = read(knob, text)
    except ValueError as refusal:
        return dict(value=None, said=f"{refusal}")
    return dict(value=value, said=said)


def read(knob, text):
    if not isinstance(text, str):
        raise ValueError("This takes text.")
    if len(text) > PASTED:
        raise ValueError(f"Over {PASTED:,} characters; this takes {PASTED:,} at most.")
    return knob.metadata["read"](text) if text.strip() else ("", "")


def parsed(knob, text):
    m, offered = knob.metadata, None
    if m["kind"] == "pasted":
        try:
            return read(knob, text)[0]
        except ValueError as refusal:
            raise ValueError(f"{knob.name}: {refusal}") from None
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
        source=line_of(readout.source),
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


def ghost(panel):
    """The curve that stays in gray when the setting is left, and the place of its word, at its last point: [index,
    annotation]; None without one.
    """
    curves = [(m["meta"]["role"] == "seed", i) for i, m in enumerate(panel["data"]) if m.get("mode") == "lines"]
    curves = [(later, i) for later, i in curves if panel["data"][i]["meta"]["role"] != "band"]
    if not curves:
        return None
    which = min(curves)[1]
    places = [places_on(panel, axis, panel["data"][which][axis]) for axis in "xy"]
    seen = [spot for spot in zip(*places) if None not in spot]
    return [which, *marks.label(*seen[-1], "", series=8, anchor="right")["annotations"]] if seen else None


def places_on(panel, name, values):
    """Values in units of their axis, decades on a logarithmic one; None where its range does not show them."""
    axis = panel["layout"][f"{name}axis"]
    if axis["type"] == "log":
        values = [log10(v) if v is not None and v > 0 else None for v in values]
    low, high = sorted(axis.get("range", (-inf, inf)))
    return [v if isinstance(v, str) or (v is not None and low <= v <= high) else None for v in values]


def captioned(panel):
    """What stands over a plot, as HTML: its title, then its note."""
    return f"{subscripted(panel['title'])} <span>{subscripted(panel['note'])}</span>"


def subscripted(text):
    """Escaped text in which π_old becomes a subscript."""
    return " ".join(
        "{}<sub>{}</sub>".format(*word.split("_", 1)) if word.find("_") > 0 else word
        for word in html.escape(text).split(" ")
    )


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
