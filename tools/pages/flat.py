"""A pen that scene_pictures.py paints with, and that leaves a small SVG without words: for cards and emblems.

What has the same color becomes one path, as long as nothing that was painted in between lies under it. Colors are those
of the style sheet by name, so the drawing follows the light of the page.
"""

from collections.abc import Callable

Box = tuple[float, float, float, float]  # left, top, right, bottom
MARGIN = 2.0  # pixels around all of it, before it is scaled


class Flat:
    """Has the methods of link_previews.Pen that scenes are painted with."""

    def __init__(self):
        self.layers: list[tuple[str, list[Box], list[Callable]]] = []  # (style, boxes, what writes each for a scale)

    def put(self, style, box, written):
        for i in range(len(self.layers) - 1, -1, -1):
            known, boxes, writers = self.layers[i]
            if known == style:
                boxes.append(box)
                writers.append(written)
                return
            if any(touch(box, other) for other in boxes):
                break
        self.layers.append((style, [box], [written]))

    def box(self, x, y, wide, high, fill, rim=""):
        def written(at, scale):
            left, top, right, bottom = *at(x, y), *at(x + wide, y + high)
            return f"M{left} {top}H{right}V{bottom}H{left}z"

        self.put(painted(fill, rim), (x, y, x + wide, y + high), written)

    def frame(self, x, y, wide, high, rim):
        self.box(x, y, wide, high, "", rim)

    def dot(self, x, y, radius, fill):
        """A line without length, whose round end is the dot."""
        style = f"stroke:var(--{fill});stroke-linecap:round;stroke-width:{{{2 * radius:g}}}"

        def written(at, scale):
            left, top = at(x, y)
            return f"M{left} {top}h0"

        self.put(style, (x - radius, y - radius, x + radius, y + radius), written)

    def hoop(self, x, y, radius, rim):
        def written(at, scale):
            (left, middle), r = at(x - radius, y), round(radius * scale)
            return f"M{left} {middle}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0"

        self.put(painted("", rim), (x - radius, y - radius, x + radius, y + radius), written)

    def area(self, points, fill):
        def written(at, scale):
            return "M" + "L".join(f"{left} {top}" for left, top in (at(*point) for point in points)) + "z"

        xs, ys = zip(*points)
        self.put(painted(fill, ""), (min(xs), min(ys), max(xs), max(ys)), written)

    def line(self, places, wide, color):
        def written(at, scale):
            return "M" + "L".join(f"{left} {top}" for left, top in (at(*place) for place in places))

        xs, ys = zip(*places)
        style = f"fill:none;stroke:var(--{color});stroke-width:{{{wide:g}}}"
        self.put(style, (min(xs), min(ys), max(xs), max(ys)), written)

    def write(self, *words):
        """Nothing: a card has no words of its picture."""

    def long(self, *words):
        return 0.0

    def svg(self, wide, high, css):
        """All of it, as large as it fits from the upper left corner."""
        boxes = [box for _, boxes, _ in self.layers for box in boxes]
        left, top = min(box[0] for box in boxes) - MARGIN, min(box[1] for box in boxes) - MARGIN
        right, bottom = max(box[2] for box in boxes) + MARGIN, max(box[3] for box in boxes) + MARGIN
        scale = min(wide / (right - left), high / (bottom - top))

        def at(x, y):
            return round((x - left) * scale), round((y - top) * scale)

        paths = "".join(
            f'<path style="{sized(style, scale)}" d="{"".join(write(at, scale) for write in writers)}"/>'
            for style, _, writers in self.layers
        )
        right, bottom = at(right, bottom)
        fit = f'viewBox="0 0 {right} {bottom}" preserveAspectRatio="xMinYMid"'
        return f'<svg class="{css}" {fit} aria-hidden="true">{paths}</svg>'


def painted(fill, rim):
    return ";".join([f"fill:var(--{fill})"] * bool(fill) + [f"stroke:var(--{rim})"] * bool(rim))


def sized(style, scale):
    """A width of a line stands in braces in pixels before they are scaled."""
    before, brace, rest = style.partition("{")
    return f"{before}{float(rest.rstrip('}')) * scale:.1f}" if brace else style


def touch(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
