"""The picture that stands beside a link to a lesson elsewhere: its name, its title, and the panel in which it breaks.

1200 × 630 pixels, the size that og:image is shown in without being cut. The panel is the SVG of tools/pages/drawing.py,
of whose few elements this paints each; colors are those of the style sheet, by day, and letters those of the pages.
"""

import hashlib
import io
import json
import re
import xml.etree.ElementTree as ET
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path

from PIL import Image, ImageColor, ImageDraw, ImageFont

from tools.pages import drawing, hero, pictures, scene_pictures
from tools.runtime import files
from widgets.frame.drawing import scene
from widgets.frame.drawing.drawing import SQUARE as UNIT
from widgets.frame.reader import panels

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "_cache" / "pictures"
LETTERS, SIGNS = ROOT / "site" / "vendor" / "fonts", ROOT / "site" / "vendor" / "katex" / "KaTeX_Main-Regular.woff2"
TOKENS = (ROOT / "site" / "assets" / "style" / "tokens.css").read_text(encoding="utf-8")
COLORS = dict(re.findall(r"--(\w+): (#\w+);", TOKENS.partition("slate")[0]))
COLORS |= {name: COLORS[same] for name, same in re.findall(r"--(t\d): var\(--(\w+)\);", TOKENS) if name not in COLORS}
COLORS["on1"] = COLORS["paper"]  # letters on a square of the first series, by day

WIDTH, HEIGHT, EDGE = 1200, 630, 60
FINE = 2  # drawn so many times as large, then made smaller: smooth edges
SCALE = 2  # of the panel against the page's own pixels: its words are read in a thumbnail
SHADES = 5  # of each color on its way to the paper: the picture stays small, its edges smooth
PAINTS = ["ink", "ink2", "edge", "rule", "panel", "well", "warn", "touch", *(f"d{i}" for i in range(1, 9)), "t2"]
PAINTS += [f"q{i}" for i in range(1, 5)] + [f"v{i}" for i in range(1, 10)]
TITLE_LINES = 2
LOOK = {  # class of a path: (color, width, dashes, opacity)
    "axis": ("edge", 1, (), 1),
    "grid": ("rule", 1, (), 1),
    "threshold": ("warn", 1.25, (5, 3), 1),
    "exact": ("ink2", 1, (2, 3), 1),
    "reference": ("d8", 1.5, (), 1),
    "before": ("d8", 1.5, (), 1),
    "other": ("d8", 1, (2, 3), 0.75),
    "dead": ("d8", 2, (2, 3), 1),
    "seed": (None, 1.25, (), 0.55),
}
DASHES = {2: (6, 3), 3: (2, 3), 4: (9, 3, 2, 3), 6: (6, 3), 7: (2, 3), 8: (9, 3, 2, 3)}
FILLS = {"beyond": ("warn", 0.09), "region": ("edge", 0.12), "free": ("paper", 1), "histogram": (None, 0.7)}


def of(lesson):
    """The picture of a lesson as the bytes of a PNG."""
    return kept(lesson.label, lesson.part, lesson.title, pictures.leading(lesson.widget) if lesson.widget else None)


def of_the_book():
    """The picture of the front page, with the scene that stands there."""
    return kept("", "", "RL post-training, from first principles", pictures.at_rest(*hero.FRONT))


def kept(label, part, title, panel):
    """The picture from the disk, painted again only where something that it shows has changed."""
    painters = (__file__, drawing.__file__, scene_pictures.__file__)
    made_from = [Path(file).read_text(encoding="utf-8") for file in painters]
    made_from += [TOKENS, label, part, title, json.dumps(panel)]
    file = KEPT / f"{hashlib.sha256(repr(made_from).encode()).hexdigest()[:24]}.png"
    if not file.exists():
        files.write(file, painted(label, part, title, panel))
    return file.read_bytes()


