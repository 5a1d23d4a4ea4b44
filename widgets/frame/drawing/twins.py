"""Runs on the same prompts, one below the other, as a view of a scene.

A row is a run, a dot is its answer to a prompt, and it is filled if the answer is correct. A correct answer of one of
the first two runs is ringed if the other run has none to that prompt. It is HTML, so that letters keep their size on a
phone.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from widgets.frame.drawing import scene
from widgets.frame.drawing.gates import SQUARE
from widgets.frame.drawing.pen import Pen

ROW, HEAD = 42, 52  # pixels: a row, and the line above the rows


@dataclass(frozen=True)
class Run:
    """A run on all prompts."""

    name: str
    correct: Sequence[bool]  # of each prompt


def view(key: str, alt: str, head: str, runs: Sequence[Run], there: int) -> scene.View:
    """The first `there` of these runs; the others are dashed. `head` is the line above the dots."""
    high = (HEAD + ROW * len(runs)) / SQUARE
    return dict(key=key, alt=alt, marks=[], role="", wide=45.4, high=high, twins=list(runs), head=head, there=there)


def is_twins(view: scene.View) -> bool:
    return "twins" in view


def drawn(pen: Pen, view: scene.View) -> None:
    """A line, then a row for each run; a script says which rows are there."""
    key, runs = view["key"], view["twins"]
    pen.begin(key, "k-twins", view["alt"])
    pen.out.append(f'<p class="k-twin-head">{html.escape(view["head"])}</p>')
    for i, run in enumerate(runs):
        css = "k-twin" if i < view["there"] else "k-twin k-later"
        pen.remember(f"{key}r{i}", {"class": css}, None)
        other = runs[1 - i].correct if i < 2 else run.correct
        cells = "".join(cell(mine, theirs) for mine, theirs in zip(run.correct, other, strict=True))
        pen.out.append(
            f'<p data-k="{key}r{i}" class="{css}"><small>{html.escape(run.name)}</small><span>{cells}</span>'
            f"<b>{sum(run.correct)} of {len(run.correct)}</b></p>"
        )
    pen.out.append("</div>")


def cell(mine: bool, theirs: bool) -> str:
    state = ("k-good" if theirs else "k-good k-only") if mine else ""
    return f'<i class="{state}"></i>' if state else "<i></i>"
