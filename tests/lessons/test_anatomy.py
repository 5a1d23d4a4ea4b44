"""What every lesson has, and in which order; a new one is tested by being in the navigation. The limits are in rules.py
and, as sentences, in CONTRIBUTING.md.
"""

import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
import yaml

from tests.lessons import rules
from tools.pages import lessons
from widgets.frame import host, values

ROOT = Path(__file__).parents[2]
FINISHED = lessons.finished()
WITH_WIDGET = [page for page in sorted((ROOT / "lessons").glob("*.md")) if "```widget" in page.read_text("utf-8")]
SECOND = [lesson for lesson in FINISHED if "```opening" in (ROOT / "lessons" / f"{lesson.stem}.md").read_text("utf-8")]
every_lesson = pytest.mark.parametrize("lesson", FINISHED, ids=lambda lesson: lesson.stem)

second_edition = pytest.mark.parametrize("lesson", SECOND, ids=lambda lesson: lesson.stem)


def must(holds, lesson, rule):
    """Fail with the rule as a sentence."""
    __tracebackhide__ = True
    assert holds, f'lessons/{lesson.stem}.md: {rule} (CONTRIBUTING.md, "A lesson")'


def parts(lesson):
    """(front matter, text, text without code and formulas)."""
    _, head, text = (ROOT / "lessons" / f"{lesson.stem}.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), text, re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`", " ", text, flags=re.S)


def knob_links(text):
    """(widget, pairs) of every link that turns knobs, in the page's order."""
    links = re.findall(r'\]\(#(\w+)\)\{ data-knobs="([^"]+)" \}', text)
    return [(name, parse_qsl(query, keep_blank_values=True)) for name, query in links]


@every_lesson
def test_nothing_is_left_to_fill_in(lesson):
    own = [
        f"lessons/{lesson.stem}.md",
        f"widgets/{lesson.widget}/widget.py",
        f"tests/widgets/{lesson.widget}/test_widget.py",
        f"tests/lessons/test_{lesson.stem.replace('-', '_')}.py",
        parts(lesson)[0].get("code", ""),
    ]
    for file in own:
        must((ROOT / file).is_file(), lesson, f"there is no {file}")
    left = [
        f"{file}, line {number}: {line.strip()[:60]}"
        for file in own
        for number, line in enumerate((ROOT / file).read_text(encoding="utf-8").splitlines(), 1)
        if rules.UNFINISHED in line
    ]
    must(not left, lesson, f"{len(left)} places are to be filled in, the first {left[:1]}")


@every_lesson
def test_the_head_of_the_page_is_complete(lesson):
    head, _, _ = parts(lesson)
    there = {other.stem for other in lessons.finished()}
    for field in rules.FRONT_MATTER.keys() - rules.OPTIONAL - head.keys():
        must(False, lesson, f"the front matter lacks `{field}`: {rules.FRONT_MATTER[field]}")
    for field in head.keys() - rules.FRONT_MATTER.keys():
        must(False, lesson, f"the front matter has no field `{field}`; there are {', '.join(rules.FRONT_MATTER)}")
    for field in ("question", "believe", "see"):
        must(head[field], lesson, f"`{field}` is empty: {rules.FRONT_MATTER[field]}")
    must(head["question"].rstrip().endswith("?"), lesson, "`question` ends in a question mark")
    must((ROOT / head["code"]).is_file(), lesson, f"`code` names a module of sim/, and {head['code']} is none")
    for stem in head["needs"] or []:
        must(stem in there, lesson, f"`needs` names lessons of the navigation, and {stem} is none")
    must(re.fullmatch(rules.LOOPS, head.get("loop", "A: -")), lesson, f"`loop` is {rules.FRONT_MATTER['loop']}")


