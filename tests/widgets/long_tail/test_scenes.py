"""The pictures of lesson 22b show what was computed, and their rings claim no more."""

import itertools

import numpy as np
import pytest

from sim.cluster import straggler
from widgets.frame.drawing import slots
from widgets.long_tail import figures
from widgets.long_tail import widget as long_tail


def ring(name, *at):
    (view,) = figures.FIGURES[name].panels(*at)[0]["columns"][0]
    return [mark["words"] for mark in view["marks"] if mark["kind"] == "ring" and mark["seen"]]


def spans(view, kinds):
    return [mark for mark in view["marks"] if mark["kind"] in kinds and mark["start"] < view["until"]]


def test_the_opening_is_the_setting_of_the_widget():
    for way, knobs in zip(figures.WAYS, (long_tail.OPENING.plain, long_tail.OPENING.other)):
        assert long_tail.rows(knobs) == figures.answers(way)


def test_of_the_eight_as_many_are_right_as_the_law_says_and_the_ring_counts_the_others():
    for way, exact in (("8 started", 0.5), ("12 started", 0.609)):
        many, right, _ = slots.batch_of(figures.answers(way))
        assert many == 8 and abs(right - 8 * exact) <= 0.5
    dropped = [row for row in figures.answers("12 started") if not row.kept]
    wrong = sum(row.wrong for row in dropped)
    assert ring("opening", "12 started", 5000) == [f"left out: {wrong} of {len(dropped)} wrong"]
    # the law: all twelve less the first eight
    assert abs(wrong - (12 * 0.5 - 8 * (1 - 0.609))) <= 0.5
    assert not ring("opening", "8 started", 5000) and not ring("opening", "12 started", 1500)


def test_the_step_of_the_opening_is_about_as_long_as_one_prompt_takes_on_average():
    for way, launched in figures.LAUNCHED_OF.items():
        mean = 1200 * straggler.expected_order_stat(8, launched, 0.8)
        assert slots.batch_of(figures.answers(way))[2] == pytest.approx(mean, rel=0.06)


@pytest.mark.parametrize("rule", figures.RULES_OF_A_STEP)
def test_every_completion_is_drawn_in_its_slot_and_slots_join_without_gap_or_overlap(rule):
    (view,) = figures.sixteen(rule, 24)[0]["columns"][0]
    board = figures.engine(rule)
    drawn = sorted((mark["row"], mark["start"], mark["end"]) for mark in spans(view, ("run",)))
    written = [done for done in board.written if done.start < figures.UNTIL]
    assert drawn == sorted((done.slot, done.start, done.end) for done in written)
    for slot in range(figures.places(rule)):
        pieces = sorted((m["start"], m["end"]) for m in spans(view, ("run", "span")) if m["row"] == slot)
        assert pieces[0][0] == 0 and pieces[-1][1] >= figures.UNTIL
        assert all(before[1] == after[0] for before, after in itertools.pairwise(pieces))


def test_the_rings_count_what_is_drawn():
    assert ring("slots", "waits for all", 24) == ["15 slots wait for one"]
    assert ring("slots", "has 32 slots", 24) == ["31 slots wait for one"]
    for rule in ("waits for all", "has 32 slots"):
        board = figures.engine(rule)
        ends = np.sort([done.end for done in board.written if done.step == 0])
        assert ends[-2] < ends[-1] == board.ends[0]
    cut = sum(length > 3000 for length in figures.sampled()[:32])
    assert ring("slots", "caps at 3,000", 24) == [f"{cut} cut off, no answer"]
    assert ring("slots", "carries over", 24) == ["15 go on, with newer weights"]
    assert ring("four", 5800) == ["three slots wait for one"] and not ring("four", 1000)


def test_a_prompt_that_is_left_out_is_drawn_as_one_row():
    rows = long_tail.rows(long_tail.GUESS.knobs)
    assert [row.kept for row in rows] == [True] * 8 + [False] * 4 and all(row.many == 8 for row in rows)


def test_what_a_cap_cuts_off_is_left_out_or_wrong():
    masked, wrong = (long_tail.rows(long_tail.PRESETS[name]) for name in ("2,048 tokens and no more", "Late is wrong"))
    assert [row.trained for row in masked] == [1] * 6 + [0] * 2 and all(row.done <= 2048 for row in masked)
    assert [row.trained for row in wrong] == [1] * 8 and [row.right for row in wrong][-2:] == [0, 0]
