"""Texts, messages and numbers as programs write them."""

import math

import pytest

from rlpt.rollouts import Unreadable, cells


@pytest.mark.parametrize(
    "value, text",
    [
        ("plain", "plain"),
        (None, ""),
        ([{"role": "user", "content": "2+2="}], "2+2="),
        ([{"role": "system", "content": "Add."}, {"role": "user", "content": "2+2="}], "system: Add.\nuser: 2+2="),
        (
            [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What is it?"}]}],
            "[image]What is it?",
        ),
        ([{"role": "assistant", "content": None, "tool_calls": [{"name": "add"}]}], '[{"name": "add"}]'),
        ([{"role": "assistant", "content": "one"}, {"role": "tool", "content": "two"}], "assistant: one\ntool: two"),
        ([11.0, 7.0], "11 7"),
        ({"question": "2+2="}, '{"question": "2+2="}'),
        ("\ud800x", "\ufffdx"),
        ("<b>é</b>", "<b>é</b>"),
    ],
)
def test_prompts_and_completions_are_one_text(value, text):
    assert cells.text(value) == text


def test_a_bool_is_a_number_and_a_text_is_none():
    assert [cells.number(each) for each in (True, False, 2, 0.5)] == [1.0, 0.0, 2.0, 0.5]
    assert cells.number("0.5") is None and cells.number([1.0]) is None
    assert all(math.isnan(cells.number(each)) for each in (None, math.nan, math.inf, 1e300))


def test_in_a_csv_numbers_are_spelled_out():
    assert [cells.number(each, True) for each in ("0.5", "True", "false", "1e-3")] == [0.5, 1.0, 0.0, 1e-3]
    assert math.isnan(cells.number("", True)) and cells.number("good", True) is None


def test_a_reward_that_is_a_text_is_refused():
    with pytest.raises(Unreadable, match=r"The reward in “grade” is no number: “good”\."):
        cells.paid({"grade": "good"}, "grade")


def test_answers_and_ids_are_no_scores_though_they_are_numbers():
    assert cells.numbers({"exact": 1, "answer": 4, "idx": 0}, ()) == {"exact": 1.0, "answer": None, "idx": None}


def test_a_finish_reason_says_whether_a_completion_was_cut_off():
    assert [cells.numbers({"finish_reason": each}, ())["finish_reason"] for each in ("length", "stop")] == [1.0, 0.0]


@pytest.mark.parametrize(
    "name, step",
    [
        ("logs/exp_001/train_data_step12.jsonl", 12),
        ("120.jsonl", 120),
        ("120.jsonl (2)", 120),
        ("120 (2)", 120),
        ("run2/completions_00010.parquet", 10),
        ("completions.jsonl", None),
        ("C:\\runs\\7.jsonl", 7),
        ("1234567890123456789.jsonl", None),
    ],
)
def test_the_step_may_stand_in_the_name(name, step):
    assert cells.step_in(name) == step


def test_steps_are_whole_numbers_or_texts_of_them():
    assert [cells.step(each) for each in (3.0, "12", None, "x", math.nan, 1e300)] == [3, 12, None, None, None, None]


def test_log_probs_are_flat_lists():
    assert cells.array([-1.0, -2.0]).tolist() == [-1.0, -2.0] and cells.array([-1.0]).dtype == "float32"
    assert cells.array("x") is None and cells.array([[1.0]]) is None and cells.array([1.0, "x"]) is None
