"""Texts that readers write to be paid for nothing."""

import inspect
import json

import pytest

from widgets.frame.reader import reader_worker
from widgets.lab_m5 import editable


def answer(body):
    *_, frame = reader_worker.stream("attacks", f"def attacks(expected):\n    return {body}\n")
    return json.loads(frame)


def test_a_right_answer_beats_nothing_and_is_said_to_be_one():
    *_, frame = reader_worker.stream("attacks", inspect.getsource(editable.attacks))
    frame = json.loads(frame)
    assert frame["sentence"].startswith("0 of 8 checks are beaten.") and frame["goals"] == [False] * 3
    assert frame["tables"][0]["rows"][0][2] == "the strict check pays it too, so it is a right answer"


def test_a_plus_sign_opens_four_doors_and_a_foreign_blank_five():
    example = {"expected_answer": "323"}
    doors = [
        [name for name in editable.FLAWED if editable.beats(name, example, text)]
        for text in ("Final: +323", "\u00a0\nFinal: 323")
    ]
    assert doors[0] == ["substring", "last_int", "float_eq", "unicode_int"]
    assert len(doors[1]) == 5


def test_half_a_point_is_enough_and_less_is_said_to_be_too_little():
    rows = answer('{"format_bonus": "Final: 7", "verbosity": "word " * 10 + "\\nFinal: 7"}')["tables"][0]["rows"]
    assert [row[2] for row in rows] == ["paid 0.5; the strict check: wrong_value", "paid 0.1, which is too little"]


@pytest.mark.parametrize(
    "body, why",
    [
        ("5", "it returned 5, and it should return a dict of texts."),
        ('{"door": "x"}', "there is no check 'door'; the checks are substring"),
        ('{"substring": 5}', "the entry for substring is no text of at most 2,000 characters."),
        ('{"substring": "x" * 2001}', "the entry for substring is no text of at most 2,000 characters."),
    ],
)
def test_what_is_no_dict_of_texts_is_refused_in_a_sentence(body, why):
    assert answer(body)["refused"].startswith(why)
