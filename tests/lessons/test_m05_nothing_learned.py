"""M0.5: what its numbers are computed by, and what its sentences say of the answers without a number."""

import re
from functools import cache

import pytest

from sim.estimators import attempts
from sim.lab import packs, selection
from sim.verifiers.checkers import CHECKERS, substring
from sim.worlds.scorer import score

PROMPTS = 40


@cache
def picked(name):
    """What a scorer picks among eight samples of all prompts."""
    return selection.table(selection.first_best, CHECKERS[name], [8])[0]


def reported(name):
    """The mean reward that a scorer gives its own picks."""
    return picked(name).reported / PROMPTS


def correct(name):
    """The share of its picks that the strict scorer rewards."""
    return picked(name).right / PROMPTS


def first(split, k):
    """The share of prompts with a correct answer among the first k."""
    rows = packs.reasons(split)
    return sum("ok" in row[:k] for row in rows) / len(rows)


def every(split, k):
    """The same, averaged over all choices of k from the eight."""
    rows = packs.reasons(split)
    return sum(attempts.pass_at_k(packs.SAMPLES, row.count("ok"), k) for row in rows) / len(rows)


def unsolved():
    """The ids of the dev prompts without a correct answer, and whether the right number was written as a number."""
    found = {}
    for example, row, why in zip(packs.examples("dev"), packs.rollouts("dev"), packs.reasons("dev"), strict=True):
        if "ok" not in why:
            numbers = [number for r in row for number in re.findall(r"-?\d+", r.completion)]
            found[example.id] = any(int(number) == int(example.expected_answer) for number in numbers)
    return found


def test_five_of_the_six_unsolved_dev_prompts_have_the_right_number_in_a_wrong_form():
    assert unsolved() == dict(d05=True, d14=True, d15=True, d23=False, d24=True, d25=True)


def test_the_first_product_of_the_note_came_with_a_leading_zero_only():
    row = next(row for row in packs.rollouts("dev") if row[0].example_id == "d05")
    right = {r.completion for r in row if "7006652" in r.completion}
    assert 1234 * 5678 == 7006652 and right == {"Final: 07006652", "Final:  -7006652"}


def test_the_answer_in_the_text_falls_through_the_hole_and_is_picked():
    at = next(i for i, example in enumerate(packs.examples()) if example.id == "d23")
    pick = packs.rollouts()[at][picked("substring").ids[at]]
    assert pick.completion == "Final: -30" and 1000003 % 97 == 30
    assert substring({"expected_answer": "30"}, pick.completion)["reward"] == 1
    assert score({"expected_answer": "30"}, pick.completion)["reward"] == 0


def test_a_wrong_pick_is_a_list_or_has_a_digit_too_many_or_the_wrong_sign():
    rows = zip(packs.examples(), packs.rollouts(), picked("substring").ids, strict=True)
    texts = {e.expected_answer: row[i].completion for e, row, i in rows}
    assert texts["755"] == "Final: 7550" and texts["40353607"] == "Final: -40353607"
    assert len(texts["998001"].split()) > 10


def test_picking_by_format_loses_no_correct_answer_and_by_the_last_digits_some():
    assert correct("format_bonus") == correct("strict") > correct("last_int")


@pytest.mark.parametrize(
    "split, firsts, all_choices",
    [
        ("dev", (0.567, 0.633, 0.767, 0.8), (0.542, 0.687, 0.765, 0.8)),
        ("holdout", (0.5, 0.6, 0.8, 0.9), (0.425, 0.607, 0.77, 0.9)),
    ],
)
def test_both_columns_of_pass_at_k(split, firsts, all_choices):
    sizes = (1, 2, 4, 8)
    assert [first(split, k) for k in sizes] == pytest.approx(firsts, abs=5e-4)
    assert [every(split, k) for k in sizes] == pytest.approx(all_choices, abs=5e-4)


def test_one_sample_of_each_prompt_is_correct_for_22_of_40_and_among_eight_33_are():
    assert [round(PROMPTS * (3 * first("dev", k) + first("holdout", k)) / 4) for k in (1, 8)] == [22, 33]


def plain_maximum(samples):
    """What readers begin with."""
    return max(samples, key=lambda sample: sample["reward"])


@pytest.mark.parametrize("judge", [substring, score])
def test_a_plain_maximum_picks_alike_in_the_order_of_the_ids(judge):
    ours, plain = (selection.table(pick, judge, [1, 2, 4, 8]) for pick in (selection.first_best, plain_maximum))
    assert plain == ours


def test_in_the_reverse_order_a_plain_maximum_picks_another_number_of_correct_texts():
    (turned,) = selection.table(lambda samples: plain_maximum(samples[::-1]), substring, [8])
    assert turned.reported == picked("substring").reported and turned.right != picked("substring").right
