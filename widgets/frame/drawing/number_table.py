"""A table of the numbers that a model answers for each row and column, as a view of a scene.

It is HTML, so that its letters keep their size on a phone and a screen reader can walk through its rows. The heading
has the table's name, the number of correct cells, and the same cells as a map, which on a phone replaces a table that
is not chosen.
"""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from widgets.frame.drawing.pen import Cell, Pen
from widgets.frame.drawing.scene import View

SQUARE = 26  # pixels of a square, the unit of other views
CELL, GAP, HEAD, SIDE = (52.0, 32.0), 2.0, 70.0, 30.0  # pixels: a cell, the gap between two, above them, left of them


def table(
    key: str, name: str, alt: str, heads: Sequence[str], sides: Sequence[str], cells: Sequence[tuple[str, str]]
) -> View:
    """`cells`, row by row: (role, text), role "correct", "mistaken" for a wrong number, or "astray" for no number."""
    return dict(
        **dict(key=key, alt=alt, name=name, heads=list(heads), sides=list(sides), cells=list(cells), marks=[], role=""),
        wide=(SIDE + len(heads) * (CELL[0] + GAP)) / SQUARE,
        high=(HEAD + len(sides) * (CELL[1] + GAP)) / SQUARE,
    )


def is_table(view: Mapping[str, Any]) -> bool:
    return "heads" in view


def count(view: Mapping[str, Any]) -> int:
    return sum(role == "correct" for role, _ in view["cells"])


def drawn(pen: Pen, view: Mapping[str, Any]) -> None:
    """Its heading is the label of a control `choose-KEY`, if the page has one."""
    key, cells, right = view["key"], view["cells"], count(view)
    pen.out.append(f'<label class="k-filled" for="choose-{key}"><i class="k-map" aria-hidden="true">')
    small = [(f"k-{role}",) for role, _ in cells]
    pen.out += [f'<i data-k="{key}m{i}" class="{css}"></i>' for i, (css,) in enumerate(small)]
    pen.state[f"{key}m.*"] = tuple(small)
    pen.out.append(f"</i><b>{html.escape(view['name'])}</b> ")
    pen.put("b", f"{key}n", str(right), css="k-tally" if right else "k-tally k-none")
    pen.out.append(f" <small>of {len(cells)} correct</small></label>")
    heads = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in view["heads"])
    pen.out.append('<table class="addition">')
    pen.put("caption", f"{key}t", view["alt"], css="unseen")
    pen.out.append(f'<thead><tr><th scope="col">+</th>{heads}</tr></thead><tbody>')
    kinds: list[Cell] = [(f"k-{role}", text) for role, text in cells]
    for row, side in enumerate(view["sides"]):
        first = row * len(view["heads"])
        pen.out.append(f'<tr><th scope="row">{html.escape(side)}</th>')
        for i, (css, text) in enumerate(kinds[first : first + len(view["heads"])], first):
            pen.out.append(f'<td data-k="{key}c{i}" class="{css}"><span>{html.escape(text)}</span></td>')
        pen.out.append("</tr>")
    pen.out.append("</tbody></table>")
    pen.state[f"{key}c.*"] = tuple(kinds)
