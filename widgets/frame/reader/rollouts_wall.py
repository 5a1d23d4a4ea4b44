"""The wall of a step: a row per group, a cell per completion, as HTML. What it shows is computed elsewhere."""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rlpt.rollouts import words

ROWS = 16  # with a label each; more are drawn without
MOST = 512  # that are drawn at all
LEVELS = 4  # of a reward that is not 0 or 1
NAME = 40  # characters of a prompt


@dataclass(frozen=True)
class Row:
    """One group. `cells` are (kind, level): kind is "right", "wrong" or "plain", level 0 (unpaid) to LEVELS."""

    group: int
    prompt: str
    count: str
    words: str
    cells: Sequence[tuple[str, int]]
    ringed: Sequence[bool]
    tied: bool


def drawn(rows: Sequence[Row], chosen: int) -> str:
    """The rows as options of a list, the chosen one in the order of the keyboard."""
    many = len(rows) > ROWS
    columns = -(-len(rows) // 64)
    style = f' class="rows many" style="--rows:{-(-len(rows) // columns)}"' if many else ' class="rows"'
    options = "".join(row_html(row, row.group == chosen, many) for row in rows)
    return f'<div{style} role="listbox" aria-label="Groups of the step">{options}</div>'


def row_html(row: Row, chosen: bool, many: bool) -> str:
    picked = f'aria-selected="{str(chosen).lower()}" tabindex="{0 if chosen else -1}"'
    tied = ' class="tied"' if row.tied else ""
    named = "" if many else f"<code>{html.escape(words.on_a_line(row.prompt, NAME))}</code>"
    count = "" if many else f"<i>{row.count}</i>"
    label = html.escape(f"{words.on_a_line(row.prompt, NAME)}: {row.words}", quote=True)
    return (
        f'<div role="option" data-kind="group" data-option="{row.group}" {picked}{tied} aria-label="{label}">'
        f"{named}{cells(row.cells, row.ringed)}{count}</div>"
    )


def cells(kinds: Sequence[tuple[str, int]], ringed: Sequence[bool]) -> str:
    """A row of cells as one drawing, a path per kind."""
    places: dict[tuple[str, int], list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind if kind[1] else ("none", 0), []).append(place)
    paths = "".join(
        f'<path class="{kind} l{level}" d="{squares(at)}"/>' for (kind, level), at in sorted(places.items())
    )
    rings = squares([place for place, ring in enumerate(ringed) if ring])
    ring = f'<path class="ring" d="{rings}"/>' if rings else ""
    return (
        f'<svg viewBox="0 0 {max(1, len(kinds))} 1" preserveAspectRatio="none" aria-hidden="true">{paths}{ring}</svg>'
    )


def squares(places: Iterable[int]) -> str:
    return "".join(f"M{place + 0.03:g} .06h.94v.88h-.94z" for place in places)
