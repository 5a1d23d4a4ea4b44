"""GPUs as shown in a scene: each a cell in its server, filled to scale with what its memory holds.

Cells of a pool are alike, so each of their parts is one path. The height of a cell is the memory that may be filled;
any need beyond it is outlined on top, to the same scale.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from widgets.frame.drawing.pen import Pen, number

SERVER = 8  # GPUs
EACH, MOST, ROW = 128, 256, 64  # the most GPUs with a cell each; the most cells in all and per row
WIDEST, GAP, HEAD = 34.0, 6.0, 19.0  # pixels: the widest cell, the gap between servers, the words above a pool
TALLEST = 6.0  # in cell heights: any greater need is drawn this high
PITCH = 2.5  # pixels: twice this, plus 3, separates rows of cells


@dataclass(frozen=True)
class Side:
    """What the memory of each GPU holds at one time, as shares of what may be filled."""

    parts: tuple[tuple[str, float], ...]  # (role, share), from the bottom up
    over: bool = False  # whether more is needed than there is

    @property
    def high(self) -> float:
        return min(sum(share for _, share in self.parts), TALLEST if self.over else 1.0)


@dataclass(frozen=True)
class Pool:
    words: str
    gpus: int
    sides: tuple[Side, ...]  # one, or two that take turns, drawn side by side
    engine: int = 0  # GPUs per engine, underlined by one bar


def per_cell(pools: Sequence[Pool]) -> int:
    """GPUs per cell: one or a server, doubled until there are few enough cells."""
    gpus = sum(pool.gpus for pool in pools)
    each = 1 if gpus <= EACH else SERVER
    while sum(ceil(pool.gpus / each) for pool in pools) > MOST:
        each *= 2
    return each


def cells(pool: Pool, each: int) -> list[int]:
    """GPUs in each cell of a pool."""
    whole, rest = divmod(pool.gpus, each)
    return [each] * whole + ([rest] if rest else [])


# ── drawing ──

Box = tuple[float, float, float, float]  # x, y, width, height


def boxes(pools: Sequence[Pool], wide: float, high: float) -> list[list[Box]]:
    """The cells of each pool, in pixels: all the same size, with room above them for the tallest overflow."""
    each = per_cell(pools)
    counts = [len(cells(pool, each)) for pool in pools]
    rows = [ceil(count / ROW) for count in counts]
    most = max(min(count, ROW) for count in counts)
    together = SERVER if each == 1 else ROW  # cells per frame
    gaps = (ceil(most / together) - 1) * GAP
    pitch = min(WIDEST, (wide - gaps - 4) / most)
    tallest = max([1.0, *(side.high for pool in pools for side in pool.sides)])
    row = (high - HEAD * len(pools)) / sum(rows) - 2 * PITCH - 3
    top, boxes_of_pools = 0.0, []
    for count, lines in zip(counts, rows):
        top += HEAD
        pool = []
        for i in range(count):
            line, column = divmod(i, ROW)
            x = 2 + column * pitch + column // together * GAP
            y = top + line * (row + 2 * PITCH + 3) + row * (1 - 1 / tallest)
            pool.append((x, y, pitch - (1.5 if pitch > 4 else 0.8), row / tallest))
        top += lines * (row + 2 * PITCH + 3)
        boxes_of_pools.append(pool)
    return boxes_of_pools


def path(rectangles: Sequence[Box]) -> str:
    return "".join("M{} {}h{}v{}h{}z".format(*map(tenths, (x, y, w, h, -w))) for x, y, w, h in rectangles)


def tenths(pixels: float) -> str:
    return number(round(float(pixels), 1))


def drawn(pen: Pen, mark: Mapping[str, Any], px: Callable[[float], float]) -> None:
    pools, key = mark["pools"], mark["key"]
    each = per_cell(pools)
    for p, (pool, places) in enumerate(zip(pools, boxes(pools, px(mark["wide"]), px(mark["high"])))):
        first, name = places[0], f"{key}{p}"
        pen.put("text", f"{name}w", pool.words, x=first[0] - 2, y=words_at(places, pools), css="k-word k-head")
        if each == 1:
            pen.put("path", f"{name}s", d=path(servers(places)), css="k-tray")
        pen.put("path", f"{name}c", d=path(places), css="k-slots k-cell")
        share = 1 / len(pool.sides)
        for i, side in enumerate(pool.sides):
            floor, beyond = 0.0, []
            for n, (role, of_cell) in enumerate(side.parts):
                inside = max(min(of_cell, 1.0 - floor), 0.0)
                at = [(x + w * share * i, y + h * (1 - floor - inside), w * share, h * inside) for x, y, w, h in places]
                pen.put("path", f"{name}p{i}{n}", d=path(at), css=f"k-span k-{role}")
                floor += inside
            if side.over:
                more = side.high - 1
                beyond = [(x + w * share * i, y - h * more, w * share, h * more) for x, y, w, h in places]
            pen.put("path", f"{name}o{i}", d=path(beyond) or "M0 0", css="k-ring k-broken")
        pen.put("path", f"{name}e", d=path(underlines(places, pool.engine, each)) or "M0 0", css="k-span k-ink")


def words_at(places: Sequence[Box], pools: Sequence[Pool]) -> float:
    """The y of the text above a pool's first row, clear of any overflow and the ring around it."""
    _, y, _, high = places[0]
    tallest = max([1.0, *(side.high for pool in pools for side in pool.sides)])
    return y - high * (tallest - 1) - (9 if tallest > 1 else 6)


def servers(places: Sequence[Box]) -> list[Box]:
    """A frame around every eight cells."""
    groups = [places[i : i + SERVER] for i in range(0, len(places), SERVER)]
    return [(g[0][0] - 2, g[0][1] - 2, g[-1][0] + g[-1][2] - g[0][0] + 4, g[0][3] + 7) for g in groups]


def underlines(places: Sequence[Box], engine: int, each: int) -> list[Box]:
    """A bar under the cells of each whole engine, row by row, if an engine fills whole cells."""
    size = engine // each
    if not size or engine % each:
        return []
    bars = []
    for begin in range(0, len(places) - size + 1, size):
        members = places[begin : begin + size]
        for row in sorted({box[1] for box in members}):
            line = [box for box in members if box[1] == row]
            bars.append((line[0][0], row + line[0][3] + 2, line[-1][0] + line[-1][2] - line[0][0], 1.5))
    return bars


def box_of(pools: Sequence[Pool], pool: int, wide: float, high: float) -> Box:
    """The box of a pool's first server, overflow included, in pixels."""
    first_server = boxes(pools, wide, high)[pool][:SERVER]
    x, y, _, tall = first_server[0]
    more = max(0.0, *(side.high - 1 for side in pools[pool].sides)) * tall
    return x, y - more, first_server[-1][0] + first_server[-1][2] - x, tall + more
