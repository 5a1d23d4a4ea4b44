"""Run a widget by name. The page, the build and the tests all come in through `stream`; `table` writes what a frame of
it shows.
"""

import html
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from itertools import pairwise
from math import log10
from types import ModuleType
from typing import Any, cast
from urllib.parse import urlencode

from rlpt import options as algorithm_options
from rlpt.planning import options
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Challenge
from widgets.frame.contract.readouts import Gauge, Readout
from widgets.frame.contract.values import is_pasted, knobs_from, spelled, understood
from widgets.frame.contract.widget import Widget, extras, grouped, leading
from widgets.frame.drawing import answer_table, drawing, scene
from widgets.frame.drawing.marks import Panel
from widgets.frame.drawing.written import figures, plain, unit_after, with_unit
from widgets.frame.reader import data_table, job, pages, seeds
from widgets.frame.reader.panels import captioned, described, fingerprint, ghost, placed, unkeyed


def widget(name: str) -> Widget:
    return cast(Widget, import_module(f"widgets.{name}.widget"))


def page_of(w: Widget) -> str:
    """The name of a widget's page: widgets.ppo.widget -> ppo."""
    return w.__name__.split(".")[1]


def exercises(name: str) -> ModuleType | None:
    """What a reader is given to do with a widget: a module with CHANGE, CHALLENGES or both, or None."""
    return pages.module(name, "exercises")


def stream(name: str, form: str = "{}") -> Iterator[str]:
    """The frame of every result of one run, in turn; `form` holds knobs as the page's strings, and under `job` what the
    browser has kept of one. Before them, or in their place, goes what was found in the texts that the reader brought,
    the bar of the job, and how long the run takes; of a page that was just `opened` with none of its own, the knobs
    that the job turns.
    """
    w, asked = widget(name), json.loads(form)
    stored, opened = asked.get("job"), asked.get("opened")
    if opened and (turned := job.taken(w.Knobs, job.kept(stored))):
        yield json.dumps(dict(turn=urlencode(turned)))
        return
    brought = {f.name: understood(f, asked[f.name]) for f in fields(w.Knobs) if is_pasted(f) and asked.get(f.name)}
    if any(found["value"] is None for found in brought.values()):
        yield json.dumps(dict(brought=brought))
        return
    knobs = knobs_from(w.Knobs, asked)
    said: dict[str, Any] = dict(brought=brought) if brought else {}
    said |= dict(job=job.bar(knobs, stored)) if "job" in asked and job.shared(w.Knobs) else {}
    said |= dict(seconds=of(knobs)) if "job" in asked and (of := extras(w).seconds) else {}  # of a page, not the build
    if said:
        yield json.dumps(said)
    if opened and extras(w).progress:  # a run that takes a while begins when it is asked for
        return
    if asked.get("more"):
        yield from seeds.stream(w, knobs, asked["more"], asked.get("kept"), frame)
        return
    for result in w.run(knobs):
        yield frame(w, knobs, result)


def frame(w: Widget, knobs: Any, result: Any) -> str:
    """What a widget shows of a result, as JSON: {panels, readouts, watched, verdict, idle, progress, config, met,
    hash}.
    """
    drawn, more = list(w.figure(knobs, result)), extras(w)
    return json.dumps(
        dict(
            panels=[shown(p) for p in plain(drawn)],
            readouts=[row(r) for r in w.readouts(knobs, result)],
            watched=gauged(w.watched(knobs, result)),
            verdict=verdict(w, knobs, result, drawn),
            idle=idle([leading(w), *grouped(w).values()], more.idle(knobs)),
            progress=more.progress(knobs, result) if more.progress else None,
            config=config(w, knobs, result),
            met=[bool(challenge.met(knobs, result)) for challenge in challenges(w)],
            hash=fingerprint(drawn),
        )
    )


def shown(panel: Panel) -> dict[str, Any]:
    """A panel as the page has it; of a table its HTML, of a scene its drawing, of which the page changes by key what
    differs.
    """
    if answer_table.is_table(panel):
        more = dict(svg=answer_table.drawn(panel), alt=panel["title"], **caption(panel), ghost=None, role="group")
        return {name: value for name, value in panel.items() if name not in ("head", "rows")} | more
    if not scene.is_scene(panel):
        return dict(panel, svg="", alt=described(panel), **caption(panel), ghost=ghost(panel))
    alt = " ".join(view["alt"] for column in panel["columns"] for view in column)
    more = dict(svg=drawing.svg(panel), alt=alt, **caption(panel), ghost=None)
    return {name: value for name, value in panel.items() if name != "columns"} | more


def caption(panel: Panel) -> dict[str, str]:
    return dict(caption=captioned(panel), note=unkeyed(panel["note"]))


