"""The catalogue of finished lessons: their order from the navigation in mkdocs.yml, everything else from each lesson's
own file; what a part answers stands in lessons/data/parts.yml.
"""

import html
import re
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from math import ceil
from pathlib import Path

import yaml

from sim.words import counted
from tools.pages import bound, frames, lesson_data, thumbnails
from widgets.frame.reader import host

ROOT = Path(__file__).parents[2]
WORDS_A_MINUTE = 150
FURTHER = "## Going further"  # parts what everybody reads from the rest, where a lesson has it


@dataclass(frozen=True)
class Lesson:
    stem: str  # 22a-throughput
    name: str  # as the navigation has it: 22a Throughput
    part: str  # Part III · Production; "" outside the parts
    title: str
    question: str
    extension: bool
    minutes: int  # to read what everybody reads
    deeper: int  # minutes for the rest, 0 where there is none
    played: int  # minutes with the simulator, as its author took them; 0 where nobody has
    widget: str  # the module its figure comes from; "" without one
    also: tuple = ()  # other words under which the lesson is looked for

    @property
    def number(self):
        return self.stem.partition("-")[0]

    @property
    def label(self):
        """As it stands on cards and heads: 22a · Throughput."""
        return self.name.replace(" ", " · ", 1)

    @property
    def short(self):
        """The name without its number: Throughput."""
        return self.name.partition(" ")[2]

    @property
    def full(self):
        """Name and title, the name once: Throughput: a step is a sum until it is a maximum."""
        if self.title.startswith(self.short):
            return self.title
        return f"{self.short}: {self.title[0].lower()}{self.title[1:]}"

    @property
    def url(self):
        return f"{self.stem}/"

    @property
    def causes(self):
        """The breaks that there are to be found, each in a few words; () without a widget."""
        return frames.causes(self.widget) if self.widget else ()


class Nav(yaml.SafeLoader):
    """mkdocs.yml names Python objects, which the navigation has no need of."""


Nav.add_multi_constructor("", lambda loader, tag, node: None)


@cache
def finished():
    """Every lesson in the navigation, in reading order, read once: a page with a map asks for them a dozen times."""
    return tuple(lesson(part, name, path) for part, name, path in navigation() if re.match(r"\d\d", path))


@cache
def lab():
    """Every page of the Measurement Lab in the navigation, in reading order."""
    return tuple(lesson(part, name, path) for part, name, path in navigation() if re.match(r"m\d", path))


def beside(page):
    """The lessons, or the pages of the Lab, among which this one stands."""
    return lab() if page in lab() else finished()


def navigation():
    """[(part, name, path)] of every page."""
    nav = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Nav)["nav"]
    return [page for entry in nav for page in entries(entry)]


def pages():
    """[(name as on cards, address from the root)] of every page but the first, in reading order."""
    return [
        (re.sub(r"^(\d\S*) ", r"\1 · ", name), f"{Path(path).stem}/")
        for _, name, path in navigation()
        if path != "index.md"
    ]


def entries(entry, part=""):
    """(part, name, path) of each page under one entry of the navigation."""
    for name, below in entry.items():
        if isinstance(below, str):
            yield part, name, below
        else:
            for page in below:
                yield from entries(page, name)


def lesson(part, name, path):
    front, text = front_matter(path)
    title, fence = re.search(r"^# (.+)$", text, re.M), re.search(r"^```widget\n(\w+)$", text, re.M)
    if title is None or "question" not in front:
        raise ValueError(f"lessons/{path} needs a question in its front matter and a title")
    return Lesson(
        Path(path).stem,
        name,
        part,
        title[1].strip(),
        front["question"],
        front.get("extension", False),
        *(ceil(len(read(words).split()) / WORDS_A_MINUTE) for words in text.partition(FURTHER)[::2]),
        front.get("time", 0),
        fence[1] if fence else "",
        tuple(front.get("also", ())),
    )


def read(text):
    """The words that are read: without fences and displayed formulas."""
    return re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.S)


def front_matter(path):
    """(what the front matter says, the Markdown below it)."""
    whole = bound.shown((ROOT / "lessons" / path).read_text(encoding="utf-8"))
    _, front, text = whole.split("---\n", 2)
    return yaml.safe_load(front), text


def parts():
    """[(part, its lessons)] in reading order, pages outside the parts left out."""
    return [
        (part, list(group))
        for part, group in groupby((page for page in finished() if page.part), key=lambda page: page.part)
    ]


def cards(after=None, emblems=None):
    """The parts with their lessons, for the front page; `after` holds what stands under a part's cards, `emblems` what
    stands in its heading.
    """
    below, drawn = after or {}, emblems or {}
    blocks = (
        part_block(part, group, drawn.get(numeral, "")) + below.get(numeral, "")
        for part, group in parts()
        for numeral in [part.partition(" ·")[0]]
    )
    return f'<div class="parts">{"".join(blocks)}</div>'


