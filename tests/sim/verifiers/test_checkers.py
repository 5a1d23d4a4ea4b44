"""Nine verifiers against two suites that were labeled by hand before any of them was written."""

import pytest

from sim.lab.instruments import version_0_9_0
from sim.verifiers import checkers
from sim.verifiers.checkers import CHECKERS, exploit_suite, golden_set, reward_of

FLAWED = [name for name in CHECKERS if name != "strict"]


def test_the_suites_have_16_right_answers_and_24_exploits():
    assert (len(golden_set()), len(exploit_suite())) == (16, 24)


@pytest.mark.parametrize("name", FLAWED)
def test_a_flawed_checker_pays_half_or_more_exactly_where_the_pack_says(name):
    for case in exploit_suite():
        paid, error = reward_of(CHECKERS[name], case.example, case.completion)
        assert not error
        assert paid == pytest.approx(case.beats[name]) if name in case.beats else paid < 0.5, case.id


def test_every_exploit_beats_a_checker_and_none_beats_the_strict_one():
    assert all(case.beats for case in exploit_suite())
    assert {name for case in exploit_suite() for name in case.beats} == set(FLAWED)
    assert checkers.report(CHECKERS["strict"]).passes


@pytest.mark.parametrize("name", CHECKERS)
def test_every_checker_pays_all_right_answers(name):
    report = checkers.report(CHECKERS[name])
    assert (report.refused, report.true_positive_rate) == ((), 1.0)


def test_how_many_exploits_each_pays():
    # counted by hand in the pack: rows whose "beats" names the checker; verbosity also pays words in three that it
    # does not name, 0.04, 0.02 and 0.01 a word
    named = {name: sum(name in case.beats for case in exploit_suite()) for name in FLAWED}
    assert named == dict(
        substring=13, last_int=8, any_line=5, format_bonus=6, eval_expr=3, verbosity=3, float_eq=4, unicode_int=4
    )
    for name in FLAWED:
        assert len(checkers.report(CHECKERS[name]).paid) == named[name] + (2 if name == "verbosity" else 0)


def test_the_kata_was_paid_as_its_pack_says():
    labels = [item["teacher"]["label"] for item in checkers.kata()]
    assert [labels.count(x) for x in ("model_failure", "verifier_bug", "ambiguous_prompt", "reward_hack")] == [
        *(4, 2, 2, 2)
    ]
    for item in checkers.kata():
        paid = version_0_9_0(item["example"], item["completion"])
        strict = CHECKERS["strict"](item["example"], item["completion"])
        assert paid == item["observed"]["reward"], item["id"]
        assert strict["reward"] == item["teacher"]["reference_reward"], item["id"]
        assert strict["details"]["reason"] == item["teacher"]["reference_reason"], item["id"]


def test_expressions_are_computed_without_being_run():
    assert [checkers.computed(text) for text in ("17*19", "(7-7)", "250+375+625", "-(2-16)")] == [323, 0, 1250, 14]
    hostile = ["2**9", "9" * 5000, "(" * 5000, "-" * 9000 + "1", "00012", "1 2", "", "()", "x = 1"]
    assert [checkers.computed(text) for text in hostile] == [None] * len(hostile)


def test_the_check_that_reads_any_script_is_not_total():
    assert reward_of(checkers.unicode_int, {"expected_answer": "1"}, None)[1].startswith("TypeError: ")
    assert "4300" in reward_of(checkers.unicode_int, {"expected_answer": "1"}, "Final: " + "9" * 5000)[1]


# ── report takes any callable ──
def test_a_verifier_that_pays_everything_refuses_nothing_and_pays_every_exploit():
    report = checkers.report(lambda example, completion: True)
    assert (len(report.refused), len(report.paid), report.false_positive_rate, report.passes) == (0, 24, 1.0, False)


def test_a_verifier_that_pays_nothing_refuses_every_right_answer():
    report = checkers.report(lambda example, completion: {"reward": 0.0})
    assert (len(report.refused), len(report.paid), report.true_positive_rate) == (16, 0, 0.0)
    assert [row.id for row in report.refused] == [case.id for case in golden_set()]


def test_half_a_reward_refuses_a_right_answer_and_pays_an_exploit():
    report = checkers.report(lambda example, completion: 0.5)
    assert (len(report.refused), len(report.paid)) == (16, 24)


def test_what_raises_is_a_refusal_with_one_line_of_text():
    def raising(example, completion):
        raise ValueError("first line\nsecond line")

    report = checkers.report(raising)
    assert (len(report.refused), len(report.paid), len(report.errors)) == (16, 0, 3)
    assert {row.error for row in report.refused} == {"ValueError: first line"}
    assert not report.passes


@pytest.mark.parametrize("returned", [None, "1", float("nan"), float("inf"), {}, []])
def test_what_returns_no_number_is_an_error(returned):
    paid, error = reward_of(lambda example, completion: returned, {"expected_answer": "1"}, "Final: 1")
    assert paid == 0 and error and "\n" not in error


def test_an_exit_is_an_error_and_an_interrupt_goes_through():
    def leaving(example, completion):
        raise SystemExit(0)

    def interrupted(example, completion):
        raise KeyboardInterrupt

    assert reward_of(leaving, {}, "")[1] == "SystemExit: 0"
    with pytest.raises(KeyboardInterrupt):
        checkers.report(interrupted)


def test_a_verifier_that_writes_into_its_example_changes_no_suite():
    def writing(example, completion):
        example["expected_answer"] = "changed"
        return 1

    checkers.report(writing)
    assert all(case.example["expected_answer"] != "changed" for case in golden_set())
