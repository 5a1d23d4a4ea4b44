"""The picture that an answer about a run leads with: the curve that shows it, the step marked, what it ends at, and the
events on a rail below.

Dots are the rows of the log, and the line is the mean of a few around each: nothing else is smoothed. Horizontal
positions are percentages of the width, vertical ones pixels; letters are HTML, so that they keep their size. Not a
model: every number is the log's.
"""

from html import escape
from typing import Any, NamedTuple

import numpy as np

from rlpt.doctor.words import steps_of, words_of
from sim.words import capital
from widgets.frame.reader.doctor_chart import LOGARITHMIC, Across, Down, polyline, short, shown_curves, thinned

TALL, TOP = 250, 18  # pixels: the curve, and the room above it for the step's name
APART = 64  # pixels between the numbers at two ends
RAIL = 4  # the most events below the curve
DOTS = 240
AROUND = 4  # rows to each side that the line is the mean of, at most


class Line(NamedTuple):
    name: str
    curve: Any  # with steps and values
    quantity: str


def leading(report: Any) -> list[Line]:
    """One or two curves: the reward beside the score that the first sign names, or else the sign's own."""
    shown = shown_curves(report)
    if not shown:
        return []
    first = report.first
    scorer = next((s for s in report.scores.scorers if first and s.name == first.column), None)
    if scorer:
        return [Line("the reward", report.found.curves["reward"], "reward"), Line(scorer.name, scorer.curve, "reward")]
    own = first.quantity if first and first.quantity in shown else shown[0]
    return [Line(words_of(own), report.found.curves[own], own)]


