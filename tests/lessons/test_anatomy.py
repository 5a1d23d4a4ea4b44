"""What every page has, by its kind, and in which order; a new page is tested by being in the navigation. The limits are
in rules.py and, as sentences, in CONTRIBUTING.md.
"""

import re
from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.lessons import rules
from tools.pages import frames, lessons, results
from widgets.frame.contract import machine_knobs, values
from widgets.frame.drawing import scene
from widgets.frame.reader import host

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Page:
    stem: str
    head: dict  # the front matter
    text: str

    @property
    def kind(self):
        return self.head.get("kind", "lesson")

    @property
    def rules(self):
        return rules.KINDS.get(self.kind, rules.KINDS["lesson"])

    @property
    def prose(self):
        """The text without code and formulas."""
        return re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`", " ", self.text, flags=re.S)

    @property
    def widget(self):
        """The name of its widget; "" without one."""
        found = re.search(r"^```widget\n(\w+)$", self.text, re.M)
        return found[1] if found else ""

    @property
    def name(self):
        """The name of its folder in widgets/, where it has one of its own: 22a-throughput -> throughput."""
        return self.widget or self.stem.partition("-")[2].replace("-", "_")


LAB_STEMS = {page.stem for page in lessons.lab()}


def page(path):
    return Page(path.stem, *lessons.front_matter(path.name))


PAGES = [page(path) for path in sorted((ROOT / "lessons").glob("*.md"))]
NUMBERED = [page for page in PAGES if page.stem[0].isdigit()]
LAB = [page for page in PAGES if page.kind == "lab"]


def each(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.stem)


every_page = each(PAGES)
every_page_of_two_depths = each([page for page in PAGES if page.rules.main_path])


def must(holds, page, rule):
    """Fail with the rule as a sentence."""
    __tracebackhide__ = True
    assert holds, f'lessons/{page.stem}.md: {rule} (CONTRIBUTING.md, "A page")'


def knob_links(text):
    """(widget, pairs) of every link that turns knobs, in the page's order."""
    links = re.findall(r'\]\(#(\w+)\)\{ data-knobs="([^"]+)" \}', text)
    return [(name, parse_qsl(query, keep_blank_values=True)) for name, query in links]


@every_page
def test_a_page_is_of_a_kind_and_lessons_have_a_number(page):
    must(page.kind in rules.KINDS, page, f"`kind` is one of {', '.join(rules.KINDS)}, not {page.kind}")
    numbered = page in NUMBERED
    without = page.kind in ("reference", "lab")
    must(numbered != without, page, "a page has a number unless it is of the kind reference or lab")
    must(
        (page.kind == "lab") == (page.stem in LAB_STEMS), page, "a page of the Lab is named m and its number, as in nav"
    )


@every_page
def test_nothing_is_left_to_fill_in(page):
    own = [f"lessons/{page.stem}.md", page.head.get("code", "")]
    if page.kind == "lesson":
        own += [f"lessons/{page.stem}.yml"]
        own += [f"widgets/{page.widget}/{module}.py" for module in ("widget", "figures", "exercises")]
        own += [f"tests/widgets/{page.widget}/test_widget.py"]
    if page.kind == "exercise":
        own += [f"widgets/{page.name}/editable.py"]
    own = [file for file in own if file]
    for file in own:
        must((ROOT / file).is_file(), page, f"there is no {file}")
    left = [
        f"{file}, line {number}: {line.strip()[:60]}"
        for file in own
        for number, line in enumerate((ROOT / file).read_text(encoding="utf-8").splitlines(), 1)
        if rules.UNFINISHED in line
    ]
    must(not left, page, f"{len(left)} places are to be filled in, first {'; '.join(left[:3])}")


