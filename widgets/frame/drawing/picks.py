"""The completions of many prompts and the one that was picked for each, as a view of a scene.

A row is a prompt: the expected answer, a cell for each completion, which is filled if it is correct, and the text of
the one that was picked, which has a ring. Cells that were not sampled yet are dashed. It is HTML, so that letters keep
their size; a phone shows the cells alone.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from widgets.frame.drawing import gates, scene
from widgets.frame.drawing.pen import Pen

SQUARE, ROW = 26, 24  # pixels: of the unit of other views, of a row
LONGEST = 20  # characters of an expected answer


@dataclass(frozen=True)
class Row:
    """The completions of a prompt, and the pick among them."""

    expected: str
    correct: Sequence[bool]  # of each completion
    pick: int  # its place among the completions
    completion: str  # its text
    state: str  # "fair" if it is rewarded and correct, "fooled" if rewarded and not correct, "unrewarded"
    word: str  # beside it


def view(key: str, alt: str, rows: Sequence[Row], sampled: int) -> scene.View:
    """The rows in two columns, after `sampled` completions of each prompt: 1, 2, 4 or 8."""
    high = ROW * -(-(len(rows) + 2) // 2) / SQUARE
    return dict(key=key, alt=alt, marks=[], role="", wide=45.4, high=high, picks=list(rows), sampled=sampled)


def is_picks(view: scene.View) -> bool:
    return "picks" in view


def drawn(pen: Pen, view: scene.View) -> None:
    """Two columns, each with its head; a script sets the ring, its text and what is dashed."""
    key, rows = view["key"], view["picks"]
    pen.begin(key, f"k-picks k-of{view['sampled']}", view["alt"])
    for i, row in enumerate(rows):
        if i in (0, -(-len(rows) // 2)):
            pen.out.append(
                '<p class="k-title"><small>expected</small>'
                '<span>filled: correct<i class="k-short">, ringed: pick</i></span>'
                "<span>text of the ringed one, the pick</span></p>"
            )
        state, at = f"k-{row.state}", f"--at:{row.pick}"
        pen.remember(f"{key}r{i}", {"class": state, "style": at}, None)
        cells = "".join('<i class="k-good"></i>' if ok else "<i></i>" for ok in row.correct)
        pen.out.append(
            f'<p data-k="{key}r{i}" class="{state}" style="{at}"><small>{html.escape(row.expected[:LONGEST])}</small>'
            f'<span class="k-eight">{cells}<b></b></span>'
        )
        pen.put("code", f"{key}t{i}", gates.spelled(row.completion))
        pen.put("em", f"{key}w{i}", row.word)
        pen.out.append("</p>")
    pen.out.append("</div>")