def part_block(part, group, emblem=""):
    numeral = part.partition(" ·")[0]
    minutes, missing = sum(page.minutes for page in group), gaps(group)
    lists = "".join(
        f'{f"<h3>{html.escape(name)}</h3>" * bool(name)}<ol class="cards">{"".join(map(card, pages))}</ol>'
        for name, pages in groups(numeral, group)
    )
    return (
        f'<div class="parthead" id="{place(numeral)}">{emblem}<h2>{html.escape(part)}</h2><span '
        f'class="tot">{count(group)} lessons · {minutes} min reading{missing}</span>'
        f"<p>{html.escape(about(numeral)['asks'])}</p></div>{lists}"
    )


def place(numeral):
    """Part III -> part-iii, where it stands on the front page."""
    return numeral.lower().replace(" ", "-")


def groups(numeral, pages):
    """[(name, lessons)] of a part; without groups all of them, and no name."""
    first = {stem: name for name, stem in about(numeral).get("groups", {}).items()}
    split = [("", [])]
    for page in pages:
        if page.stem in first:
            split.append((first[page.stem], []))
        split[-1][1].append(page)
    return [each for each in split if each[1]]


def count(group):
    """How many of these lessons are done, "3 of 9", which the page fills in. With a widget a break must be found."""
    stems, widgets = (" ".join(getattr(lesson, kind) for lesson in group) for kind in ("stem", "widget"))
    return f'<lesson-count of="{len(group)}" names="{stems}" widgets="{widgets}">{len(group)}</lesson-count>'


def found(group):
    """How many of the breaks of these lessons are found: 4 of 41."""
    widgets = " ".join(lesson.widget for lesson in group if lesson.widget)
    total = sum(len(lesson.causes) for lesson in group)
    return f'<lesson-count of="{total}" widgets="{widgets}">{total}</lesson-count>'


def met(group):
    """How many of the challenges of these lessons are met: 2 of 60."""
    widgets = [lesson.widget for lesson in group if lesson.widget]
    total = sum(len(host.challenges(host.widget(widget))) for widget in widgets)
    return f'<lesson-count of="{total}" kept="met" widgets="{" ".join(widgets)}">{total}</lesson-count>'


def gaps(group):
    """The numbers that are free before and between these lessons: " · 15–19 and 21 in preparation"."""
    numbers = [int(page.number[:2]) for page in finished()]
    last = int(group[-1].number[:2])
    before = max((number for number in numbers if number < int(group[0].number[:2])), default=-1)
    free = [number for number in range(before + 1, last) if number not in numbers]
    runs = [[number for _, number in run] for _, run in groupby(enumerate(free), key=lambda at: at[1] - at[0])]
    spelled = [f"{run[0]:02}" if len(run) == 1 else f"{run[0]:02}–{run[-1]:02}" for run in runs]
    return f" · {' and '.join(spelled)} in preparation" if spelled else ""


def about(numeral):
    """What lessons/data/parts.yml says of a part."""
    said = lesson_data.read("parts.yml")
    if not said.get(numeral, {}).get("asks"):
        raise ValueError(f"lessons/data/parts.yml does not say what {numeral} answers")
    return said[numeral]


def card(page):
    mark = (
        f'<lesson-mark name="{page.stem}" widget="{page.widget}" role="img" aria-label="not begun" class="mark">'
        "</lesson-mark>"
    )
    more = '<span class="badge">extension</span><span>may be skipped on a first reading</span>' * page.extension
    return (
        f'<li{" class=ext" * page.extension}><span class="no">{html.escape(page.label)}</span>'
        f'<h3><a href="/{page.url}">{html.escape(page.title)}</a></h3><p>{html.escape(page.question)}</p>'
        f"{thumbnails.of(page.widget) if page.widget else '<span></span>'}{breaks(page)}"
        f'<span class="meta2">{mark}<span>{minutes(page)}</span>{more}</span></li>'
    )


def minutes(page):
    return f"{page.minutes} min" + (f" · with the simulator {page.played}" if page.played else "")


def breaks(page):
    """How many breaks there are, and their names, which site/assets/page.js keeps to itself until they are found."""
    names = "".join(f"<span>{html.escape(cause)}</span>" for cause in page.causes)
    return f'<lesson-breaks widget="{page.widget}"><span>{in_ways(page.causes)}</span>{names}</lesson-breaks>'


def in_ways(causes):
    """How many breaks there are; which they are is for the reader to find."""
    return f"breaks in {counted(len(causes), 'way')}" if causes else ""
