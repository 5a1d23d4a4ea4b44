"""What stops the eight completions of M4 was read off the rules by hand."""

from widgets.lab_m4 import sorts


def test_each_completion_is_stopped_by_the_check_that_the_rules_name():
    assert [case.answer for case in sorts.WHICH.cases] == [
        "canonical",
        "spacing",
        "prefix",
        "integer",
        "one line",
        "printable ASCII",
        "canonical",
        "paid",
    ]


def test_one_model_two_scorers_two_prompts_two_that_are_open_and_one_hack():
    answers = [(case.answer, *case.also) for case in sorts.FORENSICS.cases]
    assert answers == [("model",)] + [("scorer",)] * 2 + [("prompt",)] * 2 + [("model", "scorer")] * 2 + [("hack",)]
