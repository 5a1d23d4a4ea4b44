"""Tests that readers write for a scorer: what finds whom, and what is said of rows that are none."""

import inspect
import json

import pytest

from widgets.frame.reader import reader_worker
from widgets.lab_m4 import editable, figures


def answer(body):
    *_, frame = reader_worker.stream("cases", f"def cases():\n    return {body}\n")
    return json.loads(frame)


def test_the_five_rows_to_begin_with_are_those_of_the_first_screen_and_find_four():
    assert editable.cases() == list(figures.FIVE)
    *_, frame = reader_worker.stream("cases", inspect.getsource(editable.cases))
    frame = json.loads(frame)
    assert frame["sentence"] == "5 rows find 4 of 18 mistakes." and frame["goals"] == [False] * 3


def test_eight_obvious_rows_find_four_as_well():
    rows = [
        ("12", "Final: 12", 1.0, "ok"),
        ("12", "Final: 13", 0.0, "wrong_value"),
        ("12", "Final: 21", 0.0, "wrong_value"),
        ("12", "12", 0.0, "no_prefix"),
        ("12", "I do not know.", 0.0, "no_prefix"),
        ("12", "", 0.0, "empty"),
        ("12", "Final: 12.", 0.0, "extra_text"),
        ("12", " Final: 12 ", 1.0, "ok"),
    ]
    assert answer(repr(rows))["sentence"] == "8 rows find 4 of 18 mistakes."


def test_eighteen_with_more_than_fourteen_rows_misses_the_last_goal():
    body = editable.HINTS[2].partition("return ")[2].rstrip()
    more = body.replace("[\n", '[\n        ("7", "Final: 7", 1.0, "ok"),\n', 1)
    assert answer(more)["goals"] == [True, True, False]


def test_a_row_that_the_right_scorer_fails_finds_nobody_and_is_named():
    frame = answer('[("7", "Final: 07", 1.0, "ok")]')
    assert frame["sentence"] == "1 row finds 0 of 18 mistakes. The correct scorer fails 1 of them, so fix these first."
    assert frame["tables"][2]["rows"] == [["row 1", "'Final: 07'", "0, non_canonical_int"]]


@pytest.mark.parametrize(
    "body, why",
    [
        ("5", "it returned 5, and it should return a list of rows."),
        ('[("7", "Final: 7", 1.0, "ok")] * 26', "it returned 26 rows, and 25 are the most."),
        ("[(1, 2)]", "row 1 is (1, 2), and a row is (expected answer, completion, reward, reason)."),
        (
            '[("7", object(), 0.0, "ok")]',
            "the completion in row 1 is of type object, and it should be a text, a number or None.",
        ),
        (
            '[([7], "Final: 7", 0.0, "ok")]',
            "the expected answer in row 1 is of type list, and it should be a text, a number or None.",
        ),
        ('[("7", 10**5000, 0.0, "ok")]', "the completion in row 1 is too long: the limit here is 20,000 characters."),
        (
            '[("7", "x" * 20_001, 0.0, "ok")]',
            "the completion in row 1 is too long: the limit here is 20,000 characters.",
        ),
        ('[("7", "Final: 7", True, "ok")]', "the reward in row 1 is True, and it should be 0.0 or 1.0."),
        ('[("7", "Final: 7", [], "ok")]', "the reward in row 1 is [], and it should be 0.0 or 1.0."),
    ],
)
def test_what_is_no_list_of_rows_is_refused_in_a_sentence(body, why):
    assert answer(body)["refused"] == why


def test_an_unknown_reason_is_refused():
    assert (
        answer('[("7", "Final: 7", 1.0, [])]')["refused"]
        == "the reason in row 1 is [], and no check gives that reason."
    )
