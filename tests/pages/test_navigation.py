"""Every lesson of the rail has its mark, every part its count, every lesson its neighbors."""

import re

import pytest

from tools.pages import lessons, navigation
from widgets.frame.reader import host

ORDER = lessons.finished()
LINK = '<a href="../{stem}/" class="md-nav__link"> <span class="md-ellipsis"> {name} </span> </a>'
LABEL = (
    '<label class="md-nav__link"> <span class="md-ellipsis"> {part} </span> <span class="md-nav__icon"></span> </label>'
)
PAGE = (
    '<div data-md-component="skip"> <a href="#clip" class="md-skip"> Skip to content </a> </div>'
    '<div data-md-component="header-topic"> <span class="md-ellipsis"> 10 PPO </span> </div>{rail}'
    "<article>text</article>"
)


@pytest.fixture(scope="module")
def laid(tmp_path_factory):
    """A page of PPO and the front page, after the ways are laid."""
    site = tmp_path_factory.mktemp("site")
    rail = "".join(LINK.format(stem=one.stem, name=one.name) for one in ORDER)
    rail += "".join(LABEL.format(part=part) for part, _ in lessons.parts())
    for file in (site / "10-ppo" / "index.html", site / "index.html", site / "404.html"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(PAGE.format(rail=rail), encoding="utf-8")
    navigation.lay(site)
    return {file.parent.name: file.read_text(encoding="utf-8") for file in site.rglob("index.html")} | {
        "": (site / "index.html").read_text(encoding="utf-8")
    }


def test_every_lesson_of_the_rail_has_one_mark_of_its_name_and_widget(laid):
    for text in laid.values():
        marks = re.findall(r'md-nav__link"><lesson-mark name="([^"]+)" widget="(\w*)"', text)
        assert marks == [(one.stem, one.widget) for one in ORDER]


def test_every_part_of_the_rail_counts_its_own_lessons(laid):
    counts = re.findall(r'</span><lesson-count of="(\d+)" names="([^"]+)" widgets="([^"]*)">', laid["10-ppo"])
    assert [(int(of), names.split(), widgets.split(" ")) for of, names, widgets in counts] == [
        (len(group), [one.stem for one in group], [one.widget for one in group]) for _, group in lessons.parts()
    ]


def test_the_header_names_the_lesson_as_its_card_does(laid):
    assert re.search(r'header-topic">\s*<span class="md-ellipsis">\s*10 · PPO\s*</span>', laid["10-ppo"])


def test_the_header_of_the_front_page_is_short_enough_for_a_phone(laid):
    assert 'header-topic"> <span class="md-ellipsis">RL Post-Training</span>' in laid[""]


def test_a_lesson_has_a_link_past_its_text_to_its_figure(laid):
    assert '</a><a href="#ppo" class="md-skip">Skip to the figure</a>' in laid["10-ppo"]
    assert "Skip to the figure" not in laid[""]


def test_the_foot_of_a_lesson_links_the_previous_lesson_and_the_next_with_its_question(laid):
    foot = re.search(r'<nav class="ways".*?</nav></article>', laid["10-ppo"])[0]
    at = next(i for i, one in enumerate(ORDER) if one.stem == "10-ppo")
    before, after = ORDER[at - 1], ORDER[at + 1]
    assert f'<a href="/{before.url}" rel="prev"><small>Previous</small><b>{before.label}</b>' in foot
    assert f'<a href="/{after.url}" rel="next"><small>Next</small><b>{after.label}</b><span>{after.question}' in foot
    assert f"{after.minutes} min" in foot
    assert 'class="ways"' not in laid[""]


def test_the_first_lesson_has_no_previous_link_and_the_last_no_next_link():
    first, last = (navigation.along("<article></article>", lesson, ORDER) for lesson in (ORDER[0], ORDER[-1]))
    assert (re.findall(r'rel="(\w+)"', first), re.findall(r'rel="(\w+)"', last)) == (["next"], ["prev"])


def test_the_number_of_breaks_to_find_is_the_number_of_causes_of_all_widgets():
    of, widgets = re.search(r'of="(\d+)" widgets="([^"]+)"', lessons.found(ORDER)).groups()
    assert int(of) == sum(len(one.causes) for one in ORDER) > len(ORDER)
    assert widgets.split() == [one.widget for one in ORDER if one.widget]


def test_challenges_are_counted_over_the_lessons():
    group = [page for page in lessons.finished() if page.widget in ("grpo", "gaps")]
    of = len(host.exercises("grpo").CHALLENGES) + len(host.exercises("gaps").CHALLENGES)
    assert lessons.met(group) == f'<lesson-count of="{of}" kept="met" widgets="grpo gaps">{of}</lesson-count>'
