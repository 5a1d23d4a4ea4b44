"""Texts as a policy writes them and as a verifier reads them, as a view of a scene.

A row is a text. On the left are its tokens, a square each, in the order in which they are chosen; on the right, beyond
a line, is the finished text with its reward. It is HTML, so that letters keep their size on a phone; there the text is
below its tokens.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from widgets.frame.drawing import scene
from widgets.frame.drawing.gates import SHOWN, SQUARE
from widgets.frame.drawing.pen import Pen

ROW, HEAD = 84, 44  # pixels: a row, and the names of the two sides above the rows


@dataclass(frozen=True)
class Text:
    """A text in its tokens, and what the verifier makes of it."""

    tokens: Sequence[str]
    paid: bool
    reason: str  # in words, "" if it is paid


def spelled(text: str) -> str:
    """A text with every blank visible."""
    return text.replace(" ", "␣").translate(SHOWN)


def view(
    key: str, alt: str, sides: tuple[str, str], texts: Sequence[Text], most: int, chosen: int, read: bool
) -> scene.View:
    """The texts after the first `chosen` tokens; `most` is the largest number of tokens at any position. If `read`, the
    verifier has given its rewards.
    """
    return dict(
        **dict(key=key, alt=alt, marks=[], role="", wide=45.4, high=(HEAD + ROW * len(texts)) / SQUARE),
        **dict(cuts=list(texts), sides=sides, most=most, chosen=chosen, read=read),
    )


def is_cuts(view: scene.View) -> bool:
    return "cuts" in view


def drawn(pen: Pen, view: scene.View) -> None:
    key, chosen = view["key"], view["chosen"]
    pen.begin(key, "k-cuts", view["alt"])
    names = "".join(f"<span>{html.escape(side)}</span>" for side in view["sides"])
    pen.out.append(f'<p class="k-cut-sides">{names}</p>')
    for i, text in enumerate(view["cuts"]):
        paid = view["read"] and text.paid
        pen.put("p", f"{key}r{i}", inner="\n", css=f"k-cut-row{' k-cut-paid' * paid}")
        pen.out[-1] = pen.out[-1].removesuffix("\n</p>")
        pen.out.append('<span class="k-cut-tokens">')
        for j in range(view["most"]):
            there = j < min(chosen, len(text.tokens))
            state = "" if there else " k-cut-none"
            pen.put("i", f"{key}r{i}t{j}", spelled(text.tokens[j]) if there else "", css=f"k-cut-one{state}")
        pen.out.append('</span><span class="k-cut-read">')
        done = chosen >= len(text.tokens)
        pen.put("code", f"{key}c{i}", spelled("".join(text.tokens)) if done else "")
        pen.put("em", f"{key}e{i}", ("reward 1" if text.paid else f"reward 0: {text.reason}") if view["read"] else "")
        pen.out.append("</span></p>")
    pen.out.append("</div>")
