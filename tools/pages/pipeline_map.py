"""The pipeline map: two inline SVGs, broad and narrow, and a panel of text for each of its six roles and six arrows.
Their text stands in lessons/data/map.yml.

The panels are the version without scripts. Which one is seen and which arrows are cut are a form's radio buttons and
check boxes; the style sheet follows them, part by part. site/assets/map.js chooses a panel at a click on the drawing.
"""

import html
from dataclasses import dataclass

from tools.pages import lesson_data, lessons, recording


@dataclass(frozen=True)
class Role:
    """A box, and what its panel says."""

    name: str  # as drawn
    line: str
    step: int
    heading: str
    job: str
    takes: str
    gives: str
    time: str
    fails: str
    about: str  # numbers of lessons, finished or not

    def rows(self):
        return {"in": self.takes, "out": self.gives, "time": self.time, "fails as": self.fails}


@dataclass(frozen=True)
class Flow:
    """An arrow, what its panel says, and what training becomes without it."""

    heading: str
    job: str
    carries: str
    cut: str
    about: str

    def rows(self):
        return {"carries": self.carries, "cut it": self.cut}


ROLES = lesson_data.filled("map.yml", "roles", Role)
FLOWS = lesson_data.filled("map.yml", "flows", Flow)

ORDER = (
    "controller",
    "rollout",
    "trajs",
    "env",
    "tokens",
    "reference",
    "reward",
    "ref_logp",
    "algorithm",
    "loss_fn",
    "trainer",
    "sync",
)  # of the Tab key


@dataclass(frozen=True)
class Drawing:
    """Coordinates of one of the two drawings. An arrow is (path, head x y angle, label x y anchor)."""

    css: str
    view: tuple[int, int]
    size: tuple[int, int]  # of a box
    frame: tuple[int, int, int, int]  # x, y, width, height
    tab: tuple[int, int, int, int]
    boxes: dict[str, tuple[int, int]]
    arrows: dict[str, tuple]
    plate: tuple[int, int, int, int]
    sync: str
    controller: str
    drop: tuple[int, int]  # from a box's middle down to the base of its two lines


BROAD = Drawing(
    "broad",
    (960, 384),
    (156, 84),
    (8, 30, 944, 352),
    (28, 12, 380, 36),
    dict(rollout=(36, 150), env=(290, 76), reference=(290, 224), algorithm=(540, 150), trainer=(780, 150)),
    dict(
        trajs=("M192 180H218Q226 180 226 172V126Q226 118 234 118H282", (290, 118, 0), (258, 109, "middle")),
        tokens=("M192 204H218Q226 204 226 212V258Q226 266 234 266H282", (290, 266, 0), (258, 257, "middle")),
        reward=("M446 118H508Q516 118 516 126V172Q516 180 524 180H532", (540, 180, 0), (480, 109, "middle")),
        ref_logp=("M446 266H508Q516 266 516 258V212Q516 204 524 204H532", (540, 204, 0), (480, 257, "middle")),
        loss_fn=("M696 192H772", (780, 192, 0), (735, 183, "middle")),
        sync=("M858 234V338Q858 346 850 346H122Q114 346 114 338V242", (114, 234, -90), (486, 351, "middle")),
    ),
    (346, 330, 280, 32),
    "7  weight sync · state_dict, 16 GB",
    "runs the seven steps, owns versions",
    (-4, 18),
)

NARROW = Drawing(
    "narrow",
    (350, 560),
    (136, 64),
    (3, 34, 344, 518),
    (14, 14, 322, 40),
    dict(rollout=(92, 78), env=(16, 206), reference=(164, 206), algorithm=(92, 330), trainer=(92, 424)),
    dict(
        trajs=("M140 142V158Q140 166 132 166H92Q84 166 84 174V198", (84, 206, 90), (78, 184, "end")),
        tokens=("M180 142V158Q180 166 188 166H224Q232 166 232 174V198", (232, 206, 90), (240, 188, "start")),
        reward=("M84 270V292Q84 300 92 300H132Q140 300 140 308V322", (140, 330, 90), (78, 290, "end")),
        ref_logp=("M232 270V292Q232 300 224 300H188Q180 300 180 308V322", (180, 330, 90), (240, 290, "start")),
        loss_fn=("M160 394V416", (160, 424, 90), (168, 410, "start")),
        sync=(
            "M160 488V510Q160 518 168 518H318Q326 518 326 510V118Q326 110 318 110H236",
            (228, 110, 180),
            (243, 522, "middle"),
        ),
    ),
    (166, 504, 154, 28),
    "7  weight sync, 16 GB",
    "runs the seven steps",
    (-3, 16),
)


STEPS = ("controller", "rollout", "env", "reference", "algorithm", "trainer", "sync")  # 1 to 7


def pipeline(rows=False):
    """The map with its panels; `rows` adds the arrays of the recorded iteration."""
    spent, carried, parts = recording.iteration()
    times = {name: f"{ms:.2f} ms" for name, ms in spent.items()}
    measured = {
        **times,
        **{name: f"{size:,} bytes" for name, size in carried.items()},
        "sync": f"{carried['sync']:,} bytes, {times['sync']}",
    }
    beside = times | {name: f"{size / 1000:.1f} kB" for name, size in carried.items()}
    del beside["sync"]  # the plate of the path back is full
    recorded = {name: {"recorded": words} for name, words in measured.items()}
    return whole(
        {name: part(name).rows() | recorded.get(name, {}) | (parts[name] if rows else {}) for name in ORDER},
        f"Recorded when this page was built: {recording.SETTING}. Its bytes and milliseconds are those of this "
        "small model; 16 GB is the size of a model with 8 billion weights.",
        beside,
    )


