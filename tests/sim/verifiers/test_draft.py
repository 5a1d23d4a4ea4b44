"""By hand: what the draft pays and refuses."""

import pytest

from sim.verifiers.draft import score


@pytest.mark.parametrize(
    "answer, completion, reward",
    [
        ("42", "Final: 42", 1.0),
        ("42", "Final: 41 42 43", 1.0),  # the right one is among them
        ("42", "Final: 43", 0.0),
        ("-14", "Final: -14", 0.0),  # "-14".isdigit() is false
        ("42", "The answer is 42.", 0.0),
    ],
)
def test_the_answer_is_looked_for_among_the_numbers_after_final(answer, completion, reward):
    assert score({"expected_answer": answer}, completion) == reward
