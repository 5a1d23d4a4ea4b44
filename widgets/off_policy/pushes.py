"""Answers of a batch as a scene shows them: each token in the tone of what the update pushes it by, and beside them a
hundred answers, right or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.experiments import written_sums
from sim.worlds import tasks
from widgets.frame.drawing import scene, sums, vocabulary

ROWS, T = 6, tasks.Add.T
FIRST, TOP = 2.4, 1.1  # where the tokens begin, in squares
WIDE = FIRST + T * scene.WORD + 0.3
EDGES = (0.75, 1.25, 1.9)  # of a weight: between one tone and the next
WHAT = "[above-2] pushed up, [below-2] down, a stronger tone counts more; dotted: no push"
Place = tuple[int, int]


@dataclass(frozen=True)
class Answer:
    tokens: tuple[int, ...]
    pushes: tuple[float, ...]  # the weight of each token, with the sign of the answer's advantage
    right: bool


def tone(push: float) -> str:
    """The role of a token: 0 is no push, 1 that of an answer of the present policy."""
    if push == 0:
        return "silent"
    return vocabulary.toned((1 + sum(abs(push) >= edge for edge in EDGES)) * (1 if push > 0 else -1))


def typical(batch: Any, weight: Any, many: int = ROWS) -> list[int]:
    """At most `many` rows whose group has something to compare: right and wrong ones by their share among such
    answers, each kind spread evenly over its ranks by the share of tokens without a push. The right ones come last.
    """
    own, pushed = batch.response_mask > 0, batch.advantage[:, 0] != 0
    silent = ((weight == 0) & own).sum(axis=1) / own.sum(axis=1)
    right = batch.accuracy > 0
    kinds = [np.flatnonzero(pushed & ~right), np.flatnonzero(pushed & right)]
    if not pushed.any():
        return []
    counts = written_sums.largest_remainders([len(kind) for kind in kinds], min(many, int(pushed.sum())))
    rows = []
    for kind, count in zip(kinds, counts):
        in_order = kind[np.argsort(silent[kind], kind="stable")]
        rows += [int(in_order[int((i + 0.5) / count * len(kind))]) for i in range(count)]
    return rows


def answers(batch: Any, weight: Any, rows: Sequence[int]) -> list[Answer]:
    chosen = []
    for i in rows:
        own = batch.response_mask[i] > 0
        tokens, pushes = batch.tokens[i][own], (weight[i] * np.sign(batch.advantage[i]))[own]
        chosen.append(Answer(tuple(tokens.tolist()), tuple(pushes.tolist()), bool(batch.accuracy[i])))
    return chosen


def silent(shown: Sequence[Answer]) -> Place:
    """(tokens without a push, all tokens)"""
    pushes = [push for answer in shown for push in answer.pushes]
    return sum(push == 0 for push in pushes), len(pushes)


def hushed(shown: Sequence[Answer]) -> Place | None:
    """(row, place) of the last wanted token without a push, else of the last unwanted one."""
    places = [(i, at) for i, answer in enumerate(shown) for at, push in enumerate(answer.pushes) if push == 0]
    wanted = [(i, at) for i, at in places if shown[i].right]
    return next(reversed(wanted or places), None)


def view(
    key: str, title: str, shown: Sequence[Answer], ringed: Place | None = None, words: str = "", legend: bool = False
) -> scene.View:
    """Up to six rows below their title; `ringed` is the (row, place) that is pointed at; `legend` names the tones."""
    rows = [[(sums.text(t), tone(p)) for t, p in zip(answer.tokens, answer.pushes)] for answer in shown]
    marks = [scene.word(title, (0, 0.55), "strong", key=f"{key}t")]
    for i in range(ROWS):
        outcome = ("correct" if shown[i].right else "wrong") if i < len(shown) else ""
        role = "sum yes" if outcome == "correct" else "sum no"
        again = legend and 0 < i < len(shown) and shown[i].right == shown[i - 1].right
        marks.append(scene.word("" if again else outcome, (0, TOP + i + 0.66), role, key=f"{key}v{i}"))
    if legend:
        marks += [
            scene.word("pushed up,", (6.3, 0.55), "followed"),
            scene.word("down", (9.3, 0.55), "against"),
            scene.word("stronger tone: harder", (WIDE - 0.35, 0.55), "", "end"),
        ]
    row, at = ringed or (0, 0)
    place = (FIRST + scene.WORD * at, TOP + row)
    after = at > T // 2
    marks += [
        scene.tokens(key, rows + [[]] * (ROWS - len(rows)), T, (FIRST, TOP), wide=True),
        scene.ring(f"{key}r", place, words, ringed is not None, (scene.WORD, 1), anchor="end" if after else "start"),
    ]
    none, all_of_them = silent(shown)
    alt = f"{title}: {len(shown)} answers, {none} of {all_of_them} tokens without a push."
    return scene.view(key, WIDE, TOP + ROWS + 1.15, alt, *marks)
