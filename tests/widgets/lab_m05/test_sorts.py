"""What M0.5 asks is what the picture shows, and its ten comparisons are those of the pack."""

import pytest

from sim.lab import instruments, packs, selection
from sim.verifiers import checkers
from sim.worlds.scorer import score
from widgets.lab_m05 import figures, sorts

OCCURS, EXACT = figures.PICKERS


def test_the_picture_reports_more_than_is_correct_with_one_picker_alone():
    assert [figures.counts(OCCURS, n) for n in figures.SIZES] == [(29, 22), (36, 24), (40, 25), (40, 25)]
    assert [figures.counts(EXACT, n) for n in figures.SIZES] == [(22, 22), (25, 25), (31, 31), (33, 33)]


@pytest.mark.parametrize("picker", figures.PICKERS)
@pytest.mark.parametrize("sampled", figures.SIZES)
def test_the_rows_hold_what_the_numbers_count(picker, sampled):
    rows, (reported, right) = figures.rows(picker, sampled), figures.counts(picker, sampled)
    assert sum(row.state != "unrewarded" for row in rows) == reported
    assert sum(row.correct[row.pick] for row in rows) == right
    assert all(row.pick < sampled for row in rows)


def test_the_answers_to_the_picture():
    assert [case.answer for case in sorts.GAP.cases] == ["reported", "15", "11"]
    gaps = [reported - right for reported, right in (figures.counts(OCCURS, n) for n in figures.SIZES)]
    assert gaps == [7, 12, 15, 15]


def test_the_knobs_and_the_validity_are_those_of_the_pack():
    knobs = ["selection", "scorer", "prompts", "policy", "nothing", "sampling", "prompts", "several", "policy"]
    assert [case.answer for case in sorts.KNOB.cases] == [*knobs, "scorer"]
    valid = [i for i, case in enumerate(sorts.VALID.cases, 1) if case.answer == "valid"]
    assert valid == [1, 4, 9]


def test_the_pack_s_numbers_that_come_from_our_answers():
    def share(judge, split, size):
        (row,) = selection.table(selection.first_best, judge, [size], split)
        return round(100 * row.right / len(packs.examples(split)), 1)

    assert (share(score, "", 1), share(score, "", 8)) == (55.0, 82.5)  # w01, w10
    assert share(checkers.substring, "", 8) == 62.5  # w10
    paid = [reason == "ok" for row in packs.reasons("dev") for reason in row]
    left = [reason == "ok" for row in packs.reasons("dev") if "ok" in row for reason in row]
    assert len(paid) - len(left) == 6 * packs.SAMPLES
    assert [round(100 * sum(rows) / len(rows), 1) for rows in (paid, left)] == [54.2, 67.7]  # w05, w07


def test_a_scorer_that_takes_two_blanks_for_one_solves_two_more_dev_prompts():
    def solved(judge):
        return sum(
            any(judge({"expected_answer": e.expected_answer}, r.completion)["reward"] for r in row)
            for e, row in zip(packs.examples("dev"), packs.rollouts("dev"), strict=True)
        )

    assert [round(100 * solved(judge) / 30, 1) for judge in (score, instruments.score_1_1_0)] == [80.0, 86.7]
