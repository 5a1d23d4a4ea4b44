"""A panel drawn at build, before and without scripts: an SVG that the page's plot replaces, and a table of its data."""

import html
import json
import re
from itertools import pairwise, repeat
from math import ceil, floor, isfinite, log10
from pathlib import Path

WIDTH, HEIGHT = 1142, 392  # pixels of a panel on a wide screen, those of the plot too
LEFT, RIGHT, TOP, BOTTOM = json.loads(
    (Path(__file__).parents[2] / "site/assets/look.json").read_text(encoding="utf-8")
)["layout"]["margin"].values()


def svg(panel, width=WIDTH, height=HEIGHT):
    """The panel as an inline SVG in the page's colors."""
    axes, content = parts(panel, width, height)
    return f'<svg class="still" viewBox="0 0 {width} {height}" aria-hidden="true">{axes}{content}</svg>'


def parts(panel, width, height):
    """(axes, content) of a panel as SVG. The axes follow from its ranges; the content is curves, bars, cells, the
    threshold, and the words at the curves.
    """
    layout, marks = panel["layout"], panel["data"]
    stacked = layout["barmode"] == "stack"
    bars, heats, scatters = ([m for m in marks if m["type"] == kind] for kind in ("bar", "heatmap", "scatter"))
    right, bottom = width - RIGHT, height - BOTTOM
    x = Scale(layout["xaxis"], values(marks, "x"), (LEFT, right))
    y = Scale(layout["yaxis"], values(marks, "y") + heights(bars, stacked), (bottom, TOP))
    axes = (
        f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>'
        + "".join(written(x(t), bottom + 16, x.name(t)) for t in x.ticks())
        + "".join(
            f'<path class="grid" d="M{LEFT} {y(t)}H{right}"/>{written(LEFT - 6, round(y(t) + 4, 1), y.name(t), "end")}'
            for t in y.ticks()
        )
        + written((LEFT + right) / 2, height - 4, layout["xaxis"]["title"]["text"] or "")
    )
    if layout["yaxis"].get("visible") is False:  # a diagram, not a plot
        axes = ""
    content = [
        *(rect(s, x, y) for s in layout["shapes"] if s["type"] == "rect"),
        *(cells(m, x, y) for m in heats),
        columns(bars, x, y, stacked),
        *(curve(m, x, y) for m in scatters),
        *(rule(s, x, y) for s in layout["shapes"] if s["type"] == "line"),
    ]
    wide, tall = right - LEFT, bottom - TOP
    room = f'x="{LEFT}" y="{TOP}" width="{wide}" height="{tall}" viewBox="{LEFT} {TOP} {wide} {tall}"'
    return axes, f"<svg {room}>{''.join(content)}</svg>{''.join(words(a, x, y) for a in layout['annotations'])}"


def values(marks, axis):
    """All places of the marks along "x" or "y"."""
    return [v for m in marks for v in (rims(m[axis]) if m["type"] == "heatmap" else m[axis])]


