"""A setting over more seeds: the band of its curves, the range of its readouts, and whether a kept sample differs.

Results stay in memory, so that a request for more seeds continues where the last one ended.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sim.estimators import welch_interval
from widgets.frame.contract.widget import Widget
from widgets.frame.drawing import marks
from widgets.frame.drawing.written import figures, plain

FrameOf = Callable[[Widget, Any, Any], str]  # f(widget, knobs, result)
FEWEST = 3  # the fewest seeds in each of two samples to compare
# {(name of the widget's module, knobs without the seed): {seed: its stored results}}
computed: dict[tuple[str, Any], dict[int, dict[str, Any]]] = {}


def stream(w: Widget, knobs: Any, more: int, kept: list[Any] | None, frame_of: FrameOf) -> Iterator[str]:
    """After each of `more` seeds, the frame of `knobs` over all seeds so far; "null" while one is being computed.
    `frame_of(widget, knobs, result)` is the frame of one run, as JSON.
    """
    sample = computed.setdefault((w.__name__, replace(knobs, seed=0)), {})
    wanted = [seed for seed in order(w.Knobs, knobs.seed) if seed not in sample]
    for seed in wanted[: more + (knobs.seed not in sample)]:
        seeded = replace(knobs, seed=seed)
        for partial in w.run(seeded):
            result = partial
            yield "null"
        sample[seed] = taken(w, seeded, result, frame_of)
        if knobs.seed in sample:
            yield json.dumps(frame(sample, knobs.seed, kept))


def order(knobs: Any, first: int) -> list[int]:
    """All available seeds, starting at the current one."""
    m = knobs.__dataclass_fields__["seed"].metadata
    return [*range(first, m["high"] + 1), *range(m["low"], first)]


def taken(w: Widget, knobs: Any, result: Any, frame_of: FrameOf) -> dict[str, Any]:
    """The stored results of a run: its frame as JSON, and the values of its readouts."""
    return dict(
        frame=json.loads(frame_of(w, knobs, result)),
        values=[row.value if isinstance(row.value, str) else float(row.value) for row in w.readouts(knobs, result)],
    )


def frame(sample: dict[int, dict[str, Any]], first: int, kept: list[Any] | None) -> dict[str, Any]:
    """The frame of the current seed, with the band over all seeds and what they say about the readouts."""
    chosen, runs = sample[first]["frame"], list(sample.values())
    rows = [[run["values"][i] for run in runs] for i in range(len(chosen["readouts"]))]
    panels = [banded(panel, [run["frame"]["panels"][i] for run in runs]) for i, panel in enumerate(chosen["panels"])]
    readouts = [dict(row, over=over(values)) for row, values in zip(chosen["readouts"], rows)]
    broken = sum(run["frame"]["verdict"]["state"] == "broken" for run in runs)
    sentences = [f"{len(runs)} choices of Seed: {broken or 'none'} broken."]
    return dict(
        chosen,
        panels=panels,
        readouts=readouts,
        sample=rows,
        said=" ".join([*sentences, *against(chosen["readouts"], kept, rows)]),
    )


def over(values: list[Any]) -> str:
    """The range of a readout over the seeds, in words."""
    if any(isinstance(value, str) for value in values):
        return f"{values.count(values[0])} of {len(values)}" if len(values) > 1 else ""
    low, high = figures(min(values)), figures(max(values))
    return f"{low} to {high}" if low != high else f"{low} in each"


def against(readouts: Sequence[dict[str, Any]], kept: list[Any] | None, rows: list[list[Any]]) -> Iterator[str]:
    """A sentence for each readout: whether the mean of this sample differs from that of the kept one."""
    for row, before, now in zip(readouts, kept or [], rows):
        if len(before) < FEWEST or len(now) < FEWEST or not compared(before, now):
            continue
        low, high = welch_interval.interval(before, now)
        words = "differs from the kept run" if low > 0 or high < 0 else "may be that of the kept run"
        yield (
            f"{row['label']} {words}: by {with_sign(np.mean(now) - np.mean(before))} in the mean, "
            f"95 % interval {with_sign(low)} to {with_sign(high)}."
        )


def compared(before: Sequence[Any], now: Sequence[Any]) -> bool:
    """Whether these are finite numbers, and at least one sample has more spread than rounding errors."""
    if any(isinstance(value, str | None) or not np.isfinite(value) for value in (*before, *now)):
        return False
    return any(np.ptp(values) > 1e-9 * np.abs(values).max() for values in (before, now))


def with_sign(value: float) -> str:
    return f"+{figures(value)}" if value > 0 else figures(value)


def banded(panel: marks.Panel, panels: list[marks.Panel]) -> marks.Panel:
    """The panel with the range of its first curve over all runs, if they all have the same x."""
    index = next((i for i, mark in enumerate(panel["data"]) if is_curve(mark)), None)
    if index is None or len(panels) < 2:
        return panel
    curves = [each["data"][index] for each in panels if len(each["data"]) > index]
    x = curves[0]["x"]
    if len(curves) < len(panels) or any(c["x"] != x or None in c["y"] for c in curves):
        return panel
    y = np.array([c["y"] for c in curves], float)
    if not (y != y[0]).any():  # a closed form does not depend on the seed
        return panel
    series = panel["data"][index]["meta"]["series"]
    band = plain(marks.band(np.asarray(x), y.min(axis=0), y.max(axis=0), series))
    note = f"; band: {len(curves)} choices of Seed"
    words = dict(note=panel["note"] + note, caption=panel["caption"].removesuffix("</span>") + f"{note}</span>")
    return dict(panel, data=[band, *panel["data"]], **words, ghost=None)


def is_curve(mark: marks.Mark) -> bool:
    return mark["type"] == "scatter" and mark.get("mode") == "lines" and mark["meta"]["role"] in ("", "step")
