"""The pictures of lesson 17a show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.experiments import step_rewards
from sim.experiments.step_rewards import FINISH
from sim.worlds import step_chain
from tests.widgets.catalogue import marks, ring
from widgets.process_rewards import figures, step_rows
from widgets.process_rewards.figures import ENDINGS, MOMENTS, SETTINGS


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_of_eight_chains_as_many_are_solved_as_of_all(setting):
    for moment in MOMENTS:
        update, solved = figures.followed(setting)[moment]
        rows = step_rows.typical(update.batch, solved)
        assert len(set(rows)) == step_rows.ROWS
        assert abs(update.batch.solved[rows].sum() - step_rows.ROWS * solved) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_chains_shown_are_as_long_as_those_of_the_batch(setting):
    for moment in MOMENTS[::4]:
        update, solved = figures.followed(setting)[moment]
        rows = step_rows.typical(update.batch, solved)
        assert abs(update.batch.steps[rows].mean() - update.batch.steps.mean()) < 1


@pytest.mark.slow
def test_the_ring_says_no_stop_where_there_is_none():
    for moment in MOMENTS:
        assert not ring(figures.opening(SETTINGS[0], moment)[0])
    (panel,) = figures.opening(SETTINGS[1], 400)
    assert ring(panel) == "no stop in any"
    update, _ = figures.followed(SETTINGS[1])[400]
    assert (update.batch.actions != FINISH).all(axis=1).mean() > 0.95


def test_every_position_of_the_endings_has_the_same_keys():
    scenes = [figures.endings(K)[0] for K in ENDINGS]
    assert len({tuple(mark.get("key") for mark in scene["columns"][0][0]["marks"]) for scene in scenes}) == 1


def test_squares_say_which_piece_of_work_it_is_and_what_was_done_again():
    actions = np.full((1, step_rewards.H), -1)
    actions[0, :8] = [0, 1, 0, 0, 0, 0, 2, -1]
    works = np.minimum(np.concatenate([[0], np.cumsum(actions[0] == 0)]), 4)[None]
    batch = step_rewards.Batch(actions, np.zeros(actions.shape), works, np.array([True]))
    assert step_rows.squares(batch, 0) == [
        ("1", "yes"),
        ("…", "rival"),
        ("2", "yes"),
        ("3", "yes"),
        ("4", "yes"),
        ("4", "rival"),
        ("stop", "stop"),
    ]
    assert step_rows.verdict(batch, 0) == "solved"


def test_endings_are_nested_and_the_first_step_called_bad_moves_away():
    assert [figures.first_bad(K) for K in ENDINGS] == [1, 5, 5, 6, 8]
    right = figures.right_endings()
    assert right[figures.WRONG - 1].sum() == 1 and not right[-1].any()
    chance = step_chain.values_of(figures.SOUND[None], step_chain.chain_values())[0]
    assert np.abs(right.mean(axis=1) - chance).max() < 0.2  # within two of the binomial's deviations
    lucky = {K: marks(figures.endings(K)[0], "ring")[0]["seen"] for K in (4, 16)}
    assert lucky[16] and not lucky[4]


@pytest.mark.slow
def test_no_threshold_helps_any_of_sixteen():
    (panel,) = figures.by_threshold(16)
    curves = [max(mark["y"]) for mark in panel["data"] if mark["mode"] == "lines"]
    assert curves[0] < 0.4 and min(curves[1:]) > 0.75


@pytest.mark.slow
def test_what_is_taken_off_each_step_pads_or_quits_but_for_a_narrow_range():
    ends = {name: [figures.taken(name, less) for less in figures.TAKEN] for name in figures.OPTIMIZERS}
    solved = {name: dict(zip(figures.TAKEN, (share for share, _ in of_each))) for name, of_each in ends.items()}
    assert solved["AdamW"][0.95] > 0.98 and solved["SGD"][0.95] < 0.05
    assert all(shares[less] < 0.05 for shares in solved.values() for less in (0.8, 1.0, 1.05, 1.1, 1.2))
