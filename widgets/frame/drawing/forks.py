"""A hundred runs that take two steps, as a view of a scene: two forks, and dots in a pile at each of three ends.

A branch is as wide as the share of the runs on it. The first step ends at once on the left; on the right there is a
second fork. It is HTML, so that letters keep their size on a phone.
"""

import html
from collections.abc import Sequence

from widgets.frame.drawing import scene
from widgets.frame.drawing.pen import Pen

SQUARE = 26  # pixels of a square, the unit of other views
HIGH = 530  # pixels
ROW = 10  # dots in a row of a pile
THICK = 14  # pixels of a branch that every run takes
ENDS = ("k-safe", "k-nil", "k-best")  # classes of the dots at the three ends
PUSHED = "first ten updates"
PUSHES = ("k-idle", "k-rise", "k-sink")  # by 0 for an update that is to come, 1 for up, -1 for down
SIGNS = ("·", "↑", "↓")
BRANCHES = (  # from the fork to the name below it, in a box of 300 by 40: the first fork, then the second
    ("M125 0C125 20 50 20 50 40", "M125 0C125 20 200 20 200 40"),
    ("M50 0V40", "M200 0C200 20 150 20 150 40", "M200 0C200 20 250 20 250 40"),
)


def view(
    key: str,
    alt: str,
    names: Sequence[str],
    rewards: Sequence[str],
    owners: Sequence[int],
    shares: Sequence[float],
    pushes: Sequence[Sequence[int]],
) -> scene.View:
    """`names` are those of the start, of both first steps and of the three ends, `owners` the end of each dot, `shares`
    the probabilities of 1 at the first and at the second fork, `pushes` what ten updates do to these two: 1,
    -1, or 0 for an update that is to come.
    """
    return dict(
        **dict(key=key, alt=alt, marks=[], role="", wide=45.4, high=HIGH / SQUARE, forks=list(names)),
        **dict(rewards=list(rewards), owners=list(owners), shares=list(shares), pushes=list(pushes)),
    )


def is_forks(view: scene.View) -> bool:
    return "forks" in view


def drawn(pen: Pen, view: scene.View) -> None:
    """From the top: the start, the first fork and its two steps, the second fork and the ends with their dots."""
    key, (first, second) = view["key"], view["shares"]
    start, zero, one, *ends = view["forks"]
    pen.begin(key, "k-fork", view["alt"])
    pen.out.append(f'<p class="k-start">{html.escape(start)}</p>')
    limbs(pen, f"{key}f", BRANCHES[0], (1 - first, first))
    for name, odds, pushes in ((zero, 1 - first, ()), (one, first, view["pushes"][0])):
        step(pen, f"{key}{name[-1]}", "k-knot", name, f"{odds:.3f}", pushes)
        pen.out.append("</p>")
    limbs(pen, f"{key}s", BRANCHES[1], (1 - first, first * (1 - second), first * second))
    odds = ("", f"{1 - second:.3f}", f"{second:.3f}")
    for end, (name, reward) in enumerate(zip(ends, view["rewards"], strict=True)):
        step(pen, f"{key}e{end}", "k-leaf", name, odds[end], view["pushes"][1] if end == 2 else ())
        pen.out.append(f'<b class="k-earned">{html.escape(reward)}</b>')
        pen.put("em", f"{key}n{end}", f"{view['owners'].count(end)} of {len(view['owners'])} runs")
        pen.out.append("</p>")
    pen.out.append('<p class="k-crowd">')
    filled = dict.fromkeys(range(len(ENDS)), 0)
    for dot, end in enumerate(view["owners"]):
        row, column = divmod(filled[end], ROW)
        filled[end] += 1
        place = f"--end:{end};--column:{column};--row:{row}"
        pen.put("i", f"{key}d{dot}", inner=" ", css=f"k-mote {ENDS[end]}", style=place)
    pen.out.append("</p></div>")


def limbs(pen: Pen, key: str, paths: Sequence[str], shares: Sequence[float]) -> None:
    pen.out.append('<svg viewBox="0 0 300 40" preserveAspectRatio="none" aria-hidden="true">')
    for i, (path, share) in enumerate(zip(paths, shares, strict=True)):
        pen.put("path", f"{key}{i}", d=path, css="k-limb", style=f"stroke-width:{max(THICK * share, 0.6):.1f}px")
    pen.out.append("</svg>")


def step(pen: Pen, key: str, css: str, name: str, odds: str, pushes: Sequence[int]) -> None:
    """The beginning of a paragraph: a step, its probability and, if there are any, what updates did to it so far."""
    pen.out.append(f'<p class="{css}"><small>{html.escape(name)}</small>')
    pen.put("b", f"{key}v", odds)
    pen.out.append(f'<span class="k-pushes"><small>{PUSHED if pushes else ""}</small>')
    for i, push in enumerate(pushes):
        pen.put("i", f"{key}p{i}", SIGNS[push], css=f"k-push {PUSHES[push]}")
    pen.out.append("</span>")