@every_page
def test_the_front_matter_has_the_fields_of_its_kind(page):
    head, there = page.head, {other.stem for other in lessons.finished()}
    for field in page.rules.fields:
        must(head.get(field) is not None, page, f"the front matter lacks `{field}`: {rules.FRONT_MATTER[field]}")
    known = page.rules.fields + page.rules.optional
    for field in head.keys() - set(known):
        must(False, page, f"the front matter of this kind has no `{field}`; it has {', '.join(known)}")
    for field in ("question", "believe", "see"):
        must(head.get(field, "-"), page, f"`{field}` is empty: {rules.FRONT_MATTER[field]}")
    must(head.get("question", "?").rstrip().endswith("?"), page, "`question` ends in a question mark")
    if "code" in head:
        must((ROOT / head["code"]).is_file(), page, f"`code` names a module of sim/, and {head['code']} is none")
    for stem in head.get("needs", []):
        must(stem in there, page, f"`needs` names lessons of the navigation, and {stem} is none")
    must(len(head.get("see", "").split()) <= rules.SEE_WORDS, page, f"`see` has at most {rules.SEE_WORDS} words")


@every_page
def test_the_sections_stand_in_the_order_of_the_kind(page):
    text, order = f"\n{page.text}", page.rules.order
    places = [text.find(mark) for mark in order]
    missing = [mark for mark, place in zip(order, places) if place < 0]
    missing += [mark for mark in page.rules.also if mark not in text]
    must(not missing, page, f"the page lacks {', '.join(missing)}")
    must(places == sorted(places), page, f"the page has its parts in the order {', '.join(order)}")
    must(text.count("```widget") <= 1, page, f"a page has one fence `widget`, not {text.count('```widget')}")


@each([page for page in PAGES if page.rules.questions])
def test_three_questions_one_of_which_a_knob_answers(page):
    asked = re.split(r"^## ", page.text.partition("## Check your understanding")[2], maxsplit=1, flags=re.M)[0]
    questions = re.split(r"^\?\?\? quiz ", asked, flags=re.M)[1:]
    wanted, found = page.rules.questions, len(questions)
    must(found == wanted, page, f"*Check your understanding* asks {wanted} questions, not {found}")
    for one in questions:
        marks = re.findall(r"^    - \[(.)\] ", one, flags=re.M)
        answered = 2 <= len(marks) <= 4 and marks.count("x") == 1
        must(answered, page, f"a question has two to four answers, of which one is right: {one.splitlines()[0]}")
    must(any("data-knobs" in one for one in questions), page, "the answer to one of the questions links to a knob")


@each(LAB)
def test_a_page_of_the_lab_asks_two_questions_and_has_two_or_three_exercises(page):
    asked = page.text.count("??? quiz ")
    must(asked == rules.LAB_QUESTIONS, page, f"a page of the Lab asks {rules.LAB_QUESTIONS} questions, not {asked}")
    exercises = re.findall(r"^## \d · ", page.text, flags=re.M)
    must(2 <= len(exercises) <= 3, page, f"a page of the Lab has two or three exercises, not {len(exercises)}")
    fences = re.findall(r"^ *```(?:sort|own)$", page.text, flags=re.M)
    must(len(fences) >= len(exercises), page, "each exercise is a fence `sort` or `own`")


@each([page for page in PAGES if page.widget])
def test_links_in_the_prose_turn_knobs_that_exist_to_values_on_offer(page):
    before, widget = page.text.partition("```widget")[0], page.widget
    knobs, links = host.widget(widget).Knobs, knob_links(page.text)
    formed = len(links) == page.text.count("data-knobs")
    must(formed, page, 'a link that turns knobs has the form [words](#NAME){ data-knobs="a=1&b=on" }')
    must(len(links) >= rules.LINKS, page, f"at least {rules.LINKS} knob links, not {len(links)}")
    shown_first = "```opening" in page.text and knob_links(before)
    must(not shown_first, page, "no knob link stands before the widget: what it sets is to be found there")
    for name, asked in links:
        link = "&".join(f"{knob}={value}" for knob, value in asked)
        must(name == widget, page, f"the link {link} turns the knobs of {name}; the page's widget is {widget}")
        must(len(dict(asked)) == len(asked), page, f"the link {link} names a knob twice")
        for knob in dict(asked).keys() - knobs.__dataclass_fields__.keys():
            must(False, page, f"the link {link} turns {knob}, which widgets/{widget}/widget.py does not have")
        taken = values.knobs_from(knobs, dict(asked))
        for knob, value in asked:
            shown = values.spelled(getattr(taken, knob))
            must(value == shown, page, f"the link {link} spells {knob} as the page's control does: {shown}")


