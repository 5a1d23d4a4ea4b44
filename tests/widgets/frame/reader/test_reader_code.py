"""A reader's code: compiled under the names of its module, refused in one sentence with its line."""

import inspect
import json

import numpy as np
import pytest

from widgets.frame.contract.exercises import Shown, Table
from widgets.frame.drawing import marks, written
from widgets.frame.reader import reader_code, reader_worker

SCALE = 3.0


def edited(x, y):
    return SCALE * x + y


def refusal(source, function=edited):
    with pytest.raises(reader_code.Refused) as refused:
        reader_code.compiled(source, function)
    return str(refused.value), refused.value.line


def test_reader_code_sees_the_names_of_the_module_that_it_replaces_a_function_of():
    assert reader_code.compiled("def edited(x, y):\n    return SCALE * x - y\n", edited)(2, 1) == 5.0


def test_reader_code_leaves_the_book_s_own_function_unchanged():
    reader_code.compiled("SCALE = 100.0\ndef edited(x, y):\n    return SCALE\n", edited)
    assert edited(1, 0) == 3.0


@pytest.mark.parametrize(
    "source, sentence, line",
    [
        ("def edited(x, y)\n    return 1", "Line 1: expected ':'.", 1),
        ("def edited(x, y):\nreturn 1", "Line 2: expected an indented block after function definition on line 1.", 2),
        ("x = 1\ny = 1 / 0", "Line 2: ZeroDivisionError: division by zero.", 2),
        ("pass\nraise SystemExit(3)", "Line 2: SystemExit: 3.", 2),
        ("x = 1", "There is no function edited here any more; the page calls it by that name.", None),
        ("edited = 3", "There is no function edited here any more; the page calls it by that name.", None),
        ("\ndef edited(x):\n    return x", "Line 2: edited is called with 2 arguments, x and y.", 2),
        ("import of_nobody", "Line 1: ModuleNotFoundError: No module named 'of_nobody'.", 1),
        ("(" * 5000, "Line 1: too many nested parentheses.", 1),
        ("\n" * 600, "This has more than 500 lines.", None),
    ],
)
def test_code_that_does_not_work_is_refused_in_one_sentence_with_its_line(source, sentence, line):
    assert refusal(source) == (sentence, line)


def test_a_text_with_a_null_character_is_refused():
    assert "null" in refusal("\0")[0]


def test_a_function_with_defaults_or_any_number_of_arguments_is_taken():
    assert reader_code.compiled("def edited(*numbers, more=1):\n    return sum(numbers) + more", edited)(1, 2) == 4
    assert reader_code.compiled("edited = max", edited)(1, 2) == 2


def test_offered_modules_can_be_imported_with_their_submodules():
    source = "import numpy.linalg, re\nfrom collections import abc\ndef edited(x, y):\n    return re.sub('a', y, x)"
    assert reader_code.compiled(source, edited)("banana", "o") == "bonono"


def test_a_call_that_fails_names_the_innermost_line_of_the_reader():
    source = "def helper(x):\n    return x['no']\n\ndef edited(x, y):\n    return helper(x)\n"
    yours = reader_code.Yours(reader_code.compiled(source, edited))
    with pytest.raises(reader_code.Refused) as refused:
        yours({}, 0)
    assert str(refused.value) == "Line 2: KeyError: 'no'." and refused.value.line == 2
    assert [str(fault) for fault in yours.faults] == [str(refused.value)]


def test_a_function_that_ends_the_program_or_calls_itself_for_ever_is_refused():
    for body, named in (("raise SystemExit(0)", "SystemExit"), ("return edited(x, y)", "RecursionError")):
        with pytest.raises(reader_code.Refused, match=f"Line 2: {named}"):
            reader_code.Yours(reader_code.compiled(f"def edited(x, y):\n    {body}", edited))(1, 2)


def test_the_return_value_of_reader_code_must_pass_the_exercise_s_check():
    def number(value):
        if not isinstance(value, float):
            raise ValueError(f"it returned {value!r}, and that is no number")
        return value

    assert reader_code.Yours(lambda: 1.5, number)() == 1.5
    with pytest.raises(reader_code.Refused, match=r"^it returned None, and that is no number\.$"):
        reader_code.Yours(lambda: None, number)()


def test_output_printed_by_reader_code_is_kept_up_to_a_maximum_length():
    printed = reader_code.Printed()
    for _ in range(300):
        print("ten letters", file=printed)
    assert len(printed.getvalue()) == reader_code.PRINTED


def test_faults_and_what_was_printed_stand_beside_the_result():
    assert reader_code.beside([], "") == ""
    faults = [reader_code.Refused("TypeError.", 4), reader_code.Refused("KeyError.", 5)]
    assert reader_code.beside(faults, "a\n") == "2 of the calls failed. The first: Line 4: TypeError.\nPrinted:\na"
    assert reader_code.beside([], "a\n" * 13) == "Printed:\n" + "a\n" * 12 + "…"


def test_a_result_is_data_for_the_page():
    result = reader_code.drawn(
        Shown(
            "Said.",
            (Table("Two", ("a", "b"), (("1", "2"),)),),
            (marks.panel("Title", "note", marks.line(np.arange(3), np.ones(3), "ones")),),
        )
    )
    data = json.loads(json.dumps(written.plain(result)))
    assert data["tables"] == [{"caption": "Two", "head": ["a", "b"], "rows": [["1", "2"]], "taken": False}]
    assert data["panels"][0]["data"][0]["y"] == [1, 1, 1] and data["panels"][0]["alt"].startswith("Title, note")


WITH_GOALS = [offer for offer in reader_worker.OFFERS.values() if hasattr(offer, "GOALS")]


@pytest.mark.parametrize("offer", WITH_GOALS, ids=lambda offer: offer.ID)
def test_the_solution_reaches_every_goal_and_what_readers_begin_with_does_not(offer):
    *_, first = reader_worker.stream(offer.ID, inspect.getsource(offer.EDITED))
    *_, last = reader_worker.stream(offer.ID, offer.HINTS[-1])
    assert not all(json.loads(first)["goals"]) and all(json.loads(last)["goals"])
    assert len(offer.HINTS) == 3 and not any(goal.words.endswith(".") for goal in offer.GOALS)