class Scale:
    """Data to pixels along one axis: linear, logarithmic, or by category."""

    def __init__(self, axis, values, span):
        self.log, self.span = axis["type"] == "log", span
        self.categories = list(dict.fromkeys(v for v in values if isinstance(v, str)))
        self.spelled = dict(zip(axis.get("tickvals", []), axis.get("ticktext") or axis.get("tickvals", [])))
        numbers = [v for v in values if isinstance(v, int | float) and isfinite(v)] or [0, 1]
        low, high = axis.get("range") or [min(numbers), max(numbers)]  # a logarithmic axis has a range
        self.low, self.high = (
            (-0.5, len(self.categories) - 0.5) if self.categories else (low, high if high != low else low + 1)
        )
        self.unit = (span[1] - span[0]) / (self.high - self.low)  # pixels

    def place(self, v):
        """A value in units of the axis: a category counts 1, a decade of a logarithm too."""
        if isinstance(v, str):
            return self.categories.index(v) if v in self.categories else 0
        return v if not self.log else log10(v) if v > 0 else self.low

    def __call__(self, v):
        share = min(max((self.place(v) - self.low) / (self.high - self.low), -9), 9)
        return round(self.span[0] + share * (self.span[1] - self.span[0]), 1)

    def ticks(self):
        if self.categories:
            wide = [
                18 if self.unit < 0 else 2 + 5 * max(map(len, self.name(c).split("<br>"))) for c in self.categories
            ]  # pixels along the axis
            distance = max(
                ((a + b) / 2 for a, b in pairwise(wide)), default=1
            )  # from the middle of a name to that of the next
            return self.categories[:: ceil(distance / abs(self.unit))]
        if self.spelled:
            return list(self.spelled)
        low, high = sorted((self.low, self.high))
        raw = (high - low) / (5 if self.span[0] < self.span[1] else 6)
        unit = 10 ** floor(log10(raw))
        step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= raw * 0.999)
        return [round(step * i, 10) for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]

    def name(self, t):
        name = self.spelled.get(t, t)
        return name if isinstance(name, str) else spelled(name)


def written(x, y, words, anchor="middle", css="tick"):
    """A text with the two tags that the figures use, <br> and <sup>."""
    first, *rest = re.sub(
        "&lt;sup&gt;(.*?)&lt;/sup&gt;", r'<tspan dy="-.4em" font-size="75%">\1</tspan>', html.escape(words)
    ).split("&lt;br&gt;")
    lines = first + "".join(f'<tspan x="{x}" dy="1.2em">{line}</tspan>' for line in rest)
    return f'<text class="{css}" x="{x}" y="{y}" text-anchor="{anchor}">{lines}</text>'


def spelled(v):
    if v and (abs(v) >= 1e5 or abs(v) < 1e-3):
        digits, power = f"{v:.0e}".split("e")
        times = "" if digits == "1" else f"{digits}×"
        return f"{times}10<sup>{int(power)}</sup>".replace("-", "−")
    return f"{v:,g}".replace("-", "−")


def points(mark, x, y):
    """Runs of finite points; a gap starts a new run."""
    run, runs = [], []
    for a, b in zip(mark["x"], mark["y"]):
        if a is None or b is None:
            run = []
            continue
        if not run:
            runs.append(run)
        run.append((x(a), y(b)))
    return runs


def curve(mark, x, y):
    css = f"s{mark['meta']['series']} {mark['meta']['role']}".strip()
    if mark["mode"] == "markers":
        return "".join(
            f'<circle class="{css}" cx="{a}" cy="{b}" r="{5 if mark["meta"]["role"] == "here" else 3}"/>'
            for run in points(mark, x, y)
            for a, b in run
        )
    step = mark["meta"]["role"] == "step"
    return f'<path class="{css}" d="{"".join(path(run, step) for run in points(mark, x, y))}"/>'


def path(run, step):
    """A run of points joined by lines, or by the edges of stairs."""
    return "M{} {}".format(*run[0]) + "".join(f"H{a}V{b}" if step else f"L{a} {b}" for a, b in run[1:])


def heights(marks, stacked):
    """Where bars begin and end."""
    tops = {}
    for m in marks if stacked else []:
        for a, b in zip(m["x"], m["y"]):
            tops[a] = tops.get(a, 0) + (b or 0)
    return [0, *tops.values()] if marks else []


