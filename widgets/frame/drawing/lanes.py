"""Work in rows over a time axis: spans of a scene, and how they are drawn.

A board has no view box. Positions along the time axis are percentages of its width, while letters and heights are in
pixels, so that one drawing serves a page, a column and a phone. Anything with a key slides: the x and width of a
rectangle or of a nested svg.
"""

import html
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from widgets.frame.drawing.pen import Pen, number
from widgets.frame.drawing.scene import Mark, View

SQUARE = 26  # pixels of a square, the unit of other views
WIDE = 30.0  # squares that a board asks for
FOOT = 24  # pixels for the axis
ASIDE = 1.2  # in widths: the place of things that are not there at the moment


def board(
    key: str,
    alt: str,
    until: float,
    rows: Sequence[tuple[str, str]],
    *marks: Mark,
    tall: float = 28,
    gap: float = 14,
    top: float = 30,
    ticks: Sequence[float | tuple[float, str]] = (),
    unit: str = "",
    now: float | None = None,
    role: str = "",
) -> View:
    """Rows, each (name, a word about it), from 0 to `until`. `tall`, `gap` and `top`, the room above the first row, are
    in pixels. A tick may have words instead of its number. `now` is a cursor; everything after it is pale.
    """
    high = top + len(rows) * (tall + gap) + FOOT
    return dict(
        **dict(key=key, alt=alt, wide=WIDE, high=high / SQUARE, marks=list(marks), role=role),
        **dict(until=until, rows=list(rows), tall=tall, gap=gap, top=top, ticks=list(ticks), unit=unit, now=now),
    )


def is_board(view: View) -> bool:
    return "until" in view


def span(key: str, row: float, start: float, end: float, role: str, text: str | None = None) -> Mark:
    """Work or waiting in a row, with the text in its middle."""
    return dict(kind="span", key=key, row=row, start=start, end=end, role=role, text=text)


def run(key: str, row: float, start: float, end: float, role: str, text: str | None = None) -> Mark:
    """A completion in its slot, with round ends that show where it joins the next one."""
    return dict(kind="run", key=key, row=row, start=start, end=end, role=role, text=text)


def cut(key: str, row: float, at: float, seen: bool = True) -> Mark:
    """A mark where something was cut off."""
    return dict(kind="cut", key=key, row=row, at=at, seen=seen)


def seams(every: float) -> Mark:
    """Thin vertical lines that divide all runs into segments."""
    return dict(kind="seams", every=every)


def path(key: str, row: float, start: float, end: float) -> Mark:
    """An underline: the step waits for the work above it."""
    return dict(kind="path", key=key, row=row, start=start, end=end, role="path")


def measure(key: str, start: float, end: float, words: str, anchor: str = "start") -> Mark:
    """How long something takes, above the first row; the words are at its start or its "end"."""
    return dict(kind="measure", key=key, start=start, end=end, words=words, anchor=anchor)


def rule(key: str, at: float, words: str = "", anchor: str = "start") -> Mark:
    """A vertical line through all rows, with words at its top."""
    return dict(kind="rule", key=key, at=at, words=words, anchor=anchor)


def tip(key: str, row: float, at: float, role: str, seen: bool) -> Mark:
    """Where a row would have ended: a point in its role, at the end of a dotted line."""
    return dict(kind="tip", key=key, row=row, at=at, role=role, seen=seen)


def grip(key: str, at: float, words: str, short: str, cuts: Sequence[bool]) -> Mark:
    """The vertical line that a reader drags, with a pill as its handle; `short` replaces the words on a phone. `cuts`
    says for each row whether the line strikes it out.
    """
    return dict(kind="grip", key=key, at=at, words=words, short=short, cuts=list(cuts))


def note(key: str, row: float, at: float, words: str, role: str = "", anchor: str = "start") -> Mark:
    return dict(kind="note", key=key, row=row, at=at, words=words, role=role, anchor=anchor)


