"""Runs a widget by name. The page, the build and the tests all go through `stream`; `table` writes the data that a
frame shows.
"""

import html
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from itertools import pairwise
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
    """The tasks for readers of a widget: a module with CHANGE, CHALLENGES or both, or None."""
    return pages.module(name, "exercises")


def stream(name: str, form: str = "{}") -> Iterator[str]:
    """What the page shows for one run, as a sequence of JSON texts. `form` has the knobs as strings and the keys below.

    - {turn}, and nothing after it, if a page was just `opened` without a setting in its address and the reader's `job`,
      which the browser stores, has some of its knobs: the page turns those and asks again.
    - {brought, job, seconds}, those that apply: how the reader's own texts were understood, the bar of the job, how
      long the run takes. Nothing follows a refused text, nor the opening of a page whose run is long.
    - The frame of every result. With `more`, frames over that many more seeds (seeds.py) instead.
    """
    w, sent = widget(name), json.loads(form)
    stored, opened = sent.get("job"), sent.get("opened")
    if opened and (job_knobs := job.taken(w.Knobs, job.kept(stored))):
        yield json.dumps(dict(turn=urlencode(job_knobs)))
        return
    brought = {f.name: understood(f, sent[f.name]) for f in fields(w.Knobs) if is_pasted(f) and sent.get(f.name)}
    if any(text["value"] is None for text in brought.values()):
        yield json.dumps(dict(brought=brought))
        return
    knobs = knobs_from(w.Knobs, sent)
    first: dict[str, Any] = dict(brought=brought) if brought else {}
    first |= dict(job=job.bar(knobs, stored)) if "job" in sent and job.shared(w.Knobs) else {}
    estimate = extras(w).seconds if "job" in sent else None  # a page sends a job, the build does not
    first |= dict(seconds=estimate(knobs)) if estimate else {}
    if first:
        yield json.dumps(first)
    if opened and extras(w).progress:  # a long run starts only on request
        return
    if sent.get("more"):
        yield from seeds.stream(w, knobs, sent["more"], sent.get("kept"), frame)
        return
    for result in w.run(knobs):
        yield frame(w, knobs, result)


def frame(w: Widget, knobs: Any, result: Any) -> str:
    """What a widget shows for a result, as JSON: {panels, readouts, watched, verdict, answer, idle, progress, config,
    met, hash}.
    """
    panels, more = list(w.figure(knobs, result)), extras(w)
    return json.dumps(
        dict(
            panels=[shown(p) for p in plain(panels)],
            readouts=[row(r) for r in w.readouts(knobs, result)],
            watched=gauged(w.watched(knobs, result)),
            verdict=verdict(w, knobs, result, panels),
            answer=more.answer(knobs, result) if more.answer else None,
            idle=idle([leading(w), *grouped(w).values()], more.idle(knobs)),
            progress=more.progress(knobs, result) if more.progress else None,
            config=config(w, knobs, result),
            met=[bool(challenge.met(knobs, result)) for challenge in challenges(w)],
            hash=fingerprint(panels),
        )
    )


def shown(panel: Panel) -> dict[str, Any]:
    """A panel in the page's form. For a table it has HTML, for a scene a drawing, in which the page updates what
    differs, by key.
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
    """{knob: why it has no effect}, in the order of the page; "" if the next knob in its row has the same reason, so
    that it is shown once.
    """
    repeated = {name for row in rows for name, after in pairwise(row) if name in why and why[name] == why.get(after)}
    return {name: "" if name in repeated else why[name] for row in rows for name in row if name in why}


def challenges(w: Widget) -> tuple[Challenge, ...]:
    return getattr(exercises(page_of(w)), "CHALLENGES", ())


def config(w: Widget, knobs: Any, result: Any) -> str:
    """The setting as options of engines and trainers, as HTML: what a widget sizes, or how its algorithms train; "" if
    it does neither.
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


def verdict(w: Widget, knobs: Any, result: Any, panels: Sequence[Panel]) -> dict[str, Any]:
    """{state, sentence, cause, fix, back, at}: broken, worse than the default, or neither. `fix` has the steps of a way
    back, `back` their buttons, and `at` the place of the break in the `panels`.
    """
    if break_ := w.broken(knobs, result):
        fix = steps(knobs, break_.fix or {})
        seen_at = extras(w).seen_at
        at = placed(seen_at(knobs, result, break_.cause), panels) if seen_at else None
        back = "".join(map(button, fix))
        return dict(state="broken", sentence=break_.why, cause=break_.cause, fix=fix, back=back, at=at)
    worse = extras(w).worse(knobs, result)
    sentence = worse or w.holds(knobs, result)
    return dict(state="worse" if worse else "holds", sentence=sentence, cause="", fix=[], back="")


def steps(knobs: Any, fix: Mapping[str, Any]) -> list[dict[str, str]]:
    """A way back as the page offers it, [{knob, value, words}]."""
    metadata = {f.name: f.metadata for f in fields(knobs)}
    return [
        dict(
            knob=name,
            value=spelled(value),
            words=f"Set {metadata[name]['label']} to {recovery.spoken(metadata[name], value)}",
        )
        for name, value in fix.items()
    ]


def button(step: Mapping[str, str]) -> str:
    """A step of a way back as the page offers it: any element with data-knobs turns knobs."""
    turned = html.escape(urlencode({step["knob"]: step["value"]}))
    return f'<button type="button" data-knobs="{turned}">{html.escape(step["words"])}</button>'


def gauged(watched: Gauge | Readout) -> dict[str, str]:
    """The watched quantity: {label, text, expression}; a Readout has no threshold."""
    if isinstance(watched, Readout):
        text = with_unit(figures(watched.value), watched.unit)
        return dict(label=watched.label, text=text, expression=watched.label)
    g = watched
    limit = f"{g.threshold:,.3g}".replace("-", "−")
    value, limit = figures(g.value), figures(g.threshold) if "e" in limit else limit
    side = "below" if g.below else "above"
    text = f"{with_unit(value, g.unit)}, breaks {side} {with_unit(limit, g.unit)}"
    return dict(label=g.label, text=text, expression=g.expression)


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
    """The location of a sim function: sim/estimators/kl.py#L41."""
    if function is None:
        return None
    ours = inspect.unwrap(function)  # a function with a cache is a wrapper
    return f"{ours.__module__.replace('.', '/')}.py#L{ours.__code__.co_firstlineno}"


def amplified(name: str, preset: str) -> Mapping[str, float]:
    """{label of a readout: how far machines differ} for a preset, empty if they agree."""
    return extras(widget(name)).AMPLIFIES.get(preset, {})
