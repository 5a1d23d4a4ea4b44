"""The wall of a step: a row per group, a cell per completion, as HTML. What it shows is computed elsewhere."""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rlpt.rollouts import shown

ROWS = 16  # with a label each; more are drawn without, and with equal cells side by side
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
    named = "" if many else f"<code>{html.escape(shown.on_a_line(row.prompt, NAME))}</code>"
    count = "" if many else f"<i>{row.count}</i>"
    label = html.escape(f"{shown.on_a_line(row.prompt, NAME)}: {row.words}", quote=True)
    return (
        f'<div role="option" data-kind="group" data-option="{row.group}" {picked}{tied} aria-label="{label}">'
        f"{named}{cells(row, many)}{count}</div>"
    )


def cells(row: Row, many: bool) -> str:
    """The cells of a group as one drawing, a path per kind."""
    kinds = [kind if kind[1] else ("none", 0) for kind in row.cells]
    order = list(range(len(kinds)))
    if many:
        order.sort(key=lambda i: (kinds[i] == ("none", 0), kinds[i][0], -kinds[i][1], row.ringed[i]))
    places: dict[tuple[str, int], list[int]] = {}
    for place, i in enumerate(order):
        places.setdefault(kinds[i], []).append(place)
    paths = "".join(
        f'<path class="{kind} l{level}" d="{squares(at, many)}"/>' for (kind, level), at in sorted(places.items())
    )
    rings = squares([place for place, i in enumerate(order) if row.ringed[i]], many)
    ring = f'<path class="ring" d="{rings}"/>' if rings else ""
    return (
        f'<svg viewBox="0 0 {max(1, len(kinds))} 1" preserveAspectRatio="none" aria-hidden="true">{paths}{ring}</svg>'
    )


def squares(places: Iterable[int], joined: bool) -> str:
    """A path around each place, or around those that follow each other."""
    runs: list[list[int]] = []
    for place in places:
        if joined and runs and sum(runs[-1]) == place:
            runs[-1][1] += 1
        else:
            runs.append([place, 1])
    return "".join(f"M{first + 0.03:g} .06h{n - 0.06:g}v.88h{0.06 - n:g}z" for first, n in runs)
