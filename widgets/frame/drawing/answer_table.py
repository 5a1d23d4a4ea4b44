"""A panel that is a table, drawn as HTML. A row keeps its words together at every width; words placed on a plot would
not.
"""

import html
from collections.abc import Sequence
from typing import Any

from widgets.frame.drawing.marks import Mark, Panel, panel

Cell = str | tuple[float, float]  # words, or the two ends of a range, from 0 to 1, to draw


def table(
    title: str, note: str, head: Sequence[str], rows: Sequence[Sequence[Cell]], tab: str = "", data: Sequence[Mark] = ()
) -> Panel:
    """`head` names the columns. The first cell of a row names it; a row with one cell is a heading for the rows below.
    `data`, marks of marks.py, has its numbers for the page's table of all data.
    """
    return panel(title, note, *data, tab=tab, bare=True) | dict(head=list(head), rows=[list(row) for row in rows])


def is_table(panel: Panel) -> bool:
    return "rows" in panel


def drawn(panel: Panel) -> str:
    """The table as HTML, with the first cell of each row as its heading."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' if name else "<td></td>" for name in panel["head"])
    groups: list[list[str]] = [[]]
    for name, *cells in panel["rows"]:
        if not cells:
            groups.append([f'<tr><th scope="rowgroup" colspan="{len(panel["head"])}">{html.escape(name)}</th></tr>'])
            continue
        groups[-1].append(f'<tr><th scope="row">{html.escape(name)}</th>{"".join(map(cell, cells))}</tr>')
    body = "".join(f"<tbody>{''.join(group)}</tbody>" for group in groups if group)
    return f'<table class="rows"><thead><tr>{head}</tr></thead>{body}</table>'


def cell(value: Any) -> str:
    if isinstance(value, str):
        return f"<td>{html.escape(value)}</td>"
    low, high = (f"{100 * end:.1f}%" for end in value)
    return f'<td><i style="--from:{low};--to:{high}"></i></td>'
