"""Draws a scene as SVG: each position as a whole, by the same function at build time and in the page.

A drawing knows nothing about time. The pen remembers what can change in a drawing, attribute by attribute, for elements
that have a key. From many positions, `packed` keeps the first and the differences between consecutive ones. So nobody
writes an animation: site/assets/play.js sets whatever differs, and the style sheet animates it.
"""

import html
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from widgets.frame.drawing import (
    comparisons,
    cuts,
    doors,
    fleet,
    forks,
    gates,
    lanes,
    number_table,
    picks,
    twins,
    vocabulary,
)
from widgets.frame.drawing.marks import Panel
from widgets.frame.drawing.pen import Cell, Pen, number
from widgets.frame.drawing.scene import WORD

SQUARE, GAP, DOT = 26, 3, 12  # pixels: a square with its gap, the gap, a dot with its gap
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz" + "".join(map(chr, range(0x180, 0x3A0)))  # for kinds of cells
WIDE = 470  # pixels: in a wider view, letters are drawn larger on a phone
SHORT = 6  # pixels: a shorter arrow is not drawn
SIGNS = ("stop", "astray")  # tokens drawn as a sign

IN_HTML = (  # views whose letters keep their size on a phone
    (comparisons.is_comparison, comparisons.drawn),
    (number_table.is_table, number_table.drawn),
    (gates.is_gates, gates.drawn),
    (picks.is_picks, picks.drawn),
    (doors.is_doors, doors.drawn),
    (forks.is_forks, forks.drawn),
    (cuts.is_cuts, cuts.drawn),
    (twins.is_twins, twins.drawn),
    (fleet.is_fleet, fleet.drawn),
)


def px(squares: float) -> float:
    return round(SQUARE * squares, 2)


def drawn(scene: Panel) -> Pen:
    """A pen with the HTML of a scene in `out` and everything in it that can change in `state`."""
    pen = Pen()
    pen.out.append('<div class="k-views">')
    for column in scene["columns"]:
        role = "".join(f" {role}" for role in sorted({view["role"] for view in column} - {""}))
        widest = max(view["wide"] for view in column)
        pen.out.append(f'<div class="k-column{role}" style="--w:{px(widest):g}">')
        for view in column:
            if lanes.is_board(view) or "counts" in view:
                (lanes.drawn if lanes.is_board(view) else counted)(pen, view)
                continue
            if draw := next((draw for is_one, draw in IN_HTML if is_one(view)), None):
                draw(pen, view)
                continue
            size = f'viewBox="0 0 {px(view["wide"]):g} {px(view["high"]):g}"'
            css = "k-view k-wide" if px(view["wide"]) > WIDE else "k-view"
            pen.state[f"{view['key']}.aria-label"] = view["alt"]
            pen.out.append(
                f'<svg data-k="{view["key"]}" class="{css}" {size} role="img" aria-label="{html.escape(view["alt"])}">'
            )
            for mark in view["marks"]:
                DRAW[mark["kind"]](pen, mark)
            pen.out.append("</svg>")
        pen.out.append("</div>")
    pen.out.append("</div>")
    return pen


def svg(scene: Panel) -> str:
    return "".join(drawn(scene).out)


def counted(pen: Pen, view: Mapping[str, Any]) -> None:
    pen.out.append('<div class="k-counts">')
    for i, (figure, words, role) in enumerate(view["counts"]):
        pen.out.append("<p>")
        pen.put("b", f"{view['key']}{i}", figure, css=f"k-{role}" if role else "k-plain")
        pen.put("span", f"{view['key']}w{i}", words)
        pen.out.append("</p>")
    pen.out.append("</div>")