def idle(rows: Sequence[Sequence[str]], why: Mapping[str, str]) -> dict[str, str]:
    """{knob: why it changes nothing}, in the order of the page; "" where the next one of its row or group says the
    same.
    """
    told = {name for row in rows for name, after in pairwise(row) if name in why and why[name] == why.get(after)}
    return {name: "" if name in told else why[name] for row in rows for name in row if name in why}


def challenges(w: Widget) -> tuple[Challenge, ...]:
    return getattr(exercises(page_of(w)), "CHALLENGES", ())


def config(w: Widget, knobs: Any, result: Any) -> str:
    """The setting as options of engines and trainers, as HTML: what a widget sizes, or how its algorithms train; "" of
    one that does neither.
    """
    more = extras(w)
    if more.methods:
        methods = more.methods(knobs, result)
        each = [(f"{name}, " if len(methods) > 1 else "", method) for name, method in methods.items()]
        return "".join(written_out(algorithm_options.texts(method), before) for before, method in each)
    if not more.export:
        return ""
    setting = more.export(knobs, result)
    if setting is None:
        return "<p>Nothing to copy: this job does not fit.</p>"
    return written_out(options.texts(setting))


def written_out(texts: Mapping[str, str], before: str = "") -> str:
    return "".join(
        f'<h4>{before}{name}</h4><pre tabindex="0"><code>{html.escape(text)}</code></pre>'
        for name, text in texts.items()
    )


def verdict(w: Widget, knobs: Any, result: Any, drawn: Sequence[Panel]) -> dict[str, Any]:
    """{state, sentence, cause, fix, back, at}: broken, worse than the default, or neither; `fix` are the steps of a way
    back, `back` their buttons, and `at` the place of the break in the panels that were `drawn`.
    """
    if found := w.broken(knobs, result):
        fix = steps(knobs, found.fix or {})
        seen = extras(w).seen_at
        at = placed(seen(knobs, result, found.cause), drawn) if seen else None
        back = "".join(map(button, fix))
        return dict(state="broken", sentence=found.why, cause=found.cause, fix=fix, back=back, at=at)
    worse = extras(w).worse(knobs, result)
    sentence = worse or w.holds(knobs, result)
    return dict(state="worse" if worse else "holds", sentence=sentence, cause="", fix=[], back="")


def steps(knobs: Any, fix: Mapping[str, Any]) -> list[dict[str, str]]:
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


def button(step: Mapping[str, str]) -> str:
    """A step of a way back as the page offers it: anything with data-knobs turns knobs."""
    turned = html.escape(urlencode({step["knob"]: step["value"]}))
    return f'<button type="button" data-knobs="{turned}">{html.escape(step["words"])}</button>'


def gauged(watched: Gauge | Readout) -> dict[str, str]:
    """What is watched: {label, text, expression, html}, in words and on its rail; a Readout has words alone."""
    if isinstance(watched, Readout):
        text = with_unit(figures(watched.value), watched.unit)
        return dict(
            label=watched.label, text=text, expression=watched.label, html=written(watched.label, watched.label, text)
        )
    g = watched
    on_axis = (lambda v: log10(max(v, 1e-300))) if g.log else float
    low, high = on_axis(g.low), on_axis(g.high)
    share = lambda v: 100 * min(1, max(0, (on_axis(v) - low) / (high - low))) if v == v else 0
    limit = f"{g.threshold:,.3g}".replace("-", "−")
    value, limit = figures(g.value), figures(g.threshold) if "e" in limit else limit
    side = "below" if g.below else "above"
    text = f"{with_unit(value, g.unit)}, breaks {side} {with_unit(limit, g.unit)}"
    rail = f'<div class="rail" style="--share:{share(g.value):.1f}%;--at:{share(g.threshold):.1f}%"></div>'
    return dict(label=g.label, text=text, expression=g.expression, html=written(g.label, g.expression, text, rail))


def written(label: str, expression: str, text: str, rail: str = "") -> str:
    label, expression, text = map(html.escape, (label, expression, text))
    return f'<span title="{expression}">{label}</span>{rail}<output>{text}</output>'


def table(name: str, frame: str) -> str:
    """The data of a frame as an HTML table, with a link to save all of it."""
    panels = json.loads(frame)["panels"]
    return data_table.table(panels, more=data_table.file(panels, name))


def row(readout: Readout) -> dict[str, Any]:
    text = figures(readout.value)
    return dict(
        label=readout.label,
        text=text,
        unit=unit_after(text, readout.unit),
        source=line_of(readout.source),
        state=readout.state,
    )


def line_of(function: Callable[..., Any] | None) -> str | None:
    """Where a sim function stands: sim/estimators/kl.py#L41."""
    if function is None:
        return None
    ours = inspect.unwrap(function)  # of one that keeps its results
    return f"{ours.__module__.replace('.', '/')}.py#L{ours.__code__.co_firstlineno}"


def amplified(name: str, preset: str) -> Mapping[str, float]:
    """{label of a readout: how far machines differ} of a preset, empty if they do not."""
    return extras(widget(name)).AMPLIFIES.get(preset, {})
