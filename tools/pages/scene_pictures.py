"""Paints a scene with the pen of a picture beside a link, mark by mark, in the colors that its roles wear by day."""

from math import cos, radians, sin

from sim.words import capital
from widgets.frame.drawing import comparisons, drawing, lanes, number_table, vocabulary

UNIT, GAP = drawing.SQUARE, drawing.GAP
MARGIN = 36  # right of rows over time
WORDS = dict(
    strong=(600, 14.5, "ink"),
    answer=(600, 14.5, "ink2"),
    count=(600, 27, "ink"),
    asked=(600, 20, "ink"),
    reward=(600, 16, "ink"),
    said=(600, 14.5, "warn"),
)
STOP = "■"  # at the end of a text; the letters of the pictures do not have it
SHADES = dict(yes="d1", no="ink2", against="t2")


def paint(pen, scene, wide, tall):
    """As many columns of the scene from the left as fit in `wide` by `tall`; what is left of the first stays."""
    x = 0.0
    for column in scene["columns"]:
        if column[0]["role"] == "narrow":  # the same once more, for a phone
            continue
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
            if comparisons.is_comparison(view):
                comparison(pen, x, y, view, wide - x - MARGIN)
                continue
            if number_table.is_table(view):
                numbers(pen, x, y, view)
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


def answers(pen, x, y, mark):
    side = UNIT * mark["side"]
    for (text, role, _), (across, down) in zip(mark["cells"], mark["at"], strict=True):
        colors, left, top = look(role), x + UNIT * across, y + UNIT * down
        pen.box(left, top, side, side, colors.fill or "paper", colors.edge)
        pen.write(left + side / 2 - pen.long(text, "sans", 600, 19) / 2, top + 29.5, text, "sans", 600, 19, colors.ink)


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
    if "off" in roles:
        return
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


def trays(pen, x, y, mark):
    """Completions in the tones of their advantages, in the frame of their tray where it has one."""
    pitch = UNIT * mark["pitch"]
    for group, (across, down) in zip(mark["groups"], mark["at"], strict=True):
        left, top = x + UNIT * across, y + UNIT * down
        if mark["framed"]:
            pen.frame(left - 4, top - 3, pitch * len(group) + 5, 23, "rule")
        for i, (tone, _) in enumerate(group):
            pen.box(left + pitch * i, top, 21, 17, look(vocabulary.toned(tone)).fill, "edge")


def frame(pen, x, y, mark):
    if mark["seen"]:
        left, top = x + UNIT * mark["at"][0] - 4, y + UNIT * mark["at"][1] - 3
        pen.frame(left, top, UNIT * mark["wide"] - 1, 23, "ink" if mark["live"] else "rule")


def parts(pen, x, y, mark):
    left, top, pitch = x + UNIT * mark["at"][0], y + UNIT * mark["at"][1], UNIT * mark["pitch"]
    for i, role in enumerate(mark["roles"]):
        pen.box(left + pitch * i, top, pitch - 2, 23, look(role).fill, look(role).edge)