def spot(
    key: str,
    rows: tuple[float, float],
    start: float,
    end: float,
    words: str,
    seen: bool = True,
    role: str = "broken",
    side: str = "above",
) -> Mark:
    """A ring around the first to the last row, with at most six words above, below, inside or to the right of it."""
    return dict(kind="ring", key=key, rows=rows, start=start, end=end, words=words, seen=seen, role=role, side=side)


def round_up(value: float) -> float:
    """`value` rounded up to 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten, so that an axis stays while knobs
    move.
    """
    unit = 10.0 ** math.floor(math.log10(value))
    return next(unit * m for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if unit * m >= value * (1 - 1e-9))


def quarters(until: float) -> tuple[float, ...]:
    """The ticks of an axis that ends at `until`."""
    return tuple(until * n / 4 for n in range(5))


# ── drawing ──


def drawn(pen: Pen, view: View) -> None:
    key, high = view["key"], SQUARE * view["high"]
    pen.out.append(f'<div class="k-lanes" style="--row:{view["tall"] + view["gap"]:g}px;--top:{view["top"]:g}px">')
    if any(name for name, _ in view["rows"]):
        pen.out.append('<div class="k-names">')
        for row, (name, word) in enumerate(view["rows"]):
            pen.out.append("<p>")
            pen.put("b", f"{key}n{row}", name)
            pen.put("i", f"{key}i{row}", word)
            pen.out.append("</p>")
        pen.out.append("</div>")
    pen.state[f"{key}.aria-label"] = view["alt"]
    pen.out.append(
        f'<svg data-k="{key}" class="k-board" height="{high:g}" role="img" aria-label="{html.escape(view["alt"])}">'
    )
    for row, (name, _) in enumerate(view["rows"]):
        if name:
            y = top_of(view, row) + view["tall"] + view["gap"] / 2
            pen.put("rect", x="0", y=y, width="100%", height=1, css="k-lane")
    rings = [mark for mark in view["marks"] if mark["kind"] == "ring"]
    for mark in view["marks"]:
        if mark["kind"] not in ("ring", "note"):
            DRAW[mark["kind"]](pen, mark, view)
    if view["now"] is not None:
        at, body = across(view, view["now"]), high - FOOT - view["top"] + 6
        pen.put("rect", f"{key}c", x=at, y=view["top"] - 4, width="100%", height=body, css="k-cover")
        pen.put("rect", f"{key}u", x=at, y=view["top"] - 6, width=2, height=body + 4, css="k-cursor")
    for mark in view["marks"]:
        if mark["kind"] == "note":
            note_drawn(pen, mark, view)
    for mark in rings:
        ring(pen, mark, view)
    # a different axis gets a different key, so that a running widget redraws its labels
    pen.out.append(f'<g data-k="{key}x{view["until"]:g}">')
    for tick in view["ticks"]:
        last = view["unit"] * (tick == view["ticks"][-1])
        tick, text = tick if isinstance(tick, Sequence) else (tick, f"{tick:,g}{last}")
        anchor = "start" if tick == 0 else "end" if tick > 0.93 * view["until"] else "middle"
        place = f'x="{across(view, tick)}" y="{high - 6:g}" text-anchor="{anchor}"'
        pen.out.append(f'<text class="k-tick" {place}>{text}</text>')
    pen.out.append("</g></svg></div>")


def across(view: View, at: float) -> str:
    return f"{number(100 * min(max(float(at) / view['until'], -1.0), ASIDE))}%"


def wide(view: View, start: float, end: float) -> str:
    """The width of a span, or of its part that fits if it begins before the end of the board."""
    share = (min(float(end) / view["until"], ASIDE) - float(start) / view["until"]) if start < view["until"] else 0.0
    return f"{number(100 * max(share, 0.0))}%"


def top_of(view: View, row: float) -> float:
    return view["top"] + row * (view["tall"] + view["gap"])


