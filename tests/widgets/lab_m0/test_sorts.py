"""The numbers that M0 asks for and the culprits that it names are those of the answer key."""

from collections import Counter

from sim.lab import packs
from sim.verifiers import checkers
from widgets.lab_m0 import figures, sorts


def test_the_numbers_are_those_of_the_answer_key():
    assert [case.answer for case in sorts.MEASURE.cases] == ["value", "17/30", "130", "62"]


def test_the_picture_stops_as_many_as_the_reasons_count():
    stops = [row.stop for row in figures.rows()]
    assert Counter(stops) == {6: 4, 7: 2, 8: 1, 10: 6, 11: 17}
    assert figures.held() == [0, 0, 0, 0, 3, 3, 12, 18, 7, 5, 62, 130]


def test_a_name_for_each_check_and_words_for_each_reason():
    assert len(figures.NAMES) == len(figures.POSTS)
    assert {why for row in packs.reasons() for why in row} <= set(figures.REASONS)


def test_four_models_two_verifiers_two_prompts_and_two_hacks_are_to_blame():
    assert Counter(case.answer for case in sorts.KATA.cases) == {"model": 4, "verifier": 2, "prompt": 2, "hack": 2}
    paid = [item["observed"]["reward"] for item in checkers.kata()]
    assert [i for i, reward in enumerate(paid) if reward] == list(sorts.KATA.must)


def test_thirteen_names_for_fourteen_things():
    assert len(sorts.VOCABULARY.labels) == 13 and len(sorts.VOCABULARY.cases) == 14
