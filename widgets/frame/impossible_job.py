"""What a page about machines shows of a job that does not fit: panels, readouts and a gauge without a result; and the
quantiles of a job that no batch has.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sim.cluster.memory import Misfit
from widgets.frame.marks import Panel, label, panel
from widgets.frame.readouts import Gauge, Readout


def nothing(title: str, note: str, tab: str = "", front: bool = False, more: str = "") -> Panel:
    """A panel without a curve; `more` stands below its words."""
    words = [label(0.5, 0.55 if more else 0.5, "does not fit", 1, "center")]
    words += [label(0.5, 0.4, more, 0, "center")] if more else []
    return panel(title, note, *words, x_range=[0, 1], y_range=[0, 1], tab=tab, front=front, bare=True)


def dashes(
    sources: Mapping[str, Callable[..., Any]], violated: str, units: Mapping[str, str] | None = None
) -> list[Readout]:
    """The readouts {label: source} without their values; `violated` is the label of the one that is marked."""
    state = lambda name: "violated" if name == violated else ""
    return [Readout(name, "–", (units or {}).get(name, ""), source, state(name)) for name, source in sources.items()]


def needed(misfits: Sequence[Misfit]) -> Gauge:
    """How much of what there is the first of them needs."""
    first = misfits[0]
    share = 100 * min(first.needs / first.has, 1e6) if first.has > 0 else 1e4
    return Gauge("Needed, of what there is", share, 100.0, "%", low=10, high=1e4, log=True, expression="misfits")


def out_of_order(k: Any) -> list[Misfit]:
    """[Misfit] of quantiles that no batch has."""
    if k.log or k.p50 <= k.p90 <= k.p99:
        return []
    what = f"quantiles of {k.p50:,}, {k.p90:,} and {k.p99:,} tokens: they rise in every batch"
    return [Misfit(what, max(k.p50, k.p90), min(k.p90, k.p99), "Quantiles that rise.", "input")]


def in_order(k: Any) -> dict[str, int]:
    """{knob: value} of quantiles that rise, the median kept."""
    p90 = max(k.p50, k.p90)
    return dict(p90=p90, p99=max(p90, k.p99))
