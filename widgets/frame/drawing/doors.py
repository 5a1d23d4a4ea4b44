"""One completion before several checks at once, as a view of a scene: a check is a door, and an open door has paid."""

import html
from collections.abc import Sequence

from widgets.frame.drawing import scene
from widgets.frame.drawing.pen import Pen

SQUARE = 26  # pixels of a square, the unit of other views
HIGH = 330  # pixels, about


def view(key: str, alt: str, expected: str, text: str, doors: Sequence[tuple[str, str, float]]) -> scene.View:
    """`doors`: the name of each check, its rule in a few words, and the reward that it gives."""
    return dict(
        **dict(key=key, alt=alt, marks=[], role="", wide=45.4, high=HIGH / SQUARE),
        **dict(expected=expected, knocks=text, doors=list(doors)),
    )


def is_doors(view: scene.View) -> bool:
    return "doors" in view


def drawn(pen: Pen, view: scene.View) -> None:
    """The text above, and below it a door for each check."""
    key = view["key"]
    pen.begin(key, "k-doors", view["alt"])
    pen.out.append('<p class="k-knocks">')
    pen.put("code", f"{key}t", view["knocks"])
    pen.out.append(f"<small>expected: {html.escape(view['expected'])}</small></p>")
    for i, (name, rule, reward) in enumerate(view["doors"]):
        pen.put("p", f"{key}d{i}", inner="\n", css=f"k-door {'k-ajar' if reward else 'k-closed'}")
        pen.out[-1] = pen.out[-1].removesuffix("\n</p>")
        pen.put("b", f"{key}r{i}", f"{reward:g}")
        pen.out.append(f"<span>{html.escape(name)}</span><small>{html.escape(rule)}</small></p>")
    pen.out.append("</div>")
