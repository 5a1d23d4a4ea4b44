"""What a lesson's break looks like, on its card: the panel of a widget that shows it, 240 by 64, at the default in gray
and at the first preset that breaks in navy, under the dashed threshold; no axes and no words.
"""

from itertools import chain
from math import log10

WIDTH, HEIGHT, INSET, MOST_POINTS = 240, 64, 4, 80
FLOOR = HEIGHT - 0.5


def leading(plain, broken):
    """The panels that show the break, at the default and at a setting that breaks: the first with a threshold that the
    break changes, or else with a threshold, or else the first that the widget calls its front.
    """
    pairs = list(zip(plain, broken))
    with_threshold = [pair for pair in pairs if any(map(thresholds, pair))]
    changed = [pair for pair in with_threshold if pair[0]["data"] != pair[1]["data"]]
    front = [pair for pair in pairs if pair[0]["front"]]
    return next(chain(changed, with_threshold, front, pairs))


def thresholds(panel):
    return [shape for shape in panel["layout"]["shapes"] if shape["name"] == "threshold"]


def svg(plain, broken):
    """A thumbnail of one panel at two settings."""
    both = [shown(plain), shown(broken)]
    xs = [x for marks in both for _, places in marks for x, _, _ in places]
    ys = [y for marks in both for _, places in marks for _, *span in places for y in span]
    bars = any(kind == "bar" for marks in both for kind, _ in marks)
    names = list(dict.fromkeys(x for x in xs if isinstance(x, str)))

    def number(x):
        """A place along the axis; a category is the count of those before it."""
        return names.index(x) if isinstance(x, str) else x

    layouts = plain["layout"], broken["layout"]
    across = scale([number(x) for x in xs], [each["xaxis"] for each in layouts], 0, WIDTH, room=0.5 * bars)
    up = scale(ys, [each["yaxis"] for each in layouts], FLOOR, INSET)
    paths = "".join(rule(shape, across, up) for shape in thresholds(broken) or thresholds(plain))
    for lane, (css, marks) in enumerate(zip(("plain", "broken"), both)):
        for kind, places in marks if both[0] != both[1] or not lane else []:
            at = [(across(number(x)), up(foot), up(y)) for x, foot, y in places]
            width = WIDTH / len(at) / 3 if kind == "bar" and at else 0
            if d := DRAW[kind](at, width, lane):
                paths += f'<path class="{css} {kind}" d="{d}"/>'
    return (
        f'<svg class="thumb" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="floor" d="M0 {FLOOR}H{WIDTH}"/>{paths}</svg>'
    )


def shown(panel):
    """[(kind, [(x, foot, y)])] of what the panel studies: its first series, a curve, bars, the ring of the setting; or
    all of its bars, where each is a quantity of its own.
    """
    marks = [m for m in panel["data"] if m["type"] in ("scatter", "bar") and m["meta"]["role"] in ("", "step", "here")]
    single = [mark for mark in marks if mark["type"] == "bar" and len(mark["x"]) == 1]
    if len({mark["meta"]["series"] for mark in single}) == len(single) > 1:  # a bar a quantity: all of them are studied
        return [("bar", [place for mark in single for place in placed(mark, panel)])]
    ones = [(kind_of(mark), mark) for mark in marks if mark["meta"]["series"] == 1]
    kinds = {kind for kind, _ in ones}
    return [
        (kind, placed(mark, panel)) for kind, mark in ones if not (kind == "dots" and kinds & {"curve", "step", "bar"})
    ]


def kind_of(mark):
    if mark["type"] == "bar":
        return "bar"
    role = mark["meta"]["role"]
    return role or ("dots" if mark["mode"] == "markers" else "curve")


def placed(mark, panel):
    """(x, foot, y) of each point: the foot of a bar is 0, or what it is stacked on."""
    points = list(zip(mark["x"], mark["y"]))
    every = -(-len(points) // MOST_POINTS)
    if mark["type"] != "bar":
        return [(x, y, y) for x, y in points[:: every or 1]]
    feet = dict.fromkeys(mark["x"], 0.0)
    if panel["layout"].get("barmode") == "stack":
        for below in panel["data"][: panel["data"].index(mark)]:
            for x, y in zip(below["x"], below["y"]):
                feet[x] = feet.get(x, 0) + (y or 0)
    return [(x, feet[x], None if y is None else feet[x] + y) for x, y in points]


def scale(values, axes, start, end, room=0.0):
    """A function from data to drawing units: None where the axes have no place for the value."""
    log = axes[0].get("type") == "log"
    numbers = [log10(v) if log else v for v in values if v is not None and not (log and v <= 0)]
    ends = [axis["range"] for axis in axes if axis.get("range")]
    ends = ends or [(min(numbers, default=0) - room, max(numbers, default=1) + room)]
    low, high = min(min(pair) for pair in ends), max(max(pair) for pair in ends)

    def at(value):
        if value is None:
            return None
        if log and value <= 0:
            return start if value == 0 else None  # the foot of a bar
        share = ((log10(value) if log else value) - low) / ((high - low) or 1)
        return start + (end - start) * min(1, max(0, share))

    return at


def rule(shape, across, up):
    if shape["y0"] == shape["y1"]:
        return f'<path class="threshold" d="M0 {up(shape["y0"]):.1f}H{WIDTH}"/>'
    return f'<path class="threshold" d="M{across(shape["x0"]):.1f} 0V{HEIGHT}"/>'


def curve(at, width, lane):
    d, gap = "", True
    for x, _, y in at:
        if x is not None and y is not None:
            d += f"{'M' if gap else 'L'}{x:.0f} {y:.1f}"
        gap = x is None or y is None
    return d


def steps(at, width, lane):
    rest = [(x, y) for x, _, y in at if x is not None and y is not None]
    return rest and f"M{rest[0][0]:.0f} {rest[0][1]:.1f}" + "".join(f"H{x:.0f}V{y:.1f}" for x, y in rest[1:])


def columns(at, width, lane):
    """Bars from their feet up, those of the two settings side by side."""
    left = (lane - 1) * width
    return "".join(
        f"M{x + left:.1f} {foot:.1f}V{y:.1f}h{width:.1f}V{foot:.1f}Z"
        for x, foot, y in at
        if None not in (x, foot, y) and foot != y
    )


def spots(at, width, lane):
    """Lines without length, whose round ends are dots however the drawing is stretched."""
    return "".join(f"M{x:.1f} {y:.1f}h0" for x, _, y in at if x is not None and y is not None)


DRAW = {"curve": curve, "step": steps, "bar": columns, "dots": spots, "here": spots}
