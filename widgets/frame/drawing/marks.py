"""The vocabulary of figures: marks, and the panel that holds them.

A mark is data and a role; colors, fonts and margins belong to the page (site/assets/look.json).
"""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np

Mark = dict[str, Any]  # in plotly's form, with its role under `meta`
Panel = dict[str, Any]  # title, note, tab, front, data, layout; a grid of tokens: title, note, grid, diverging, mark
Values = Sequence[Any] | np.ndarray


def line(x: Values, y: Values, name: str = "", series: int = 1, role: str = "") -> Mark:
    """A curve; role "seed" is another run of the same setting, "exact" an analytic value, "reference" gray, "step" a
    staircase, "other" the curve for another position of a handle, "dead" a branch without effect.
    """
    return dict(type="scatter", mode="lines", x=x, y=y, name=name, meta=dict(series=series, role=role))


def both(names: tuple[str, str], x: Values, plain: Values, other: Values) -> tuple[Mark, Mark]:
    """The curves of the two runs of an opening: the one that works, in gray, and the one that does not."""
    return line(x, plain, names[0], 8, "reference"), line(x, other, names[1])


def each_run(x: Values, ys: Values, name: str = "single runs", series: int = 1) -> Mark:
    """More runs of one setting, as one thin mark with gaps between them. x is shared by all, or given for each."""
    xs = x if np.ndim(x[0]) else [x] * len(ys)
    x, y = (np.concatenate([np.append(curve, np.nan) for curve in curves]) for curves in (xs, ys))
    return line(x, y, name, series, "seed")


def dots(x: Values, y: Values, name: str = "", series: int = 1, role: str = "") -> Mark:
    """Markers; role "here" is a ring around the current setting."""
    return dict(type="scatter", mode="markers", x=x, y=y, name=name, meta=dict(series=series, role=role))


def bars(x: Values, y: Values, name: str = "", series: int = 1, role: str = "", text: Values | None = None) -> Mark:
    """Bars from 0; role "free" is unused room, "waste" is hatched, "histogram" is translucent; several are stacked if
    the panel says so.
    """
    return dict(
        type="bar",
        x=x,
        y=y,
        name=name,
        meta=dict(series=series, role=role),
        **({} if text is None else dict(text=text)),
    )


def heat(x: Values, y: Values, z: Values, name: str = "", low: float | None = None, high: float | None = None) -> Mark:
    role = "diverging" if low is not None and high is not None and low == -high else ""
    return dict(type="heatmap", x=x, y=y, z=z, name=name, zmin=low, zmax=high, meta=dict(series=1, role=role))


def band(x: np.ndarray, low: np.ndarray, high: np.ndarray, series: int = 1) -> Mark:
    """The area between two curves, for instance the 10 to 90 % range over seeds."""
    return dict(
        type="scatter",
        mode="lines",
        fill="toself",
        name="",
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        meta=dict(series=series, role="band"),
    )


def threshold(at: float, words: str, edge: float, axis: str = "y", outside: bool = False) -> Mark:
    """The line beyond which training is broken; the region from it to `edge` is filled. The words are in the region, or
    `outside` if curves that end in the region would cross them.
    """
    inward = (edge > at) != outside
    whole = {"xref": "paper", "x0": 0, "x1": 1} if axis == "y" else {"yref": "paper", "y0": 0, "y1": 1}
    span, rim = {f"{axis}0": at, f"{axis}1": edge}, {f"{axis}0": at, f"{axis}1": at}
    spot = (
        dict(y=at, x=1, xref="paper", xanchor="right", yanchor="bottom" if inward else "top")
        if axis == "y"
        else dict(x=at, y=1, yref="paper", yanchor="top", xanchor="left" if inward else "right")
    )
    return dict(
        shapes=[dict(type="rect", name="beyond", **span, **whole), dict(type="line", name="threshold", **rim, **whole)],
        annotations=[dict(name="threshold", text=words, showarrow=False, **spot)],
    )


def region(low: float, high: float, words: str = "", axis: str = "x") -> Mark:
    """A range with a meaning, such as the clip interval."""
    span = (
        dict(x0=low, x1=high, yref="paper", y0=0, y1=1)
        if axis == "x"
        else dict(y0=low, y1=high, xref="paper", x0=0, x1=1)
    )
    spot = (
        dict(x=low, y=1, yref="paper", xanchor="left", yanchor="top")
        if axis == "x"
        else dict(y=high, x=0, xref="paper", xanchor="left", yanchor="top")
    )
    return dict(
        shapes=[dict(type="rect", name="region", **span)],
        annotations=[dict(name="region", text=words, showarrow=False, **spot)] if words else [],
    )