def painted(label, part, title, panel):
    image = Image.new("RGB", (WIDTH * FINE, HEIGHT * FINE), COLORS["paper"])
    pen = Pen(image, FINE)
    pen.write(EDGE, 84, label, "sans", 600, 32, "ink")
    pen.write(EDGE + 24 + pen.long(label, "sans", 600, 32), 84, part, "sans", 400, 30, "ink2")
    pen.write(WIDTH - EDGE, 84, "RL Post-Training", "serif", 600, 28, "ink2", "end")
    y = 90
    lines = pen.wrapped(title, "serif", 600, 58)
    for line in lines:
        y += 64
        pen.write(EDGE, y, line, "serif", 600, 58 if len(lines) <= TITLE_LINES else 46, "ink")
    if panel:
        y += 66
        pen.write(EDGE, y, panel["title"], "sans", 600, 27, "ink")
        at = EDGE + 14 + pen.long(panel["title"], "sans", 600, 27)
        if not panels.KEY.search(panel["note"]) and at + pen.long(panel["note"], "sans", 400, 25) < WIDTH - EDGE:
            pen.write(at, y, panel["note"], "sans", 400, 25, "ink2")
        y += 12
        if scene.is_scene(panel):
            paint_scene(image, panel, y + 20)
        else:
            wide, tall = (WIDTH - 2 * EDGE + 40) / SCALE, (HEIGHT - 24 - y) / SCALE
            axes, content = drawing.parts(panel, wide, tall)
            paint(image, ET.fromstring(f"<g>{axes}{content}</g>"), EDGE - 20, y)
    small = image.resize((WIDTH, HEIGHT), Image.Resampling.BOX)
    few = small.quantize(palette=shades(), dither=Image.Dither.NONE)
    few.save(packed := io.BytesIO(), "PNG", optimize=True)
    return packed.getvalue()


@cache
def shades():
    """The palette of all pictures."""
    steps = [mixed(COLORS[name], step / SHADES) for name in PAINTS for step in range(1, SHADES + 1)]
    tints = [(255, 255, 255), *(mixed(COLORS[color], opacity) for color, opacity in FILLS.values() if color)]
    palette = Image.new("P", (1, 1))
    palette.putpalette([value for color in [*tints, *steps] for value in color])
    return palette


def paint_scene(image, panel, top):
    """The scene below `top`, as large as it fits; its letters are larger than the page's."""
    columns = [column for column in panel["columns"] if column[0]["role"] != "narrow"]
    first, *_ = (max(view["wide"] for view in column) for column in columns)
    high = UNIT * max(sum(view["high"] for view in column[:1]) for column in columns)
    many = 2 if len(columns) > 1 else 1
    scale = min((WIDTH - 2 * EDGE) / (UNIT * first * many + 24 * (many - 1)), (HEIGHT - 16 - top) / high)
    pen = Pen(image, FINE * scale, EDGE / scale, top / scale)
    scene_pictures.paint(pen, panel, (WIDTH - EDGE) / scale, (HEIGHT - 16 - top) / scale)


def paint(image, panel, left, top):
    """An SVG of a panel with its corner at (left, top); what lies in an inner svg does not leave its frame."""
    outer = Pen(image, FINE * SCALE, left / SCALE, top / SCALE)
    for element in panel:
        if element.tag != "svg":
            outer.element(element)
            continue
        layer = image.copy()
        inner = Pen(layer, FINE * SCALE, left / SCALE, top / SCALE)
        for part in element.iter():
            inner.element(part)
        x, y, wide, tall = (float(element.get(name)) for name in ("x", "y", "width", "height"))
        frame = [round(v) for v in (*inner.at(x, y), *inner.at(x + wide, y + tall))]
        image.paste(layer.crop(frame), frame[:2])