def columns(marks, x, y, stacked):
    """Bars of all marks from the ground up: on one another, or side by side where several stand at one place."""
    places = [x.place(a) for m in marks for a in m["x"] if a is not None]
    apart = sorted(set(places))
    lanes = 1 if stacked or len(apart) == len(places) else len(marks)
    room = 0.8 * x.unit * min((b - a for a, b in pairwise(apart)), default=1)
    wide, out, feet = max(room / lanes, 1), [], {}
    for lane, mark in enumerate(marks):
        for a, b, text in zip(mark["x"], mark["y"], mark.get("text") or repeat("")):
            if a is None or b is None:
                continue
            foot = feet.get(a, 0) if stacked else 0
            feet[a] = foot + b
            top, ground = sorted((y(foot + b), y(foot if not y.log else 10**y.low)))
            left, tall, role = (
                x(a) - room / 2 + wide * (lane if lanes > 1 else 0),
                max(ground - top, 0),
                mark["meta"]["role"],
            )
            fill = ' style="fill:url(#hatch)"' if role == "waste" else ""
            out.append(
                f'<rect class="s{mark["meta"]["series"]} {role}"{fill} x="{left:.1f}" y="{top}" '
                f'width="{wide:.1f}" height="{tall:.1f}"/>'
            )
            if text:
                inside = tall > 18 and mark.get("textposition") != "outside"
                out.append(
                    written(
                        round(left + wide / 2, 1),
                        round(top + (15 if inside else -4), 1),
                        text,
                        css=f"inside s{mark['meta']['series']}" if inside and not role else "tick",
                    )
                )
    hatch = next(
        (
            f'<pattern id="hatch" class="s{m["meta"]["series"]}" width="7" height="7" '
            'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V7"/></pattern>'
            for m in marks
            if m["meta"]["role"] == "waste"
        ),
        "",
    )
    return hatch + "".join(out)


def rims(places):
    """Where the first and the last cell of a row begin and end, if its places are numbers."""
    return (
        places
        if isinstance(places[0], str)
        else [*places, 1.5 * places[0] - 0.5 * places[1], 1.5 * places[-1] - 0.5 * places[-2]]
    )


def cells(mark, x, y):
    values = [v for row in mark["z"] for v in row if v is not None] or [0]
    low, high = mark.get("zmin"), mark.get("zmax")
    low, high = min(values) if low is None else low, max(values) if high is None else high
    wide, tall = (
        abs(scale.unit) * min((abs(scale.place(b) - scale.place(a)) for a, b in pairwise(mark[name])), default=1)
        for name, scale in (("x", x), ("y", y))
    )

    def paint(v):
        share = (v - low) / ((high - low) or 1)
        if mark["meta"]["role"] == "diverging":
            return f'class="cell {"above" if share > 0.5 else "below"}" style="--v:{abs(2 * share - 1):.2f}"'
        return f'class="cell" style="--v:{share:.2f}"'

    return "".join(
        f'<rect {paint(v)} x="{x(a) - wide / 2:.1f}" y="{y(b) - tall / 2:.1f}" width="{wide:.1f}" height="{tall:.1f}"/>'
        for b, row in zip(mark["y"], mark["z"])
        for a, v in zip(mark["x"], row)
        if v is not None
    )


def corner(shape, key, scale):
    if shape.get(f"{key[0]}ref") == "paper":
        return scale.span[0] + shape[key] * (scale.span[1] - scale.span[0])
    return scale(shape[key])


def rect(shape, x, y):
    (left, right), (top, bottom) = (
        sorted(corner(shape, k, x) for k in ("x0", "x1")),
        sorted(corner(shape, k, y) for k in ("y0", "y1")),
    )
    return (
        f'<rect class="{shape["name"]}" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
        f'height="{bottom - top:.1f}"/>'
    )


def rule(shape, x, y):
    return (
        f'<path class="{shape["name"]}" d="M{corner(shape, "x0", x):.1f} '
        f'{corner(shape, "y0", y):.1f}L{corner(shape, "x1", x):.1f} {corner(shape, "y1", y):.1f}"/>'
    )


def words(a, x, y):
    at = [
        corner(dict(a, **{f"{k}ref": a.get(f"{k}ref")}), k, s)
        if a.get(f"{k}ref") == "paper" or not s.log
        else s(10 ** a[k])
        for k, s in (("x", x), ("y", y))
    ]
    anchor = {"left": "start", "right": "end"}.get(a.get("xanchor"), "middle")
    return written(
        round(at[0], 1),
        round(at[1] + {"top": 14, "middle": 4}.get(a.get("yanchor"), -4), 1),
        a["text"],
        anchor,
        a["name"],
    )
