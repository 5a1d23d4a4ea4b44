from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.rollouts import repeats
from sim.rollouts.attribution import attribution, paid
from tests.sim.rollouts.shipped import rollouts, small


@pytest.mark.parametrize(
    "text, loop",
    [
        ("So 0000000000000000000000000000000", True),
        ("abcabcabcabc", True),  # twelve characters
        ("abcabcabc", False),  # nine
        ("the answer is 4. the answer is 4. the answer is 4. the ans", True),  # cut off in the fourth
        ("the answer is 4. the answer is 4. the a", False),
        (65 * "x" + "." + 11 * "ab", True),  # 22 of 88 characters
        (66 * "x" + "." + 11 * "ab", False),  # 22 of 89, below a quarter
        ("Final: 18\nFinal: 18\nFinal: 17\n", False),
        ("", False),
        ("a", False),
    ],
)
def test_a_loop_is_a_text_whose_end_repeats(text, loop):
    assert repeats.loops(text) == loop


@given(st.text("ab", min_size=1, max_size=60), st.integers(3, 6), st.text("c", max_size=3))
def test_whatever_is_repeated_is_a_loop(unit, times, before):
    text = before + unit * times
    assert repeats.loops(text) == (len(unit * times) >= 12)


@pytest.mark.parametrize(
    "name, sets", [("sound", 46), ("verifier", 39), ("length", 48), ("one-text", 39), ("cut-off", 33)]
)
def test_equal_texts_of_a_group_get_equal_rewards(name, sets):  # README of the runs
    file = rollouts(name)
    found = repeats.sets_of_equal_texts(paid(file, attribution(file)))
    assert (len(found), sum(differ for _, differ in found)) == (sets, 0)


def test_a_text_that_got_two_rewards_is_found_within_its_group_alone():
    file = small([[1, 0, 1], [0, 0, np.nan]], completions=["a", "a", "b", "b", "b", "b"])
    found = repeats.sets_of_equal_texts(replace(file, reward=file.scores["paid"]))
    assert found == [([0, 1], True), ([3, 4, 5], False)]
