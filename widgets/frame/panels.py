"""What is said of a drawn panel, and what is remembered of it: its sentence for those who do not see it, the curve that
stays in gray, its fingerprint.
"""

import hashlib
import html
from math import inf, log10
from typing import Any

import numpy as np

from widgets.frame import marks
from widgets.frame.values import figures, plain


def described(panel: marks.Panel) -> str:
    """A sentence for those who do not see the panel: what is drawn, over what range, up to what value."""
    curves = [m for m in panel["data"] if m["type"] != "heatmap"]
    # what is left of a zero after rounding, 1e-17, is another on each machine
    values = [round(v, 12) + 0.0 for m in curves for v in m["y"] if isinstance(v, int | float)]
    named = ", ".join(dict.fromkeys(m["name"] for m in curves if m["name"]))
    ends = f": from {figures(min(values))} to {figures(max(values))}" if values else ""
    return f"{panel['title']}, {panel['note']}{' (' + named + ')' if named else ''}{ends}"


def ghost(panel: marks.Panel) -> list[Any] | None:
    """The curve that stays in gray when the setting is left, and the place of its word, at its last point: [index,
    annotation]; None without one.
    """
    curves = [(m["meta"]["role"] == "seed", i) for i, m in enumerate(panel["data"]) if m.get("mode") == "lines"]
    curves = [(later, i) for later, i in curves if panel["data"][i]["meta"]["role"] != "band"]
    if not curves:
        return None
    which = min(curves)[1]
    places = [places_on(panel, axis, panel["data"][which][axis]) for axis in "xy"]
    seen = [spot for spot in zip(*places) if None not in spot]
    if not seen:
        return None
    x, y = seen[-1]
    return [which, *marks.label(x, y, "", series=8, anchor="right")["annotations"]]


def places_on(panel: marks.Panel, name: str, values: list[Any]) -> list[Any]:
    """Values in units of their axis, decades on a logarithmic one; None where its range does not show them."""
    axis = panel["layout"][f"{name}axis"]
    if axis["type"] == "log":
        values = [log10(v) if v is not None and v > 0 else None for v in values]
    low, high = sorted(axis.get("range", (-inf, inf)))
    return [v if isinstance(v, str) or (v is not None and low <= v <= high) else None for v in values]


def captioned(panel: marks.Panel) -> str:
    """What stands over a plot, as HTML: its title, then its note."""
    return f"{subscripted(panel['title'])} <span>{subscripted(panel['note'])}</span>"


def subscripted(text: str) -> str:
    """Escaped text in which π_old becomes a subscript."""
    return " ".join(
        "{}<sub>{}</sub>".format(*word.split("_", 1)) if word.find("_") > 0 else word
        for word in html.escape(text).split(" ")
    )


def fingerprint(panels: list[marks.Panel]) -> str:
    """Eight hexadecimal digits of what is drawn, to a thousandth of each curve's largest value, about a pixel: the last
    bits of `exp` and of sums, in which processors differ, do not show.
    """
    digest = hashlib.sha256()
    for mark in (mark for p in panels for mark in p["data"]):
        for values in (mark[axis] for axis in "xyz" if axis in mark):
            try:
                digest.update(rounded(np.asarray(values, np.float64)))
            except ValueError:  # words
                digest.update(repr(plain(values)).encode())
    return digest.hexdigest()[:8]


def rounded(values: np.ndarray) -> bytes:
    """The bytes of numbers in steps of a thousandth of the largest, and of the largest itself; one NaN, whatever its
    sign.
    """
    finite = np.isfinite(values)
    largest = np.abs(values[finite]).max(initial=1e-9)  # a curve that stays below is zero and its rounding errors
    # 0.377: the edges of the steps lie where round numbers and simple fractions do not, or a last bit would cross them
    steps = np.floor(1000 * np.where(finite, values, 0) / largest + 0.377)
    special = np.nan_to_num(values, nan=1e5, posinf=1e6, neginf=-1e6)
    return np.append(np.where(finite, steps, special), np.floor(1000 * np.log(largest) + 0.377)).tobytes()