def spent(page):
    """{what the budget limits: how much of it a lesson has}."""
    w = host.widget(page.widget)
    panels = w.figure(w.Knobs(), results.last(page.widget, w.Knobs()))
    exercises = host.exercises(page.widget)
    patterns = ("lessons/{s}.*", "widgets/{w}/*.py", "tests/widgets/{w}/*.py", "tests/lessons/test_{m}.py")
    places = dict(s=page.stem, w=page.widget, m=page.stem.replace("-", "_"))
    found = {
        "files": [file for pattern in patterns for file in ROOT.glob(pattern.format(**places))],
        "knobs": [field.name for field in fields(w.Knobs) if field.name not in [*machine_knobs.JOB, "seed"]],
        "panels": panels,
        "tabs": {panel["tab"] for panel in panels},
        "scenes": [panel for panel in panels if scene.is_scene(panel)],
        "causes": frames.causes(page.widget),
        "small figures": re.findall(r"^ *```figure$", page.text, re.M),
        "functions to change": getattr(getattr(exercises, "CHANGE", None), "functions", ()),
        "goals": host.challenges(w),
        "folds": re.findall(r"^\?\?\? deeper", page.text, re.M),
    }
    return {what: len(found[what]) for what in rules.BUDGET}


@each([page for page in PAGES if page.kind == "lesson"])
def test_a_lesson_keeps_within_its_budget(page):
    over = [f"{n} {what}, not {spent(page)[what]}" for what, n in rules.BUDGET.items() if spent(page)[what] > n]
    larger = page.stem.partition("-")[0] in rules.LARGER.split()
    must(larger or not over, page, f"at most {'; at most '.join(over)}")
    must(over or not larger, page, "it keeps within its budget, and LARGER in tests/lessons/rules.py names it")


