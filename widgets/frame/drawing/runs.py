"""Several runs of one training as shown in a scene: the policy of each as a hundred dots, with words below."""

from collections.abc import Sequence
from dataclasses import dataclass

from widgets.frame.drawing import scene

ACROSS = 4  # runs per row
SIDE = 120 / 26  # in squares: ten dots
PITCH, ROW, TOP = SIDE + 1.5, SIDE + 1.75, 1.1  # distances between runs, and the room above them
WIDE = PITCH * ACROSS - 1.5


@dataclass(frozen=True)
class Run:
    shares: Sequence[tuple[str, float]]  # [(role, share)], starting at the first dot
    words: str  # text below it


def view(
    key: str,
    alt: str,
    head: str,
    runs: Sequence[Run],
    ringed: int | None,
    words: str,
    named: Sequence[tuple[str, str, float]] = (),
) -> scene.View:
    """Runs in rows of four, below a line that says what the words below each run are, or what its dots are: `named`
    (words, role, x). `ringed` is the index of the run to point at, and `words` says what is seen there.
    """
    places = [(PITCH * (i % ACROSS), TOP + ROW * (i // ACROSS)) for i in range(len(runs))]
    marks = [scene.word(head, (0, 0.55), "head"), *(scene.word(text, (x, 0.55), role) for text, role, x in named)]
    for i, (run, (x, y)) in enumerate(zip(runs, places)):
        marks.append(scene.hundred(f"{key}{i}d", run.shares, (x, y)))
        marks.append(scene.word(run.words, (x, y + SIDE + 0.65), key=f"{key}{i}w"))
    at = len(runs) - 1 if ringed is None else ringed
    x, y = places[at]
    last = at % ACROSS == ACROSS - 1
    marks.append(
        scene.ring(f"{key}r", (x, y), words, ringed is not None, (SIDE, SIDE + 0.85), anchor="end" if last else "start")
    )
    return scene.view(key, WIDE, places[-1][1] + ROW - 0.1, alt, *marks)


def one_in(chance: float) -> str:
    """A probability in the words of a reader: "96 of 100", "1 in 200", "1 in 20,000"."""
    if chance >= 0.095:
        return f"{100 * chance:.0f} of 100"
    for less_than, many in ((1e-12, "trillions"), (1e-9, "billions"), (1e-6, "millions")):
        if chance <= less_than:
            return f"1 in {many}"
    odds = 1 / chance
    digits = 10 ** max(len(f"{odds:.0f}") - 2, 0)
    return f"1 in {round(odds / digits) * digits:,.0f}"