class Mean:
    """The mean of the rows around each, as a curve."""

    def __init__(self, curve: Any) -> None:
        self.steps = curve.steps
        self.to_each_side = min(AROUND, len(curve.steps) // 12)
        n = np.arange(len(curve.steps))
        low, high = np.maximum(0, n - self.to_each_side), np.minimum(len(n), n + self.to_each_side + 1)
        sums = np.concatenate([[0.0], np.cumsum(curve.values)])
        self.values = (sums[high] - sums[low]) / (high - low) if self.to_each_side else curve.values


def drawing(report: Any) -> str:
    """HTML; nothing where the log has a single row or no quantity that can be drawn."""
    lines = leading(report)
    if not lines or len(report.found.steps) == 1:
        return ""
    across = Across(report.found.steps, 0.0, 100.0)
    down = Down(np.concatenate([line.curve.values for line in lines]), lines[0].quantity in LOGARITHMIC)
    means = [Mean(line.curve) for line in lines]
    drawn = "".join(polyline(mean, f"c{n}", across, down) for n, mean in enumerate(means))
    dots = "".join(dotted(line.curve, f"c{n}", across, down) for n, line in enumerate(lines))
    label = f"{lines[0].name}{f' and {lines[1].name}' if lines[1:] else ''} over {report.found.unit}s"
    return (
        f'<div class="plot"><svg width="100%" height="{TOP + TALL}" role="img" aria-label="{escape(label)}">'
        f'<svg y="{TOP}" width="100%" height="{TALL}" viewBox="0 0 1000 100" preserveAspectRatio="none" '
        f'overflow="visible">{wash(report, lines, means, across, down)}<path class="frame" d="M0 100H1000"/>'
        f"</svg>{dots}"
        f'<svg y="{TOP}" width="100%" height="{TALL}" viewBox="0 0 1000 100" preserveAspectRatio="none" '
        f'overflow="visible">{drawn}</svg>{onset(report, across)}</svg>'
        f"{ends(lines, means, down)}</div>{rail(report, across)}{caption(report, means)}"
    )


def dotted(curve: Any, kind: str, across: Across, down: Down) -> str:
    steps, values = thinned(curve.steps, curve.values, DOTS)
    heights = TOP + TALL * (0.04 + 0.92 * np.asarray(down(values)))
    return "".join(
        f'<circle class="{kind}" cx="{across(step)}%" cy="{y:.1f}" r="2"/>' for step, y in zip(steps, heights)
    )


def wash(report: Any, lines: list[Line], means: list[Mean], across: Across, down: Down) -> str:
    """The stretch from the first sign on: between two curves, or below one's whole height."""
    if report.first is None:
        return ""
    x = across(report.first.step) * 10
    if len(lines) == 1:
        return f'<rect class="wash" x="{x:.4g}" y="0" width="{1000 - x:.4g}" height="100"/>'
    there, back = ([*points(mean, report.first.step, across, down)] for mean in means)
    return f'<polygon class="wash" points="{" ".join(there + back[::-1])}"/>'


def points(mean: Mean, since: float, across: Across, down: Down) -> list[str]:
    """The points of a curve from a step on, that step's own among them."""
    steps, values = thinned(mean.steps, mean.values)
    later = steps > since
    values = np.append(np.interp(since, steps, values), values[later])
    steps = np.append(since, steps[later])
    heights = 4 + 92 * np.asarray(down(values))
    return [f"{across(step) * 10:.4g},{y:.4g}" for step, y in zip(steps, heights)]


def onset(report: Any, across: Across) -> str:
    if report.first is None:
        return ""
    x = across(report.first.step)
    side = 'dx="6"' if x < 70 else 'dx="-6" text-anchor="end"'
    step = steps_of([report.first.step], report.found.unit)
    return (
        f'<line class="onset" x1="{x}%" x2="{x}%" y1="0" y2="{TOP + TALL}"/>'
        f'<text class="when" x="{x}%" y="13" {side}>{step}</text>'
    )


def ends(lines: list[Line], means: list[Mean], down: Down) -> str:
    """The last value of each mean, beside its end: `--y` is its height, `--free` the same without meeting another."""
    heights = [TOP + TALL * (0.04 + 0.92 * float(down(mean.values[-1]))) for mean in means]
    free = [min(max(y, APART / 2), TOP + TALL - APART / 2) for y in heights]
    low = 0
    if len(lines) > 1 and abs(free[0] - free[1]) < APART:
        high = int(heights[0] > heights[1])
        low = 1 - high
        free[high] = min(free[high], TOP + TALL - 1.5 * APART)
        free[low] = free[high] + APART
    lower = int(heights[0] <= heights[-1]) if len(lines) > 1 else None
    shown = []
    for n, (line, mean, y) in enumerate(zip(lines, means, heights)):
        kind = f"end c{n} under" if y < 40 or (n == lower and y < TALL - 20) else f"end c{n}"
        value, name = short(float(mean.values[-1])), escape(line.name).replace("/", "/<wbr>")
        place = f"--y:{y:.0f}px;--free:{free[n]:.0f}px"
        shown.append(f'<p class="{kind}" style="{place}"><b>{value}</b> {name}</p>')
    return "".join(shown)


def rail(report: Any, across: Across) -> str:
    """The first events that last, a line each: no name lies in the way of another's mark."""
    first = report.first
    told = [event for event in report.events if event.lasting and (first is None or event.step >= first.step)][:RAIL]
    left = [event for event in told if across(event.step) < 55]
    items = []
    for n, event in enumerate([*left[::-1], *told[len(left) :]], 1):
        kinds = f"{'first ' * (first is not None and event.step == first.step)}{'left' if event in left else 'right'}"
        says = f"{steps_of([event.step], report.found.unit)} · {escape(event.kind)}"
        items.append(f'<li class="{kinds}" style="--x:{across(event.step)}%;--n:{n}"><span>{says}</span></li>')
    return f'<ol class="rail">{"".join(items)}</ol>' if items else ""


def caption(report: Any, means: list[Mean]) -> str:
    """Which rows, and what dots and line are."""
    unit, around, mean = report.found.unit, 2 * means[0].to_each_side + 1, means[0]
    dots = (
        f"Each dot is a {unit}" if len(mean.steps) <= DOTS else f"Dots are the lowest and highest {unit}s of a stretch"
    )
    line = f", and the line is the mean of {around} {unit}s" if around > 1 else ""
    return f'<p class="small">{capital(steps_of(report.found.steps, unit))}. {dots}{line}.</p>'


def small(report: Any) -> str:
    """The leading curves alone, for the button that shows a log."""
    lines = leading(report)
    across = Across(report.found.steps, 0.0, 100.0)
    down = Down(np.concatenate([line.curve.values for line in lines]), False)
    drawn = "".join(polyline(Mean(line.curve), f"c{n}", across, down) for n, line in enumerate(lines))
    return (
        '<svg width="100%" height="30" viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">'
        f"{drawn}</svg>"
    )