def without_marks(text):
    """What is read: no code, formulas, fences; of links and blocks only their words."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`", " ", text, flags=re.S)
    return re.sub(r"\]\([^)]*\)|\{[^}]*\}|^[|!?:\s-]*\|[|:\s-]*$|^(!!!|\?\?\?) \w+", " ", text, flags=re.M)


@every_page_of_two_depths
def test_the_main_path_is_short_and_has_its_first_figure_early(page):
    path = page.text.partition("## Going further")[0]
    words, (least, most) = len(without_marks(path).split()), page.rules.main_path
    must(least <= words <= most, page, f"{least} to {most:,} words before *Going further*, not {words}")
    if not page.rules.figures:  # its scene is above all text
        return
    before, most = len(without_marks(path.partition("```figure")[0]).split()), rules.BEFORE_A_FIGURE
    must(before <= most, page, f"at most {most} words stand before a figure: {before}")
    # those in the margin have no handle and are not counted
    figures, (fewest, most) = len(re.findall(r"^```figure\n\S+$", path, flags=re.M)), page.rules.figures
    must(fewest <= figures <= most, page, f"{fewest} to {most} small figures on the main path, not {figures}")


@each([page for page in PAGES if "## Takeaways" in page.rules.order])
def test_a_page_leaves_three_short_lines(page):
    taken = re.findall(r"^\d\. (.+)$", page.text.partition("## Takeaways")[2].partition("\n## ")[0], flags=re.M)
    must(len(taken) == rules.TAKE_LINES, page, f"*Takeaways* has {rules.TAKE_LINES} lines, not {len(taken)}")
    for line in taken:
        words, most = len(without_marks(line).split()), rules.TAKE_WORDS
        must(words <= most, page, f"a line of *Takeaways* has at most {most} words: {line}")


@every_page
def test_a_fold_says_of_which_kind_it_is(page):
    for kind in set(re.findall(r"^\?\?\? deeper ?(\w*)", page.text, flags=re.M)) - set(rules.DEEPER):
        must(False, page, f"a fold is of one of the kinds {', '.join(rules.DEEPER)}, not {kind!r}")


@every_page
def test_the_prose_keeps_to_its_length_and_its_tone(page):
    words, (least, most) = len(page.prose.split()), page.rules.words
    must(least <= words <= most, page, f"{least} to {most:,} words without code and formulas, not {words}")
    plain = re.sub(r"^(!!!|\?\?\?) |\]\([^)]*\)|\{[^}]*\}|!=", " ", page.prose.split("## Sources")[0], flags=re.M)
    mark = plain.find("!")
    must(mark < 0, page, f"no exclamation marks: {plain[max(mark - 60, 0) : mark + 1]!r}")
    doubled = re.search(r"\b([a-z]{2,}) \1\b", plain)
    must(not doubled, page, f"a word stands twice: {doubled and doubled[0]}")
    for word in rules.FORBIDDEN:
        must(not re.search(rf"\b{word}\b", plain), page, f"not the word {word!r}")


@each([page for page in PAGES if page.rules.sources])
def test_sources_say_of_what_kind_they_are(page):
    sources, least = page.text.partition("## Sources")[2], page.rules.sources
    kinds = re.findall(r"^- \*(\w+)\*", sources, flags=re.M)
    boxed = '<div class="sources" markdown>' in sources
    must(boxed, page, 'the list of sources stands in <div class="sources" markdown>')
    must(len(kinds) >= least, page, f"at least {least} sources, each with its kind, not {len(kinds)}")
    for kind in set(kinds) - set(rules.SOURCES):
        must(False, page, f"a source is of one of the kinds {', '.join(rules.SOURCES)}, not {kind}")


def test_every_page_with_a_number_stands_in_the_navigation():
    outside = sorted({page.stem for page in NUMBERED} - {lesson.stem for lesson in lessons.finished()})
    assert not outside, f'nav in mkdocs.yml does not name {", ".join(outside)} (CONTRIBUTING.md, "A page")'


def test_contributing_says_every_limit():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("\n## A page\n")[1].split("\n## ")[0]
    said = [
        *(f"{kind.words[0]:,} to {kind.words[1]:,} words" for kind in rules.KINDS.values() if kind.words[0]),
        *(f"`{kind}`" for kind in rules.KINDS),
        *(f"*{kind}*" for kind in rules.SOURCES),
        *(f'"{word}"' for word in rules.FORBIDDEN),
        *(f"`{field}`" for field in rules.FRONT_MATTER),
        *(f"`{kind}`" for kind in rules.DEEPER),
        *(f"`{mark}`" for kind in rules.KINDS.values() for mark in kind.order if mark.startswith("#")),
        rules.UNFINISHED,
        f"at least {number(rules.LINKS)} knob links",
        f"at most {rules.BEFORE_A_FIGURE} words",
        f"at most {rules.TAKE_WORDS} words",
        f"at most {rules.SEE_WORDS} words",
    ]
    lesson = rules.KINDS["lesson"]
    said += [
        f"{lesson.main_path[0]} to {lesson.main_path[1]:,} words",
        f"{number(lesson.figures[0])} to {number(lesson.figures[1])} small figures",
        f"{number(lesson.questions)} questions",
        f"at least {number(lesson.sources)} sources",
    ]
    assert [sentence for sentence in said if sentence not in section] == []


def number(n):
    return ["no", "one", "two", "three", "four", "five", "six"][n]