def four_rows():
    """The map with what becomes of the four completions of lesson 00 in one iteration, in words."""
    words = recording.four_rows()
    cut = {name: {"cut it": flow.cut} for name, flow in FLOWS.items()}
    return whole(
        {name: {"here": words[name]} | cut.get(name, {}) for name in ORDER},
        f"{recording.ROWS_SETTING} The 16 GB are those of a model of 8 billion weights.",
    )


def whole(texts, foot, beside=None):
    """Both drawings, and a panel for each part with its `texts`."""
    panels = "".join(panel(name, texts[name]) for name in ORDER)
    return (
        f'<div class="wide"><form class="map pipeline" autocomplete="off">{svg(BROAD, beside or {})}{svg(NARROW, {})}'
        f'<div class="details" role="status">{panels}</div>'
        '<div class="bar2"><button type="button" class="step">Next step</button>'
        '<button type="button" class="play">Play one iteration</button>'
        f"<span>{foot}</span></div></form></div>"
    )


def part(name):
    return ROLES.get(name) or FLOWS[name]


def svg(drawing, beside):
    """`beside` is what is written at a part once an iteration runs."""
    width, height = drawing.view
    x, y, w, h = drawing.frame
    parts = "".join((box if name in ROLES else arrow)(drawing, name, beside.get(name)) for name in ORDER)
    return (
        f'<svg class="{drawing.css}" viewBox="0 0 {width} {height}" role="group" aria-label="Pipeline map: six '
        'roles, and what flows between them">'
        f'<rect class="frame" x="{x}" y="{y}" width="{w}" height="{h}" rx="8"/>{parts}</svg>'
    )


def box(drawing, name, spent):
    role = ROLES[name]
    if name == "controller":
        x, y, w, h = drawing.tab
        line = f'<tspan class="s" dx="12" font-weight="400">{drawing.controller}</tspan>'
        words = written("t", x + 14, y + h / 2 + 5, role.name + line) + written(
            "n", x + w - 12, y + h / 2 + 4, role.step, "end"
        )
    else:
        (x, y), (w, h), (first, second) = drawing.boxes[name], drawing.size, drawing.drop
        words = (
            written("n", x + w - 12, y + 20, role.step, "end")
            + written("t", x + 14, y + h / 2 + first, role.name)
            + written("s", x + 14, y + h / 2 + second, role.line)
            + (written("m", x + w - 12, y + h - 8, spent, "end") if spent else "")
        )
    return link(
        "box",
        name,
        f"{role.heading}, step {role.step}",
        f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="5"/>{words}',
    )


def arrow(drawing, name, size):
    path, (x, y, angle), (tx, ty, anchor) = drawing.arrows[name]
    label, plate = FLOWS[name].heading, ""
    if name == "sync":
        px, py, w, h = drawing.plate
        label, plate = drawing.sync, f'<rect class="plate" x="{px}" y="{py}" width="{w}" height="{h}" rx="{h / 2:g}"/>'
    under = written("m", tx, ty + 25, size, anchor) if size else ""
    head = f'<path class="head" d="M0 0L-10 -4.5V4.5Z" transform="translate({x} {y}) rotate({angle})"/>'
    return link(
        "edge",
        name,
        f"Arrow {FLOWS[name].heading}",
        f'<path class="hit" d="{path}"/><path class="wire" '
        f'd="{path}"/>{head}{plate}{written("e", tx, ty, label, anchor)}{under}',
    )


def link(css, name, label, inner):
    """`xlink:href`, because the theme's instant navigation writes to `href` wherever it finds one, and an SVG link's is
    read-only.
    """
    return f'<a class="{css} {name}" xlink:href="#map-{name}" aria-label="{label}">{inner}</a>'


def written(css, x, y, text, anchor="start"):
    return f'<text class="{css}" x="{x}" y="{y:g}" text-anchor="{anchor}">{text}</text>'


def panel(name, lines):
    """The panel of a role or an arrow; `lines` is {what: words}."""
    about = part(name)
    rows = "".join(
        f"<dt>{key}</dt><dd{' class=cut' * (key == 'cut it')}>{html.escape(words)}</dd>" for key, words in lines.items()
    )
    chips = "".join(
        f'<a href="/{page.url}">{html.escape(page.name)}</a>'
        for page in lessons.finished()
        if page.number in about.about.split()
    )
    cutter = (
        f'<label class="cutter"><input type="checkbox" id="cut-{name}"> Cut this arrow</label>' if name in FLOWS else ""
    )
    at = f' data-step="{STEPS.index(name) + 1}"' if name in STEPS else ""
    return (
        f'<input type="radio" name="map" id="see-{name}"{at} hidden{" checked" * (name == "rollout")}><section '
        f'class="detail" id="map-{name}">'
        f"<h3>{html.escape(about.heading)}</h3><div><p>{html.escape(about.job)}</p>"
        f"{f'<p class=chips>{chips}</p>' * bool(chips)}{cutter}</div><dl>{rows}</dl></section>"
    )
