"""A batch as shown in a scene: each group of completions in a tray, each completion in the tone of its advantage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from widgets.frame.drawing import scene
from widgets.frame.drawing.written import decimal

EDGES = (0.05, 0.3, 0.8, 1.6)  # absolute advantages at which the tone changes
LABEL, PITCH, ROW, TOP = 2.3, 0.92, 0.98, 1.1  # in squares: a prompt, a completion, a tray, the room above
WHAT = "check: correct; [above-2] pushed up, [below-2] pushed down"  # the stronger the tone, the harder the push


def by_source(groups: int) -> list[tuple[str, range]]:
    """The columns of a batch whose first half a checker grades and whose second half a reward model grades."""
    half = groups // 2
    return [("graded by the checker", range(half)), ("graded by the reward model", range(half, groups))]


def sums(examples: Sequence[int]) -> list[str]:
    """Prompts of `tasks.Add` as they are written beside their answers."""
    return [f"{example // 10} + {example % 10}" for example in examples]


def pushed(advantage: float) -> str:
    """An advantage in words, with two decimals; "nothing" for NaN, if there are no answers."""
    return "nothing" if np.isnan(advantage) else decimal(advantage)


def tone(advantage: float) -> int:
    """The tone, from -4 to 4; 0 means almost no push."""
    return int(np.sign(advantage)) * sum(abs(advantage) >= edge for edge in EDGES)


ALIKE = "all eight alike: nothing to compare"


def lowest_alike(right: Any) -> int:
    """The lowest group in two columns of eight whose completions are all correct or all wrong, from the first column in
    a tie; 0 if there is none.
    """
    groups = np.flatnonzero(alike(right))
    return int(max(groups, key=lambda group: (group % 8, -group), default=0))


def view(
    key: str,
    alt: str,
    columns: Sequence[tuple[str, Sequence[int]]],
    prompts: Sequence[str],
    advantage: Any,
    right: Any,
    ring: tuple[int, str] | None = None,
    lines: Sequence[str] = (),
    across: int = 1,
    last: bool = False,
) -> scene.View:
    """Groups (G, K) in columns, each (its heading, the groups in it), with lines of words below. `ring` is (the index
    of a completion in the flattened batch, words); the ring spans `across` completions. With `last`, its group comes
    last in its column, so that the words are below all trays, and the tones are named.
    """
    K = advantage.shape[1]
    if last and ring:
        columns = [(name, sorted(groups, key=lambda group: group == ring[0] // K)) for name, groups in columns]
    wide = LABEL + PITCH * K + 0.7
    places = {
        group: (wide * column + LABEL, TOP + ROW * row)
        for column, (_, groups) in enumerate(columns)
        for row, group in enumerate(groups)
    }
    bottom = max(y for _, y in places.values()) + ROW
    cells = [[(tone(a), bool(ok)) for a, ok in zip(advantage[g], right[g])] for g in places]
    marks = [scene.word(name, (wide * i, 0.55), "strong", key=f"{key}h{i}") for i, (name, _) in enumerate(columns)]
    marks += [
        scene.word(prompts[g], (x - LABEL, y + 0.55), "head", key=f"{key}p{place if last else g}")
        for place, (g, (x, y)) in enumerate(places.items())
    ]
    marks.append(scene.trays(key, cells, list(places.values()), PITCH))
    group, place = divmod(ring[0], K) if ring else (next(iter(places)), 0)
    x, y = places[group]
    marks += [scene.word(words, (0, bottom + 0.55 + i), "strong", key=f"{key}w{i}") for i, words in enumerate(lines)]
    marks.append(
        scene.ring(
            f"{key}r",
            (x + PITCH * place, y),
            ring[1] if ring else "",
            bool(ring),
            (PITCH * across - 0.07, 0.7),
            side="above" if across == 1 and not last and TOP + ROW < y > bottom - 3 * ROW else "below",
            anchor="middle" if across > 1 else "start" if 2 * place < K else "end",
        )
    )
    if last:
        at = wide * (len(columns) - 1)
        marks.append(scene.word("pushed up", (at, bottom + 1.95), "followed"))
        marks.append(scene.word("pushed down", (at + LABEL + PITCH * K, bottom + 1.95), "against", "end"))
    single = len(places) == 1 or across > 1
    below = max(len(lines), 2.2 if last else 1.2 if single else 0)  # a ring's words are below a single tray
    return scene.view(key, wide * len(columns) - 0.5, bottom + below + 0.1, alt, *marks)


# ── what an update draws: groups that are trained on, and groups that are thrown away ──

WIDE, HIGH, LOW = 8.1, 1.15, 1.04  # distances between trays in squares; LOW for those thrown away
COMPARED = "a tray: answers to one prompt; check: correct; [above-2] above its mean, [below-2] below, [level] all alike"


@dataclass(frozen=True)
class Sorted:
    """The layout of trays: a batch of `places` trays in columns, and below it at most `most` that were thrown away."""

    columns: int
    places: int
    most: int
    gap: float = 1.35  # between the two parts
    smaller: int = 2  # how many thrown-away trays fit in the width of a kept one

    @property
    def wide(self) -> float:
        return WIDE * self.columns - 0.2

    @property
    def lower(self) -> float:
        return 1.2 + HIGH * -(-self.places // self.columns) + self.gap

    @property
    def high(self) -> float:
        return self.thrown(self.most - 1)[1] + 1.65

    def kept(self, place: int) -> scene.Place:
        return WIDE * (place % self.columns) + 0.2, 1.2 + HIGH * (place // self.columns)

    def thrown(self, place: int) -> scene.Place:
        row, column = divmod(place, self.smaller * self.columns)
        return WIDE / self.smaller * column + 0.1, self.lower + LOW / self.smaller * row

    def around(self, many: int) -> tuple[float, float]:
        """The width and height of `many` thrown-away trays, for a ring around them."""
        across = min(max(many, 1), self.smaller * self.columns)
        rows = max(-(-many // (self.smaller * self.columns)), 1)
        return WIDE / self.smaller * across - 0.3, LOW / self.smaller * rows - 0.05

    def headings(self, key: str, thrown_away: Any, answers: int) -> list[scene.Mark]:
        """The words above both parts: how many `answers` were sampled, and which groups, (G, K), were `thrown_away`."""
        right = int(np.all(thrown_away, axis=1).sum())
        wrong = len(thrown_away) - right
        verdicts = [f"{many} all {name}" for many, name in ((wrong, "wrong"), (right, "correct")) if many]
        away = f"thrown away: {' and '.join(verdicts) or 'nothing'}"
        return [
            scene.word("to train on", (0, 0.6), "strong"),
            scene.word(f"{answers} answers sampled", (self.wide - 0.2, 0.6), "strong", "end", f"{key}n"),
            scene.word(away, (0, self.lower - 0.55), "strong", key=f"{key}g"),
        ]


def alike(right: Any) -> Any:
    """(G,) whether all completions of a group are correct or all are wrong."""
    return np.all(right, axis=1) | ~np.any(right, axis=1)


def compared(right: Any) -> list[list[tuple[int, bool] | None]]:
    """(tone, correct) of each completion, the tone from its distance to the group's mean correctness in standard
    deviations.
    """
    right = np.asarray(right, bool)
    apart = right - right.mean(axis=1, keepdims=True)
    z = apart / np.maximum(right.std(axis=1, ddof=1, keepdims=True), 1e-9)
    return [[(tone(a), bool(ok)) for a, ok in zip(*rows)] for rows in zip(z, right)]


def for_nothing(trained_on: Any, K: int) -> str:
    """The words of a ring around groups of K that were thrown away with hardly any gain."""
    return f"{K * int((~trained_on).sum())} answers, hardly anything gained"


def refilled(key: str, alt: str, lie: Sorted, right: Any, trained_on: Any, ring: str = "") -> scene.View:
    """The groups that one update sampled, (G, K), and whether it trains on each, (G,); `ring`: words for the
    thrown-away ones.
    """
    empty: list[tuple[int, bool] | None] = [None] * right.shape[1]
    cells = compared(right)
    above, below = ([cell for cell, keep in zip(cells, trained_on) if bool(keep) is used] for used in (True, False))
    marks = lie.headings(key, right[~trained_on], right.size)
    for i in range(lie.places):
        marks.append(scene.tray(f"{key}k{i}", above[i] if i < len(above) else empty, lie.kept(i)))
    for i in range(lie.most):
        in_use = i < len(below)
        marks.append(scene.tray(f"{key}t{i}", below[i] if in_use else empty, lie.thrown(i), 1 / lie.smaller, in_use))
    size = lie.around(len(below))
    marks.append(scene.ring(f"{key}r", lie.thrown(0), ring, bool(ring), size, anchor="middle"))
    return scene.view(key, lie.wide, lie.high, alt, *marks)
