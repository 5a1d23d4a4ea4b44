"""A scene: the thing itself, drawn with the marks of vocabulary.py. Data, roles and keys, no pixels.

Coordinates are (x, y) in squares from the upper left corner of a view; a view states its width and height in squares.
Anything with a key may change from one position to the next, and every position has the same keys.
"""

from collections.abc import Sequence
from typing import Any

from widgets.frame.drawing.marks import Panel, panel

Mark = dict[str, Any]  # its kind, its key if it has one, its data
View = dict[str, Any]
Place = tuple[float, float]
WORD = 1.8  # in squares: a token that is a word, with its gap


def scene(
    title: str,
    note: str,
    *columns: View | Sequence[View],
    given: str = "",
    tab: str = "",
    front: bool = False,
    data: Sequence[Mark] = (),
) -> Panel:
    """Views side by side; several in one column are below each other if there is room, else side by side. `given` is
    what everything in it starts with, such as a prompt. In a panel of a widget, `data`, marks of marks.py, has its
    numbers for the table.
    """
    stacked = [[column] if isinstance(column, dict) else list(column) for column in columns]
    table = panel(title, note, *data, tab=tab, front=front, bare=True)
    return table | dict(given=given, columns=stacked)


def is_scene(panel: Panel) -> bool:
    return "columns" in panel


def view(key: str, wide: float, high: float, alt: str, *marks: Mark, role: str = "") -> View:
    """`alt` says what is drawn to people who cannot see it. A view with role "before" is placed below if there is room
    for it; one with role "detail" is left out beside code that a reader edits. Of one picture in two forms, "roomy" is
    drawn if there is room for it, and "narrow" on a phone.
    """
    return dict(key=key, wide=wide, high=high, alt=alt, marks=list(marks), role=role)


def counts(key: str, *cells: tuple[str, str, str]) -> View:
    """Large numbers side by side, below the picture that they count: (number, what it counts, role); role "broken"
    marks a wrong one.
    """
    return dict(key=key, wide=30.0, high=3.0, alt="", marks=[], role="", counts=list(cells))


def tokens(
    key: str, rows: Sequence[Sequence[tuple[str, str]]], longest: int, at: Place = (0, 0), wide: bool = False
) -> Mark:
    """Rows of squares, one per completion, each [(text, role)]; "stop" is drawn as its sign. If `wide`, squares hold
    words and are WORD squares wide.
    """
    return dict(kind="tokens", key=key, rows=rows, longest=longest, at=at, wide=wide)


def parts(key: str, roles: Sequence[str], at: Place, pitch: float = 0.8) -> Mark:
    """A long answer from left to right, with a role for each of its parts."""
    return dict(kind="parts", key=key, roles=roles, at=at, pitch=pitch)


def hundred(key: str, shares: Sequence[tuple[str, float]], at: Place = (0, 0), wide: int = 10) -> Mark:
    """A probability as a hundred dots: [(role, share)], starting at the first dot."""
    return dict(kind="hundred", key=key, shares=shares, at=at, wide=wide)


def piles(key: str, owners: Sequence[int], roles: Sequence[str], at: Place, apart: float, wide: int = 25) -> Mark:
    """A hundred answers as dots, in piles one below the other: `owners` gives the pile of each dot, `roles` the role of
    the dots in each pile.
    """
    x, y = at
    return heaps(key, owners, roles, [(x, y + apart * i) for i in range(len(roles))], [wide] * len(roles))


def heaps(key: str, owners: Sequence[int], roles: Sequence[str], at: Sequence[Place], wide: Sequence[int]) -> Mark:
    """Answers as dots, in piles that each have their own place and width."""
    return dict(kind="piles", key=key, owners=owners, roles=roles, at=at, wide=wide)


def holes(key: str, cells: Sequence[tuple[str, bool, str]], at: Sequence[Place]) -> Mark:
    """Holes of a verifier, each ("open" or "shut", with "found" added if it was found; whether a second verifier has it
    too; a number beside it).
    """
    return dict(kind="holes", key=key, cells=cells, at=at)


def blocks(
    key: str,
    cells: Sequence[tuple[str, float, str]],
    columns: int,
    at: Place = (0, 0),
    size: Place = (1.9, 1.0),
    pitch: Place = (2.0, 1.75),
) -> Mark:
    """A memory in blocks, row by row: each (role, share of its slots that hold a token, owner, written below it)."""
    return dict(kind="blocks", key=key, cells=cells, columns=columns, at=at, size=size, pitch=pitch)


