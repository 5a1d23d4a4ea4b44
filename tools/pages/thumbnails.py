"""The picture on a lesson's card: its own opening at rest, without words. Of a scene its marks, of an opening that is a
plot its two curves.
"""

import re

from tools.pages import drawing, flat, pictures, scene_pictures
from widgets.frame.drawing import comparisons, lanes, scene

WIDTH, HEIGHT = 560, 220  # twice the pixels that it has on a card
PLOT = 280, 110
MOST_POINTS = 60  # of a curve
FAR, GIVEN = 10_000.0, 900.0  # pixels for a scene: as many as it needs; for one that takes what it gets


def of(widget):
    return picture(pictures.leading(widget))


def picture(panel):
    return marks(panel) if scene.is_scene(panel) else plot(panel)


def marks(panel, wide=WIDTH, high=HEIGHT, css="thumb"):
    pen = flat.Flat()
    shown = panel | dict(columns=[list(map(without_key, column)) for column in leading(panel["columns"])])
    given = any(map(takes_what_it_gets, (view for column in shown["columns"] for view in column)))
    scene_pictures.paint(pen, shown, GIVEN if given else FAR, FAR)
    return pen.svg(wide, high, css)


def takes_what_it_gets(view):
    """Whether a view has no width of its own."""
    return lanes.is_board(view) or comparisons.is_comparison(view)


def leading(columns):
    """The columns with more in them than a probability, if there are any."""
    return [column for column in columns if any(kinds(view) - {"hundred", "word"} for view in column)] or columns


def kinds(view):
    return {mark["kind"] for mark in view["marks"]} or {"board"}


def without_key(view):
    """The view without the single tokens that say what a stop looks like."""
    kept = [mark for mark in view["marks"] if mark["kind"] != "tokens" or sum(map(len, mark["rows"])) > 1]
    return view | dict(marks=kept)


def plot(panel):
    """The content of the plot, which fills the card: no axes, no words."""
    wide, high = PLOT[0] + drawing.LEFT + drawing.RIGHT, PLOT[1] + drawing.TOP + drawing.BOTTOM
    _, content = drawing.parts(panel | dict(data=list(map(thinned, panel["data"]))), wide, high)
    inner = re.search(r'<svg [^>]*viewBox="([^"]+)">(.*?)</svg>', content, re.S)
    fit = f'viewBox="{inner[1]}" preserveAspectRatio="none"'
    return f'<svg class="still thumb" {fit} aria-hidden="true">{inner[2]}</svg>'


def thinned(mark):
    """A curve with as many points as a card shows; shapes and bars as they are."""
    if mark["type"] != "scatter" or "fill" in mark:
        return mark
    every = -(-len(mark["x"]) // MOST_POINTS)
    return mark | {axis: [*mark[axis][:-1:every], *mark[axis][-1:]] for axis in ("x", "y")}