@every_lesson
def test_the_sections_stand_in_the_house_order(lesson):
    _, text, _ = parts(lesson)
    order = rules.DEPTH if lesson in SECOND else rules.ORDER
    places = [text.find(mark) for mark in order]
    missing = [mark for mark, place in zip(order, places) if place < 0]
    must(not missing, lesson, f"the page lacks {', '.join(missing)}")
    must(places == sorted(places), lesson, f"the page has its parts in the order {', '.join(order)}")
    must(text.count("```widget") == 1, lesson, f"the page has one fence `widget`, not {text.count('```widget')}")
    must("```source" in text, lesson, "the page quotes at least one function by a fence `source`")


@every_lesson
def test_three_questions_one_of_which_a_knob_answers(lesson):
    _, text, _ = parts(lesson)
    asked = re.split(r"^## ", text.partition("## Check yourself")[2], maxsplit=1, flags=re.M)[0]
    questions = re.split(r"^\?\?\? quiz ", asked, flags=re.M)[1:]
    found = len(questions)
    must(found == rules.QUESTIONS, lesson, f"*Check yourself* asks {rules.QUESTIONS} questions, not {found}")
    must(any("data-knobs" in one for one in questions), lesson, "the answer to one of the questions links to a knob")


@pytest.mark.parametrize("page", WITH_WIDGET, ids=lambda page: page.stem)
def test_links_in_the_prose_turn_knobs_that_exist_to_values_on_offer(page):
    text = page.read_text(encoding="utf-8")
    before, widget = re.search(r"(.*?)^```widget\n(\w+)$", text, re.M | re.S).groups()
    knobs, links, tries = host.widget(widget).Knobs, knob_links(text), len(knob_links(before))
    formed = len(links) == text.count("data-knobs")
    must(formed, page, 'a link that turns knobs has the form [words](#NAME){ data-knobs="a=1&b=on" }')
    must(len(links) >= rules.LINKS, page, f"at least {rules.LINKS} knob links, not {len(links)}")
    wanted = rules.LINKS_BEFORE_THE_WIDGET
    if "```opening" in text:
        must(not tries, page, "no knob link stands before the widget: what it sets is to be found there")
    else:
        must(
            tries >= wanted,
            page,
            f"at least {wanted} of the knob links, things to try, stand before the widget, not {tries}",
        )
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