def trays(
    key: str,
    groups: Sequence[Sequence[tuple[int, bool]]],
    at: Sequence[Place],
    pitch: float = 0.92,
    framed: bool = True,
) -> Mark:
    """One tray per group, each at its place, and in it completions with round ends: (tone of its advantage from -4 to
    4, whether it is correct, which gets a check). If not `framed`, the completions are drawn without a tray.
    """
    return dict(kind="trays", key=key, groups=groups, at=at, pitch=pitch, framed=framed)


def answers(key: str, cells: Sequence[tuple[str, str, str]], at: Sequence[Place], side: float) -> Mark:
    """Answers in squares with this side, each (text, role, how hard it is pushed or "") at its place."""
    return dict(kind="answers", key=key, cells=cells, at=at, side=side)


def frame(key: str, at: Place, wide: float, live: bool, seen: bool, high: float = 1.0) -> Mark:
    """A group's tray around completions that are drawn separately, so that groups can change their size."""
    return dict(kind="frame", key=key, at=at, wide=wide, live=live, seen=seen, high=high)


def tray(key: str, cells: Sequence[tuple[int, bool] | None], at: Place, scale: float = 1.0, seen: bool = True) -> Mark:
    """One tray, which moves and shrinks as a whole; None is a gap without a completion."""
    return dict(kind="tray", key=key, cells=cells, at=at, scale=scale, seen=seen)


def bar(key: str, at: Place, wide: float, role: str, high: float = 0.4) -> Mark:
    return dict(kind="bar", key=key, at=at, wide=wide, role=role, high=high)


def boxes(key: str, boxes: Sequence[tuple[float, float, float, float]], role: str, seen: bool = True) -> Mark:
    """Many boxes with one role, in fixed places, each (x, y, width, height)."""
    return dict(kind="boxes", key=key, boxes=boxes, role=role, seen=seen)


def word(text: str, at: Place, role: str = "", anchor: str = "start", key: str = "") -> Mark:
    """Role "head" is a column's name, "strong" a title, "count" a large number; "yes", "no" and "against" are
    colors.
    """
    return dict(kind="word", key=key, text=text, at=at, role=role, anchor=anchor)


def wall(at: Place, high: float) -> Mark:
    """The limit of a row."""
    return dict(kind="wall", at=at, high=high)


def rail(at: Place, wide: float) -> Mark:
    return dict(kind="rail", at=at, wide=wide)


def post(at: Place, high: float, role: str = "") -> Mark:
    """A vertical bound on rails; role "zero" is the origin."""
    return dict(kind="post", at=at, high=high, role=role)


def bead(key: str, at: Place, text: str, role: str, scale: float = 1.0) -> Mark:
    """A token on its rail, centered at `at`."""
    return dict(kind="bead", key=key, at=at, text=text, role=role, scale=scale)


def hop(key: str, start: Place, end: Place, high: float, role: str, seen: bool = True) -> Mark:
    """A token's step along its rail, as an arc `high` squares high."""
    return dict(kind="hop", key=key, start=start, end=end, high=high, role=role, seen=seen)


def arrow(key: str, at: Place, length: float, role: str) -> Mark:
    """A push from the middle of a bead, to the left if negative; roles "own up", "own down", "others"."""
    return dict(kind="arrow", key=key, at=at, length=length, role=role)


def ring(
    key: str,
    at: Place,
    words: str,
    seen: bool = True,
    size: Place = (1, 1),
    side: str = "below",
    role: str = "broken",
    anchor: str = "start",
) -> Mark:
    """Where to look and why, in at most six words below, above, left or right of it, or "close" above it; role "look"
    is ink, not wine.
    """
    return dict(kind="ring", key=key, at=at, words=words, seen=seen, size=size, side=side, role=role, anchor=anchor)


def outline(points: Sequence[Place]) -> Mark:
    """A region of a map, given the points of its boundary."""
    return dict(kind="outline", points=points)


def oval(key: str, at: Place, radius: float, role: str, filled: bool = False) -> Mark:
    """A policy on a map: the circle that contains half of its completions or, if `filled`, a point at its center."""
    return dict(kind="oval", key=key, at=at, radius=radius, role=role, filled=filled)


def needle(key: str, at: Place, turn: float, length: float, role: str) -> Mark:
    """The direction in which something rises on a map: an arrow from `at`, turned clockwise by `turn` degrees."""
    return dict(kind="needle", key=key, at=at, turn=turn, length=length, role=role)
