"""GPUs as shown in a scene: each a cell in its server, filled to scale with what its memory holds.

Pools stand side by side, each under its name and the words for what fills its cells. Cells of a pool are alike, so each
of their parts is one path. The height of a cell is the memory that may be filled; any need beyond it is outlined on
top, to the same scale. The cells stretch to the width of the page, while the words above them keep their size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from widgets.frame.drawing.pen import Pen, number
from widgets.frame.drawing.scene import View, ring

SERVER = 8  # GPUs
MOST = 128  # cells of a pool
WIDE, HIGH = 430.0, 264.0  # pixels of a pool's cells before they stretch
WIDEST, SLIM, GAP = 92.0, 1.5, 8.0  # pixels: the widest cell; how much higher than wide it should be; between servers
TALLEST = 6.0  # in cell heights: any greater need is drawn this high
SQUARE = 26  # pixels of a square, the unit of other views

Box = tuple[float, float, float, float]  # x, y, width, height


@dataclass(frozen=True)
class Pool:
    name: str
    gpus: int
    parts: tuple[tuple[str, float], ...]  # (role, share of what may be filled), from the bottom up
    words: tuple[tuple[str, str], ...]  # (role of the part that they name or "", words)
    over: bool = False  # whether more is needed than there is

    @property
    def high(self) -> float:
        return min(sum(share for _, share in self.parts), TALLEST if self.over else 1.0)


def view(key: str, alt: str, pools: Sequence[Pool], broken: str = "") -> View:
    """`broken` says in at most six words what does not fit; it stands at the first pool that overflows."""
    mark = ring("r", (0, 0), broken, bool(broken))
    return dict(
        key=key, alt=alt, wide=2 * WIDE / SQUARE, high=(HIGH + 56) / SQUARE, role="", pools=list(pools), marks=[mark]
    )


def is_fleet(view: Mapping[str, Any]) -> bool:
    return "pools" in view


def per_cell(pools: Sequence[Pool]) -> int:
    """GPUs per cell: one or a server, doubled until there are few enough cells."""
    most = max(pool.gpus for pool in pools)
    each = 1 if most <= MOST else SERVER
    while ceil(most / each) > MOST:
        each *= 2
    return each


def cells(pool: Pool, each: int) -> list[int]:
    """GPUs in each cell of a pool."""
    whole, rest = divmod(pool.gpus, each)
    return [each] * whole + ([rest] if rest else [])


# ── drawing ──


def boxes(pools: Sequence[Pool], pool: Pool) -> list[Box]:
    """The cells of one of the pools, in pixels, with room above them for the tallest overflow of all."""
    each, tallest = per_cell(pools), max(1.0, *(one.high for one in pools))
    count = len(cells(pool, each))
    together = min(SERVER if each == 1 else 1, count)  # cells per frame
    columns, (wide, high) = grid(ceil(count / together), together, GAP if each == 1 else 2.0)
    gap = GAP if each == 1 else 2.0
    places = []
    for i in range(count):
        row, column = divmod(i // together, columns)
        x = column * (together * wide + gap) + i % together * wide + 3
        y = row * (high + gap) + high * (1 - 1 / tallest) + 3
        places.append((x, y, wide - min(2.0, wide / 5), (high - 3) / tallest))
    return places


def grid(groups: int, together: int, gap: float) -> tuple[int, tuple[float, float]]:
    """(columns of groups, (width, height) of a cell) that leave cells largest in the shape that they should have."""

    def sides(columns: int) -> tuple[float, float]:
        rows = ceil(groups / columns)
        return min(((WIDE - 6) / columns - gap) / together, WIDEST), (HIGH - 6) / rows - gap

    columns = max(range(1, groups + 1), key=lambda columns: min(sides(columns)[0], sides(columns)[1] / SLIM))
    return columns, sides(columns)


def path(rectangles: Sequence[Box]) -> str:
    return "".join("M{} {}h{}v{}h{}z".format(*map(tenths, (x, y, w, h, -w))) for x, y, w, h in rectangles) or "M0 0"


def tenths(pixels: float) -> str:
    return number(round(float(pixels), 1))


def drawn(pen: Pen, view: View) -> None:
    pools, key, (broken,) = view["pools"], view["key"], view["marks"]
    at = next((i for i, pool in enumerate(pools) if pool.over), 0)
    pen.begin(key, "k-fleet", view["alt"])
    for p, pool in enumerate(pools):
        name = f"{key}{p}"
        pen.out.append("<div><p>")
        pen.put("b", f"{name}n", pool.name)
        for w, (role, words) in enumerate(pool.words):
            pen.put("span", f"{name}w{w}", words, css=f"key k-{role}" if role else "")
        if p == at:
            pen.put("em", "rw", broken["words"])
        pen.out.append(f'</p><svg viewBox="0 0 {WIDE:g} {HIGH:g}" preserveAspectRatio="none">')
        cells_drawn(pen, name, pool, boxes(pools, pool), servers=per_cell(pools) == 1)
        if p == at:
            pen.out.append("<g data-ring>")
            around = path([outline(boxes(pools, pool)[:SERVER], pool.high)]) if broken["seen"] else "M0 0"
            pen.put("path", "rr", d=around, css=f"k-ring k-broken{'' if broken['seen'] else ' k-off'}")
            pen.out.append("</g>")
        pen.out.append("</svg></div>")
    pen.out.append("</div>")


def cells_drawn(pen: Pen, name: str, pool: Pool, places: Sequence[Box], servers: bool) -> None:
    pen.put("path", f"{name}s", d=path(frames(places) if servers else ()), css="k-tray")
    pen.put("path", f"{name}c", d=path(places), css="k-slots k-cell")
    floor = 0.0
    for n, (role, of_cell) in enumerate(pool.parts):
        inside = max(min(of_cell, 1.0 - floor), 0.0)
        at = [(x, y + h * (1 - floor - inside), w, h * inside) for x, y, w, h in places]
        pen.put("path", f"{name}p{n}", d=path(at), css=f"k-span k-{role}")
        floor += inside
    more = pool.high - 1 if pool.over else 0.0
    beyond = [(x, y - h * more, w, h * more) for x, y, w, h in places] if more else []
    pen.put("path", f"{name}o", d=path(beyond), css="k-ring k-broken k-beyond")


def frames(places: Sequence[Box]) -> list[Box]:
    """A frame around every eight cells."""
    servers = [places[i : i + SERVER] for i in range(0, len(places), SERVER)]
    return [(s[0][0] - 3, s[0][1] - 3, s[-1][0] + s[-1][2] - s[0][0] + 6, s[0][3] + 6) for s in servers]


def outline(server: Sequence[Box], high: float) -> Box:
    """The box of a server, overflow included."""
    x, y, _, tall = server[0]
    more = max(high - 1, 0.0) * tall
    return x - 3, y - more - 3, server[-1][0] + server[-1][2] - x + 6, tall + more + 6
