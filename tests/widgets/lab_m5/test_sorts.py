"""The culprits of the second kata are those of its pack."""

from collections import Counter

from widgets.lab_m5 import sorts


def test_four_models_and_two_of_each_other_culprit_are_to_blame():
    assert Counter(case.answer for case in sorts.KATA.cases) == {"model": 4, "verifier": 2, "prompt": 2, "hack": 2}
