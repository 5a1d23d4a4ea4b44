"""The pictures of lesson 22b show what was computed, and their rings claim no more."""

import itertools

import numpy as np
import pytest

from sim.cluster import slot_board, straggler
from widgets.long_tail import figures
from widgets.long_tail import widget as long_tail


def ring(name, *at):
    (view,) = figures.FIGURES[name].panels(*at)[0]["columns"][0]
    return [mark["words"] for mark in view["marks"] if mark["kind"] == "ring" and mark["seen"]]


def spans(view, kinds):
    return [mark for mark in view["marks"] if mark["kind"] in kinds and mark["start"] < view["until"]]


def opened(end):
    board, numbers = figures.dragged(end)[0]["columns"][0]
    return board["marks"], [cell[0] for cell in numbers["counts"]]


def test_of_the_kept_as_many_are_correct_as_the_law_says_within_one():
    lengths, right = figures.answers()
    assert right.sum() == figures.MANY / 2
    for end in figures.ENDS:
        found = slot_board.ended(lengths, right, end)
        kept = int(found.kept.sum())
        share = straggler.trained_accuracy(-1.0, straggler.race_in_prompts(kept, figures.MANY))
        assert abs(found.right - kept * share) <= 1


def test_the_numbers_below_the_opening_count_what_is_drawn():
    for end in figures.ENDS:
        marks, (kept, lost, _) = opened(end)
        bars = [mark for mark in marks if mark["kind"] == "span" and mark["role"] != "waits" and mark["end"]]
        tips = [mark for mark in marks if mark["kind"] == "tip" and mark["seen"]]
        (grip,) = [mark for mark in marks if mark["kind"] == "grip"]
        assert kept == f"{sum(bar['role'] == 'right' for bar in bars)} of {len(bars)}"
        wrong = sum(tip["role"] == "wrong" for tip in tips)
        assert lost == (f"{wrong} of {len(tips)}" if tips else "0")
        assert sum(grip["cuts"]) == len(tips) == figures.MANY - len(bars)


def test_the_waits_of_the_opening_add_up_to_the_share_below_it():
    for end in figures.ENDS:
        marks, (*_, share) = opened(end)
        waits = sum(mark["end"] - mark["start"] for mark in marks if mark["kind"] == "span" and mark["role"] == "waits")
        assert share == f"{100 * waits / (end * figures.MANY):.0f} %"


def test_at_rest_the_opening_is_as_biased_as_its_setting_breaks():
    """Two thirds of what was begun are kept, as with twelve for eight."""
    _, (kept, *_) = opened(figures.ENDS[figures.OPENING.time.start])
    assert kept == "13 of 20" and abs(13 / 20 - straggler.trained_accuracy(-1, straggler.race_in_prompts(8, 12))) < 0.05


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
    assert ring("slots", "synchronous", 24) == ["15 slots wait for one"]
    assert ring("slots", "32 slots", 24) == ["31 slots wait for one"]
    for rule in ("synchronous", "32 slots"):
        board = figures.engine(rule)
        ends = np.sort([done.end for done in board.written if done.step == 0])
        assert ends[-2] < ends[-1] == board.ends[0]
    cut = sum(length > 3000 for length in figures.sampled()[:32])
    assert ring("slots", "cap of 3,000", 24) == [f"{cut} cut off, no result"]
    assert ring("slots", "partial rollout", 24) == ["15 go on, with new weights"]
    assert ring("four", 5800) == ["three slots wait for one"] and not ring("four", 1000)


def test_a_prompt_that_is_left_out_is_drawn_as_one_row():
    rows = long_tail.rows(long_tail.GUESS.knobs)
    assert [row.kept for row in rows] == [True] * 8 + [False] * 4 and all(row.many == 8 for row in rows)


def test_what_a_cap_cuts_off_is_left_out_or_wrong():
    masked, wrong = (
        long_tail.rows(long_tail.PRESETS[name]) for name in ("Cap of 2,048 tokens", "Cut off, scored wrong")
    )
    assert [row.trained for row in masked] == [1] * 6 + [0] * 2 and all(row.done <= 2048 for row in masked)
    assert [row.trained for row in wrong] == [1] * 8 and [row.right for row in wrong][-2:] == [0, 0]
