"""A run's events and curves as one drawing: a strip with a mark per event, and below it small curves over a shared axis
of steps.

The drawing is as wide as its container: horizontal positions are percentages of the width, and vertical ones are
pixels. Anything that belongs to an event or a fact has its key in `data-look`; the page highlights the selected one.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from rlpt.doctor.words import SIGNS, words_of

ORDER = [
    *("reward", "margin", "accuracy", "chosen", "zero_variance", "length", "gradient_norm", "entropy", "kl"),
    *("cut_off", "gap", "learning_rate", "loss"),
]
LOGARITHMIC = ("length", "gradient_norm", "learning_rate")
POINTS = 400  # per curve; of more, the lowest and highest of each stretch are drawn
LANE, LANES = 16, 8  # pixels and count of the strip's lanes; events left over are in one more, without names
CAPTION, TALL, LOW, AXIS = 16, 84, 40, 22  # pixels: a curve's name, height of the reward, of other curves, the steps
LINE = 24  # pixels: a line with a single value
LETTER = 1.9  # width of a letter in percent of a drawing about 340 pixels wide, as on a phone
LEFT, RIGHT = 1.0, 97.0  # percent across: the first and the last step


def shown_curves(report: Any) -> list[str]:
    return [name for name in ORDER if name in report.found.curves]


class Across:
    """The horizontal position of a step, in percent of the width."""

    def __init__(self, steps: np.ndarray, left: float = LEFT, right: float = RIGHT) -> None:
        self.first, self.last = float(steps[0]), max(float(steps[-1]), float(steps[0]) + 1)
        self.left, self.right = left, right

    def __call__(self, step: float) -> float:
        share = (step - self.first) / (self.last - self.first)
        return round(self.left + min(1.0, max(0.0, share)) * (self.right - self.left), 3)


def thinned(steps: np.ndarray, values: np.ndarray, most: int = POINTS) -> tuple[np.ndarray, np.ndarray]:
    """At most so many points, in order: if there are more, the lowest and the highest of each stretch."""
    if len(steps) <= most:
        return steps, values
    places: list[int] = []
    for part in np.array_split(np.arange(len(steps)), most // 2):
        places += sorted({int(part[values[part].argmin()]), int(part[values[part].argmax()])})
    return steps[places], values[places]


def short(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}".replace("-", "−")


class Down:
    """The vertical position of a value, as a share of the curve's height from the top, and the ends of the axis."""

    def __init__(self, values: np.ndarray, logarithmic: bool) -> None:
        positive = values[values > 0]
        self.logarithmic = logarithmic and bool(len(positive)) and positive.max() > 10 * positive.min()
        self.floor = float(positive.min()) if self.logarithmic else 0.0
        self.low = self.floor if self.logarithmic else min(0.0, float(values.min()))
        self.high = float(values.max()) if values.max() > self.low else self.low
        self.span = self.high - self.low or 1.0

    def __call__(self, value: Any) -> Any:
        if self.logarithmic:
            span = np.log(self.high) - np.log(self.low)
            return 1 - (np.log(np.maximum(value, self.floor)) - np.log(self.low)) / span
        return (self.high - value) / self.span


def drawing(report: Any) -> str:
    """The whole drawing as an SVG without a view box; for a log with one row, its values instead of curves."""
    if len(report.found.steps) == 1:
        return values_alone(report)
    across = Across(report.found.steps)
    strip, lanes = marks(report, across)
    top = lanes * LANE + 8
    parts, places = [], {}
    for name in shown_curves(report):
        height = TALL if name in ("reward", "margin") else LOW
        part, down = curve(report, name, across, top + CAPTION, height)
        parts.append(part)
        places[name] = (top + CAPTION, height, down)
        top += CAPTION + height + 6
    line, ring = onset(report, across, top, places)
    inside = f"{''.join(rows(report, across, top))}{axis(across, top)}{line}{''.join(parts)}{ring}{strip}"
    return opened(report, top + AXIS) + f"{inside}</svg>"


def opened(report: Any, height: int) -> str:
    return f'<svg class="run" width="100%" height="{height}" role="img" aria-label="{escape(described(report))}">'


def values_alone(report: Any) -> str:
    """The quantities read from a log with one row, with their values, below the strip."""
    across = Across(report.found.steps)
    strip, lanes = marks(report, across)
    top = lanes * LANE
    lines = []
    for name in shown_curves(report):
        top += LINE
        value = short(float(report.found.curves[name].values[0]))
        lines.append(f'<text x="{LEFT}%" y="{top}" class="name">{escape(words_of(name))}</text>')
        lines.append(f'<text x="{RIGHT}%" y="{top}" class="ends">{value}</text>')
    return opened(report, top + LANE) + f"{''.join(rows(report, across, top))}{''.join(lines)}{strip}</svg>"


def described(report: Any) -> str:
    names = ", ".join(words_of(name) for name in shown_curves(report))
    return f"{len(report.events)} events above curves over steps: {names}"


