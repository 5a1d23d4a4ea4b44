"""The data of a figure to read and to save, in rows: the panel, the curve, the position and the value there."""

import csv
import html
import io
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

HEAD = ("panel", "curve", "x", "value")
ROWS = 30  # rows per curve in the table; the file holds all


def table(panels: Sequence[dict[str, Any]], first: bool = False, more: str = "") -> str:
    """An HTML table of every curve, or of the first curve of every panel, at every n-th point if there are many; `more`
    is put at the end of its caption.
    """
    curves = [
        (panel, [curve for curve in panel["data"] if curve["meta"]["role"] != "band"][: 1 if first else None])
        for panel in panels
    ]
    points = [row for panel, marks in curves for curve in marks for row in thinned(rows(panel, curve))]
    head = "".join(f'<th scope="col">{word}</th>' for word in HEAD)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell(value))}</td>' for value in row)}</tr>" for row in points)
    return (
        f'<table class="dt"><caption>{"The first curve of every panel" if first else "Every curve"}, at most '
        f"{ROWS} points of each. {more}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def file(panels: Sequence[dict[str, Any]], name: str) -> str:
    """A link to save every point of every curve as a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [HEAD, *(row for panel in panels for curve in panel["data"] for row in rows(panel, curve))]
    )
    return f'<a download="{name}.csv" href="data:text/csv;charset=utf-8,{quote(text.getvalue())}">All points (CSV)</a>'


def rows(panel: dict[str, Any], curve: dict[str, Any]) -> list[tuple[Any, ...]]:
    """(panel, curve, x, value) of every point, None for a missing value. Gaps between curves are skipped, and a cell of
    a grid is identified by its column and row.
    """
    if curve["type"] == "heatmap":
        points = [(f"{x}, {y}", value) for y, line in zip(curve["y"], curve["z"]) for x, value in zip(curve["x"], line)]
    else:
        points = [(x, y) for x, y in zip(curve["x"], curve["y"]) if x is not None]
    return [(panel["title"], curve["name"], x, value) for x, value in points]


def thinned(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return rows[:: -(-len(rows) // ROWS) or 1]


def cell(value: Any) -> str:
    return "–" if value is None else value if isinstance(value, str) else f"{value:.6g}"