def tokens(pen: Pen, mark: Mapping[str, Any]) -> None:
    """The style sheet sets the size of a square and shows the sign of a stop."""
    x, y = mark["at"]
    pitch, css = (WORD, "k-q k-long") if mark["wide"] else (1.0, "k-q")
    cells: list[Cell] = []
    for row in mark["rows"]:
        cells += [(f"{css} k-{role}", "" if role in SIGNS else text) for text, role in row]
        cells += [(f"{css} k-off", "")] * (mark["longest"] - len(row))

    def draw(i: int, cell: Cell) -> str:
        return f'<rect/><rect class="k-sign"/><text>{html.escape(cell[1])}</text>'

    places = [(px(x + pitch * (i % mark["longest"])), px(y + i // mark["longest"])) for i in range(len(cells))]
    pen.cells(mark["key"], cells, draw, places)


def parts(pen: Pen, mark: Mapping[str, Any]) -> None:
    (x, y), wide = mark["at"], px(mark["pitch"])
    places = [(px(x) + wide * i, px(y)) for i in range(len(mark["roles"]))]
    frame = f'width="{wide - 2:g}" height="23" rx="2"'
    pen.cells(
        mark["key"], [(f"k-part k-{role}",) for role in mark["roles"]], lambda i, cell: f"<rect {frame}/>", places
    )


def hundred(pen: Pen, mark: Mapping[str, Any]) -> None:
    x, y = mark["at"]
    edges, total = [], 0.0
    for role, share in mark["shares"]:
        total += share
        edges.append((total, role))
    roles = [next((role for edge, role in edges if (i + 0.5) / 100 <= edge), edges[-1][1]) for i in range(100)]
    for i, role in enumerate(roles):
        row, column = divmod(i, mark["wide"])
        place = f'cx="{px(x) + DOT * (column + 0.5):g}" cy="{px(y) + DOT * (row + 0.5):g}"'
        pen.out.append(f'<circle data-k="{mark["key"]}{i}" class="k-d k-{role}" {place} r="5"/>')
    pen.state[f"{mark['key']}.*"] = tuple((f"k-d k-{role}",) for role in roles)


def piles(pen: Pen, mark: Mapping[str, Any]) -> None:
    """Each pile fills its rows from the left; a dot that changes piles moves to its new one."""
    filled = dict.fromkeys(mark["owners"], 0)
    for i, pile in enumerate(mark["owners"]):
        row, column = divmod(filled[pile], mark["wide"][pile])
        filled[pile] += 1
        x, y = mark["at"][pile]
        across, down = px(x) + DOT * (column + 0.5), px(y) + DOT * (row + 0.5)
        style = f"transform:translate({across:.0f}px,{down:.0f}px)"
        pen.put("circle", f"{mark['key']}{i}", r=5, css=f"k-d k-{mark['roles'][pile]}", style=style)


def blocks(pen: Pen, mark: Mapping[str, Any]) -> None:
    """Each block, the part of it that holds tokens (in eighths), and its owner below."""
    (x, y), (wide, high), (across, down) = mark["at"], map(px, mark["size"]), mark["pitch"]
    cells: list[Cell] = [(f"k-b k-{role} k-f{round(8 * full)}", owner) for role, full, owner in mark["cells"]]
    frame = f'width="{wide:g}" height="{high:g}" rx="2"'

    def draw(i: int, cell: Cell) -> str:
        owner = f'<text x="{wide / 2:g}" y="{high + 13:g}">{html.escape(cell[1])}</text>'
        return f'<rect class="k-slots" {frame}/><rect class="k-full" {frame}/>{owner}'

    columns = mark["columns"]
    places = [(px(x + across * (i % columns)), px(y + down * (i // columns))) for i in range(len(cells))]
    pen.cells(mark["key"], cells, draw, places)


def holes(pen: Pen, mark: Mapping[str, Any]) -> None:
    """A circle per hole, with a second circle if it is shared and a stroke through it if it was found."""
    cells: list[Cell] = [
        (" ".join(f"k-{role}" for role in ("hole", *state.split(), *["twice"] * both)), many)
        for state, both, many in mark["cells"]
    ]

    def draw(i: int, cell: Cell) -> str:
        return (
            f'<circle r="10"/><circle r="7"/><path d="M-10 10L10-10"/><text x="17" y="5">{html.escape(cell[1])}</text>'
        )

    pen.cells(mark["key"], cells, draw, [(px(x), px(y)) for x, y in mark["at"]])


def completion(cell: tuple[int, bool] | None) -> Cell:
    if cell is None:
        return ("k-a k-off",)
    tone, right = cell
    return (f"k-a k-{vocabulary.toned(tone)}{' k-ok' if right else ''}",)


def capsule(i: int, cell: Cell) -> str:
    return '<rect/><path d="M6 8.5l3 3.5l6-7"/>'


def trays(pen: Pen, mark: Mapping[str, Any]) -> None:
    """The tray, which stays, and the completions in it, whose tones and checks may change."""
    pitch, cells, places = mark["pitch"], list[Cell](), list[tuple[float, float]]()
    for group, (x, y) in zip(mark["groups"], mark["at"], strict=True):
        if mark["framed"]:
            wide = px(pitch * len(group)) + 5
            pen.put("rect", x=px(x) - 4, y=px(y) - 3, width=wide, height=23, rx=5, css="k-tray")
        cells += map(completion, group)
        places += [(px(x + pitch * i), px(y)) for i in range(len(group))]
    pen.cells(mark["key"], cells, capsule, places)


def tray(pen: Pen, mark: Mapping[str, Any]) -> None:
    key, cells, pitch = mark["key"], mark["cells"], px(0.92)
    css = "k-group" if mark["seen"] else "k-group k-off"
    pen.put("g", key, inner="", css=css, style=f"{moved(*mark['at'])} scale({number(mark['scale'])})")
    pen.out[-1] = pen.out[-1].removesuffix("</g>")
    pen.out.append(f'<rect class="k-tray" x="-4" y="-3" width="{number(pitch * len(cells) + 5)}" height="23" rx="5"/>')
    pen.cells(f"{key}c", list(map(completion, cells)), capsule, [(pitch * i, 0.0) for i in range(len(cells))])
    pen.out.append("</g>")


def frame(pen: Pen, mark: Mapping[str, Any]) -> None:
    x, y = mark["at"]
    css = f"k-tray{' k-live' if mark['live'] else ''}{'' if mark['seen'] else ' k-off'}"
    pen.put(
        "rect",
        mark["key"],
        x=px(x) - 4,
        y=px(y) - 3,
        width=px(mark["wide"]) - 1,
        height=px(mark["high"]) - 3,
        rx=5,
        css=css,
    )


def answers(pen: Pen, mark: Mapping[str, Any]) -> None:
    """The text in the middle of each answer, or above its push; the two are packed separately, since each is
    one text.
    """
    side, half = px(mark["side"]), px(mark["side"] / 2)
    places = [(px(x), px(y)) for x, y in mark["at"]]
    square = f'<rect width="{side:g}" height="{side:g}" rx="4"/>'
    said = [(f"k-guess k-{role}{' k-pushed' if push else ''}", text) for text, role, push in mark["cells"]]
    pushes = [("k-push", push) if push else ("k-push k-off", "") for _, _, push in mark["cells"]]
    pen.cells(mark["key"], said, lambda i, cell: f'{square}<text x="{half:g}">{html.escape(cell[1])}</text>', places)
    pen.cells(f"{mark['key']}p", pushes, lambda i, cell: f'<text x="{half:g}">{html.escape(cell[1])}</text>', places)


def bar(pen: Pen, mark: Mapping[str, Any]) -> None:
    x, y = mark["at"]
    pen.put(
        "rect",
        mark["key"],
        x=px(x),
        y=px(y),
        width=max(px(mark["wide"]), 0.0),
        height=px(mark["high"]),
        css=f"k-bar k-{mark['role']}",
    )


def boxes(pen: Pen, mark: Mapping[str, Any]) -> None:
    shape = "".join(
        f"M{px(x):g} {px(y):g}h{px(wide):g}v{px(high):g}h{-px(wide):g}z" for x, y, wide, high in mark["boxes"]
    )
    pen.put("path", mark["key"], d=shape, css=f"k-boxes k-{mark['role']}{'' if mark['seen'] else ' k-off'}")


def word(pen: Pen, mark: Mapping[str, Any]) -> None:
    x, y = mark["at"]
    css = " ".join(f"k-{role}" for role in ("word", *mark["role"].split()))
    anchor = None if mark["anchor"] == "start" else mark["anchor"]
    pen.put("text", mark["key"], mark["text"], x=px(x), y=px(y), css=css, text_anchor=anchor)


def wall(pen: Pen, mark: Mapping[str, Any]) -> None:
    x, y = mark["at"]
    pen.put("rect", x=px(x) - 1, y=px(y), width=1, height=px(mark["high"]), css="k-wall")


def rail(pen: Pen, mark: Mapping[str, Any]) -> None:
    x, y = mark["at"]
    pen.put("rect", x=px(x), y=px(y) - 0.5, width=px(mark["wide"]), height=1, css="k-rail")


def post(pen: Pen, mark: Mapping[str, Any]) -> None:
    x, y = mark["at"]
    wide = 1.0 if mark["role"] else 3.0
    pen.put(
        "rect",
        x=px(x) - wide / 2,
        y=px(y),
        width=wide,
        height=px(mark["high"]),
        css=f"k-post k-{mark['role'] or 'bound'}",
    )


def moved(x: float, y: float) -> str:
    return f"transform:translate({number(px(x))}px,{number(px(y))}px)"


def bead(pen: Pen, mark: Mapping[str, Any]) -> None:
    key = mark["key"]
    text = "" if mark["text"] in SIGNS else mark["text"]
    size = "" if mark["scale"] == 1 else f" scale({number(mark['scale'])})"
    pen.put("g", key, inner="", css=f"k-q k-bead k-{mark['role']}", style=f"{moved(*mark['at'])}{size}")
    pen.out[-1] = pen.out[-1].removesuffix("</g>")
    pen.out.append('<rect x="-11.5" y="-11.5" width="23" height="23" rx="4"/>')
    if text:
        pen.put("text", f"{key}t", text, y=5)
    else:
        pen.out.append('<rect class="k-sign" x="-4" y="-4" width="8" height="8"/>')
    pen.out.append("</g>")


def hop(pen: Pen, mark: Mapping[str, Any]) -> None:
    (left, base), (right, foot) = mark["start"], mark["end"]
    top = (base + foot) / 2 - 2 * mark["high"]
    points = [number(px(v)) for v in (left, base, (left + right) / 2, top, right, foot)]
    css = f"k-hop k-{mark['role']}{'' if mark['seen'] else ' k-off'}"
    pen.put("path", mark["key"], d="M{} {}Q{} {} {} {}".format(*points), css=css)


def arrow(pen: Pen, mark: Mapping[str, Any]) -> None:
    """A shaft that begins at the bead's rim, and its head; an arrow shorter than its head is not drawn."""
    length = px(mark["length"])
    css = " ".join(f"k-{role}" for role in ("arrow", *mark["role"].split())) + (" k-off" if abs(length) < SHORT else "")
    x, y = mark["at"]
    direction = -1 if length < 0 else 1
    lift = -5 if "own" in mark["role"] else 6
    key, start = mark["key"], px(x) + direction * 12
    shaft = max(abs(length), 0.01)
    thick = 4.0 if "own" in mark["role"] else 1.5
    left = start if direction > 0 else start - shaft
    pen.put("rect", f"{key}s", x=left, y=px(y) + lift - thick / 2, width=shaft, height=thick, css=css)
    turn = "" if direction > 0 else " scale(-1,1)"
    tip = f"transform:translate({number(start + direction * shaft)}px,{number(px(y) + lift)}px){turn}"
    pen.put("path", f"{key}h", d="M-1-5L8 0L-1 5z", css=css, style=tip)


def ring(pen: Pen, mark: Mapping[str, Any]) -> None:
    (x, y), (wide, high) = mark["at"], mark["size"]
    off, key = "" if mark["seen"] else " k-off", mark["key"]
    left, top, right, bottom = px(x) - 4, px(y) - 4, px(x + wide) + 1, px(y + high) + 1
    css = f"k-{mark['role']}{off}"
    pen.out.append("<g data-ring>")
    pen.put("rect", f"{key}r", x=left, y=top, width=right - left, height=bottom - top, rx=6, css=f"k-ring {css}")
    middle = (left + right) / 2
    if mark["side"] in ("below", "above", "close"):
        down, leader = mark["side"] == "below", 0 if mark["side"] == "close" else 10
        pen.put(
            "rect",
            f"{key}l",
            x=middle - 0.75,
            y=bottom if down else top - leader,
            width=1.5,
            height=leader,
            css=f"k-leader {css}",
        )
        place = (
            middle - (0 if mark["anchor"] == "middle" else 6 if mark["anchor"] == "start" else -6),
            bottom + 24 if down else top - 5 - leader,
        )
        anchor = mark["anchor"]
    else:
        after = mark["side"] == "right"
        place, anchor = (right + 7 if after else left - 7, (top + bottom) / 2 + 5), "start" if after else "end"
    pen.put("text", f"{key}w", mark["words"], x=place[0], y=place[1], text_anchor=anchor, css=f"k-said {css}")
    pen.out.append("</g>")


def outline(pen: Pen, mark: Mapping[str, Any]) -> None:
    points = "L".join(f"{px(x):g} {px(y):g}" for x, y in mark["points"])
    pen.put("path", d=f"M{points}Z", css="k-outline")


def oval(pen: Pen, mark: Mapping[str, Any]) -> None:
    css = f"k-{'spot' if mark['filled'] else 'oval'} k-{mark['role']}"
    pen.put("circle", mark["key"], r=px(mark["radius"]), css=css, style=moved(*mark["at"]))


def needle(pen: Pen, mark: Mapping[str, Any]) -> None:
    tip = px(mark["length"])
    shape = f"M0-1H{tip - 9:g}V-5L{tip:g} 0L{tip - 9:g} 5V1H0z"
    style = f"{moved(*mark['at'])} rotate({number(mark['turn'])}deg)"
    pen.put("path", mark["key"], d=shape, css=f"k-needle k-{mark['role']}", style=style)


DRAW: dict[str, Callable[[Pen, Mapping[str, Any]], None]] = dict(
    tokens=tokens,
    parts=parts,
    hundred=hundred,
    piles=piles,
    trays=trays,
    tray=tray,
    frame=frame,
    answers=answers,
    bar=bar,
    boxes=boxes,
    blocks=blocks,
    holes=holes,
    word=word,
    wall=wall,
    rail=rail,
    post=post,
    bead=bead,
    hop=hop,
    arrow=arrow,
    ring=ring,
    outline=outline,
    oval=oval,
    needle=needle,
)


def packed(states: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """What a page holds of states[choice][moment]: {kinds of cells by letter, base, frames[choice][moment]}."""
    first = states[0][0]
    for row in states:
        for state in row:
            if strange := sorted(first.keys() ^ state.keys()):
                raise ValueError(
                    f"the positions of a scene have the same keys, and not all have {strange[0].partition('.')[0]}"
                )
    many = sorted(key for key in first if key.endswith(".*"))
    kinds = sorted({cell for row in states for state in row for key in many for cell in state[key]})
    letter = dict(zip(kinds, LETTERS, strict=False))
    if len(letter) < len(kinds):
        raise ValueError(f"a scene has at most {len(LETTERS)} kinds of cells, not {len(kinds)}")
    spelled = [
        [{**state, **{key: "".join(letter[cell] for cell in state[key]) for key in many}} for state in row]
        for row in states
    ]
    varies = sorted(key for key in first if len({state[key] for row in spelled for state in row}) > 1)
    used = {sign for key in varies if key in many for row in spelled for state in row for sign in state[key]}
    base = {key: spelled[0][0][key] for key in varies}
    frames = [
        [{key: now[key] for key in varies if now[key] != was[key]} for was, now in zip([base, *row], row)]
        for row in spelled
    ]
    return dict(kinds={sign: cell for cell, sign in letter.items() if sign in used}, base=base, frames=frames)


def in_json(data: Any) -> str:
    """JSON that may stand in a page."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c")
