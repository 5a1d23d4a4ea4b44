"""The verifier that readers begin with leaks in both directions; four lines close it."""

import inspect
import json
import re

import pytest

from sim.verifiers import checkers
from sim.worlds import scorer
from widgets.frame.reader import reader_code, reader_worker
from widgets.verifiers import editable as verifier

RIGHT = """import re

def score(example, completion):
    line = completion.strip(" \\t\\r\\n")
    said = re.fullmatch("Final: (0|-?[1-9][0-9]*)", line)
    return 1.0 if said and said[1] == example["expected_answer"] else 0.0
"""


def answer(source):
    *_, frame = reader_worker.stream("verifier", source)
    return json.loads(frame)


def numbers(shown):
    """(refused, paid, reward, solved) as the sentence says them."""
    match = re.search(
        r"^(\d+) of 16 .*?(\d+) of 24 .*?reward of ([\d.]+) and ([\d.]+) solved[.,]( |$)", shown["sentence"]
    )
    return int(match[1]), int(match[2]), float(match[3]), float(match[4])


def test_the_reader_begins_with_at_most_fifteen_lines():
    assert len(inspect.getsource(verifier.score).splitlines()) <= 15


def test_the_editable_verifier_refuses_a_right_answer_and_pays_exploits():
    # by hand: "-14".isdigit() is false; a list of numbers has the right one among them
    assert verifier.score({"expected_answer": "-14"}, "Final: -14") == 0.0
    assert verifier.score({"expected_answer": "42"}, "Final: 41 42 43") == 1.0
    report = checkers.report(verifier.score)
    assert {row.id for row in report.refused} == {"gc_negative", "gc_negative_big"} and report.paid


def test_training_against_the_editable_verifier_ends_with_full_reward_and_nothing_solved():
    refused, paid, reward, solved = numbers(answer(inspect.getsource(verifier.score)))
    assert (refused, paid > 0) == (2, True)
    assert reward > 0.98 and solved < 0.02  # the list of all numbers is paid 1, the best honest way 0.55


def test_a_right_verifier_passes_both_suites_and_ends_at_the_skill_of_the_way_in_form():
    shown = answer(RIGHT)
    assert numbers(shown) == (0, 0, 0.55, 0.55)  # skill of "in form", assumed in strategies.MATH
    assert all(table["rows"] == [] for table in shown["tables"]) and shown["beside"] == ""


def test_a_right_verifier_judges_as_the_strict_scorer_does():
    right = reader_code.compiled(RIGHT, verifier.score)
    for case in (*checkers.golden_set(), *checkers.exploit_suite()):
        assert right(case.example, case.completion) == scorer.score(case.example, case.completion)["reward"], case.id


@pytest.mark.parametrize(
    "returned, failure",
    [
        ("None", "it returned None, but a reward is a number from 0 to 1."),
        ("2", "it returned 2, but a reward is a number from 0 to 1."),
        ("float('nan')", "it returned nan, but a reward is a number from 0 to 1."),
        ("{'reward': 'one'}", "it returned {'reward': 'one'}, but a reward is a number from 0 to 1."),
        ("example['answer']", "Line 2: KeyError: 'answer'."),
    ],
)
def test_a_return_value_that_is_no_reward_is_reported_once_and_pays_nothing(returned, failure):
    shown = answer(f"def score(example, completion):\n    return {returned}")
    assert f"The first: {failure}" in shown["beside"]
    assert numbers(shown)[:3] == (16, 0, 0.0)


@pytest.mark.parametrize("returned", ["True", "1", "{'reward': 1.0}", "{'reward': True, 'details': {}}"])
def test_every_spelling_of_a_reward_counts(returned):
    shown = answer(f"def score(example, completion):\n    return {returned}")
    assert numbers(shown)[:3] == (0, 24, 1.0) and shown["beside"] == ""


def test_a_verifier_cannot_change_its_example():
    source = "def score(example, completion):\n    example['expected_answer'] = ''\n    return 1.0"
    before = [dict(case.example) for case in checkers.golden_set()]
    answer(source)
    assert [dict(case.example) for case in checkers.golden_set()] == before


def test_a_long_table_says_how_much_of_it_is_shown():
    tables = answer("def score(example, completion):\n    return 1.0")["tables"]
    assert tables[1]["caption"] == "Exploits accepted: 24 of 24, the first 6 of them" and len(tables[1]["rows"]) == 6
    assert max(len(row[0]) for row in tables[1]["rows"]) < 120


def test_the_reader_s_seconds_end_before_training_begins():
    frames = reader_worker.stream("verifier", RIGHT)
    assert next(frames) == "false" and json.loads(next(frames))["tables"]
    assert [json.loads(frame)["refused"] for frame in reader_worker.stream("verifier", "1/0")] == [
        "Line 1: ZeroDivisionError: division by zero."
    ]


def test_training_calls_no_reader_code():
    calls = []
    results = verifier.called(lambda example, completion: calls.append(completion) or 1.0)
    before_training = len(calls)
    verifier.shown(results)
    assert len(calls) == before_training > 300
