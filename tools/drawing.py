"""A panel drawn at build, before and without scripts: an SVG that the page's plot replaces, and a table of its data."""
import html
import json
from math import ceil, floor, isfinite, log10
from pathlib import Path

WIDTH, HEIGHT = 400, 280
LEFT, RIGHT, TOP, BOTTOM = json.loads((Path(__file__).parents[1] / "site/assets/look.json").read_text(encoding="utf-8"))["layout"]["margin"].values()


def svg(panel):
    """The panel as an inline SVG in the page's colours: axes, curves, bars, cells, the threshold and the words at the curves."""
    layout, marks = panel["layout"], panel["data"]
    x, y = (Scale(layout[f"{a}axis"], [v for m in marks for v in m[a]], span, stacked=a == "y" and layout["barmode"] == "stack" and marks, bars=a == "y" and any(m["type"] == "bar" for m in marks))
            for a, span in (("x", (LEFT, WIDTH - RIGHT)), ("y", (HEIGHT - BOTTOM, TOP))))
    below = [rect(s, x, y) for s in layout["shapes"] if s["type"] == "rect"]
    stack = {}
    drawn = [DRAW[m["type"]](m, x, y, stack if layout["barmode"] == "stack" else {}) for m in marks]
    above = [rule(s, x, y) for s in layout["shapes"] if s["type"] == "line"] + [words(a, x, y) for a in layout["annotations"]]
    title = layout["xaxis"]["title"]["text"]
    frame = (f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>' + "".join(x.tick(t) for t in x.ticks()) + "".join(y.tick(t) for t in y.ticks())
             + f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{html.escape(title or "")}</text>')
    if layout["yaxis"].get("visible") is False:         # a diagram, not a plot
        frame = ""
    return f'<svg class="still" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">{"".join(below)}{frame}{"".join(drawn)}{"".join(above)}</svg>'


class Scale:
    """Data to pixels along one axis: linear, logarithmic, or by category."""

    def __init__(self, axis, values, span, stacked=(), bars=False):
        self.log, self.span = axis["type"] == "log", span
        self.categories = list(dict.fromkeys(v for v in values if isinstance(v, str)))
        self.spelled = dict(zip(axis.get("tickvals", []), axis.get("ticktext", [])))
        numbers = [v for v in values if isinstance(v, int | float) and isfinite(v) and (v > 0 or not self.log)] or [0, 1]
        if stacked:
            sums = [sum(v for v in column if v) for column in zip(*(m["y"] for m in stacked if m["type"] == "bar"))]
            numbers += sums
        if bars and not self.log:
            numbers.append(0)
        ends = axis.get("range") or ([log10(min(numbers)), log10(max(numbers))] if self.log else [min(numbers), max(numbers)])
        self.low, self.high = (-0.5, len(self.categories) - 0.5) if self.categories else (ends[0], ends[1] if ends[1] != ends[0] else ends[0] + 1)

    def __call__(self, v):
        if isinstance(v, str):
            v = self.categories.index(v) if v in self.categories else 0
        elif self.log:
            v = log10(v) if v > 0 else self.low
        share = min(max((v - self.low) / (self.high - self.low), -0.02), 1.02)
        return round(self.span[0] + share * (self.span[1] - self.span[0]), 1)

    def ticks(self):
        if self.categories:
            return self.categories if len(self.categories) < 9 else self.categories[::-(-len(self.categories) // 6)]
        if self.spelled:
            return list(self.spelled)
        if self.log:
            decades = range(ceil(self.low - 1e-9), floor(self.high + 1e-9) + 1)
            return [10.0**d for d in decades][::max(1, len(decades) // 6)]
        raw = (self.high - self.low) / 5
        unit = 10 ** floor(log10(raw))
        step = next(unit * k for k in (1, 2, 2.5, 5, 10) if unit * k >= raw * 0.999)
        return [round(step * i, 10) for i in range(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1)]

    def tick(self, t):
        at, name = self(t), html.escape(str(self.spelled.get(t) or (t if isinstance(t, str) else spelled(t))))
        if self.span[0] < self.span[1]:
            return f'<text x="{at}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{name}</text>'
        return f'<path class="grid" d="M{LEFT} {at}H{WIDTH - RIGHT}"/><text x="{LEFT - 6}" y="{at + 4}" text-anchor="end">{name}</text>'


def spelled(v):
    if v and (abs(v) >= 1e4 or abs(v) < 1e-3):
        return f"{v:.0e}".replace("e+0", "e").replace("e-0", "e−").replace("e+", "e").replace("e-", "e−")
    return f"{v:g}".replace("-", "−")


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


def curve(mark, x, y, _):
    css = f's{mark["meta"]["series"]} {mark["meta"]["role"]}'.strip()
    if mark["mode"] == "markers":
        return "".join(f'<circle class="{css}" cx="{a}" cy="{b}" r="3"/>' for run in points(mark, x, y) for a, b in run)
    joint = "{1:g}H{0:g}V" if mark["meta"]["role"] == "step" else "L"
    d = "".join("M" + ("L".join(f"{a} {b}" for a, b in run) if joint == "L" else f"{run[0][0]} {run[0][1]}" + "".join(f"H{a}V{b}" for a, b in run[1:])) for run in points(mark, x, y))
    return f'<path class="{css}" d="{d}"/>'


def columns(mark, x, y, stack):
    n = max(len(mark["x"]), 1)
    wide = max(0.7 * (x.span[1] - x.span[0]) / n, 1)
    out = []
    for a, b in zip(mark["x"], mark["y"]):
        if b is None or a is None:
            continue
        foot = stack.get(a, 0)
        stack[a] = foot + b
        top, ground = sorted((y(foot + b), y(foot if not y.log else 10**y.low)))
        out.append(f'<rect class="s{mark["meta"]["series"]} {mark["meta"]["role"]}" x="{x(a) - wide / 2:.1f}" y="{top}" width="{wide:.1f}" height="{max(ground - top, 0):.1f}"/>')
    return "".join(out)


def cells(mark, x, y, _):
    values = [v for row in mark["z"] for v in row if v is not None] or [0]
    low, high = mark.get("zmin"), mark.get("zmax")
    low, high = min(values) if low is None else low, max(values) if high is None else high
    rows, wide = len(mark["z"]), (WIDTH - LEFT - RIGHT) / max(len(mark["z"][0]), 1)
    tall = (HEIGHT - TOP - BOTTOM) / max(rows, 1)
    return "".join(f'<rect class="cell" style="--v:{(v - low) / ((high - low) or 1):.2f}" x="{LEFT + j * wide:.1f}" y="{HEIGHT - BOTTOM - (i + 1) * tall:.1f}" width="{wide:.1f}" height="{tall:.1f}"/>'
                   for i, row in enumerate(mark["z"]) for j, v in enumerate(row) if v is not None)


DRAW = dict(scatter=curve, bar=columns, heatmap=cells)


def corner(shape, key, scale):
    if shape.get(f"{key[0]}ref") == "paper":
        return scale.span[0] + shape[key] * (scale.span[1] - scale.span[0])
    return scale(shape[key])


def rect(shape, x, y):
    (left, right), (top, bottom) = sorted(corner(shape, k, x) for k in ("x0", "x1")), sorted(corner(shape, k, y) for k in ("y0", "y1"))
    return f'<rect class="{shape["name"]}" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}"/>'


def rule(shape, x, y):
    return f'<path class="{shape["name"]}" d="M{corner(shape, "x0", x):.1f} {corner(shape, "y0", y):.1f}L{corner(shape, "x1", x):.1f} {corner(shape, "y1", y):.1f}"/>'


def words(a, x, y):
    at = [corner(dict(a, **{f"{k}ref": a.get(f"{k}ref")}), k, s) if a.get(f"{k}ref") == "paper" or not s.log else s(10 ** a[k]) for k, s in (("x", x), ("y", y))]
    anchor = {"left": "start", "right": "end"}.get(a.get("xanchor"), "middle")
    return f'<text class="{a["name"]}" x="{at[0]:.1f}" y="{at[1] + (14 if a.get("yanchor") == "top" else -4):.1f}" text-anchor="{anchor}">{html.escape(a["text"])}</text>'


def table(panels):
    """The first curve of every panel, at most 13 rows each, as plain tables."""
    out = []
    for p in panels:
        first = next((m for m in p["data"] if m["type"] != "heatmap"), None)
        if first is None:
            continue
        rows = list(zip(first["x"], first["y"]))
        rows = rows[::max(1, ceil(len(rows) / 13))]
        body = "".join(f'<tr><th scope="row">{html.escape(cell(a))}</th><td>{html.escape(cell(b))}</td></tr>' for a, b in rows)
        out.append(f'<table class="dt"><caption>{html.escape(p["title"])}, {html.escape(p["note"])}</caption><thead><tr><th scope="col">{html.escape(p["layout"]["xaxis"]["title"]["text"] or "")}</th>'
                   f'<th scope="col">{html.escape(first["name"] or p["title"])}</th></tr></thead><tbody>{body}</tbody></table>')
    return "".join(out)


def cell(v):
    return "–" if v is None else v if isinstance(v, str) else f"{v:.4g}"
