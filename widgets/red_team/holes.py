"""A verifier as a wall with holes, a row a class, and the completions that an audit reads: a dot each, at honest work
or at the holes of the class that it came through.
"""

from collections.abc import Iterator, Sequence

from sim.experiments.written_sums import largest_remainders
from widgets.frame.drawing import scene
from widgets.frame.drawing.piles import DOT, moved

DOTS = 64  # completions in the picture
CLASSES = ("spec", "parser", "tampering", "leak", "judge", "selection")  # where a hole may be
HONEST, LAZY, FIRST, UNREAD = 0, 1, 2, 8  # piles: the classes follow, and what an audit does not read
ROLES = ("followed", "rest", *["against"] * len(CLASSES), "off")
LEFT, RIGHT = 8, 22  # dots beside each other
NAMES, WALL, APART = 4.6, 8.9, 1.9  # in squares: the names, the first hole, from hole to hole
ROW, TOP, PILE = 1.5, 2.8, 16.2  # from class to class, the middle of the first, where its dots begin
SECOND = 3.4  # row where the lazy ones stand, below as many honest ones as there can be
WIDE, HIGH = 26.4, 12.1
Hole = tuple[str, bool, int]  # as scene.holes takes it, with the completions that came through


def counted(drawn: Sequence[int]) -> list[int]:
    """How many of 64 dots stand for which pile, of the ways that were drawn: honest, lazy, then the holes."""
    read = int(sum(drawn))
    dots = list(drawn) if read <= DOTS else largest_remainders(list(drawn), DOTS)
    by_class = [sum(dots[FIRST + c :: len(CLASSES)]) for c in range(len(CLASSES))]
    return [int(n) for n in (*dots[:FIRST], *by_class, max(DOTS - read, 0))]


def owners(counts: Sequence[int], before: Sequence[int] = ()) -> list[int]:
    """The pile of each dot: as many as can stay where they are `before`."""
    return moved(before or [UNREAD] * DOTS, counts)


def wall(is_open: Sequence[bool], found: Sequence[bool], shared: Sequence[bool], drawn: Sequence[int]) -> list[Hole]:
    """Whether each hole is open, has been found, and is in the second verifier; what came through."""
    states = ["open" if opened else "shut" for opened in is_open]
    struck = [f"{state} found" if seen else state for state, seen in zip(states, found, strict=True)]
    return [(state, bool(both), int(n)) for state, both, n in zip(struck, shared, drawn, strict=True)]


def place(hole: int) -> scene.Place:
    """The middle of a hole: its class is the remainder by six."""
    return WALL + APART * (hole // len(CLASSES)), TOP + ROW * (hole % len(CLASSES))


def view(
    key: str, holes: Sequence[Hole], piles: Sequence[int], says: str, ringed: int | None = None, words: str = ""
) -> scene.View:
    """24 holes, the pile of each of 64 dots, and `words` at the hole that is ringed. `says` is what is drawn."""
    at = [place(hole) for hole in range(len(holes))]
    honest, lazy = ((0.0, named(c) + 0.3) for c in (0, SECOND))
    piled = [honest, lazy, *((PILE, TOP + ROW * c - 1.5 * DOT) for c in range(len(CLASSES))), lazy]
    return scene.view(
        key,
        WIDE,
        HIGH,
        says,
        *headings(key, piles),
        scene.heaps(f"{key}d", piles, ROLES, piled, [LEFT, LEFT, *[RIGHT] * len(CLASSES), LEFT]),
        scene.holes(f"{key}h", [(state, both, str(many) if many else "") for state, both, many in holes], at),
        ring(f"{key}r", ringed, words),
    )


def headings(key: str, piles: Sequence[int]) -> Iterator[scene.Mark]:
    yield scene.word("no hole", (0, 0.6), "head")
    yield scene.word("holes, and how often used", (NAMES, 0.6), "head")
    yield scene.word(f"{DOTS} completions", (PILE, 0.6), "head")
    yield scene.word("struck out: found", (NAMES, HIGH - 0.4), "head")
    yield scene.word("double: in both verifiers", (PILE, HIGH - 0.4), "head")
    yield scene.word(f"honest {piles.count(HONEST)}", (0, named(0)), "strong", key=f"{key}a")
    yield scene.word(f"lazy {piles.count(LAZY)}", (0, named(SECOND)), "strong", key=f"{key}b")
    for c, name in enumerate(CLASSES):
        yield scene.word(name, (NAMES, named(c)))


def named(row: float) -> float:
    """Where the name of a row stands, in squares from above."""
    return TOP + ROW * row + 0.18


def ring(key: str, hole: int | None, words: str) -> scene.Mark:
    x, y = place(hole or 0)
    anchor = "end" if hole is not None and hole // len(CLASSES) > 1 else "start"
    corner = (x - 0.38, y - 0.38)
    return scene.ring(key, corner, words, hole is not None, (0.87, 0.87), "close", anchor=anchor)
