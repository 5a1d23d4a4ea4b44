"""The pictures of the front page: what the two tables and the five arrangements show is what was computed."""

import re

import numpy as np
import pytest

from sim.experiments import deleted_line, one_batch
from sim.worlds import tasks, tinylm
from tools.pages import results
from widgets.frame.drawing import number_table
from widgets.front import figures

FULL, MISSING = figures.RUNS


def tables(i):
    return [column[0] for column in figures.tables(i)[0]["columns"]]


@pytest.mark.slow  # the first that asks for the runs
def test_both_runs_begin_with_one_model_and_the_same_answers():
    full, missing = (figures.sums(name)[0] for name in figures.RUNS)
    assert full == missing
    assert full.pass_rate == pytest.approx(tasks.exact_pass(tasks.checkpoint("add")).mean())


@pytest.mark.parametrize("name", figures.RUNS)
def test_the_sums_that_are_correct_are_as_many_as_the_exact_rate_says_within_six(name):
    """A hundred draws of a rate near a half vary by five; the seed is chosen so that none is far off."""
    for i in range(figures.UPDATES + 1):
        assert abs(figures.many(name, i) - 100 * figures.sums(name)[i].pass_rate) <= 6


def test_without_the_line_a_model_is_ahead_first_and_then_lost_for_good():
    full, missing = ([figures.many(name, i) for i in range(figures.UPDATES + 1)] for name in figures.RUNS)
    assert missing[2] > full[2] and max(missing[4:]) == 0
    assert min(full[1:]) > 40 and full[-1] > 70


def test_other_runs_without_the_line_are_ruined_too_or_at_least_worse():
    """Seeds 0 and 2, beside the one that is drawn: the rate after eight updates, without the line and with it."""
    ends = []
    for seed in (0, 2):
        controller = deleted_line.controller(True, seed)
        for _ in controller.frames(8):
            pass
        ends.append(float(tasks.exact_pass(controller.trainer.policy).mean()))
    assert np.all(np.array(ends) < 0.45)


@pytest.mark.parametrize("i", (0, 2, 3, 4, figures.UPDATES))
def test_a_cell_is_filled_where_it_holds_the_sum_of_its_row_and_column(i):
    for table in tables(i):
        for place, (role, text) in enumerate(table["cells"]):
            right = text.isdigit() and int(text) == sum(divmod(place, 10))
            assert role != "correct" or right
            assert role != "mistaken" or not right


def test_a_number_is_shown_as_such_and_all_else_as_far_as_there_is_room():
    assert figures.cell((tinylm.FINAL, 7, tinylm.EOS), True) == ("correct", "7")
    assert figures.cell((tinylm.HMM, tinylm.FINAL, 1, 2, tinylm.EOS), False) == ("mistaken", "12")
    assert figures.cell((9, 0, 0, 0, 0, 0, 0, 0, 0, 0), False) == ("astray", "90000000")
    assert figures.cell((tinylm.EOS,), False) == ("astray", "–")


def test_the_sentence_counts_what_is_drawn():
    for (panel,), sentence, word in results.positions("front", "tables"):
        counts = [number_table.count(column[0]) for column in panel["columns"]]
        assert all(word in column[0]["alt"] for column in panel["columns"])
        said = [int(n) for n in re.findall(r"(?<=ahead, )\d+|(?<= to )\d+", sentence)]
        assert (
            said == sorted(counts, reverse=True) or (not min(counts) and "no sum" in sentence) or len(set(counts)) == 1
        )
        if said:
            assert ("missing line is ahead" in sentence) == (counts[1] > counts[0])


@pytest.mark.parametrize("way", figures.WAYS)
def test_each_arrangement_has_all_hundred_answers_and_no_two_lie_on_each_other(way):
    boxes = figures.boxes(way)
    assert len(boxes) == 100
    for i, (x, y, wide, high, _) in enumerate(boxes):
        assert x >= 0 and x + wide <= figures.WIDE and y >= 0 and y + high <= figures.HIGH
        for left, top, across, down, _ in boxes[:i]:
            assert x >= left + across or left >= x + wide or y >= top + down or top >= y + high


def test_the_rarer_an_outcome_is_among_the_answers_to_a_sum_the_harder_it_is_pushed():
    batch = figures.batch()
    right, advantage = (np.array(values).reshape(10, 10) for values in (batch.right, batch.advantage))
    shares = np.where(right, right.mean(1, keepdims=True), 1 - right.mean(1, keepdims=True))
    order = np.argsort(shares.ravel(), kind="stable")
    assert np.all(np.diff(np.abs(advantage).ravel()[order]) <= 1e-9)
    assert np.all((advantage > 0) == right)


def test_a_step_is_a_hundred_boxes_a_quarter_of_which_wait():
    shares = {words: share for words, share, _, _ in figures.hundredths()}
    assert sum(shares.values()) == 100 and len(one_batch.SUMS) * one_batch.EACH == 100
    assert sum(role == "waits" for *_, role in figures.boxes("time")) == shares["wait"]
