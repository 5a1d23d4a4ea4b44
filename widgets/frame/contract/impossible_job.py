"""What a page about machines shows for a job that does not fit: panels with what is too much, readouts and a gauge
without a result; and the same for length quantiles that no batch can have.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from sim.cluster.memory import Misfit
from widgets.frame.contract.readouts import At, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import Panel, bars, dots, label, line, panel, threshold

NEEDED, LENGTHS = "What the job needs and what there is", "The length quantiles as set"  # titles
LEAST = 250.0  # per cent, the end of the axis if only a little more is needed than there is
QUANTILES = ("p50", "p90", "p99")
NO_GIGABYTES = (
    "",
    "input",
    "layout",
    "batch",
    "updates",
    "positions",
)  # parts of which `needs` and `has` are GPUs or shares


def unfit(
    k: Any,
    misfits: Sequence[Misfit],
    tabs: Sequence[str],
    knob: str,
    misfits_of: Callable[[Any], Sequence[Misfit]],
    more: str = "",
) -> list[Panel]:
    """Panels that replace a page's own, in these `tabs`. The first in a tab shows what the first misfit needs, a second
    one the same at every rung of `knob`. `misfits_of(knobs)` gives the misfits of another setting; `more` says what
    would hold the job.
    """
    rising = {f.name for f in fields(k)}.issuperset(QUANTILES) and bool(out_of_order(k))
    panels = []
    for i, tab in enumerate(tabs):
        if tab in tabs[:i]:
            panels.append(quantiles(k, tab) if rising else by_rungs(k, tab, knob, misfits_of))
        else:
            panels.append(lengths(k, tab) if rising else overflow(misfits[0], tab, more))
    panels[0]["front"] = True
    return panels


def unfit_at(k: Any, misfits: Sequence[Misfit]) -> At:
    """Where the break is in these panels."""
    first = misfits[0]
    if first.part == "input" and first.what.startswith("quantiles"):
        lower = "p90" if k.p90 < k.p50 else "p99"
        return At(LENGTHS, lower, getattr(k, lower), "below the one before")
    return At(NEEDED, 1, needed_share(first), beyond(first))


def needed_share(first: Misfit) -> float:
    """What is needed, as a percentage of what there is."""
    return 100 * min(first.needs / first.has, 1e4) if first.has > 0 else 1e4


def beyond(first: Misfit) -> str:
    """How far it exceeds the limit, in at most six words."""
    needs, has = (f"{v:,.0f}" if v >= 100 else f"{v:.3g}" for v in (first.needs, first.has))
    if first.part == "layout":
        return f"asks for {needs}, possible {has}"
    if first.part in NO_GIGABYTES or first.has <= 0:
        return f"{needed_share(first) / 100:.3g} times what there is"
    return f"needs {needs} of {has} GB"


def overflow(first: Misfit, tab: str, more: str) -> Panel:
    """What is needed and what there is, on one scale."""
    share = needed_share(first)
    top = max(LEAST, 1.12 * share)
    return panel(
        NEEDED,
        f"%; {more}" if more else "% of what there is; in outline: the part beyond",
        bars([0, 1], [100.0, min(share, 100.0)], "inside", 1),
        bars([0, 1], [0.0, max(share - 100.0, 0.0)], "beyond it", 1, "overflow"),
        threshold(100, "all there is", top, outside=True),
        x_range=[-0.6, 2.1],
        y_range=[0, top],
        tab=tab,
        stacked=True,
        ticks=dict(tickvals=[0, 1], ticktext=["there is", "needed"]),
    )


def by_rungs(k: Any, tab: str, name: str, misfits_of: Callable[[Any], Sequence[Misfit]]) -> Panel:
    """How much is needed at each rung of a knob relative to what there is, and where the job would fit."""
    metadata = type(k).__dataclass_fields__[name].metadata
    present = getattr(k, name)
    rungs = sorted({*metadata["rungs"], present})
    at_each = {rung: misfits_of(replace(k, **{name: rung})) for rung in rungs}
    part = at_each[present][0].part
    alike = [rung for rung in rungs if at_each[rung] and at_each[rung][0].part == part]
    share = {rung: min(max(needed_share(at_each[rung][0]), 12), 9e3) for rung in alike}
    fits = [rung for rung in rungs if not at_each[rung]]
    marks = [
        line(alike, list(share.values()), "needed", 1),
        label(present, share[present], "this setting", 1, "right" if present > rungs[0] else "left"),
    ]
    if fits:
        marks += [dots(fits, [13] * len(fits), "fits", 3), label(fits[-1], 15, "fits", 3, "right")]
    else:
        marks.append(label(rungs[-1], 12, "fits nowhere", 0, "right"))
    return panel(
        f"What is needed, by {metadata['label']}",
        "% of what there is, both axes logarithmic",
        *marks,
        threshold(100, "", 1e4),
        x=metadata["label"],
        log="xy",
        x_range=[max(rungs[0], 1), rungs[-1]],
        y_range=[10, 1e4],
        tab=tab,
    )


def lengths(k: Any, tab: str) -> Panel:
    tokens = [getattr(k, name) for name in QUANTILES]
    return panel(
        LENGTHS,
        "tokens; no quantile is below the one before",
        bars(list(QUANTILES), tokens, "tokens", 1),
        y_range=[0, 1.15 * max(tokens)],
        tab=tab,
    )


def quantiles(k: Any, tab: str) -> Panel:
    tokens = [getattr(k, name) for name in QUANTILES]
    return panel(
        "The quantiles as a curve",
        "tokens, by how many completions are shorter",
        line([50, 90, 99], tokens, "tokens", 1),
        x="% of completions",
        x_range=[40, 100],
        y_range=[0, 1.15 * max(tokens)],
        tab=tab,
    )


def dashes(
    sources: Mapping[str, Callable[..., Any]], violated: str, units: Mapping[str, str] | None = None
) -> list[Readout]:
    """The readouts {label: source} without values; `violated` is the label of the one that is marked."""
    units = units or {}
    return [
        Readout(name, "–", units.get(name, ""), source, "violated" if name == violated else "")
        for name, source in sources.items()
    ]


def why(misfits: Sequence[Misfit], job: str = "This job") -> Said:
    """The verdict on the first misfit."""
    first = misfits[0]
    return Said(f"{job} does not fit: {first.what}.", {"it needs more than there is": lambda: first.needs > first.has})


def needed(misfits: Sequence[Misfit]) -> Gauge:
    """How much the first misfit needs relative to what there is."""
    first = misfits[0]
    share = 100 * min(first.needs / first.has, 1e6) if first.has > 0 else 1e4
    return Gauge("Need, as a share of what there is", share, 100.0, "%", expression="misfits")


def out_of_order(k: Any) -> list[Misfit]:
    """[Misfit] for quantiles that no batch can have."""
    if k.log or k.p50 <= k.p90 <= k.p99:
        return []
    what = f"quantiles of {k.p50:,}, {k.p90:,} and {k.p99:,} tokens: they rise in every batch"
    return [Misfit(what, max(k.p50, k.p90), min(k.p90, k.p99), "Quantiles that rise.", "input")]


def in_order(k: Any) -> dict[str, int]:
    """{knob: value} for ascending quantiles with the same median."""
    p90 = max(k.p50, k.p90)
    return dict(p90=p90, p99=max(p90, k.p99))
