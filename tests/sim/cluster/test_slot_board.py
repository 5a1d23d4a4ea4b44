"""Slots by hand, and samples that are as typical as they say."""

import itertools

import numpy as np
import pytest

from sim.cluster import slot_board, straggler

LENGTHS = [4, 1, 2, 3]


def places(board):
    return [(held.slot, held.start, held.end, held.step) for held in board.written]


def test_a_step_waits_for_its_last_completion():
    board = slot_board.steps(LENGTHS, 2, 2, 100)
    assert places(board) == [(0, 0, 4, 0), (1, 0, 1, 0), (0, 4, 6, 1), (1, 4, 7, 1)]
    assert board.waits == [(1, 1, 4), (0, 6, 7)] and board.ends == [4, 7]
    assert slot_board.busy(board, 2, 4) == 5 / 8


def test_a_cap_cuts_what_is_longer():
    board = slot_board.steps(LENGTHS, 2, 2, 100, cap=3)
    assert places(board) == [(0, 0, 3, 0), (1, 0, 1, 0), (0, 3, 5, 1), (1, 3, 6, 1)]
    assert [held.cut for held in board.written] == [True, False, False, False] and board.ends == [3, 6]


def test_carried_over_nothing_waits_and_the_others_go_on():
    board = slot_board.carried_over(LENGTHS, 2, 2, 100)
    # slot 1 is free after 1, then after 3
    assert places(board) == [(0, 0, 4, 0), (1, 0, 1, 0), (1, 1, 3, 0), (1, 3, 6, 1)]
    assert board.ends == [3, 6] and board.waits == [] and slot_board.carried(board) == 1


def test_a_step_cut_at_a_token_keeps_what_is_done_and_waits_for_the_rest():
    found = slot_board.ended(np.array(LENGTHS), np.array([False, True, True, False]), 2)
    assert found.kept.tolist() == [False, True, True, False]
    assert (found.right, found.lost, found.lost_wrong) == (2, 2, 2)
    assert found.waits == 1 / 8  # one slot, one token long


@pytest.mark.parametrize("cap", [None, 3000])
@pytest.mark.parametrize("slots", [16, 32])
def test_in_a_slot_writing_and_waiting_join_without_gap_or_overlap(slots, cap):
    lengths = straggler.sampled_lengths(192, 1200, 0.8, 10**6, np.random.default_rng(1)).astype(int).tolist()
    board = slot_board.steps(lengths, slots, 32, 8400, cap)
    for slot in range(slots):
        pieces = sorted([(h.start, h.end) for h in board.written if h.slot == slot])
        pieces = sorted(pieces + [(start, end) for where, start, end in board.waits if where == slot])
        assert pieces[0][0] == 0 and pieces[-1][1] == board.ends[-1]
        assert all(before[1] == after[0] for before, after in itertools.pairwise(pieces))


@pytest.mark.parametrize("slope", [-2.0, -1.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("launched", [8, 9, 10, 12, 16, 20, 24])
def test_of_the_first_eight_as_many_are_right_as_the_law_says_within_one(launched, slope):
    drawn = slot_board.typical(1, launched, straggler.p_right(slope), straggler.Z)
    first = np.argsort(drawn.z[0])[:8]
    exact = straggler.trained_accuracy(slope, straggler.race_in_prompts(8, launched))
    assert abs(drawn.right[0][first].sum() - 8 * exact) <= 1
    assert abs(drawn.right.sum() - launched / 2) <= 0.5


@pytest.mark.parametrize("between", [0.0, 0.5, 0.75])
@pytest.mark.parametrize("launched", [8, 12, 24])
def test_of_the_first_eight_prompts_as_many_are_right_as_the_law_says_within_a_prompt(launched, between):
    drawn = slot_board.typical(launched, 8, straggler.p_right(-1), straggler.Z, between)
    first = np.argsort(drawn.z.max(axis=1))[:8]
    exact = straggler.trained_accuracy(-1, straggler.race_of_prompts(8, 64, 8 * launched, between))
    assert abs(drawn.right[first].sum() - 64 * exact) <= 8
