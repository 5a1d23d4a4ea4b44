"""What every lesson has, and in which order; a new one is tested by being in the navigation."""

import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
import yaml

from tools.pages import lessons
from widgets.frame import host

ROOT = Path(__file__).parents[2]
FINISHED = [lesson for lesson in lessons.finished() if lesson.number != "00"]
WITH_WIDGET = [page for page in sorted((ROOT / "lessons").glob("*.md")) if "```widget" in page.read_text("utf-8")]
every_lesson = pytest.mark.parametrize("lesson", FINISHED, ids=lambda lesson: lesson.stem)
ORDER = ["```widget", "## In production", "!!! errata", "## The code", "## Check yourself", "## Sources"]


def parts(lesson):
    """(front matter, text, text without code and formulas)."""
    _, head, text = (ROOT / "lessons" / f"{lesson.stem}.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(head), text, re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`", " ", text, flags=re.S)


def knob_links(text):
    """(widget, pairs) of every link that turns knobs, in the page's order."""
    links = re.findall(r'\]\(#(\w+)\)\{ data-knobs="([^"]+)" \}', text)
    assert len(links) == text.count("data-knobs"), "a link that turns knobs is [words](#NAME){ data-knobs=… }"
    return [(name, parse_qsl(query, keep_blank_values=True)) for name, query in links]


@every_lesson
def test_the_head_of_the_page_is_complete(lesson):
    head, _, _ = parts(lesson)
    assert head["question"].rstrip().endswith("?") and head["believe"] and head["see"]
    assert (ROOT / head["code"]).exists()
    assert len(head["breaks"].split()) <= 7
    assert {stem for stem in head["needs"] or []} <= {other.stem for other in lessons.finished()}


@every_lesson
def test_the_sections_stand_in_the_house_order(lesson):
    _, text, _ = parts(lesson)
    places = [text.find(mark) for mark in ORDER]
    assert -1 not in places, [mark for mark, place in zip(ORDER, places) if place < 0]
    assert places == sorted(places)
    assert text.count("```widget") == 1 and text.count("```source") >= 1


@every_lesson
def test_three_questions_one_of_which_a_knob_answers(lesson):
    _, text, _ = parts(lesson)
    quizzes = re.split(r"^\?\?\? quiz ", text.split("## Check yourself")[1].split("## Sources")[0], flags=re.M)[1:]
    assert len(quizzes) == 3
    assert any("data-knobs" in quiz for quiz in quizzes)


@pytest.mark.parametrize("page", WITH_WIDGET, ids=lambda page: page.stem)
def test_links_in_the_prose_turn_knobs_that_exist_to_values_on_offer(page):
    text = page.read_text(encoding="utf-8")
    before, widget = re.search(r"(.*?)^```widget\n(\w+)$", text, re.M | re.S).groups()
    knobs = host.widget(widget).Knobs
    assert len(knob_links(before)) >= 2, "two or three things to try stand before the widget"
    assert len(knob_links(text)) >= 4, "fewer than four links of the page turn its knobs"
    for name, asked in knob_links(text):
        assert name == widget, f"a link turns the knobs of {name}; the page's widget is {widget}"
        assert len(dict(asked)) == len(asked), f"{asked} names a knob twice"
        assert dict(asked).keys() <= knobs.__dataclass_fields__.keys()
        taken = host.knobs_from(knobs, dict(asked))
        assert asked == [(name, host.spelled(getattr(taken, name))) for name, _ in asked], (
            "spelled as the page's controls spell it"
        )


@every_lesson
def test_the_prose_keeps_to_its_length_and_its_tone(lesson):
    _, _, prose = parts(lesson)
    words = len(prose.split())
    assert 1200 <= words <= 3300, words
    plain = re.sub(r"^(!!!|\?\?\?) |\]\([^)]*\)|\{[^}]*\}|!=", " ", prose.split("## Sources")[0], flags=re.M)
    assert "!" not in plain, plain[max(plain.find("!") - 60, 0) : plain.find("!") + 10]
    assert not (doubled := re.search(r"\b([a-z]{2,}) \1\b", plain)), doubled and doubled[0]
    for word in ("simply", "obviously", "Let's", "just like that", "delve", "leverage"):
        assert not re.search(rf"\b{word}\b", plain), word


@every_lesson
def test_sources_say_of_what_kind_they_are(lesson):
    _, text, _ = parts(lesson)
    kinds = re.findall(r"^- \*(\w+)\*", text.split("## Sources")[1], flags=re.M)
    assert len(kinds) >= 3 and set(kinds) <= {"production", "replication", "ablation", "theory", "paper", "docs"}
