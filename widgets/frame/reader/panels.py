"""What goes with a drawn panel: its description for people who cannot see it, the curve that stays in gray, the place
of a break, its fingerprint.
"""

import hashlib
import html
import re
from collections.abc import Sequence
from math import inf, log10
from typing import Any

import numpy as np

from widgets.frame.contract.readouts import At
from widgets.frame.drawing import marks, scene
from widgets.frame.drawing.vocabulary import ROLES
from widgets.frame.drawing.written import figures, plain

KEY = re.compile(r"\[([a-z0-9-]+)\] ")  # in a note: the mark that the words after it are about


def described(panel: marks.Panel) -> str:
    """A sentence for people who cannot see the panel: what is drawn, over what range, up to what value."""
    curves = [m for m in panel["data"] if m["type"] != "heatmap"]
    # the rounding error of a zero, such as 1e-17, differs from machine to machine
    values = [round(v, 12) + 0.0 for m in curves for v in m["y"] if isinstance(v, int | float)]
    named = ", ".join(dict.fromkeys(m["name"] for m in curves if m["name"]))
    ends = f": from {figures(min(values))} to {figures(max(values))}" if values else ""
    return f"{panel['title']}, {KEY.sub('', panel['note'])}{' (' + named + ')' if named else ''}{ends}"


def ghost(panel: marks.Panel) -> list[Any] | None:
    """The curve that stays in gray when the setting changes, and the annotation at its last visible point: [index,
    annotation]; None if there is none.
    """
    curves = [(m["meta"]["role"] == "seed", i) for i, m in enumerate(panel["data"]) if m.get("mode") == "lines"]
    curves = [(later, i) for later, i in curves if panel["data"][i]["meta"]["role"] != "band"]
    if not curves:
        return None
    index = min(curves)[1]
    places = [places_on(panel, axis, panel["data"][index][axis]) for axis in "xy"]
    visible = [spot for spot in zip(*places) if None not in spot]
    if not visible:
        return None
    x, y = visible[-1]
    return [index, *marks.label(x, y, "", series=8, anchor="right")["annotations"]]


def placed(at: At, panels: Sequence[marks.Panel]) -> dict[str, Any] | None:
    """Where a break is visible: {panel, x, y, spot, words, curve, left, down, inside}. `spot` is its position in axis
    units, log10 on a logarithmic axis; its words go to the side with more room; `inside` says whether it is within the
    axes. None if the curve that `at` names has no point: the sentence about a break does not depend on its ring.
    """
    i = next(i for i, panel in enumerate(panels) if panel["title"] == at.panel)
    if scene.is_scene(panels[i]):  # its ring is part of the drawing
        return dict(panel=i, x=None, y=None, spot=None, words=at.words, curve="", left=False, down=False, inside=True)
    panel = plain(panels[i])
    place = on_curve(panel, at) if at.x is None or at.y is None else (at.x, at.y)
    if place is None:
        return None
    x, y = place
    words = at.words.format(y=y) if "{" in at.words else at.words
    (across, left), (up, down) = on_axis(panel, "x", x), on_axis(panel, "y", y)
    inside = all(-0.001 <= share <= 1.001 for share in (left, down))
    ring = dict(panel=i, x=plain(x), y=plain(y), spot=dict(x=across, y=up), words=words, curve=at.curve)
    return dict(ring, left=left > 0.5, down=down > 0.5, inside=inside)


def on_curve(panel: marks.Panel, at: At) -> tuple[Any, Any] | None:
    """The last point of the curve that `at` names, or the top of its bar at `at.x`, clipped to the axes. None if there
    is no such point.
    """
    mark = next(m for m in panel["data"] if m["name"] == at.curve)
    points = [(x, y) for x, y in zip(mark["x"], mark["y"]) if None not in (x, y) and at.x in (None, x)]
    if not points:
        return None
    x, y = points[-1]
    return within(panel["layout"]["xaxis"], x), within(panel["layout"]["yaxis"], y)


