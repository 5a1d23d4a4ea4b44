"""A scene in a page: whole at rest, with all its positions as what differs between them, so that it plays at first
paint and without Python. The page's half is site/assets/play.js, its look site/assets/style/scene.css.
"""

import gzip
import json
import re

from markupsafe import Markup

from tools.pages import quoting, results
from widgets.frame.drawing import drawing, lanes
from widgets.frame.reader import host

POSITIONS, MOMENTS, PACKED = 100, 25, 12_000  # at most; bytes of all positions together, packed
CHOICES, LETTERS = 5, 64  # of a switch, and of its words together
STRIP = 1000, 40  # a curve is drawn in these units and stretched
NAME = 14  # pixels that the name of a curve is high


def figure(module, name, source_as=None):
    """The values for site/parts/scene.html; `source_as` is what the link to its code says, else file and line."""
    scene = results.figures(module)[name]
    checked(scene, f"{module}.{name}")
    positions = dict(zip(scene.places(), results.positions(module, name)))
    pens = {place: drawing.drawn(panels[0]) for place, (panels, _, _) in positions.items()}
    rest = (scene.handle.start if scene.handle else 0, scene.time.start if scene.time else 0)
    data = packed(scene, positions, pens)
    if (size := len(gzip.compress(data.encode(), 6))) > PACKED:
        raise ValueError(f"{module}.{name} takes {size:,} bytes packed; a scene has at most {PACKED:,}")
    at_rest, sentence, word = positions[rest]
    return dict(
        id=f"{module}-{name}",
        place=f"{module}.{name}",
        bare=False,  # of its title and its source, where the page has them elsewhere
        title=at_rest[0]["title"],
        note=at_rest[0]["note"],
        given=at_rest[0]["given"],
        drawn=Markup("".join(pens[rest].out)),
        said=sentence,
        word=word,
        choice=rest[0],
        moment=rest[1],
        handle=scene.handle,
        names=names(scene),
        time=scene.time and time(scene, *rest),
        over=scene.time and scene.time.over and over(scene.time.over, at_rest[0]),
        stills=[still(scene, place, positions[place], pens[place]) for place in scene.stills],
        data=Markup(data) if len(positions) > 1 else "",
        source=Markup(quoting.link(*host.line_of(scene.source).split("#L"), source_as)),
    )


def names(scene):
    """What the positions of the switch are called."""
    return [scene.handle.spoken(i) for i in range(len(scene.handle))] if scene.handle else []


def checked(scene, place):
    if scene.time and len(scene.time) > MOMENTS:
        raise ValueError(f"{place} has {len(scene.time)} moments; a time has at most {MOMENTS}")
    if len(scene.places()) > POSITIONS:
        raise ValueError(f"{place} has {len(scene.places())} positions; a scene has at most {POSITIONS}")
    if len(names(scene)) > CHOICES or sum(map(len, names(scene))) > LETTERS:
        raise ValueError(f"{place}: a scene's handle is a switch of at most {CHOICES} short words")


def packed(scene, positions, pens):
    """All positions as JSON: what is drawn, what is said, what the moment is called, the number of the strip."""
    grid = [[(c, t) for t in range(len(scene.time or "-"))] for c in range(len(scene.handle or "-"))]
    strip = scene.time and scene.time.strip
    texts = {key: [[positions[place][i] for place in row] for row in grid] for i, key in enumerate(("said", "word"), 1)}
    read = strip and strip.reading
    texts |= dict(read=[[read(*scene.at(*place)) for place in row] for row in grid]) if read else {}
    return drawing.in_json(drawing.packed([[pens[place].state for place in row] for row in grid]) | texts)


def time(scene, choice, moment):
    """What the template writes of the time: its slider, and the strip above it."""
    time, last = scene.time, len(scene.time) - 1
    return dict(
        label=time.label,
        last=last,
        share=f"{moment / last:.4f}",
        ticks=[(f"{i / last:.4f}", word) for i, word in time.ticks.items()],
        milliseconds=time.milliseconds,
        holds=json.dumps(time.holds) if time.holds else "",
        strip=time.strip and strip(time.strip, time.strip.names or names(scene) or [""], choice),
        read=time.strip and time.strip.reading and time.strip.reading(*scene.at(choice, moment)),
    )


def over(shares, scene):
    """Where the line that is dragged lies on the picture: its first place, how far it goes, how high the picture is."""
    first, last = shares
    high = lanes.SQUARE * scene["columns"][0][0]["high"]
    return f"--first:{first:.4f};--far:{last - first:.4f};--high:{high:g}px"


def strip(measurement, names, choice):
    """A curve for each position of the handle, with its name where it is farthest from the others; a curve with a name
    of its own has it at its end, towards the middle.
    """
    wide, high = STRIP
    curves = [[float(y) for y in ys] for ys in measurement.curves()]

    def up(y):
        return high - 1 - (high - 2) * y

    def apart(index, i):
        return min((abs(curves[index][i] - other[i]) for c, other in enumerate(curves) if c != index), default=1)

    def curve(index, name):
        ys = curves[index]
        if measurement.names:
            far = len(ys) - 1
            top = f"calc({100 * up(ys[far]) / high:.0f}% {'+' if ys[far] > 0.5 else '-'} {NAME - 4}px)"
        else:
            far = max(range(len(ys) // 6, len(ys) - len(ys) // 6), key=lambda i: apart(index, i))
            above = all(ys[far] >= other[far] for other in curves)
            aside = max(NAME - (high - 2) * apart(index, far), 0) / 2  # names of curves that lie close give way
            top = f"{up(ys[far]) + (-aside if above else aside):.0f}px"
        return dict(
            name=name,
            top=top,
            left=f"{100 * far / (len(ys) - 1):.0f}",
            d="".join(f"{'L' if i else 'M'}{wide * i / (len(ys) - 1):.0f} {up(y):.1f}" for i, y in enumerate(ys)),
        )

    named = zip(names, curves, strict=True)
    return dict(
        words=measurement.words,
        ends=bool(measurement.names),
        curves=[curve(index, name) for index, (name, _) in enumerate(named)],
    )


def still(scene, place, position, pen):
    """A position for paper: without keys, so that the scene's own parts are found."""
    _, sentence, word = position
    named = f"{scene.handle.spoken(place[0])}, {word}" if scene.handle and scene.time else word
    return dict(named=named, said=sentence, drawn=Markup(re.sub(' data-k="[^"]*"', "", "".join(pen.out))))
