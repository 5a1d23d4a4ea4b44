"""A pool of sandboxes as lanes over seconds: each program that is checked as long as it held its slot, filled as far as
it got a core.
"""

import numpy as np

from sim.cluster.verifier_pool import Verdicts
from widgets.frame.drawing import lanes
from widgets.frame.drawing.scene import Mark, View

LEGEND = "a bar: a program; [work] core seconds, added up at the left ([rival] if cut off); [other] waits for a core"
SHOWN = 8  # slots in a picture of a pool
HIGH = 184.0  # pixels of all rows


def typical(verdicts: Verdicts, slots: int, most: int = SHOWN, wanted: np.ndarray | None = None) -> list[int]:
    """Equally spaced slots that stand for the pool: those whose share of cut-off programs is nearest to that of all.

    If `wanted` programs (jobs,) are given, only slots count in which one of them runs, if there are any.
    """
    stride = max(slots // most, 1)
    choices = [list(range(first, slots, stride))[:most] for first in range(stride)]
    having = [] if wanted is None else [rows for rows in choices if np.isin(verdicts.slot[wanted], rows).any()]
    return min(having or choices, key=lambda rows: (abs(off_share(verdicts, rows)), rows))


def off_share(verdicts: Verdicts, rows: list[int]) -> float:
    """By how many programs the number that was cut off in some slots differs from what the share of all would be."""
    drawn = np.isin(verdicts.slot, rows)
    return round(float(verdicts.cut[drawn].sum() - drawn.sum() * verdicts.cut.mean()), 6)


def programs(verdicts: Verdicts, rows: list[int]) -> list[int]:
    """Those in these slots, slot by slot as they begin."""
    jobs = np.flatnonzero(np.isin(verdicts.slot, rows))
    return jobs[np.lexsort((verdicts.start[jobs], verdicts.slot[jobs]))].tolist()


def board(
    key: str,
    verdicts: Verdicts,
    rows: list[int],
    until: float,
    alt: str,
    *,
    ringed: int | None = None,
    words: str = "",
    many: int = 0,
    now: float | None = None,
    ticks: tuple[float, ...] = (),
    named: bool = False,
) -> View:
    """The slots `rows` over seconds. `ringed` is the program that is pointed at; `many` programs are in each position
    of a figure; what lies beyond `now` is pale; `named`, a line above all says what the bars are.
    """
    jobs = programs(verdicts, rows)
    marks: list[Mark] = []
    for n in range(max(many, len(jobs))):
        marks += program(f"{key}{n}", verdicts, rows, jobs[n] if n < len(jobs) else None, until)
    # the leader of the ring ends above: it does not run through these words
    early = ringed is not None and verdicts.start[ringed] + verdicts.end[ringed] < verdicts.seconds
    last = f"the last verdict: {verdicts.seconds:.0f} s"
    marks.append(lanes.measure(f"{key}m", 0, verdicts.seconds, last, "end" if early else "start"))
    marks.append(pointed_at(f"{key}r", verdicts, rows, ringed, words, now))
    row = HIGH / len(rows)
    gap = min(6.0, row / 4)
    ticks = ticks or even(until)
    top = 58.0
    if named:
        top, line = 84.0, -(84 - 14 + (row - gap) / 2) / row
        words_of = ((0.0, "has a core", "followed"), (0.3, "waits for one", "plain"), (0.68, "was cut off", "against"))
        marks += [lanes.note(f"{key}l{i}", line, at * until, text, role) for i, (at, text, role) in enumerate(words_of)]
    names = [("", "")] * len(rows)
    return lanes.board(
        key, alt, until, names, *marks, tall=row - gap, gap=gap, top=top, ticks=ticks, unit=" s", now=now
    )


def even(until: float) -> tuple[float, ...]:
    """The ticks of an axis that ends there, at multiples of five where that can be."""
    parts = next((n for n in (4, 3, 5) if round(until, 6) % (5 * n) == 0), 4)
    return tuple(until * n / parts for n in range(parts + 1))


def program(key: str, verdicts: Verdicts, rows: list[int], job: int | None, until: float) -> list[Mark]:
    if job is None:
        return [
            lanes.run(key, 0, 2 * until, 2 * until, "other"),
            lanes.span(f"{key}f", 0, 2 * until, 2 * until, "work"),
        ]
    row, start, end = rows.index(int(verdicts.slot[job])), float(verdicts.start[job]), float(verdicts.end[job])
    # a run that was lost stands in no array: what is seen is the one that gave the verdict
    role = "rival" if verdicts.cut[job] else "work"
    return [
        lanes.run(key, row, start, end, "other"),
        lanes.span(f"{key}f", row, start, min(start + float(verdicts.used[job]), end), role),
    ]


def pointed_at(key: str, verdicts: Verdicts, rows: list[int], job: int | None, words: str, now: float | None) -> Mark:
    if job is None:
        return lanes.spot(key, (0, 0), 0, 0, "", False)
    row, start, end = rows.index(int(verdicts.slot[job])), float(verdicts.start[job]), float(verdicts.end[job])
    seen = now is None or now >= end
    return lanes.spot(key, (row, row), start, end, words if seen else "", seen, side="above")


def to_point_at(verdicts: Verdicts, rows: list[int], able: np.ndarray, at: float) -> tuple[list[int], int | None]:
    """The program to point at and its slots, that of the program first: words fit above the first row alone.

    It is one of `able` (jobs,) that ends near `at`, in the first row already if there is any; None if there is none.
    """
    jobs = [job for job in programs(verdicts, rows) if able[job]]
    job = min(jobs, key=lambda job: (verdicts.slot[job] != rows[0], abs(verdicts.end[job] - at)), default=None)
    return rows if job is None else sorted(rows, key=lambda slot: slot != verdicts.slot[job]), job
