"""Cases that readers judge, on all pages: each has a right answer, a reason, and a hint for any other choice."""

import re

import pytest

from tools.pages import lab, lessons, sorts
from widgets.frame.contract.sorting import attempts_with_a_hint
from widgets.frame.reader import pages

SORTS = [(page, name) for page in pages.having("sorts") for name in pages.module(page, "sorts").SORTS]
each_sort = pytest.mark.parametrize("page, name", SORTS)


def sort_of(page, name):
    return pages.module(page, "sorts").SORTS[name]


@each_sort
def test_every_answer_is_on_offer_and_every_other_one_has_a_hint(page, name):
    sort = sort_of(page, name)
    for case in sort.cases:
        assert case.within or {*(case.among or sort.labels)} >= {case.answer, *case.also}
        assert case.why and case.pointed
        assert case.within or set(case.hints) <= {"", *(case.among or sort.labels)} - {case.answer}
    for i, answer in attempts_with_a_hint(sort):
        assert answer in sort.cases[i].hints or "" in sort.cases[i].hints
    sorts.shown(f"{page}.{name}")


@each_sort
def test_a_typed_number_that_is_right_lies_in_its_range_and_no_hint_does(page, name):
    def number(text):
        top, _, low = text.partition("/")
        return float(top) / float(low or 1)

    for case in sort_of(page, name).cases:
        if case.within:
            inside = [any(low <= number(text) <= high for low, high in case.within) for text in [case.answer]]
            assert all(inside)
            wrong = [number(text) for text in case.hints if text]
            assert not any(low <= value <= high for value in wrong for low, high in case.within)


@each_sort
def test_the_goal_can_be_reached(page, name):
    sort = sort_of(page, name)
    assert len(sort.must) <= sort.need <= len(sort.cases) and max(sort.must, default=0) < len(sort.cases)
    assert not sort.goal.endswith(".")


def test_each_page_of_the_lab_has_two_or_three_goals_which_the_front_page_counts():
    for page in lessons.lab():
        assert 2 <= sum(len(lab.goals(module)) for module in lab.modules_of(page)) <= 6


def test_line_ends_are_written_as_python_does_and_nothing_is_said_to_be_nothing():
    assert sorts.written("Final: 56\r\n") == r"Final: 56\r\n" and sorts.written("") == "(empty)"


def test_every_sort_stands_on_its_page():
    texts = "".join(
        (lessons.ROOT / "lessons" / f"{page.stem}.md").read_text(encoding="utf-8") for page in lessons.lab()
    )
    assert sorted(re.findall(r"```sort\n\s*(\S+)", texts)) == sorted(f"{page}.{name}" for page, name in SORTS)
