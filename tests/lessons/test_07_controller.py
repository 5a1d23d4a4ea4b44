"""The lesson on the controller: what its numbers are computed by, and what it says without a number."""

import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from sim.algorithms import dr_grpo, grpo
from sim.experiments import faults
from sim.framework.iteration import updates_per_iteration
from sim.worlds import tasks, tinylm
from tests.lessons import spreads
from tests.widgets import catalogue
from tools.pages import pipeline_map, recording
from widgets.controller import figures
from widgets.controller import widget as controller
from widgets.controller.widget import Knobs

EXPENSIVE = ("passed",)
kept = partial(spreads.values, "07_controller")
start = tasks.exact_pass(tasks.checkpoint("add"))
recomputed = kept("`old_logp` recomputed, 4 passes")
parameters = sum(array.size for array in tinylm.Policy().params.values())
ROWS = {
    "none": {},
    "no weight sync": {},
    "rewards shifted by a row": {},
    "rewards shuffled": {},
    "sign flipped": {},
    "wrong groups": {},
    "padding in the loss": {},
    "reference is the policy, β = 0.1": dict(beta=0.1),
    "`old_logp` recomputed, 4 passes": dict(passes=4),
}


LEARNED = np.setdiff1d(np.arange(100), controller.HELD_OUT)
last = partial(catalogue.last, controller)


def passed(**knobs):
    return last(**knobs).trainer[-1].mean()


def fault_of(words):
    """The fault of a row of the table, as the knob names it."""
    return words.split(",")[0].replace("`", "").removesuffix(" ")


def ends(**knobs):
    return lambda seed: passed(seed=seed, **knobs)


ALIASED = dict(fault="reference is the policy", beta=0.1)
PADDED = dict(fault="padding in the loss")

MEASURED = {
    **{words: ends(fault=fault_of(words), **knobs) for words, knobs in ROWS.items()},
    "none, 4 passes": ends(passes=4),
    "none, β = 0.1": ends(beta=0.1),
    "reference is the policy, nats a token": lambda seed: last(seed=seed, **ALIASED).kl[-1],
    "padding in the loss, KL over the mask": lambda seed: last(seed=seed, **PADDED).kl[-1],
    "kept out, trained prompts": lambda seed: last(held_out=True, seed=seed).trainer[-1][LEARNED].mean(),
    "kept out, the others": lambda seed: last(held_out=True, seed=seed).trainer[-1][controller.HELD_OUT].mean(),
}


def test_a_shift_leaves_mean_variance_and_length_and_turns_every_push_around():
    before, after = np.array([1.0, 0, 1, 0]), np.array([0.0, 1, 0, 1])
    assert (np.roll(before, 1) == after).all() and before.mean() == after.mean() and before.var() == after.var()
    A = [grpo.advantage(rewards.reshape(2, 2), grpo.HP, None) for rewards in (before, after)]
    np.testing.assert_allclose(A[1].sum(axis=1), 0, atol=1e-12)
    np.testing.assert_array_equal(A[1], -A[0])


def carried():
    """Bytes on each arrow of the map, in one iteration."""
    return recording.iteration()[1]


def test_a_rate_without_a_deviation_ends_alike_in_all_seeds():
    for words in ("rewards shifted by a row", "sign flipped"):
        assert kept(words).std(ddof=1) < 0.005


def test_weights_are_the_heaviest_that_an_arrow_carries_and_rewards_the_lightest():
    assert carried()["reward"] == min(carried().values()) and carried()["sync"] == max(carried().values())


def test_a_shifted_row_keeps_an_eighth_of_its_signal_reversed():
    """Advantage without the division, regressed on the row's own reward; rows 1 to 7 of each group of eight. Closed
    form: -1/8.
    """
    R = (np.random.default_rng(0).random((400_000, 8)) < 0.33).astype(float)
    batch = SimpleNamespace(reward=R.ravel())
    faults.reward_shift(None, batch, stage=3)
    A = dr_grpo.advantage(batch.reward.reshape(R.shape), dr_grpo.HP, None)
    own, pushed = R[:, :7].ravel(), A[:, :7].ravel()
    assert np.cov(own, pushed)[0, 1] / own.var() == pytest.approx(-1 / 8, abs=0.003)


def test_recomputed_log_probs_cost_four_passes_much_and_an_aliased_reference_charges_nothing():
    assert (recomputed < kept("none, 4 passes") - 0.2).all()
    np.testing.assert_array_equal(kept("reference is the policy, β = 0.1"), kept("none"))


@pytest.mark.when_changed()
def test_what_one_run_of_either_fault_shows():
    assert last(**PADDED).batch.response_mask.sum(axis=1).min() == 8
    assert last(fault="no weight sync").rollout[-1].mean() == pytest.approx(start.mean())


def test_one_of_the_two_loops_of_the_head_learns_and_the_other_forgets():
    assert kept("none").min() > 0.85 and kept("rewards shifted by a row").max() < 0.01


def test_what_the_figure_of_the_shift_says():
    for n, right, wrong in ((0, 3, 0), (1, 0, 3), (2, 1, 2)):
        reward, A = figures.moved(n)
        np.testing.assert_allclose(A.sum(axis=1), 0, atol=1e-12)
        assert reward.mean() == figures.PAID.mean()
        said = re.findall(r"(\d) of (\d)", figures.praised(n))
        assert said == [(str(right), "3"), (str(wrong), "5")]


@pytest.mark.when_changed()
@pytest.mark.parametrize("name", figures.FAULTS)
def test_every_fault_of_the_figure_puts_a_lamp_out_and_three_show_in_no_pass_rate(name):
    spoiled, healthy = figures.followed(name)
    assert spoiled.violated and not healthy.violated
    assert spoiled.violated <= {lamp for row in figures.LAMPS.values() for lamp in row}
    hidden = name in ("wrong groups", "padding in the loss", "reference aliased, β = 0.1")
    assert (min(spoiled.trainer[-1], spoiled.rollout[-1]) > healthy.trainer[-1] - 0.1) == hidden
    assert ("the curve does not show it" in figures.told(name)) == hidden


def test_the_row_that_goes_through_the_figure():
    batch, now, version = figures.third()
    assert version == batch.version[0] + 1
    i, j = figures.shown_rows()[[0, -1]]
    assert batch.accuracy[i] == 1 and batch.advantage[i, 0] > 0 > batch.advantage[j, 0]
    assert (now - batch.old_logp)[i].sum() > 0 > (now - batch.old_logp)[j].sum()


def test_the_guess():
    assert kept("padding in the loss").min() > 0.86 and kept("padding in the loss").max() < 0.95
    assert controller.GUESS.answers[controller.GUESS.right] == "it ends near 0.9"


def test_the_map_shows_the_arrays_themselves():
    drawn = pipeline_map.pipeline(rows=True)
    for shape in ("tokens (128, 8)", "reward (128,)", "advantage (128, 8)", "W1 (160, 48)"):
        assert shape in drawn
    assert (
        drawn.count("<dt>first row</dt>") == len(pipeline_map.ORDER)
        and "<dt>first row</dt>" not in pipeline_map.pipeline()
    )
