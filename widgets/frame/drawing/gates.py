"""Completions on their way through the checks of a scorer, as a view of a scene.

A row is a completion, a post is a check, and a thread leads from the text to the post that stops it, with an open
square there and the reason. A completion that passes all checks ends in a filled square. It is HTML, so that letters
keep their size on a phone; there the threads are below the texts.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from widgets.frame.drawing import scene
from widgets.frame.drawing.pen import Pen

SQUARE = 26  # pixels of a square, the unit of other views
ROW, ROOMY, MANY = 18, 25, 20  # pixels: a row, and one where there are fewer than so many
HEAD = 58  # pixels: the names of the checks above the rows
LONGEST = 30  # characters of a completion
HEADS = "expected", "answer", "paid"
SIDE, WIDE = 10, 5  # of a square in a pile, with its gap; squares in a row of a pile
SHOWN = str.maketrans({"\n": "↵", "\r": "⏎", "\t": "⇥", "\u00a0": "⍽"})  # blanks, drawn


@dataclass(frozen=True)
class Row:
    """A completion, and the check that stops it."""

    expected: str
    completion: str
    stop: int  # index of that check; the number of checks if the completion is paid
    reason: str  # in words, "" if it is paid


def spelled(text: str) -> str:
    """A completion as it is shown: blanks are drawn, single spaces inside it are not, and it is cut after LONGEST."""
    shown = re.sub(r"^ +| +$| {2,}", lambda spaces: "␣" * len(spaces[0]), text).translate(SHOWN)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def view(
    key: str,
    alt: str,
    checks: Sequence[str],
    rows: Sequence[Row],
    asked: int,
    held: Sequence[int] = (),
    every: str = "",
    heads: tuple[str, str, str] = HEADS,
) -> scene.View:
    """The rows after the first `asked` checks. `heads` names the two columns of text, and what passes all checks. With
    `held`, the posts hold piles instead of rows: how many completions each check has stopped and, at the end, how many
    are paid; `every` then says which completions they are.
    """
    high = (HEAD + row_of(rows) * len(rows)) / SQUARE
    return dict(
        **dict(key=key, alt=alt, marks=[], role="", wide=45.4, high=high),
        **dict(checks=list(checks), gates=list(rows), asked=asked, held=list(held), every=every, columns=heads),
    )


def row_of(rows: Sequence[Row]) -> int:
    """How high a row is, in pixels."""
    return ROW if len(rows) >= MANY else ROOMY


def is_gates(view: scene.View) -> bool:
    return "gates" in view


def share(place: float, posts: int) -> str:
    """How far along the way a place between two posts is, in percent."""
    return f"{100 * place / (posts + 1):.1f}%"


def reached(row: Row, asked: int, posts: int) -> float:
    """Where a completion stands: at the post that has stopped it, or in front of the next one."""
    if row.stop < asked:
        return row.stop + 0.5
    return posts + 0.5 if asked == posts else float(asked)


def drawn(pen: Pen, view: scene.View) -> None:
    """The names of the checks with what each has stopped, then the rows, then the piles over them."""
    key, checks, asked, held = view["key"], view["checks"], view["asked"], view["held"]
    posts = len(checks)
    texts = "12.5rem" if any(row.completion for row in view["gates"]) else "1rem"
    room = f"--posts:{posts + 1};--row:{row_of(view['gates'])}px;--texts:{texts}"
    pen.begin(key, "k-gates k-piled" if held else "k-gates", view["alt"], room)
    stopped = held or [sum(row.stop == post for row in view["gates"]) for post in range(posts + 1)]
    known = [stopped[post] if asked > min(post, posts - 1) else 0 for post in range(posts + 1)]
    left, right, end = map(html.escape, view["columns"])
    pen.out.append(f'<p class="k-posts"><small>{left}</small><small>{right}</small>')
    for post, name in enumerate([*checks, end]):
        state = " k-put" if asked > min(post, posts - 1) else ""
        now = " k-now" if post == asked - 1 else ""
        pen.put("span", f"{key}p{post}", inner="\n", css=f"k-gate{state}{now}{' k-end' * (post == posts)}")
        pen.out[-1] = pen.out[-1].removesuffix("\n</span>")
        pen.out.append(f"<i>{html.escape(name)}</i>")
        pen.put("b", f"{key}n{post}", str(known[post] or ""))
        pen.out.append("</span>")
    pen.out.append("</p>")
    for i, row in enumerate(view["gates"]):
        out = row.stop < asked
        state = "k-stopped" if out else "k-paid" if asked == posts else "k-going"
        pen.put(
            "p",
            f"{key}r{i}",
            inner="\n",
            css=f"k-row {state}",
            style=f"--at:{share(reached(row, asked, posts), posts)}",
        )
        pen.out[-1] = pen.out[-1].removesuffix("\n</p>")
        pen.out.append(
            f"<small>{html.escape(row.expected)}</small><code>{html.escape(spelled(row.completion))}</code>"
            '<span class="k-way"><i></i><b></b>'
        )
        pen.put("em", f"{key}w{i}", row.reason if out else "")
        pen.out.append("</span></p>")
    pen.out.append(f'<p class="k-every">{html.escape(view["every"])}</p><p class="k-heaps">')
    for post in range(posts + 1):
        tall = SIDE * -(-max(stopped) // WIDE)
        pen.out.append(f'<svg viewBox="0 0 {SIDE * WIDE} {tall}" aria-hidden="true">')
        pen.put(
            "path",
            f"{key}h{post}",
            d=pile(known[post] if held else 0),
            css="k-heap k-end" if post == posts else "k-heap",
        )
        pen.out.append("</svg>")
    pen.out.append("</p></div>")


def pile(many: int) -> str:
    """So many squares, from the upper left."""
    side = SIDE - 2
    shape = (f"M{SIDE * (i % WIDE)} {SIDE * (i // WIDE)}h{side}v{side}h-{side}z" for i in range(many))
    return "".join(shape) or "M0 0"
