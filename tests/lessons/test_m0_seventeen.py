"""M0: what its numbers are computed by, and what its sentences say of the answers without a number."""

from math import gcd

from sim.lab import packs
from sim.worlds.scorer import score


def first(example_id):
    """(the expected answer, sample 0) of a prompt."""
    at = next(i for i, example in enumerate(packs.examples()) if example.id == example_id)
    return packs.examples()[at].expected_answer, packs.rollouts()[at][0].completion


def test_the_answer_in_bold_is_correct_and_paid_nothing():
    expected, completion = first("d16")
    assert (expected, completion) == (str(gcd(1071, 462)), "**Final: 21**")
    assert score({"expected_answer": expected}, completion)["details"]["reason"] == "no_prefix"


def test_two_of_the_thirty_are_in_bold_so_a_scorer_that_takes_them_pays_nineteen():
    bold = [row[0] for row in packs.rollouts("dev") if row[0].completion.startswith("**Final: ")]
    assert len(bold) == 2
    paid = sum(reasons[0] == "ok" for reasons in packs.reasons("dev"))
    assert paid + len(bold) == 19
