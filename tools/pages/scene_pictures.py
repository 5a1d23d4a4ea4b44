"""Paints a scene with the pen of a picture beside a link, mark by mark, in the colors that its roles wear by day."""

from widgets.frame.drawing import drawing, lanes, vocabulary

UNIT, GAP = drawing.SQUARE, drawing.GAP
MARGIN = 36  # right of rows over time
WORDS = dict(
    strong=(600, 14.5, "ink"),
    answer=(600, 14.5, "ink2"),
    count=(600, 27, "ink"),
    reward=(600, 16, "ink"),
    said=(600, 14.5, "warn"),
)
STOP = "■"  # at the end of a text; the letters of the pictures do not have it
SHADES = dict(yes="d1", no="ink2", against="t2")


def paint(pen, scene, wide, tall):
    """As many columns of the scene from the left as fit in `wide` by `tall`; what is left of the first stays."""
    x = 0.0
    for column in scene["columns"]:
        width = UNIT * max(view["wide"] for view in column)
        if x and x + width > wide:
            break
        y = 0.0
        for view in column:
            if y + UNIT * view["high"] > tall + UNIT:
                break
            if lanes.is_board(view):
                board(pen, x, y, view, wide - x - MARGIN)
                continue
            for mark in view["marks"]:
                if mark["kind"] in PAINT:
                    PAINT[mark["kind"]](pen, x, y, mark)
            y += UNIT * view["high"]
        x += width + 24


def look(role):
    return vocabulary.ROLES[role]


def square(pen, x, y, side, role, text):
    colors = look(role)
    pen.box(x, y, side, side, colors.fill or "paper", colors.edge)
    if text == "stop":
        pen.box(x + 7.5, y + 7.5, 8, 8, colors.ink)
    else:
        pen.write(x + side / 2 - pen.long(text, "sans", 600, 14) / 2, y + 16.3, text, "sans", 600, 14, colors.ink)


def tokens(pen, x, y, mark):
    for down, row in enumerate(mark["rows"]):
        for across, (text, role) in enumerate(row):
            left, top = x + UNIT * (mark["at"][0] + across), y + UNIT * (mark["at"][1] + down)
            square(pen, left, top, UNIT - GAP, role, text)


