"""Pairs of answers as somebody has judged them, in quarters by how much more style the worse one has; and the list of
principles that a judge reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.words import counted, plural
from sim.worlds import judged_pairs
from sim.worlds.judged_pairs import EACH, PRINCIPLES, STYLE
from widgets.frame.drawing import scene, vocabulary

LIST = (  # the principles, in the book's own words, in the order in which they are struck out from below
    "It answers what was asked.",
    "What it says is true.",
    "It says where it is not sure.",
    "It shows how it got there.",
    "It leaves out what nobody needs.",
    "A beginner can follow it.",
    "It does nobody harm.",
    "It respects who is asking.",
)
BY_STYLE = ("the worse one: far plainer", "plainer", "more styled", "far more styled")  # quarter by quarter
EDGES = (0.3, 0.9, 1.5, 2.2)  # standard deviations from which on a number has a tone, and a darker one
SMALL, BETWEEN, LOWER = 2.2, 1.85, 1.0  # in squares: from pair to pair, from quarter to quarter, from row to row
PAIR, ROW, PART, TOP = 5.75, 2.15, 0.42, 1.5  # of pairs with all their marks


@dataclass(frozen=True)
class Shown:
    """Pairs in a picture, (4 n, 17) each, a quarter after the other."""

    better: Any
    worse: Any

    @property
    def n(self) -> int:
        """Pairs of a quarter."""
        return len(self.better) // 4

    def half(self, number: int) -> "Shown":
        """The two quarters whose worse answers are plainer, or the other two."""
        part = slice(2 * self.n * number, 2 * self.n * (number + 1))
        return Shown(self.better[part], self.worse[part])


def shown(n: int, seed: int, alike: bool = False) -> Shown:
    """The first n pairs of each quarter that are drawn by a seed; all in one place where pairs are alike in style."""
    first, second = judged_pairs.pairs(40 * n, np.random.default_rng(seed), alike)
    quarter = np.arange(40 * n) % 4 if alike else judged_pairs.quarter(first, second)
    at = np.concatenate([np.flatnonzero(quarter == i)[:n] for i in range(4)])
    right = judged_pairs.truth(first, second)[at, np.newaxis]
    return Shown(np.where(right, first[at], second[at]), np.where(right, second[at], first[at]))


def by_people(pairs: Shown, seed: int, flip: float = judged_pairs.FLIP) -> Any:
    """(4 n,) whether people call the better one better."""
    return judged_pairs.people(pairs.better, pairs.worse, np.random.default_rng(seed), flip)


def by_judge(pairs: Shown, seed: int, judge: judged_pairs.Judge) -> Any:
    """The same of a judge."""
    return judged_pairs.verdict(judged_pairs.votes(judge, pairs.better, pairs.worse, np.random.default_rng(seed)))


def tone(z: float) -> int:
    return int(np.sign(z)) * sum(abs(z) >= edge for edge in EDGES)


# ── pairs in trays: two answers, toned by their style ──
LEGEND = "left the better answer, right the worse; check: called better; [above-3] much style; strong frame: wrong"


def quarters(
    key: str,
    name: str,
    pairs: Shown,
    right: Any,
    seen: int,
    across: int,
    below: Sequence[str] = (),
    beside: Sequence[str] = (),
    ring: str = "",
) -> scene.View:
    """A labeler's verdicts, (4 n,) whether right, of the first `seen` pairs of each quarter, `across` in a row; words
    `below` all and `beside` each quarter; a ring around the last quarter says `ring`.
    """
    rows = -(-pairs.n // across)
    apart = BETWEEN + LOWER * (rows - 1)
    top = [1.0 + apart * i for i in range(4)]
    marks = [scene.word(name, (0, 0.6), "strong")]
    marks += [scene.word(words, (0, y + 0.4)) for words, y in zip(BY_STYLE, top)]
    wide = SMALL * across + (5.6 if beside else 0)
    for i, (words, y) in enumerate(zip(beside, top)):
        marks.append(scene.word(words, (wide, y + 1.4), "", "end", f"{key}b{i}"))
    cells: list[Any] = []
    places: list[scene.Place] = []
    for i in range(4 * pairs.n):
        quarter, place = divmod(i, pairs.n)
        row, column = divmod(place, across)
        at, drawn = (0.2 + SMALL * column, top[quarter] + 0.85 + LOWER * row), place < seen
        marks.append(scene.frame(f"{key}f{i}", at, 1.84, bool(drawn and not right[i]), drawn))
        answers = zip((pairs.better[i], pairs.worse[i]), (right[i], not right[i]))
        cells.append([(tone(x[STYLE]), bool(called)) if drawn else None for x, called in answers])
        places.append(at)
    marks.append(scene.trays(key, cells, places, framed=False))
    bottom = top[-1] + apart + (1.2 if below else 0.0)  # below the words of the ring
    lines = enumerate(below)
    marks += [scene.word(words, (0, bottom + 0.6 + 0.85 * i), "strong", key=f"{key}w{i}") for i, words in lines]
    size = (SMALL * min(seen, across) - 0.2, apart - 1.0)
    marks.append(scene.ring(f"{key}r", (0.1, top[-1] + 0.8), ring, bool(ring), size))
    wrong = int(np.sum(~np.asarray(right).reshape(4, -1)[:, :seen]))
    are = plural(wrong, "is", "are")
    alt = f"{name}: {wrong} of {4 * seen} pairs {are} called wrong; {'; '.join(below or beside)}."
    return scene.view(key, wide, bottom + 0.2 + 0.85 * len(below), alt, *marks)


# ── the list, and pairs with all that they are judged by ──
IN_COLUMNS = ("worse: far plainer", *BY_STYLE[1:])


def constitution(key: str, weights: Any, taste: float, ring: str = "") -> scene.View:
    """The list of a judge who pays by `weights`, (17,); what it pays nothing for is struck out."""
    marks = [scene.word("The list", (0, 0.6), "strong")]
    for i, words in enumerate(LIST):
        listed = weights[EACH * i] != 0
        role = "" if listed else "struck"
        marks.append(scene.word(f"{i + 1}  {words}", (0, 1.6 + 0.82 * i), role, key=f"{key}{i}"))
    y = 1.6 + 0.82 * PRINCIPLES + 1.0
    paid = weights[STYLE]
    on_style = "the list: nothing on style" if paid == 0 else f"the list on style: {paid:+.2f}".replace("-", "−")
    marks.append(scene.word(on_style, (0, y), "", key=f"{key}s"))
    marks.append(scene.word(f"the judge's taste for style: {taste:g}", (0, y + 0.82), "strong", key=f"{key}t"))
    listed = int(np.count_nonzero(weights[:STYLE:EACH]))
    at, size = (0.0, 1.08 + 0.82 * listed), (9.2, 0.82 * (PRINCIPLES - listed))
    marks.append(scene.ring(f"{key}r", at, ring, bool(ring), size, anchor="middle"))
    alt = f"A list of {counted(listed, 'principle')}, and a taste for style of {taste:g}."
    return scene.view(key, 9.9, y + 1.1, alt, *marks)


def board(
    key: str, pairs: Shown, weights: Any, right: Any, heads: Sequence[str], below: Sequence[str], ring: str = ""
) -> scene.View:
    """Two quarters of pairs side by side, (2 n,) whether called right: a pair is two rows of eight criteria and a
    style, the better one above; a check beside the one called better; a ring around the second quarter.
    """
    marks = [scene.word(name, (PAIR * i, 0.6), key=f"{key}h{i}") for i, name in enumerate(heads)]
    listed, n = weights[:STYLE:EACH] != 0, len(right) // 2
    for i, called_right in enumerate(right):
        quarter, place = divmod(i, n)
        for answer, row in ((pairs.better[i], 0), (pairs.worse[i], 1)):
            x, y = PAIR * quarter, TOP + ROW * place + 0.95 * row
            styled = x + PART * PRINCIPLES + 0.25
            criteria = answer[:STYLE].reshape(PRINCIPLES, EACH).sum(axis=1) / np.sqrt(EACH)
            roles = [vocabulary.toned(tone(z)) if on else "after" for z, on in zip(criteria, listed)]
            marks.append(scene.parts(f"{key}{i}c{row}", roles, (x, y), PART))
            marks.append(scene.parts(f"{key}{i}s{row}", [vocabulary.toned(tone(answer[STYLE]))], (styled, y), 0.7))
            tick = "✓" if called_right == (row == 0) else ""
            marks.append(scene.word(tick, (styled + 0.8, y + 0.65), "strong", key=f"{key}{i}t{row}"))
    for x in (0, PAIR):
        marks += [scene.word("1 to 8", (x, TOP - 0.3)), scene.word("style", (x + PART * PRINCIPLES + 0.1, TOP - 0.3))]
    bottom = TOP + ROW * n
    lines = enumerate(below)
    marks += [scene.word(words, (0, bottom + 1.2 + 0.85 * i), "strong", key=f"{key}w{i}") for i, words in lines]
    size = (PART * PRINCIPLES + 1.8, bottom - TOP - 0.5)
    marks.append(scene.ring(f"{key}r", (PAIR - 0.1, TOP - 0.05), ring, bool(ring), size, anchor="middle"))
    wrong = int(np.sum(~np.asarray(right)))
    alt = f"{wrong} of {len(right)} pairs {plural(wrong, 'is', 'are')} called wrong; {'; '.join(below)}."
    return scene.view(key, 2 * PAIR - 0.2, bottom + 0.85 + 0.85 * len(below), alt, *marks, role="detail")
