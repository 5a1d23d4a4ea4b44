"""A panel as a card shows it: up to three series as bare paths over one base line, 240 by 52, no axes and no words."""

from math import log10

WIDTH, HEIGHT, INSET, MOST_POINTS = 240, 52, 3, 60
CLASSES = {1: "a", 2: "b", 3: "c"}  # the first three series have a color and a dash of their own; the rest is left out
QUIET = ("seed", "band", "reference", "histogram")


def svg(panel):
    return (
        f'<svg class="thumb" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
        f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT - 1}" y2="{HEIGHT - 1}"/>{"".join(paths(panel))}</svg>'
    )


def paths(panel):
    """One path a curve or a set of bars. A panel of other marks gives none."""
    marks = [
        m
        for m in panel["data"]
        if m["meta"]["series"] in CLASSES and m["meta"]["role"] not in QUIET and m["type"] in ("scatter", "bar")
    ]
    named = bool(marks) and isinstance(marks[0]["x"][0], str)
    names = list(dict.fromkeys(name for m in marks for name in m["x"])) if named else []
    points = [[(names.index(x) if named else x, y) for x, y in zip(m["x"], m["y"])] for m in marks]
    stacked = panel["layout"].get("barmode") == "stack"
    across = scale([x for row in points for x, _ in row], panel["layout"]["xaxis"], 0, WIDTH, room=0.5 if named else 0)
    floor = [0] if any(m["type"] == "bar" for m in marks) else []
    up = scale([y for row in points for _, y in row] + floor, panel["layout"]["yaxis"], HEIGHT - 1, INSET)
    for mark, row in zip(marks, points):
        place = [(across(x), up(y)) for x, y in thinned(row)]
        draw = (
            columns
            if mark["type"] == "bar"
            else spots
            if mark["mode"] == "markers"
            else steps
            if mark["meta"]["role"] == "step"
            else curve
        )
        if d := draw(place):
            yield f'<path class="{CLASSES[mark["meta"]["series"]]}" d="{d}"/>'
        if stacked:
            break  # what lies on top of it would need the sums


def scale(values, axis, start, end, room=0.0):
    """A function from data to drawing units: None where the axis has no place for the value."""
    log = axis.get("type") == "log"
    known = [log10(v) if log else v for v in values if v is not None and not (log and v <= 0)]
    low, high = axis.get("range") or (min(known, default=0) - room, max(known, default=1) + room)

    def at(value):
        if value is None or (log and value <= 0):
            return None
        share = ((log10(value) if log else value) - low) / ((high - low) or 1)
        return start + (end - start) * min(1, max(0, share))

    return at


def thinned(row):
    every = -(-len(row) // MOST_POINTS)
    return row[::every] if every > 1 else row


def curve(place):
    d, gap = "", True
    for x, y in place:
        if x is not None and y is not None:
            d += f"{'M' if gap else 'L'}{x:.0f} {y:.1f}"
        gap = x is None or y is None
    return d


def steps(place):
    rest = [(x, y) for x, y in place if x is not None and y is not None]
    return rest and f"M{rest[0][0]:.0f} {rest[0][1]:.1f}" + "".join(f"H{x:.0f}V{y:.1f}" for x, y in rest[1:])


def columns(place):
    half = min(9.0, WIDTH / (3 * len(place))) if place else 0
    return "".join(
        f"M{x - half:.1f} {HEIGHT - 1}V{y:.1f}H{x + half:.1f}V{HEIGHT - 1}"
        for x, y in place
        if x is not None and y is not None
    )


def spots(place):
    return "".join(f"M{x - 1.5:.1f} {y:.1f}H{x + 1.5:.1f}" for x, y in place if x is not None and y is not None)
