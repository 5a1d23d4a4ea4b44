"""A scene in a page: whole at rest, with all its positions as what differs between them, so that it plays at first
paint and without Python. The page's half is site/assets/play.js, its look site/assets/style/scene.css.
"""

import gzip
import json
import re

from markupsafe import Markup

from tools.pages import quoting, results
from widgets.frame.drawing import drawing
from widgets.frame.reader import host

POSITIONS, MOMENTS, PACKED = 100, 25, 12_000  # at most; bytes of all positions together, packed
CHOICES, LETTERS = 5, 60  # of a switch, and of its words together
STRIP = 1000, 40  # a curve is drawn in these units and stretched
NAME = 14  # pixels that the name of a curve is high


def figure(module, name):
    """The values for site/parts/scene.html."""
    made = results.figures(module)[name]
    checked(made, f"{module}.{name}")
    positions = dict(zip(made.places(), results.positions(module, name)))
    pens = {place: drawing.drawn(panels[0]) for place, (panels, _, _) in positions.items()}
    rest = (made.handle.start if made.handle else 0, made.time.start if made.time else 0)
    data = packed(made, positions, pens)
    if (size := len(gzip.compress(data.encode(), 6))) > PACKED:
        raise ValueError(f"{module}.{name} takes {size:,} bytes packed; a scene has at most {PACKED:,}")
    shown, said, word = positions[rest]
    return dict(
        id=f"{module}-{name}",
        place=f"{module}.{name}",
        title=shown[0]["title"],
        note=shown[0]["note"],
        given=shown[0]["given"],
        drawn=Markup("".join(pens[rest].out)),
        said=said,
        word=word,
        choice=rest[0],
        moment=rest[1],
        handle=made.handle,
        time=made.time and time(made, *rest),
        stills=[still(made, place, positions[place], pens[place]) for place in made.stills],
        data=Markup(data) if len(positions) > 1 else "",
        source=Markup(quoting.link(*host.line_of(made.source).split("#L"))),
    )


def checked(made, place):
    if made.time and len(made.time) > MOMENTS:
        raise ValueError(f"{place} has {len(made.time)} moments; a time has at most {MOMENTS}")
    if len(made.places()) > POSITIONS:
        raise ValueError(f"{place} has {len(made.places())} positions; a scene has at most {POSITIONS}")
    if made.handle and (len(made.handle) > CHOICES or sum(map(len, made.handle.words)) > LETTERS):
        raise ValueError(f"{place}: a scene's handle is a switch of at most {CHOICES} short words")


def packed(made, positions, pens):
    """All positions as JSON: what is drawn, what is said, what the moment is called, the number of the strip."""
    grid = [[(c, t) for t in range(len(made.time or "-"))] for c in range(len(made.handle or "-"))]
    of_all = lambda told: [[told(place) for place in row] for row in grid]
    strip = made.time and made.time.strip
    texts = dict(said=of_all(lambda place: positions[place][1]), word=of_all(lambda place: positions[place][2]))
    texts |= dict(read=of_all(lambda place: strip.reading(*made.at(*place)))) if strip else {}
    return drawing.in_json(drawing.packed(of_all(lambda place: pens[place].state)) | texts)


def time(made, choice, moment):
    """What the template writes of the time: its slider, and the strip above it."""
    time, last = made.time, len(made.time) - 1
    return dict(
        label=time.label,
        last=last,
        share=f"{moment / last:.4f}",
        ticks=[(f"{i / last:.4f}", word) for i, word in time.ticks.items()],
        milliseconds=time.milliseconds,
        holds=json.dumps(time.holds) if time.holds else "",
        strip=time.strip and strip(time.strip, made.handle.words if made.handle else [""], choice),
        read=time.strip and time.strip.reading(*made.at(choice, moment)),
    )


def strip(made, names, choice):
    """A curve for each position of the handle, with its name where it is farthest from the others."""
    wide, high = STRIP
    curves = [[float(y) for y in ys] for ys in made.curves()]
    up = lambda y: high - 1 - (high - 2) * y

    def apart(which, i):
        return min((abs(curves[which][i] - other[i]) for c, other in enumerate(curves) if c != which), default=1)

    def curve(which, name):
        ys = curves[which]
        far = max(range(len(ys) // 6, len(ys) - len(ys) // 6), key=lambda i: apart(which, i))
        above = all(ys[far] >= other[far] for other in curves)
        aside = max(NAME - (high - 2) * apart(which, far), 0) / 2  # names of curves that lie close give way
        return dict(
            name=name,
            top=f"{up(ys[far]) + (-aside if above else aside):.0f}",
            left=f"{100 * far / (len(ys) - 1):.0f}",
            d="".join(f"{'L' if i else 'M'}{wide * i / (len(ys) - 1):.0f} {up(y):.1f}" for i, y in enumerate(ys)),
        )

    named = zip(names, curves, strict=True)
    return dict(words=made.words, curves=[curve(which, name) for which, (name, _) in enumerate(named)])


def still(made, place, position, pen):
    """A position for paper: without keys, so that the scene's own parts are found."""
    _, said, word = position
    named = f"{made.handle.spoken(place[0])}, {word}" if made.handle and made.time else word
    return dict(named=named, said=said, drawn=Markup(re.sub(' data-k="[^"]*"', "", "".join(pen.out))))
