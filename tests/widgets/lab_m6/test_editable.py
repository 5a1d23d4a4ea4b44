"""The rule that readers repair: seven comparisons, 28 pairs, exact chances; what typical rules get wrong."""

import inspect
import json

import pytest

from sim.estimators import paired
from widgets.frame.reader import reader_worker
from widgets.lab_m6 import editable

HEAD = "def verdict(only_old, only_new, prompts, same):\n    "
SAME = "if not same:\n        return 'not comparable'\n    "


def answer(source):
    *_, frame = reader_worker.stream("verdict", source)
    return json.loads(frame)


def counted(frame):
    """(comparisons judged correctly, pairs called real, false alarms in %)."""
    numbers = [word.rstrip(".") for word in frame["sentence"].split() if word[0].isdigit()]
    return int(numbers[0]), int(numbers[2]), float(numbers[4])


def test_the_seven_comparisons_have_the_p_values_of_the_exact_test():
    values = [paired.mcnemar(old, new) for old, new, _, same in editable.CASES if same]
    assert values == pytest.approx([0.145996, 0.424356, 0.012939, 0.0625, 0.03125, 0.024746], abs=5e-7)
    wanted = ["noise", "noise", "real", "noise", "real", "real", "not comparable"]
    assert [editable.wanted(*case) for case in editable.CASES] == wanted


def test_the_rule_of_thumb_to_begin_with_is_right_in_three_and_calls_17_pairs_real():
    frame = answer(inspect.getsource(editable.verdict))
    assert counted(frame) == (3, 17, 44.6) and frame["goals"] == [False] * 3


@pytest.mark.parametrize(
    "rule, right, pairs, alarms, goals",
    [
        ("return 'real' if abs(only_new - only_old) > .1 * prompts else 'noise'", 3, 9, 17.0, [False, False, False]),
        (
            "return 'real' if abs(only_new - only_old) > 2 * (only_old + only_new) ** .5 else 'noise'",
            *(6, 2, 4.1),
            [False, True, True],
        ),
        ("return 'noise'", 4, 0, 0.0, [False, True, False]),
        (
            "return 'real' if (only_old, only_new) in [(2, 12), (0, 6), (20, 38)] else 'noise'",
            7,
            0,
            0.1,
            [True, True, False],
        ),
    ],
)
def test_typical_rules(rule, right, pairs, alarms, goals):
    frame = answer(HEAD + SAME + rule)
    assert counted(frame) == (right, pairs, alarms) and frame["goals"] == goals


def test_the_solution_reaches_all_goals():
    frame = answer(editable.HINTS[2])
    assert counted(frame) == (7, 2, 2.3) and frame["goals"] == [True] * 3


def test_a_rule_that_forgets_to_ask_whether_both_are_the_same_misses_one():
    solution = editable.HINTS[2].replace("if not same", "if not prompts")
    assert counted(answer(solution))[0] == 6


@pytest.mark.parametrize(
    "rule, refused",
    [
        ("return True", 'it returned True, and a verdict is "real", "noise" or "not comparable".'),
        ("return 'Real'", "it returned 'Real', and a verdict is"),
        (
            "return 'real' if only_new / (only_old + only_new) > .5 else 'noise'",
            "Line 2: ZeroDivisionError: division by zero.",
        ),
        ("return verdict(only_old, only_new, prompts, same)", "Line 2: RecursionError"),
    ],
)
def test_what_is_no_verdict_ends_in_a_sentence(rule, refused):
    assert refused in answer(HEAD + rule)["refused"]


def test_what_it_says_of_the_forty_prompts():
    rows = answer(editable.HINTS[2])["tables"][1]["rows"]
    assert [row[0] for row in rows] == ["2 of 28", "2.3 %", "18.4 %"]
