"""Two answers in words, how often each labeler prefers which, its wrong choices, and what its policy then writes.

HTML, so that answers wrap as text does. A wrong choice is a sheet, on the left if the plain answer was chosen and on
the right if the styled one was.
"""

import html
from collections.abc import Sequence
from typing import Any

from widgets.frame.drawing import scene
from widgets.frame.drawing.pen import Cell, Pen

SLOT, HIGH = 24, 31  # units of a sheet, including its gap
KINDS = ("plain", "styled")


Answer = dict[str, str]
Labeler = dict[str, Any]
Ring = tuple[str, str]  # its words and where it is: at the "styled" sheets, at the "name", or around the "list"
NO_RING = ("", "")


def answer(head: str, body: str, kind: str) -> Answer:
    """An answer in words, with a heading or "", of one of the two KINDS."""
    return dict(head=head, body=body, kind=kind)


def labeler(
    name: str, prefers: tuple[str, str], wrong: tuple[int, int], writes: Answer, wins: int, ring: Ring = NO_RING
) -> Labeler:
    """`prefers`: how often each of the two answers is preferred. `wrong`: in how many of 100 pairs the plain answer,
    and in how many the styled one, was chosen wrongly. `writes`: the answer of a policy trained on these labels, which
    `wins` that many of 100 comparisons.
    """
    return dict(name=name, prefers=prefers, wrong=wrong, writes=writes, wins=wins, ring=ring)


def view(
    key: str,
    asked: str,
    answers: tuple[Answer, Answer],
    labelers: Sequence[Labeler],
    columns: tuple[int, int],
    rows: int,
    listed: Sequence[tuple[str, bool]] = (),
) -> scene.View:
    """Room for `columns` columns of sheets on the left and on the right, in `rows` rows. `listed`: the items of a list
    and whether each is read.
    """
    said = [
        "{name}: {all} of 100 wrong, {plain} for plain and {styled} for styled; the policy wins {wins} of 100.".format(
            all=sum(one["wrong"]), plain=one["wrong"][0], styled=one["wrong"][1], **one
        )
        for one in labelers
    ]
    rings = [scene.ring(f"{key}r{i}", (0, 0), one["ring"][0], bool(one["ring"][0])) for i, one in enumerate(labelers)]
    drawing = scene.view(key, 44, 17, " ".join([f"{asked} Two answers.", *said]), *rings)
    return drawing | dict(
        asked=asked, answers=answers, labelers=labelers, columns=columns, rows=rows, listed=list(listed)
    )


def is_comparison(view: scene.View) -> bool:
    return "labelers" in view


# ── drawing ──


def drawn(pen: Pen, view: scene.View) -> None:
    key = view["key"]
    room = f"--left:{view['columns'][0]};--right:{view['columns'][1]};--rows:{view['rows']}"
    pen.begin(key, "k-compared", view["alt"], room)
    if view["listed"]:
        pen.out.append('<p class="k-listed"><b>The judge’s list</b>')
        for i, (words, read) in enumerate(view["listed"]):
            pen.put("span", f"{key}l{i}", words, css="k-item" if read else "k-item k-struck")
        pen.put("em", f"{key}lr", next(filter(None, (around(one, "list") for one in view["labelers"])), ""))
        pen.out.append("</p>")
    pen.out.append(f'<div class="k-pair"><p class="k-asked">{html.escape(view["asked"])}</p>')
    for i, answer in enumerate(view["answers"]):
        pen.out.append('<div class="k-offered">')
        written(pen, f"{key}a{i}", answer)
        pen.out.append('<p class="k-preferred">')
        for j, labeler in enumerate(view["labelers"]):
            pen.out.append(f" <span>{html.escape(labeler['name'])} ")
            pen.put("b", f"{key}p{i}{j}", labeler["prefers"][i])
            pen.out.append("</span>")
        pen.out.append("</p></div>")
    pen.out.append('</div><div class="k-labelers">')
    for i, labeler in enumerate(view["labelers"]):
        chosen(pen, f"{key}w{i}", labeler, view["columns"], view["rows"])
    pen.out.append("</div></div>")


def written(pen: Pen, key: str, answer: Answer) -> None:
    opened(pen, "div", key, f"k-answered k-{answer['kind']}")
    pen.put("b", f"{key}h", answer["head"])
    pen.put("span", f"{key}b", answer["body"])
    pen.out.append("</div>")


def chosen(pen: Pen, key: str, labeler: Labeler, columns: tuple[int, int], rows: int) -> None:
    """A labeler's name, its wrong choices on both sides, and its policy's answer."""
    name = html.escape(labeler["name"])
    pen.out.append(f'<div class="k-labeler"><p class="k-who"><b>{name}</b> ')
    pen.put("span", f"{key}n", f"{sum(labeler['wrong'])} of 100 wrong")
    pen.put("em", f"{key}nr", around(labeler, "name"))
    pen.out.append('</p><div class="k-wings">')
    for side, (many, kind) in enumerate(zip(labeler["wrong"], KINDS)):
        ringed = " k-ringed" if side and around(labeler, "styled") else ""
        opened(pen, "div", f"{key}s{side}", f"k-side{ringed}")
        wing(pen, f"{key}{side}", many, kind, columns[side], rows, bool(side))
        pen.put("b", f"{key}c{side}", f"{many}")
        pen.out.append(f"<i>{kind}</i>")
        if side:
            pen.put("em", f"{key}r", around(labeler, "styled"))
        pen.out.append("</div>")
    pen.out.append('</div><div class="k-then"><p>policy</p>')
    written(pen, f"{key}a", labeler["writes"])
    pen.out.append('<p class="k-won">wins ')
    pen.put("b", f"{key}m", str(labeler["wins"]))
    pen.out.append(" % against its start</p></div></div>")


def around(labeler: Labeler, place: str) -> str:
    """The words of the ring at this place, or "" if there is none."""
    words, at = labeler["ring"]
    return words if at == place else ""


def wing(pen: Pen, key: str, many: int, kind: str, columns: int, rows: int, after: bool) -> None:
    """Sheets from the middle outwards; those that don't fit are counted but not drawn."""
    used = SLOT * max(-(-min(many, columns * rows) // rows), 1)
    box = f"{0 if after else -used} 0 {used} {HIGH * rows}"
    pen.state[f"{key}.viewBox"] = box
    pen.out.append(f'<svg data-k="{key}" class="k-wing" viewBox="{box}" aria-hidden="true">')
    cells: list[Cell] = [(f"k-sheet k-{kind if i < many else 'off'}",) for i in range(columns * rows)]
    places = [
        (SLOT * (i // rows if after else -1 - i // rows) + 1.0, HIGH * (i % rows) + 1.0) for i in range(len(cells))
    ]
    pen.cells(f"{key}-", cells, sheet, places)
    pen.out.append("</svg>")


def sheet(i: int, cell: Cell) -> str:
    """A plain sheet has two lines, a styled one a heading and three lines."""
    return (
        '<rect width="21" height="27" rx="2"/><path class="k-few" d="M4 10h13M4 16h8"/>'
        '<path class="k-loud" d="M4 6.5h13"/><path class="k-many" d="M4 12.5h13M4 17h10M4 21.5h13"/>'
    )


def opened(pen: Pen, tag: str, key: str, css: str) -> None:
    pen.put(tag, key, inner="\n", css=css)
    pen.out[-1] = pen.out[-1].removesuffix(f"\n</{tag}>")