def without_marks(text):
    """What is read: no code, formulas, fences; of links and blocks only their words."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`", " ", text, flags=re.S)
    return re.sub(r"\]\([^)]*\)|\{[^}]*\}|^[|!?:\s-]*\|[|:\s-]*$|^(!!!|\?\?\?) \w+", " ", text, flags=re.M)


@second_edition
def test_the_main_path_of_the_second_edition_is_short_and_begins_with_a_figure(lesson):
    head, text, _ = parts(lesson)
    path = text.partition("## Going further")[0]
    words, (least, most) = len(without_marks(path).split()), rules.MAIN_PATH
    must(least <= words <= most, lesson, f"{least} to {most:,} words before *Going further*, not {words}")
    before = len(without_marks(path.partition("```figure")[0]).split())
    must(
        before <= rules.BEFORE_A_FIGURE,
        lesson,
        f"at most {rules.BEFORE_A_FIGURE} words stand before a figure: {before}",
    )
    # those in the margin have no handle and are not counted
    figures, (fewest, most) = len(re.findall(r"^```figure\n\S+$", path, flags=re.M)), rules.FIGURES
    must(fewest <= figures <= most, lesson, f"{fewest} to {most} small figures on the main path, not {figures}")
    must(len(head["see"].split()) <= rules.SEE_WORDS, lesson, f"`see` has at most {rules.SEE_WORDS} words")
    must("time" in head, lesson, f"the front matter lacks `time`: {rules.FRONT_MATTER['time']}")


@second_edition
def test_a_page_of_the_second_edition_leaves_three_lines_and_folds_the_rest(lesson):
    _, text, _ = parts(lesson)
    taken = re.findall(r"^\d\. (.+)$", text.partition("## Take with you")[2].partition("\n## ")[0], flags=re.M)
    must(len(taken) == rules.TAKE_LINES, lesson, f"*Take with you* has {rules.TAKE_LINES} lines, not {len(taken)}")
    for line in taken:
        words = len(without_marks(line).split())
        must(
            words <= rules.TAKE_WORDS, lesson, f"a line of *Take with you* has at most {rules.TAKE_WORDS} words: {line}"
        )
    path, _, further = text.partition("## Going further")
    must("??? pause" in path, lesson, "a `??? pause` asks the reader before the turn of the argument")
    kinds = re.findall(r"^\?\?\? deeper ?(\w*)", further, flags=re.M)
    must(kinds, lesson, "what is for specialists is folded by `??? deeper KIND`")
    for kind in set(kinds) - set(rules.DEEPER):
        must(False, lesson, f"a fold is of one of the kinds {', '.join(rules.DEEPER)}, not {kind!r}")


@every_lesson
def test_the_prose_keeps_to_its_length_and_its_tone(lesson):
    _, _, prose = parts(lesson)
    words, (least, most) = len(prose.split()), rules.WORDS
    must(least <= words <= most, lesson, f"{least} to {most} words without code and formulas, not {words}")
    plain = re.sub(r"^(!!!|\?\?\?) |\]\([^)]*\)|\{[^}]*\}|!=", " ", prose.split("## Sources")[0], flags=re.M)
    mark = plain.find("!")
    must(mark < 0, lesson, f"no exclamation marks: {plain[max(mark - 60, 0) : mark + 1]!r}")
    doubled = re.search(r"\b([a-z]{2,}) \1\b", plain)
    must(not doubled, lesson, f"a word stands twice: {doubled and doubled[0]}")
    for word in rules.FORBIDDEN:
        must(not re.search(rf"\b{word}\b", plain), lesson, f"not the word {word!r}")


@every_lesson
def test_sources_say_of_what_kind_they_are(lesson):
    _, text, _ = parts(lesson)
    sources = text.partition("## Sources")[2]
    kinds = re.findall(r"^- \*(\w+)\*", sources, flags=re.M)
    must(
        '<div class="sources" markdown>' in sources,
        lesson,
        'the list of sources stands in <div class="sources" markdown>',
    )
    must(len(kinds) >= rules.SOURCES, lesson, f"at least {rules.SOURCES} sources, each with its kind, not {len(kinds)}")
    for kind in set(kinds) - set(rules.KINDS):
        must(False, lesson, f"a source is of one of the kinds {', '.join(rules.KINDS)}, not {kind}")


def test_every_lesson_stands_in_the_navigation():
    files = {path.name for path in (ROOT / "lessons").glob("[0-9]*.md")}
    outside = sorted(files - {f"{lesson.stem}.md" for lesson in lessons.finished()})
    assert not outside, f'nav in mkdocs.yml does not name {", ".join(outside)} (CONTRIBUTING.md, "A lesson")'


def test_contributing_says_every_limit():
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## A lesson\n")[1].split("\n## ")[0]
    least, most = rules.WORDS
    said = [
        f"{least:,} to {most:,} words",
        f"at least {number(rules.LINKS_BEFORE_THE_WIDGET)} knob links",
        f"{number(rules.QUESTIONS)} questions",
        f"at least {number(rules.SOURCES)} sources",
        *(f"*{kind}*" for kind in rules.KINDS),
        *(f'"{word}"' for word in rules.FORBIDDEN),
        *(f"`{field}`" for field in rules.FRONT_MATTER),
        *(f"`{mark}`" for mark in rules.ORDER if mark[0] == "#"),
        rules.UNFINISHED,
        f"{rules.MAIN_PATH[0]} to {rules.MAIN_PATH[1]:,} words",
        f"at most {rules.BEFORE_A_FIGURE} words",
        f"{number(rules.FIGURES[0])} to {number(rules.FIGURES[1])} small figures",
        f"at most {rules.TAKE_WORDS} words",
        *(f"`{kind}`" for kind in rules.DEEPER),
        *(f"`{mark}`" for mark in rules.DEPTH if mark[0] == "#"),
    ]
    assert [sentence for sentence in said if sentence not in section] == []


def number(n):
    return ["no", "one", "two", "three", "four", "five", "six"][n]