def within(axis: dict[str, Any], value: float | str) -> float | str:
    """The nearest value that an axis shows."""
    if isinstance(value, str):
        return value
    ends = sorted(axis.get("range", (-inf, inf)))
    low, high = (10.0**end for end in ends) if axis["type"] == "log" else ends
    return min(max(value, low), high)


def on_axis(panel: marks.Panel, name: str, value: float | str) -> tuple[float | str, float]:
    """(the value in axis units, its position along the axis from 0 to 1)."""
    axis, values = panel["layout"][f"{name}axis"], [v for mark in panel["data"] for v in mark[name]]
    if isinstance(value, str):
        categories = list(dict.fromkeys(values))
        return value, (categories.index(value) + 0.5) / len(categories)
    numbers = [v for v in values if isinstance(v, int | float)]
    low, high = axis.get("range") or (min(numbers), max(numbers))
    place = float(value) if axis["type"] != "log" else log10(value) if value > 0 else low
    return place, (place - low) / (high - low)


def places_on(panel: marks.Panel, name: str, values: list[Any]) -> list[Any]:
    """Values in axis units, log10 on a logarithmic axis; None for values outside its range."""
    axis = panel["layout"][f"{name}axis"]
    if axis["type"] == "log":
        values = [log10(v) if v is not None and v > 0 else None for v in values]
    low, high = sorted(axis.get("range", (-inf, inf)))
    return [v if isinstance(v, str) or (v is not None and low <= v <= high) else None for v in values]


def captioned(panel: marks.Panel) -> str:
    """The caption above a plot, as HTML: its title, then its note."""
    return f"{subscripted(panel['title'])} <span>{keyed(panel['note'])}</span>"


def keyed(note: str) -> str:
    """A note as HTML: before the word that follows, `[work] ` becomes a swatch of that role of vocabulary.py and `[s8]
    ` one of that series. So no note has to name a color, which is different in dark mode.
    """
    return re.sub(
        rf"{KEY.pattern}(\S+)", lambda match: f'<i class="key {css(match[1])}">{match[2]}</i>', subscripted(note)
    )


def css(key: str) -> str:
    if key in ROLES and ROLES[key].fill:
        return f"k-{key}"
    if re.fullmatch("s[1-8]", key):
        return key
    raise ValueError(f"the key [{key}] of a note is neither a role of vocabulary.py with a fill nor a series, s1 to s8")


def unkeyed(note: str) -> str:
    """A note as text, with a sign for each swatch."""
    return KEY.sub("▮ ", note)


def subscripted(text: str) -> str:
    """Escaped text in which π_old becomes a subscript."""
    return " ".join(
        "{}<sub>{}</sub>".format(*word.split("_", 1)) if word.find("_") > 0 else word
        for word in html.escape(text).split(" ")
    )


def fingerprint(panels: list[marks.Panel]) -> str:
    """Eight hexadecimal digits of what is drawn, to a thousandth of each curve's largest value, about a pixel. So the
    last bits of `exp` and of sums, which differ between processors, do not matter.
    """
    digest = hashlib.sha256()
    for mark in (mark for p in panels for mark in p["data"]):
        for values in (mark[axis] for axis in "xyz" if axis in mark):
            try:
                digest.update(rounded(np.asarray(values, np.float64)))
            except ValueError:  # a word
                digest.update(repr(plain(values)).encode())
    return digest.hexdigest()[:8]


def rounded(values: np.ndarray) -> bytes:
    """The bytes of the numbers in steps of a thousandth of the largest, and of the largest itself; NaN is the same
    whatever its sign.
    """
    finite = np.isfinite(values)
    largest = np.abs(values[finite]).max(initial=1e-9)  # a curve that stays below is zero up to rounding
    # 0.377 keeps the edges of the steps away from round numbers and simple fractions, whose last bit could cross them
    steps = np.floor(1000 * np.where(finite, values, 0) / largest + 0.377)
    special = np.nan_to_num(values, nan=1e5, posinf=1e6, neginf=-1e6)
    return np.append(np.where(finite, steps, special), np.floor(1000 * np.log(largest) + 0.377)).tobytes()