def hundred(pen, x, y, mark):
    edges, total = [], 0.0
    for role, share in mark["shares"]:
        total += share
        edges.append((total, role))
    for i in range(100):
        role = next((role for edge, role in edges if (i + 0.5) / 100 <= edge), edges[-1][1])
        middle = [
            start + UNIT * at + drawing.DOT * (place + 0.5)
            for start, at, place in ((x, mark["at"][0], i % mark["wide"]), (y, mark["at"][1], i // mark["wide"]))
        ]
        pen.dot(*middle, 5, look(role).fill)


def piles(pen, x, y, mark):
    filled = dict.fromkeys(mark["owners"], 0)
    for pile in mark["owners"]:
        row, column = divmod(filled[pile], mark["wide"][pile])
        filled[pile] += 1
        if (role := mark["roles"][pile]) in vocabulary.ROLES:
            across, down = (drawing.DOT * (place + 0.5) for place in (column, row))
            pen.dot(x + UNIT * mark["at"][pile][0] + across, y + UNIT * mark["at"][pile][1] + down, 5, look(role).fill)


def holes(pen, x, y, mark):
    """An open hole is a ring, a closed one a gray dot."""
    for (state, _, _), (across, down) in zip(mark["cells"], mark["at"], strict=True):
        pen.dot(x + UNIT * across, y + UNIT * down, 7, "rule" if "shut" in state else "ink")
        if "open" in state:
            pen.dot(x + UNIT * across, y + UNIT * down, 5.5, "paper")


def word(pen, x, y, mark):
    roles = mark["role"].split()
    weight, size, color = next((WORDS[role] for role in roles if role in WORDS), (400, 13.5, "ink2"))
    color = next((SHADES[role] for role in roles if role in SHADES), color)
    left, base = x + UNIT * mark["at"][0], y + UNIT * mark["at"][1]
    left -= pen.long(mark["text"], "sans", weight, size) * {"middle": 0.5, "end": 1}.get(mark["anchor"], 0)
    text = mark["text"].removesuffix(STOP)
    pen.write(left, base, text, "sans", weight, size, color)
    if text != mark["text"]:
        pen.box(left + pen.long(text, "sans", weight, size) + 2, base - 9, 8, 8, color)


def tray(pen, x, y, mark):
    """Completions in the tones of their advantages; a tray without any is its frame."""
    if not mark["seen"]:
        return
    left, top, scale = x + UNIT * mark["at"][0], y + UNIT * mark["at"][1], mark["scale"]
    pitch = 0.92 * UNIT * scale
    if mark["cells"][0] is None:
        pen.frame(left - 4, top - 3, pitch * len(mark["cells"]) + 5, 23 * scale, "rule")
    for i, cell in enumerate(mark["cells"]):
        if cell is not None:
            pen.box(left + pitch * i, top, 21 * scale, 17 * scale, look(vocabulary.toned(cell[0])).fill, "edge")


def wall(pen, x, y, mark):
    pen.box(x + UNIT * mark["at"][0] - 1, y + UNIT * mark["at"][1], 1, UNIT * mark["high"], "edge")


def ring(pen, x, y, mark):
    if not mark["seen"]:
        return
    left, top = x + UNIT * mark["at"][0] - 4, y + UNIT * mark["at"][1] - 4
    wide, high = (UNIT * side + 5 for side in mark["size"])
    pen.frame(left, top, wide, high, "warn")
    pen.box(left + wide / 2 - 0.75, top + high, 1.5, 10, "warn")
    pen.write(left + wide / 2 - 6, top + high + 24, mark["words"], "sans", 600, 14.5, "warn")


def board(pen, x, y, view, wide):
    """Rows over time, over the whole width; what is hatched on the page is gray, what is dashed an outline."""
    aside = 110 if view["rows"][0][0] else 0
    left, unit = x + aside, (wide - aside) / view["until"]
    for row, (name, _) in enumerate(view["rows"]):
        pen.write(x, y + lanes.top_of(view, row) + view["tall"] / 2 + 5, name, "sans", 600, 14, "ink")
    for mark in view["marks"]:
        kind = mark["kind"]
        if kind in ("span", "run", "path") and min(mark["end"], view["until"]) > mark["start"]:
            top = y + lanes.top_of(view, mark["row"])
            span(pen, left, unit, top, view, mark)
        elif kind == "ring" and mark["seen"]:
            first, last = (y + lanes.top_of(view, row) for row in mark["rows"])
            start, end = left + unit * mark["start"], left + unit * min(mark["end"], view["until"])
            pen.frame(start, first - 4, end - start, last - first + view["tall"] + 8, RINGS[mark["role"]])
            size = 16 if aside else 26  # many rows are drawn smaller
            pen.write(start, first - 14, mark["words"], "sans", 600, size, RINGS[mark["role"]])


RINGS = dict(broken="warn", look="ink")


def span(pen, left, unit, top, view, mark):
    start, end = left + unit * mark["start"], left + unit * min(mark["end"], view["until"])
    if mark["kind"] == "path":
        pen.box(start, top + view["tall"] + 2, end - start, 3, "ink")
        return
    colors = look(mark["role"])
    fill = "well" if mark["role"] == "waits" else colors.fill or "paper"
    pen.box(start, top, max(end - start - 1, 1), view["tall"], fill, colors.edge)
    if mark["text"] and end - start > 12:
        middle = (start + end) / 2 - pen.long(mark["text"], "sans", 600, 14) / 2
        pen.write(middle, top + view["tall"] / 2 + 5, mark["text"], "sans", 600, 14, colors.ink)


PAINT = dict(tokens=tokens, hundred=hundred, piles=piles, holes=holes, tray=tray, word=word, wall=wall, ring=ring)