def curve(report: Any, name: str, across: Across, top: int, height: int) -> tuple[str, Down]:
    """A curve with its name and its range; the reward's also shows the scores that were not trained on."""
    lines = [("c0", report.found.curves[name])]
    if name == "reward":
        lines += [(f"c{n}", scorer.curve) for n, scorer in enumerate(report.scores.scorers[:3], 1)]
    down = Down(np.concatenate([trace.values for _, trace in lines]), name in LOGARITHMIC)
    polylines = "".join(polyline(trace, kind, across, down) for kind, trace in lines)
    beside = "".join(f'<tspan class="{kind}"> · {escape(trace.columns[0][:40])}</tspan>' for kind, trace in lines[1:])
    scale = ", log" if down.logarithmic else ""
    ends = f"{short(down.low)} to {short(down.high)}{scale}"
    part = (
        f'<text x="{LEFT}%" y="{top - 4}" class="name">{escape(words_of(name))}{beside}</text>'
        f'<text x="{RIGHT}%" y="{top - 4}" class="ends">{ends}</text>'
        f'<svg x="{LEFT}%" y="{top}" width="{RIGHT - LEFT}%" height="{height}" viewBox="0 0 1000 100" '
        f'preserveAspectRatio="none" overflow="visible"><path class="frame" d="M0 100H1000"/>{polylines}</svg>'
    )
    return part, down


def polyline(trace: Any, kind: str, across: Across, down: Down) -> str:
    inside = (trace.steps >= across.first) & (trace.steps <= across.last)
    steps, values = thinned(trace.steps[inside], trace.values[inside])
    x = (steps - across.first) / (across.last - across.first) * 1000
    points = " ".join(f"{a:.4g},{b:.4g}" for a, b in zip(x, 4 + 92 * np.asarray(down(values))))
    if len(steps) == 1:
        return f'<path class="{kind} dot" d="M{points.replace(",", " ")}h0"/>'
    return f'<polyline class="{kind}" points="{points}"/>'


def marks(report: Any, across: Across) -> tuple[str, int]:
    """(the strip with a mark per event, the number of its lanes); an event is named if there is room."""
    ends = [0.0] * LANES
    events, lanes = [], 1
    first = first_event(report)
    for n, event in enumerate(report.events):
        x = across(event.step)
        width = 4 + LETTER * len(event.kind)
        kind = "first" if n == first else "later" if event.lasting else "passing"
        begin = x if x + width <= 100 else x - width
        lane = next((lane for lane, end in enumerate(ends) if begin >= end), LANES)
        lanes = max(lanes, lane + 1)
        words = ""
        if lane < LANES:
            ends[lane] = begin + width
            anchor, beside = ("start", 7) if begin == x else ("end", -7)
            place = f'x="{x}%" dx="{beside}" y="{lane * LANE + 13}" text-anchor="{anchor}"'
            words = f"<text {place}>{escape(event.kind)}</text>"
        y = lane * LANE + 9
        events.append(
            f'<g class="mark {kind}" data-look="e{n}"><title>{escape(event.kind)}</title>'
            f'<circle cx="{x}%" cy="{y}" r="4"/>{words}</g>'
        )
    return "".join(events), lanes


def first_event(report: Any) -> int | None:
    """The event that the verdict starts with: among those at its step, the one of the same quantity if there is one."""
    if report.first is None:
        return None
    of_log = [n for n, event in enumerate(report.events) if event.quantity]
    near = [n for n in of_log if report.events[n].place == report.first.place]
    same = [n for n in near if report.events[n].quantity == report.first.quantity]
    return next(iter(same or near), None)


def onset(report: Any, across: Across, height: int, places: dict[str, tuple[int, int, Down]]) -> tuple[str, str]:
    """The vertical line at the first sign, which goes behind all curves, and its ring, returned separately."""
    first = report.first
    if first is None:
        return "", ""
    x = across(first.step)
    title = f"<title>{escape(SIGNS[first.name].short)}</title>"
    line = f'<line class="onset" x1="{x}%" x2="{x}%" y1="0" y2="{height}">{title}</line>'
    ring = ""
    if first.quantity in places:
        top, tall, down = places[first.quantity]
        values = report.run.at(first.quantity)
        if np.isfinite(values[first.place]):
            y = top + tall * (0.04 + 0.92 * float(down(values[first.place])))
            ring = f'<circle class="ring" cx="{x}%" cy="{y:.1f}" r="6"/>'
    return line, ring


def rows(report: Any, across: Across, height: int) -> Iterator[str]:
    """The rows of each event and fact, shaded when it is selected."""
    ahead = max(3, min(10, len(report.run) // 10))
    for n, event in enumerate(report.events):
        last = report.run.batches[min(len(report.run) - 1, event.place + ahead)]
        yield shade(f"e{n}", event.step, float(last), across, height)
    for n, fact in enumerate(report.facts):
        yield shade(f"f{n}", fact.rows[0], fact.rows[1], across, height)


def shade(key: str, first: float, last: float, across: Across, height: int) -> str:
    x = across(first)
    width = max(0.5, across(last) - x)
    return f'<rect class="rows" data-look="{key}" x="{x}%" y="0" width="{width:.3f}%" height="{height}"/>'


def axis(across: Across, top: int) -> str:
    """The steps along the bottom; the first is labeled with the word "step"."""
    first, *others = ticks(across)
    written = [f'<text x="{across(first)}%" y="{top + 14}">step {first:,.0f}</text>']
    written += [f'<text class="step" x="{across(step)}%" y="{top + 14}">{step:,.0f}</text>' for step in others]
    return f'<line class="frame" x1="{LEFT}%" x2="{RIGHT}%" y1="{top}" y2="{top}"/>{"".join(written)}'


def ticks(across: Across) -> Sequence[float]:
    """At most six ticks: the first step and round steps after it."""
    span = across.last - across.first
    apart = next(n * 10**power for power in range(13) for n in (1, 2, 5) if n * 10**power * 5 >= span)
    inside = np.arange(np.ceil((across.first + 0.8 * apart) / apart) * apart, across.last + 1e-9, apart)
    return [across.first, *inside.tolist()]