def label(x: Any, y: Any, words: str, series: int = 0, anchor: str = "left", below: bool = False) -> Mark:
    """A word on a curve, or below it, in the color of its series (0 is ink)."""
    return dict(
        annotations=[
            dict(
                name=f"series-{series}",
                x=x,
                y=y,
                text=words,
                showarrow=False,
                xanchor=anchor,
                yanchor="top" if below else "bottom",
            )
        ]
    )


def decades(low: float, high: float) -> dict[str, Any]:
    """Ticks of a logarithmic axis at powers of ten, only every second or third one if there are many."""
    powers = range(ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9) + 1)
    powers = powers[:: -(-len(powers) // 7)]
    return dict(
        tickvals=[10.0**p for p in powers],
        ticktext=[f"{10.0**p:,g}" if -4 < p < 5 else f"10<sup>{p}</sup>".replace("-", "−") for p in powers],
    )


def panel(
    title: str,
    note: str,
    *marks: Mark,
    x: str = "",
    x_range: Sequence[float] | None = None,
    y_range: Sequence[float] | None = None,
    log: str = "",
    tab: str = "",
    front: bool = False,
    stacked: bool = False,
    ticks: dict[str, Any] | None = None,
    y_ticks: dict[str, Any] | None = None,
    bare: bool = False,
) -> Panel:
    """One plot. `note` says what it shows, then the unit, the scale and the number of seeds; ranges are in data units
    and fixed for the whole run.

    `log` names the logarithmic axes ("x", "y", "xy"); on a phone, `front` puts the panel that shows the break first;
    `bare` is a diagram without axes.
    """
    layout = dict(
        xaxis=dict(title=dict(text=x), **axis("x" in log, x_range, ticks, bare)),
        yaxis=axis("y" in log, y_range, y_ticks, bare),
        barmode="stack" if stacked else "group",
        shapes=[s for m in marks for s in m.get("shapes", [])],
        # plotly wants log10 here, but not in shapes; if words collide, the first keep their place
        annotations=sorted(
            (in_log(a, log) for m in marks for a in m.get("annotations", [])), key=lambda a: a["name"] != "threshold"
        ),
    )
    return dict(title=title, note=note, tab=tab, front=front, data=[m for m in marks if "type" in m], layout=layout)


def axis(logarithmic: bool, ends: Any, ticks: dict[str, Any] | None, bare: bool) -> dict[str, Any]:
    """An axis in plotly's form; `ends` and ticks are in data units."""
    span = dict(range=[log10(end) for end in ends] if logarithmic else ends) if ends else {}
    kind = dict(type="log" if logarithmic else "-", visible=not bare)
    return kind | span | (ticks or (decades(*ends) if logarithmic else {}))


def in_log(annotation: Mark, log: str) -> Mark:
    """An annotation with its coordinates on the axes in `log` converted to log10."""
    places = {a: log10(annotation[a]) for a in log if a in annotation and annotation.get(f"{a}ref") != "paper"}
    return {**annotation, **places}


def by_update(
    title: str,
    note: str,
    *marks: Mark,
    updates: float,
    y_range: Sequence[float] = (0, 1.02),
    log: str = "",
    tab: str = "",
    front: bool = False,
) -> Panel:
    """A panel over the updates of a run, for a probability unless `y_range` says otherwise."""
    return panel(title, note, *marks, x="update", x_range=(0, updates), y_range=y_range, log=log, tab=tab, front=front)


def cell(token: str, text: str = "", tone: float | None = None) -> dict[str, Any]:
    """One token of a grid: its text, the number or word for the chosen quantity, and its tone from -1 to 1 (None is
    hatched: nothing there).
    """
    return dict(token=token, text=text, tone=tone)


def grid(
    rows: Sequence[Any], title: str = "", note: str = "", diverging: bool = False, mark: tuple[int, int] | None = None
) -> Panel:
    """A batch as it was written: rows of (words on the left, cells, words on the right); `mark` is the (row, column) of
    the cell that the text is about. Tones go from low to high or, if `diverging`, from below to above.
    """
    return dict(title=title, note=note, grid=rows, diverging=diverging, mark=mark)