def blocks(pen, x, y, mark):
    """Each block, and the part of it that holds tokens."""
    (wide, high), (across, down) = (UNIT * side for side in mark["size"]), mark["pitch"]
    for i, (role, full, _) in enumerate(mark["cells"]):
        left = x + UNIT * (mark["at"][0] + across * (i % mark["columns"]))
        top = y + UNIT * (mark["at"][1] + down * (i // mark["columns"]))
        pen.box(left, top, wide, high, "paper", "edge" if role in ("held", "open", "shared") else "rule")
        if full:
            pen.box(left, top, wide * full, high, look(role).fill or "d1")


def bar(pen, x, y, mark):
    if mark["role"] in vocabulary.ROLES and mark["wide"] > 0:
        left, top = x + UNIT * mark["at"][0], y + UNIT * mark["at"][1]
        colors = look(mark["role"])
        pen.box(left, top, UNIT * mark["wide"], UNIT * mark["high"], colors.fill or "well", colors.edge)


def boxes(pen, x, y, mark):
    fill, rim = BOXES.get(mark["role"]) or (look(mark["role"]).fill or "well", look(mark["role"]).edge)
    for left, top, wide, high in mark["boxes"] if mark["seen"] else []:
        pen.box(x + UNIT * left, y + UNIT * top, UNIT * wide, UNIT * high, fill, rim)


def outline(pen, x, y, mark):
    pen.area([(x + UNIT * across, y + UNIT * down) for across, down in mark["points"]], "q2")


def oval(pen, x, y, mark):
    place, radius = (x + UNIT * mark["at"][0], y + UNIT * mark["at"][1]), UNIT * mark["radius"]
    draw = pen.dot if mark["filled"] else pen.hoop
    draw(*place, radius, look(mark["role"]).fill)


def needle(pen, x, y, mark):
    left, top, tip = x + UNIT * mark["at"][0], y + UNIT * mark["at"][1], UNIT * mark["length"]
    along, across = cos(radians(mark["turn"])), sin(radians(mark["turn"]))
    shape = [(0, -1), (tip - 9, -1), (tip - 9, -5), (tip, 0), (tip - 9, 5), (tip - 9, 1), (0, 1)]
    turned = [(left + along * u - across * v, top + across * u + along * v) for u, v in shape]
    pen.area(turned, look(mark["role"]).fill)


def numbers(pen, x, y, view):
    """A number table: its name, how many are right, its cells with what is in them as far as it fits."""
    (wide, high), gap = number_table.CELL, number_table.GAP
    many, right = number_table.count(view), x + UNIT * view["wide"] - gap
    words = f"of {len(view['cells'])} correct"
    pen.write(x, y + 26, view["name"], "sans", 600, 19, "ink")
    pen.write(right, y + 26, words, "sans", 400, 16, "ink2", "end")
    pen.write(
        right - 8 - pen.long(words, "sans", 400, 16),
        y + 26,
        str(many),
        "serif",
        600,
        36,
        "d1" if many else "warn",
        "end",
    )
    left, top = x + number_table.SIDE, y + number_table.HEAD
    for i, head in enumerate(view["heads"]):
        middle = left + i * (wide + gap) + wide / 2
        pen.write(middle - pen.long(head, "sans", 400, 14) / 2, top - 12, head, "sans", 400, 14, "ink2")
    for i, side in enumerate(view["sides"]):
        pen.write(x + 6, top + i * (high + gap) + 21, side, "sans", 400, 14, "ink2")
    for i, (role, text) in enumerate(view["cells"]):
        down, across = divmod(i, len(view["heads"]))
        box = left + across * (wide + gap), top + down * (high + gap)
        right_one = role == "correct"
        pen.box(*box, wide, high, "d1" if right_one else "panel")
        size, color = (10.5, "ink2") if role == "astray" else (14, "paper" if right_one else "ink2")
        while pen.long(text, "sans", 600, size) > wide - 4:
            text = text[:-1]
        middle = box[0] + (wide - pen.long(text, "sans", 600, size)) / 2
        pen.write(middle, box[1] + 21, text, "sans", 600 if right_one else 400, size, color)


def wall(pen, x, y, mark):
    pen.box(x + UNIT * mark["at"][0] - 1, y + UNIT * mark["at"][1], 1, UNIT * mark["high"], "edge")


def rail(pen, x, y, mark):
    pen.box(x + UNIT * mark["at"][0], y + UNIT * mark["at"][1] - 0.5, UNIT * mark["wide"], 1, "rule")


def post(pen, x, y, mark):
    wide = 1 if mark["role"] else 3
    left, top = x + UNIT * mark["at"][0] - wide / 2, y + UNIT * mark["at"][1]
    pen.box(left, top, wide, UNIT * mark["high"], "edge" if mark["role"] else "ink")


def bead(pen, x, y, mark):
    colors, side = look(mark["role"]), 23 * mark["scale"]
    middle, base = x + UNIT * mark["at"][0], y + UNIT * mark["at"][1]
    pen.box(middle - side / 2, base - side / 2, side, side, colors.fill or "paper", colors.edge)
    size = 14 * mark["scale"]
    left = middle - pen.long(mark["text"], "sans", 600, size) / 2
    pen.write(left, base + 0.36 * size, mark["text"], "sans", 600, size, colors.ink)


def arrow(pen, x, y, mark):
    """Its shaft and its head, from a bead's rim; what is shorter than a head is left out."""
    length = UNIT * mark["length"]
    if abs(length) >= drawing.SHORT:
        way, color = (1 if length > 0 else -1), {"up": "d1", "down": "d2"}.get(mark["role"].split()[-1], "ink3")
        start, base = x + UNIT * mark["at"][0] + 12 * way, y + UNIT * mark["at"][1] + 6
        tip = start + length + 8 * way
        pen.line([(start, base), (tip, base)], 1.5, color)
        pen.line([(tip - 8 * way, base - 5), (tip, base), (tip - 8 * way, base + 5)], 1.5, color)


def hop(pen, x, y, mark):
    """An arc as the page draws it: a curve of the second degree through twice its height."""
    if mark["seen"]:
        (left, base), (right, foot), steps = mark["start"], mark["end"], 24
        top, middle = (base + foot) / 2 - 2 * mark["high"], (left + right) / 2
        shares = [i / steps for i in range(steps + 1)]
        arc = [
            (
                x + UNIT * ((1 - t) ** 2 * left + 2 * t * (1 - t) * middle + t * t * right),
                y + UNIT * ((1 - t) ** 2 * base + 2 * t * (1 - t) * top + t * t * foot),
            )
            for t in shares
        ]
        pen.line(arc, 2.5, look(mark["role"]).fill)


def ring(pen, x, y, mark):
    if not mark["seen"]:
        return
    left, top = x + UNIT * mark["at"][0] - 4, y + UNIT * mark["at"][1] - 4
    wide, high = (UNIT * side + 5 for side in mark["size"])
    pen.frame(left, top, wide, high, "warn")
    if mark["side"] == "right":
        pen.write(left + wide + 7, top + high / 2 + 5, mark["words"], "sans", 600, 14.5, "warn")
        return
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
        elif kind == "tip" and mark["seen"]:
            tip(
                pen,
                left,
                left + unit * mark["at"],
                y + lanes.top_of(view, mark["row"]) + view["tall"] / 2,
                mark["role"],
            )
        elif kind == "grip":
            at, top = left + unit * mark["at"], y + view["top"] - 10
            pen.box(at - 1.5, top, 3, lanes.top_of(view, len(view["rows"])) - view["top"] + 14, "ink")
            pen.write(at, top - 6, mark["words"], "sans", 600, 22, "ink")
        elif kind == "ring" and mark["seen"]:
            first, last = (y + lanes.top_of(view, row) for row in mark["rows"])
            start, end = left + unit * mark["start"], left + unit * min(mark["end"], view["until"])
            pen.frame(start, first - 4, end - start, last - first + view["tall"] + 8, RINGS[mark["role"]])
            size = 16 if aside else 26  # many rows are drawn smaller
            pen.write(start, first - 14, mark["words"], "sans", 600, size, RINGS[mark["role"]])


def tip(pen, start, end, middle, role):
    for step in range(int((end - start) / 8)):
        pen.box(start + 8 * step, middle - 0.75, 3, 1.5, "d8")
    pen.dot(end, middle, 6, "d1")
    if role == "wrong":
        pen.dot(end, middle, 4, "paper")


def comparison(pen, x, y, view, wide):
    """The names of the labelers, their wrong choices as sheets to both sides, and what their policies win."""
    (left, right), half = view["columns"], (wide - 40) / 2
    slot = min((half - 100) / (left + right), 44)
    for i, labeler in enumerate(view["labelers"]):
        start, top = x + (half + 40) * i, y + 8
        pen.write(start, top + 14, capital(labeler["name"]), "sans", 600, 24, "ink")
        said = f"{sum(labeler['wrong'])} of 100 wrong, policy wins {labeler['wins']} %"
        pen.write(start + 120, top + 14, said, "sans", 400, 20, "ink2")
        middle, top = start + 40 + slot * left, top + 34
        high = 31 / 24 * slot
        for side, (many, kind) in enumerate(zip(labeler["wrong"], comparisons.KINDS)):
            for n in range(min(many, view["rows"] * view["columns"][side])):
                column, row = divmod(n, view["rows"])
                at = middle + 8 + slot * column if side else middle - 6 - slot * (column + 1)
                colors, down = look(kind), top + high * row
                pen.box(at, down, 0.88 * slot, 0.87 * high, colors.fill, colors.edge)
                for line, thick in LINES[kind]:
                    pen.box(at + 0.16 * slot, down + line * high, 0.56 * slot, thick * high, colors.edge)
        pen.box(middle, top - 4, 2, high * view["rows"] + 4, "ink")


LINES = dict(plain=((0.3, 0.05), (0.5, 0.05)), styled=((0.14, 0.13), (0.38, 0.05), (0.53, 0.05), (0.68, 0.05)))
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


BOXES = dict(
    rail=("rule", ""), server=("panel", "rule"), memory=("paper", "edge"), waits=("well", "")
)  # what is no role: (fill, rim)
PAINT = dict(
    answers=answers,
    tokens=tokens,
    hundred=hundred,
    piles=piles,
    holes=holes,
    tray=tray,
    bar=bar,
    word=word,
    wall=wall,
    rail=rail,
    post=post,
    bead=bead,
    arrow=arrow,
    hop=hop,
    trays=trays,
    frame=frame,
    parts=parts,
    blocks=blocks,
    boxes=boxes,
    outline=outline,
    oval=oval,
    needle=needle,
    ring=ring,
)
