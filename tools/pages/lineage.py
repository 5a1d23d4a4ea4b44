"""Which algorithm is a patch on which: inline SVG, broad and narrow, its line counts taken from the files when the page
is built.

Arrows lead to the lesson that shows the patch; a lesson that is not in the navigation is drawn and not linked.
"""

from sim.algorithms.names import FILES
from tools.pages import lessons, quoting

NODES = {  # name: (module, lesson)
    name: (file.__name__.rpartition(".")[2], f"{lesson:02}") for lesson, (name, file) in enumerate(FILES.items(), 9)
}
EDGES = {  # (from, to): the change in words
    ("REINFORCE", "PPO"): "critic, ratio, clip",
    ("PPO", "GRPO"): "group mean ÷ std",
    ("REINFORCE", "RLOO"): "RLOO is also REINFORCE with two lines changed",
    ("GRPO", "RLOO"): "leave one out",
    ("GRPO", "DAPO"): "four fixes",
    ("GRPO", "Dr.GRPO"): "no ÷ std, no ÷ |o|",
}

BROAD_BOXES = {
    "REINFORCE": (8, 112, 138),
    "PPO": (276, 112, 96),
    "GRPO": (508, 112, 96),
    "RLOO": (820, 16, 116),
    "DAPO": (820, 112, 116),
    "Dr.GRPO": (820, 208, 116),
}
BROAD_WIRES = {  # path, arrow head (x, y, angle), words (x, y, anchor, and how far below them their count stands)
    ("REINFORCE", "PPO"): ("M146 134H268", (276, 134, 0), (211, 124, "middle", 26)),
    ("PPO", "GRPO"): ("M372 134H500", (508, 134, 0), (436, 124, "middle", 26)),
    ("REINFORCE", "RLOO"): ("M72 112V36Q72 28 80 28H812", (820, 28, 0), (360, 19, "middle", 26)),
    ("GRPO", "RLOO"): ("M604 124H640Q648 124 648 116V58Q648 50 656 50H812", (820, 50, 0), (664, 66, "start", 17)),
    ("GRPO", "DAPO"): ("M604 134H812", (820, 134, 0), (664, 125, "start", 26)),
    ("GRPO", "Dr.GRPO"): (
        "M604 144H640Q648 144 648 152V222Q648 230 656 230H812",
        (820, 230, 0),
        (664, 221, "start", 26),
    ),
}
NARROW_BOXES = {
    "REINFORCE": (6, 4, 138),
    "PPO": (6, 84, 138),
    "GRPO": (6, 164, 138),
    "RLOO": (30, 244, 114),
    "DAPO": (30, 308, 114),
    "Dr.GRPO": (30, 372, 114),
}
NARROW_WIRES = {
    ("REINFORCE", "PPO"): ("M70 48V76", (70, 84, 90), (84, 62, "start", 17)),
    ("PPO", "GRPO"): ("M70 128V156", (70, 164, 90), (84, 142, "start", 17)),
    ("GRPO", "RLOO"): ("M16 208V266H22", (30, 266, 0), (154, 262, "start", 17)),
    ("GRPO", "DAPO"): ("M16 208V330H22", (30, 330, 0), (154, 326, "start", 17)),
    ("GRPO", "Dr.GRPO"): ("M16 208V394H22", (30, 394, 0), (154, 390, "start", 17)),
}
HEIGHT, SAID = 44, "Which algorithm is a patch on which"


def figure():
    """Both drawings."""
    pages = {
        page.number: f"/{page.url}"
        + ("#the-code" if "\n## The code\n" in lessons.front_matter(f"{page.stem}.md")[1] else "")
        for page in lessons.finished()
    }
    return (
        f'<div class="wide"><div class="map lineage">'
        '<svg class="broad" viewBox="0 0 940 256" role="group" '
        f'aria-label="{SAID}">{drawn(BROAD_BOXES, BROAD_WIRES, pages)}</svg>'
        '<svg class="narrow" viewBox="0 0 350 440" role="group" '
        f'aria-label="{SAID}">{drawn(NARROW_BOXES, NARROW_WIRES, pages)}'
        f'<text class="s" x="154" y="234">or REINFORCE, {counted("REINFORCE", "RLOO")}</text></svg></div></div>'
    )


def drawn(boxes, wires, pages):
    return "".join(edge(*ends, *wire, pages) for ends, wire in wires.items()) + "".join(
        node(name, *box, pages) for name, box in boxes.items()
    )


def edge(old, new, path, head, words, pages):
    x, y, anchor, below = words
    (hx, hy, angle), count = head, counted(old, new)
    inner = (
        f'<path class="hit" d="{path}"/><path class="wire" d="{path}"/><path class="head" d="M0 0L-10 -4.5V4.5Z" '
        f'transform="translate({hx} {hy}) rotate({angle})"/>'
        f'<text class="s" x="{x}" y="{y}" text-anchor="{anchor}">{EDGES[old, new]}</text>'
        f'<text class="e" x="{x}" y="{y + below}" text-anchor="{anchor}">{count}</text>'
    )
    return linked("edge", f"From {old} to {new}: {EDGES[old, new]}, {count} lines", NODES[new][1], inner, pages)


def node(name, x, y, width, pages):
    number = NODES[name][1]
    inner = (
        f'<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="5"/><text class="t" x="{x + 12}" '
        f'y="{y + 27}">{name}</text>'
        f'<text class="n" x="{x + width - 10}" y="{y + 27}" text-anchor="end">{number}</text>'
    )
    return linked(
        "box", f"{name}, lesson {number}", number, inner, {n: page.partition("#")[0] for n, page in pages.items()}
    )


def linked(css, label, number, inner, pages):
    # xlink:href, because the theme sets .href of all that has a plain href, and an SVG link's cannot be set
    return (
        f'<a class="{css}" xlink:href="{pages[number]}" aria-label="{label}">{inner}</a>'
        if number in pages
        else f'<g class="{css}">{inner}</g>'
    )


def counted(old, new):
    """−5 +3: the lines that the difference of the two files takes out and puts in."""
    hunks, _, _ = quoting.changes(*(f"sim/algorithms/{NODES[name][0]}.py" for name in (old, new)))
    removed, added = (
        sum(at[end] - at[start] for ops in hunks.values() for at in ops) for start, end in ((0, 1), (2, 3))
    )
    return f"−{removed} +{added}"