def words(pen: Pen, key: str, at: str, y: float, text: str, css: str, anchor: str = "start") -> None:
    """A text that slides: it is in a nested svg, because the x of a text does not animate."""
    pen.put("svg", f"{key}p", x=at, y=y, css="k-at", inner="\n")
    pen.out[-1] = pen.out[-1].removesuffix("\n</svg>")
    pen.put("text", f"{key}t", text, css=css, text_anchor=anchor)
    pen.out.append("</svg>")


def span_drawn(pen: Pen, mark: Mapping[str, Any], view: View) -> None:
    start, end, y = mark["start"], mark["end"], top_of(view, mark["row"])
    place = dict(x=across(view, start), y=y, width=wide(view, start, end), height=view["tall"])
    run = "k-run " if mark["kind"] == "run" else ""
    pen.put("rect", mark["key"], css=f"k-span {run}k-{mark['role']}", **place)
    if mark["text"] is not None:
        middle = (start + min(end, view["until"])) / 2
        css = f"k-in k-{mark['role']}"
        words(pen, mark["key"], across(view, middle), y + view["tall"] / 2 + 4.5, mark["text"], css, "middle")


def path_drawn(pen: Pen, mark: Mapping[str, Any], view: View) -> None:
    start, y = mark["start"], top_of(view, mark["row"]) + view["tall"] + 2
    place = dict(x=across(view, start), y=y, width=wide(view, start, mark["end"]), height=3)
    pen.put("rect", mark["key"], css="k-span k-path", **place)


def measure_drawn(pen: Pen, mark: Mapping[str, Any], view: View) -> None:
    start, end, y, key = mark["start"], mark["end"], view["top"] - 9, mark["key"]
    pen.put("rect", f"{key}l", x=across(view, start), y=y, width=wide(view, start, end), height=1.5, css="k-span k-ink")
    for name, at in (("a", start), ("b", end)):
        pen.put("rect", f"{key}{name}", x=across(view, at), y=y - 4, width=1.5, height=9.5, css="k-span k-ink")
    at = end if mark["anchor"] == "end" else start
    words(pen, key, across(view, at), y - 6, mark["words"], "k-strong", mark["anchor"])


def rule_drawn(pen: Pen, mark: Mapping[str, Any], view: View) -> None:
    at, key = across(view, mark["at"]), mark["key"]
    high = top_of(view, len(view["rows"])) - view["top"] + 8
    pen.put("rect", f"{key}l", x=at, y=view["top"] - 10, width=2, height=high, css="k-span k-ink")
    words(pen, key, at, view["top"] - 14, mark["words"], "k-strong", mark["anchor"])


def cut_drawn(pen: Pen, mark: Mapping[str, Any], view: View) -> None:
    place = dict(x=across(view, mark["at"]), y=top_of(view, mark["row"]) - 2, width=4, height=view["tall"] + 4)
    pen.put("rect", mark["key"], css=f"k-span k-ink k-cut{'' if mark['seen'] else ' k-off'}", **place)


def seams_drawn(pen: Pen, mark: Mapping[str, Any], view: View) -> None:
    high = SQUARE * view["high"] - view["top"] - FOOT
    for n in range(1, int(view["until"] / mark["every"]) + 1):
        pen.put("rect", x=across(view, n * mark["every"]), y=view["top"], width=1, height=high, css="k-seam")


def note_drawn(pen: Pen, mark: Mapping[str, Any], view: View) -> None:
    y = top_of(view, mark["row"]) + view["tall"] / 2 + 4.5
    css = " ".join(f"k-{role}" for role in ("note", *mark["role"].split()))
    words(pen, mark["key"], across(view, mark["at"]), y, mark["words"], css, mark["anchor"])


