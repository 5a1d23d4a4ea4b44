"""A reader's job: the knobs that the pages about machines share, kept in the browser and carried from page to page.

The page sends what the browser has stored, which may be anything. This module writes what the bar says about it, what a
page can take from it and what to store next.
"""

import html
import json
import re
from collections.abc import Callable
from dataclasses import Field, fields
from math import isfinite
from typing import Any, cast
from urllib.parse import urlencode

from rlpt.planning import user_inputs
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.words import counted
from widgets.frame.contract import machine_knobs
from widgets.frame.contract.knobs import PASTED
from widgets.frame.contract.values import between, is_pasted, parsed, spelled

Job = dict[str, str]  # {name of a knob: its value as in a form}
LEAST = 3  # the fewest shared knobs of a page with the bar
QUANTILES = ("p50", "p90", "p99", "longest")


def shared(knobs: Any) -> list[str]:
    """The names of a page's knobs that belong to a job; none if the page has too few of them for the bar."""
    names = [f.name for f in fields(knobs) if f.name in machine_knobs.JOB]
    return names if len(names) >= LEAST else []


def kept(stored: object) -> Job:
    """The job in what the browser has stored, {name: text}; anything that does not belong to a job is left out."""
    knobs = stored.get("knobs") if isinstance(stored, dict) else None
    texts = [(name, text) for name, text in knobs.items() if isinstance(text, str)] if isinstance(knobs, dict) else []
    return {name: text for name, text in texts if name in machine_knobs.JOB and text and len(text) <= PASTED}


def taken(knobs: Any, job: Job) -> Job:
    """{name: text} of the parts of a job that a page can take: the nearest number it offers, anything else if it offers
    it.
    """
    offered = {f.name: nearest(f, job[f.name]) for f in fields(knobs) if f.name in job and f.name in shared(knobs)}
    return {name: text for name, text in offered.items() if text is not None}


def nearest(knob: Field[Any], text: str) -> str | None:
    """The closest value that a knob offers for a text, spelled as in the form; None if there is none."""
    m = knob.metadata
    if m["kind"] not in ("slider", "ladder"):
        try:
            return spelled(parsed(knob, text))
        except ValueError:
            return None
    value = number(text)
    if value is None:
        return None
    kind = cast(type[Any], type(knob.default))
    ends = between(m)
    if ends is None:
        return spelled(min(m["rungs"], key=lambda rung: (abs(rung - value), rung)))
    value = min(max(value, ends[0]), ends[1])
    if m["kind"] == "ladder":
        return spelled(kind(round(value) if kind is int else value))
    return spelled(kind(round((value - m["low"]) / m["step"]) * m["step"] + m["low"]))


def number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def bar(knobs: Any, stored: Any) -> str:
    """The bar at the top of a simulator, as HTML: the job, whether it is applied, and what can be done with it."""
    job = kept(stored)
    own = {name: spelled(getattr(knobs, name)) for name in shared(knobs)}
    after = {name: text for name, text in {**job, **own}.items() if text}
    keep = button("Keep as my job", after)
    if not job:
        return "<span>Set the knobs to your job and keep it: the pages about machines then open with it.</span>" + keep
    adapted = taken(knobs, job)
    absent = {f.name: "" for f in fields(knobs) if is_pasted(f) and f.name in own and f.name not in job}
    in_force = all(own[name] == text for name, text in {**absent, **adapted}.items())
    moved = [name for name, text in adapted.items() if number(job[name]) is not None and text != job[name]]
    labels = {f.name: f.metadata["label"] for f in fields(knobs)}
    moved_to = ", ".join(f"{labels[name]} {adapted[name]}" for name in moved)
    origin = re.fullmatch(r"(\d+[a-z]?)-[\w-]+", str(stored.get("from")))
    notes = [f"{'Your job' if in_force else 'Your job, not in force here'}: {words(job)}"]
    notes += [f"from lesson {origin[1]}"] if origin else []
    notes += [f"nearest on offer here: {moved_to}"] if in_force and moved_to else []
    use = f'<button type="button" data-knobs="{html.escape(urlencode({**absent, **adapted}))}">Use my job</button>'
    parts = [f"<span>{html.escape(', '.join(notes))}</span>", "" if in_force else use]
    return "".join([*parts, "" if in_force and after == job else keep, button("Forget it", {})])


def button(label: str, job: Job) -> str:
    """A button that makes the browser store a job, which is its value as JSON; an empty job makes it forget."""
    value = html.escape(json.dumps(dict(knobs=job)))
    return f'<button type="button" class="mine" value="{value}">{label}</button>'


def words(job: Job) -> str:
    """A job in words, "Qwen2.5-32B · H100 (SXM) · 64 GPUs · 512 × 16 completions", as far as it is known."""

    def count(name: str) -> str:
        """The number that a knob is set to, "" if the job does not have it."""
        value = number(job.get(name, ""))
        return f"{value:,.0f}" if value else ""

    quantiles = [count(name) for name in QUANTILES]
    lengths = law(job) if "log" in job else " / ".join(quantiles) if all(quantiles) else ""
    completions = " × ".join(filter(None, map(count, ("prompts", "samples"))))
    parts = [
        model(job),
        chip(job),
        counted(count("gpus"), "GPU") if count("gpus") else "",
        f"{completions} completions" if completions else "",
        f"prompts of {count('prompt')} tokens" if count("prompt") else "",
        f"lengths {lengths}" if lengths else "",
    ]
    return " · ".join(filter(None, parts))


def model(job: Job) -> str:
    own = understood(user_inputs.model, job.get("config"))
    if own:
        return f"your model of {own.params() / 1e9:,.3g} billion parameters"
    return MODELS[job["model"]].name if job.get("model") in MODELS else ""


def chip(job: Job) -> str:
    if understood(user_inputs.chip, job.get("chip")):
        return "your chip"
    return ACCELERATORS[job["accelerator"]].name if job.get("accelerator") in ACCELERATORS else ""


def law(job: Job) -> str:
    lengths = understood(user_inputs.lengths, job["log"])
    return " / ".join(f"{getattr(lengths, name):,}" for name in QUANTILES) if lengths else ""


def understood(read: Callable[[str], tuple[Any, str, str]], text: str | None) -> Any:
    try:
        return machine_knobs.understood(read, text)[0] if text else None
    except ValueError:
        return None
