"""Completions in the slots of an engine, token by token: who writes, who waits, and what a step leaves out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.cluster.slot_board import Board, Completions, Held
from widgets.frame.drawing import lanes
from widgets.frame.drawing.scene import Mark, View

HIGH, RACED = 212.0, 300.0  # total height of the rows in pixels, for an engine and for a race


def pitch(rows: int, high: float = HIGH) -> dict[str, float]:
    """Height of the rows and of the gaps between them, so that the total height is always the same."""
    each = high / rows
    gap = 10.0 if rows <= 4 else 3.0
    return dict(tall=each - gap, gap=gap)


def table(key: str, board: Board, slots: int, most: tuple[int, int, int], until: int) -> list[Mark]:
    """Every completion in its slot, the first step in navy, and the waiting. `most`: the largest number of completions,
    waits and ends in any position.
    """
    marks: list[Mark] = []
    runs, waits, ends = most
    for n in range(runs):
        completion = board.written[n] if n < len(board.written) else Held(0, 2 * until, 2 * until, n, 1, False)
        role = "written" if completion.step == 0 else "other"
        marks.append(lanes.run(f"{key}{n}", completion.slot, completion.start, completion.end, role))
    for n in range(waits):
        slot, start, end = board.waits[n] if n < len(board.waits) else (0, 2 * until, 2 * until)
        marks.append(lanes.span(f"{key}w{n}", slot, start, end, "waits"))
    marks.append(lanes.seams(250))
    cut = [completion for completion in board.written if completion.cut]
    for n in range(4):
        slot, at = (cut[n].slot, cut[n].end) if n < len(cut) else (0, 2 * until)
        marks.append(lanes.cut(f"{key}k{n}", slot, at))
    for n in range(ends):
        at = board.ends[n] if n < len(board.ends) else 2 * until
        marks.append(
            lanes.rule(f"{key}e{n}", at, "the step ends" if n == 0 else "", "start" if at < until / 2 else "end")
        )
    return marks


@dataclass(frozen=True)
class Row:
    """One completion, or all completions of a prompt, in the order in which they finish."""

    done: float  # in tokens
    kept: bool  # whether it is in the batch
    many: int  # its completions
    trained: int  # of these, the ones to train on if it is in the batch
    right: int  # correct ones among those to train on
    wrong: int  # wrong ones among all of its completions
    cut: bool  # whether the cap cuts off at least one of them


def finished(completions: Completions, lengths: np.ndarray, keep: int, cap: float, masked: bool) -> list[Row]:
    """Rows in the order in which they finish: one per completion for a single prompt, else one per prompt. `lengths`
    (prompts, completions) in tokens; whatever the `cap` cuts off is left out if `masked`, else wrong.
    """
    whole = len(lengths) > 1
    units, right = (lengths, completions.right) if whole else (lengths.reshape(-1, 1), completions.right.reshape(-1, 1))
    done = np.minimum(units.max(axis=1), cap)
    rows = []
    for place, i in enumerate(np.argsort(units.max(axis=1), kind="stable")):
        inside = units[i] <= cap
        trained = int(inside.sum()) if masked else inside.size
        good, bad = int((inside & right[i]).sum()), int((~right[i]).sum())
        rows.append(Row(float(done[i]), place < keep, inside.size, trained, good, bad, not inside.all()))
    return rows


def batch_of(rows: Sequence[Row]) -> tuple[int, int, float]:
    """(completions trained on, correct ones among them, tokens until the step ends)."""
    batch = [row for row in rows if row.kept]
    return sum(row.trained for row in batch), sum(row.right for row in batch), batch[-1].done


def raced(
    key: str,
    rows: Sequence[Row],
    until: float,
    measured: str,
    *,
    masked: bool = False,
    resumed: bool = False,
    many: int = 0,
) -> View:
    """A step that ends with the last of the rows that are kept; `measured` names that time. Dashed: how long the rows
    that are left out would have been; if `resumed`, they go on. Every position has `many` rows.
    """
    total, right, end = batch_of(rows)
    shape = pitch(len(rows), RACED)
    marks: list[Mark] = []
    for place in range(max(many, len(rows))):
        row = rows[place] if place < len(rows) else None
        marks += unit(f"{key}{place}", place, row, end, until, masked, resumed, shape["tall"] > 9)
    marks.append(lanes.measure(f"{key}m", 0, end, f"{measured}: {end:,.0f} tokens"))
    marks.append(pointed_at(f"{key}r", rows, end, resumed))
    alt = f"Complete after {end:,.0f} tokens. Correct answers among those kept: {right} of {total}."
    names = [("", "")] * len(rows)
    tall, gap, ticks = shape["tall"], shape["gap"], lanes.quarters(until)
    return lanes.board(key, alt, until, names, *marks, tall=tall, gap=gap, top=36, ticks=ticks)


def unit(
    key: str, place: int, row: Row | None, end: float, until: float, masked: bool, resumed: bool, spoken: bool
) -> list[Mark]:
    """One row: what was written by the end of the step, what comes after, and its verdict."""
    if row is None:
        return unit_at(key, place, (2 * until,) * 3, "other", "ghost", "", until)
    whole = row.many > 1
    role = "other" if not row.kept or not row.trained else "work" if whole else "right" if row.right else "wrong"
    words = f"{row.right} of {row.trained} correct" if whole else "correct" if not row.wrong else "wrong"
    if row.cut and not whole:
        words = "cut off, masked" if masked else "cut off, scored wrong"
    if not row.kept and not whole:
        words = f"{'goes on' if resumed else 'lost'}: {words}"
    rest = "waits" if row.kept else "other" if resumed else "ghost"
    ends = (0.0, min(row.done, end), end if row.kept else row.done)
    return unit_at(key, place, ends, role, rest, words if spoken and (row.kept or not whole) else "", until)


def unit_at(
    key: str, place: int, ends: tuple[float, ...], role: str, rest: str, words: str, until: float
) -> list[Mark]:  # fmt: skip
    start, stop, after = ends
    short = stop - start < 0.25 * until  # on a phone the words would not fit inside
    tone = "" if short else "inside" + (f" {role}" if role in ("right", "work") else "")
    return [
        lanes.span(key, place, start, stop, role),
        lanes.span(f"{key}s", place, stop, after, rest),
        lanes.note(f"{key}n", place, (stop if short else start) + 0.012 * until, words, tone),
    ]


def pointed_at(key: str, rows: Sequence[Row], end: float, resumed: bool) -> Mark:
    """A ring around the rows that are left out or cut off."""
    keep = sum(row.kept for row in rows)
    out, cut = rows[keep:], [place for place, row in enumerate(rows) if row.kept and row.cut]
    if out and not resumed:
        wrong, many = sum(row.wrong for row in out), sum(row.many for row in out)
        words = f"lost: {wrong} of {many} wrong"
        return lanes.spot(key, (keep, len(rows) - 1), end, max(out[-1].done, 1.02 * end), words)
    if cut and rows[0].many == 1:
        words = f"{len(cut)} of {keep} cut off"
        return lanes.spot(key, (cut[0], cut[-1]), 0.8 * end, end, words, side="right")
    return lanes.spot(key, (0, 0), 0, 0, "", False)