def tip_drawn(pen: Pen, mark: Mapping[str, Any], view: View) -> None:
    key, middle = mark["key"], top_of(view, mark["row"]) + view["tall"] / 2
    off = "" if mark["seen"] else " k-off"
    pen.put("g", key, inner="", css=f"k-tip k-{mark['role']}{off}")
    pen.out[-1] = pen.out[-1].removesuffix("</g>")
    pen.put("line", x1="0", x2=across(view, mark["at"]), y1=middle, y2=middle)
    pen.put("circle", cx=across(view, mark["at"]), cy=middle, r=view["tall"] / 2)
    pen.out.append("</g>")


def grip_drawn(pen: Pen, mark: Mapping[str, Any], view: View) -> None:
    """All of it slides as one; its words switch sides if there is no room for them."""
    key, after = mark["key"], mark["at"] < view["until"] / 2
    high = top_of(view, len(view["rows"])) - view["top"] + 12
    pen.put("svg", f"{key}p", x=across(view, mark["at"]), y=0, css="k-at k-grip", inner="\n")
    pen.out[-1] = pen.out[-1].removesuffix("\n</svg>")
    pen.put("rect", x=-1, y=view["top"] - 8, width=2, height=high, css="k-ink k-span")
    for row, struck in enumerate(mark["cuts"]):
        y = top_of(view, row) + view["tall"] / 2
        cross = f"M-4 {number(y - 4)}l8 8m0-8l-8 8"
        pen.put("path", f"{key}{row}", d=cross, css=f"k-cross{'' if struck else ' k-off'}")
    pen.put("rect", x=-19, y=view["top"] - 38, width=38, height=29, rx=14.5, css="k-pill")
    pen.put("path", d=f"M-7 {number(view['top'] - 29.0)}l-5 5.5l5 5.5m14-11l5 5.5l-5 5.5", css="k-arrows")
    place = dict(x=28 if after else -28, y=view["top"] - 18.5, text_anchor="start" if after else "end")
    pen.put("text", f"{key}t", mark["words"], css="k-strong k-spelled", **place)
    pen.put("text", f"{key}s", mark["short"], css="k-strong k-short", **place)
    pen.out.append("</svg>")


def ring(pen: Pen, mark: Mapping[str, Any], view: View) -> None:
    """The words are centered on the ring; near an edge of the board they start or end at its middle."""
    first, last = mark["rows"]
    y, bottom = top_of(view, first) - 4, top_of(view, last) + view["tall"] + 4
    start, end, key = mark["start"], min(mark["end"], view["until"]), mark["key"]
    css = f"k-{mark['role']}{'' if mark['seen'] else ' k-off'}"
    middle = (start + end) / 2
    share = middle / view["until"]
    anchor = "start" if share < 0.3 else "end" if share > 0.7 else "middle"
    pen.out.append("<g data-ring>")
    place = dict(x=across(view, start), y=y, width=wide(view, start, end), height=bottom - y)
    pen.put("rect", f"{key}r", css=f"k-span k-ring {css}", rx=6, **place)
    above = mark["side"] == "above"
    leader = (
        0 if mark["side"] in ("inside", "right") else 28 if above and first == 0 else 10
    )  # to clear the measure of the step
    edge = y - leader if above else bottom
    pen.put("rect", f"{key}l", css=f"k-span k-leader {css}", x=across(view, middle), y=edge, width=1.5, height=leader)
    at = {"above": y - leader - 6, "below": bottom + leader + 14}.get(mark["side"], (y + bottom) / 2 + 5)
    if mark["side"] == "right":
        middle, anchor = end + 0.015 * view["until"], "start"
    words(pen, key, across(view, middle), at, mark["words"], f"k-said {css}", anchor)
    pen.out.append("</g>")


DRAW: dict[str, Callable[[Pen, Mapping[str, Any], View], None]] = dict(
    span=span_drawn,
    run=span_drawn,
    cut=cut_drawn,
    seams=seams_drawn,
    path=path_drawn,
    measure=measure_drawn,
    rule=rule_drawn,
    tip=tip_drawn,
    grip=grip_drawn,
    note=note_drawn,
    ring=ring,
)
