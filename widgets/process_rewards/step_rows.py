"""Chains of steps as they are written, a square a step: pieces of work by their number, filler, the stop; and a hundred
chains, solved or not.
"""

from typing import Any

import numpy as np

from sim.experiments import step_rewards, written_sums
from sim.experiments.step_rewards import FINISH, NEED, WORK, H
from widgets.frame.drawing import scene

ROWS, TOP = 8, 1.1  # chains shown; where the first row begins, in squares
WALL = H + 0.15
WIDE = WALL + 4.3  # room for the verdict at the right
LEGEND = "a square is a step; 1 to 4: work; [rival] filler or repeated work; ■: stop"
Place = tuple[int, int]


def typical(batch: Any, solved: float) -> list[int]:
    """Rows of eight chains: solved ones as many as is their share, of both some from all lengths, the short first."""
    steps = batch.steps
    kinds = [np.flatnonzero(batch.solved == which) for which in (True, False)]
    wanted = written_sums.largest_remainders([solved, 1 - solved], ROWS)
    counts = [min(count, len(kind)) for count, kind in zip(wanted, kinds)]
    counts[0] = min(len(kinds[0]), ROWS - counts[1])
    counts[1] = ROWS - counts[0]
    rows: list[int] = []
    for kind, count in zip(kinds, counts):
        in_order = kind[np.argsort(steps[kind], kind="stable")]
        rows += [int(in_order[int((i + 0.5) / count * len(kind))]) for i in range(count)]
    return sorted(rows, key=lambda row: int(steps[row]))


def squares(batch: Any, row: int) -> list[tuple[str, str]]:
    """[(text, role)] of a chain."""
    written, solved = [], bool(batch.solved[row])
    for t, action in enumerate(batch.actions[row].tolist()):
        done = int(batch.works[row, t])
        if action == FINISH:
            written.append(("stop", "stop" if solved else "astray"))
        elif action == WORK:
            again = done == NEED
            written.append((str(min(done + 1, NEED)), "rival" if again else "yes" if solved else "no"))
        elif action >= 0:
            written.append(("…", "rival"))
    return written


def verdict(batch: Any, row: int) -> str:
    if batch.solved[row]:
        return "solved"
    return "stops too soon" if FINISH in batch.actions[row] else "no stop"


def endless(batch: Any, rows: list[int]) -> int | None:
    """Which of the rows shown is the last without a stop."""
    unstopped = [i for i, row in enumerate(rows) if FINISH not in batch.actions[row]]
    return unstopped[-1] if unstopped else None


def view(
    key: str, title: str, batch: Any, rows: list[int], ringed: int | None = None, words: str = "", legend: bool = False
) -> scene.View:
    """The chains below their title; `ringed` is the row at whose last square `words` are said, for all that have no
    stop; `legend` says what squares are.
    """
    marks = [scene.word(title, (0, 0.55), "strong", key=f"{key}t"), scene.wall((WALL, 0.9), ROWS + 0.3)]
    marks.append(scene.word(f"{H} places", (WALL, 0.55), "", "end"))
    if legend:
        marks += [
            scene.word("1 to 4: work", (4.1, 0.55), "", "start"),
            scene.word("filler", (8.9, 0.55), "against", "middle"),
        ]
    for i, row in enumerate(rows):
        outcome = verdict(batch, row)
        marks.append(
            scene.word(
                "" if i == ringed or (ringed is not None and outcome == "no stop") else outcome,
                (WALL + 0.3, TOP + i + 0.66),
                "sum yes" if outcome == "solved" else "sum no",
                key=f"{key}v{i}",
            )
        )
    last = 0 if ringed is None else max(len(squares(batch, rows[ringed])) - 1, 0)
    place = (float(last), TOP + (ringed or 0))
    marks += [
        scene.tokens(key, [squares(batch, row) for row in rows], H, (0, TOP)),
        scene.ring(f"{key}r", place, words, ringed is not None, side="right"),
    ]
    many = int(batch.solved[rows].sum())
    alt = f"{title}: {len(rows)} chains, {many} solved, {np.mean(batch.steps[rows]):.1f} steps on average."
    return scene.view(key, WIDE, TOP + ROWS + 0.2, alt, *marks)


def before_training() -> float:
    """The share that the policy solves which knows nothing."""
    return step_rewards.outlook(np.zeros((NEED + 1, 3)))[0]