class Pen:
    """Draws in units of `scale` pixels, from (left, top) on."""

    def __init__(self, image, scale, left=0.0, top=0.0):
        self.draw, self.scale, self.left, self.top = ImageDraw.Draw(image), scale, left, top

    def at(self, x, y):
        return (self.left + float(x)) * self.scale, (self.top + float(y)) * self.scale

    def element(self, element):
        kinds = element.get("class", "").split()
        if element.tag == "path" and element.get("d"):
            self.path(element.get("d"), kinds)
        elif element.tag == "rect":
            x, y, wide, tall = (float(element.get(name)) for name in ("x", "y", "width", "height"))
            fill, rim = filled(kinds, element.get("style", ""))
            self.draw.rectangle((self.at(x, y), self.at(x + wide, y + tall)), fill, rim, round(self.scale))
        elif element.tag == "circle":
            radius = float(element.get("r")) * self.scale
            color = COLORS["touch"] if "here" in kinds else COLORS[f"d{series(kinds)}"]
            inside = COLORS["paper"] if "here" in kinds else color
            self.draw.circle(
                self.at(element.get("cx"), element.get("cy")), radius, inside, color, round(3 * self.scale)
            )
        elif element.tag == "text":
            self.words(element, kinds)

    def box(self, x, y, wide, high, fill, rim=""):
        edge = COLORS[rim] if rim else None
        self.draw.rectangle((self.at(x, y), self.at(x + wide, y + high)), COLORS[fill], edge, round(self.scale))

    def frame(self, x, y, wide, high, rim):
        corners = (self.at(x, y), self.at(x + wide, y + high))
        self.draw.rounded_rectangle(corners, 6 * self.scale, None, COLORS[rim], round(2 * self.scale))

    def dot(self, x, y, radius, fill):
        self.draw.circle(self.at(x, y), radius * self.scale, COLORS[fill])

    def line(self, places, wide, color):
        self.draw.line([self.at(*place) for place in places], COLORS[color], round(wide * self.scale), "curve")

    def hoop(self, x, y, radius, rim):
        self.draw.circle(self.at(x, y), radius * self.scale, None, COLORS[rim], round(2 * self.scale))

    def area(self, points, fill):
        self.draw.polygon([self.at(*point) for point in points], COLORS[fill])

    def path(self, d, kinds):
        color, width, dashes, opacity = next((LOOK[kind] for kind in kinds if kind in LOOK), (None, 2.25, None, 1))
        dashes = DASHES.get(series(kinds), ()) if dashes is None else dashes
        runs = [[self.at(*point) for point in run] for run in points(d)]
        ink = mixed(COLORS[color or f"d{series(kinds)}"], opacity)
        if "band" in kinds:
            for run in runs:
                self.draw.polygon(run, mixed(COLORS[f"d{series(kinds)}"], 0.18))
            return
        for run in runs:
            for piece in dashed(run, [length * self.scale for length in dashes]):
                if len(piece) > 1:
                    self.draw.line(piece, ink, round(width * self.scale), "curve")

    def words(self, element, kinds):
        """A text of the drawing: lines of 12.5 pixels, of which a part may stand higher, on a halo of paper."""
        lines, x, y = [[(element.text or "", 12.5, 0)]], float(element.get("x")), float(element.get("y"))
        for part in element:
            if part.get("x"):
                lines.append([(part.text or "", 12.5, 0)])
            else:
                lines[-1].append((part.text or "", 9.4, 5))
            lines[-1].append((part.tail or "", 12.5, 0))
        word = next((kind for kind in kinds if kind.startswith("series-")), "")
        color = {"threshold": "warn", "inside": "paper"}.get(kinds[0] if kinds else "", "ink2")
        color = f"t{word[-1]}" if word and word != "series-0" else color
        weight = 600 if word else 400
        for i, line in enumerate(lines):
            long = sum(self.long(text, "sans", weight, size) for text, size, _ in line)
            place = x - long * {"middle": 0.5, "end": 1}.get(element.get("text-anchor"), 0)
            for text, size, raised in line:
                halo = 0 if color == "paper" else 2
                self.write(place, y + 15 * i - raised, text, "sans", weight, size, color, halo=halo)
                place += self.long(text, "sans", weight, size)

    def write(self, x, y, words, family, weight, size, color, anchor="start", halo=0):
        if anchor == "end":
            x -= self.long(words, family, weight, size)
        for letters, font in spelled(words, family, weight, round(size * self.scale)):
            place = self.at(x, y)
            if halo:
                self.draw.text(place, letters, COLORS["paper"], font, "ls", stroke_width=halo * self.scale)
            self.draw.text(place, letters, COLORS[color], font, "ls")
            x += font.getlength(letters) / self.scale

    def long(self, words, family, weight, size):
        return (
            sum(font.getlength(w) for w, font in spelled(words, family, weight, round(size * self.scale))) / self.scale
        )

    def wrapped(self, words, family, weight, size):
        lines = [""]
        for word in words.split():
            longer = f"{lines[-1]} {word}".strip()
            if self.long(longer, family, weight, size) <= WIDTH - 2 * EDGE:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines


def series(kinds):
    return next((int(kind[1:]) for kind in kinds if re.fullmatch(r"s\d", kind)), 1)


def filled(kinds, style):
    """(fill, rim) of a rectangle: a bar, a region, or a cell between the two ends of its scale."""
    if "cell" in kinds:
        end, start = ("v9", "v5") if "above" in kinds else ("v2", "v5") if "below" in kinds else ("q7", "q1")
        return mixed(COLORS[end], float(re.search(r"--v:([\d.]+)", style)[1]), COLORS[start]), None
    color, opacity = next((FILLS[kind] for kind in kinds if kind in FILLS), (None, 1))
    own = COLORS[f"d{series(kinds)}"]
    if "waste" in kinds:  # hatched on the page
        return mixed(own, 0.25), own
    return mixed(COLORS[color] if color else own, opacity), COLORS["edge"] if "free" in kinds else None


def mixed(color, share, ground="#ffffff"):
    over, under = ImageColor.getrgb(color), ImageColor.getrgb(ground)
    return tuple(round(share * a + (1 - share) * b) for a, b in zip(over, under))


def points(d):
    """The runs of a path of M, L, H and V."""
    runs = []
    for command, numbers in re.findall(r"([MLHV])([^MLHV]*)", d):
        values = [float(v) for v in numbers.replace("Z", "").replace(",", " ").split()]
        if command == "M":
            runs.append([])
        x, y = runs[-1][-1] if runs[-1] else (0, 0)
        runs[-1] += {"H": [(values[0], y)], "V": [(x, values[0])]}.get(command) or list(zip(values[::2], values[1::2]))
    return runs


def dashed(run, lengths):
    """The pieces of a run that a pattern of dashes and gaps leaves; all of it without a pattern."""
    if not lengths:
        return [run]
    pieces, i, remaining = [[run[0]]], 0, lengths[0]
    for (x0, y0), (x1, y1) in pairwise(run):
        whole = to_go = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        while to_go > remaining:
            to_go -= remaining
            point = (x1 - (x1 - x0) * to_go / whole, y1 - (y1 - y0) * to_go / whole)
            if i % 2 == 0:
                pieces[-1].append(point)
            else:
                pieces.append([point])
            i += 1
            remaining = lengths[i % len(lengths)]
        remaining -= to_go
        if i % 2 == 0:
            pieces[-1].append((x1, y1))
    return pieces


def spelled(words, family, weight, size):
    """[(letters, font)]: Greek and signs stand in files of their own."""
    runs = groupby(words, key=alphabet)
    return [("".join(run), font(family, name, weight, size)) for name, run in runs]


def alphabet(letter):
    if "\u0370" <= letter <= "\u03ff":
        return "greek"
    return "signs" if "\u2190" <= letter <= "\u22ff" and letter not in "↑↓−∕" else "latin"


@cache
def font(family, letters, weight, size):
    if letters == "signs":
        return ImageFont.truetype(SIGNS, size)
    name = {"serif": "source-serif-4", "sans": "source-sans-3"}[family]
    face = ImageFont.truetype(LETTERS / f"{name}-{letters}-wght-normal.woff2", size)
    face.set_variation_by_axes([weight])
    return face
