"""The numbers of the lesson on the controller, recomputed."""

import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from sim.algorithms import dr_grpo, grpo
from sim.experiments import faults
from sim.framework.iteration import updates_per_iteration
from sim.worlds import tasks, tinylm
from tests.lessons.prose import Lesson, agrees
from tests.widgets import catalogue
from tools.pages import pipeline_map, recording
from widgets.controller import figures
from widgets.controller import widget as controller
from widgets.controller.widget import Knobs

LESSON = Lesson("07")
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
    assert "$(1,0,1,0)$" in LESSON.text and "$(0,1,0,1)$" in LESSON.text
    assert (np.roll(before, 1) == after).all() and before.mean() == after.mean() and before.var() == after.var()
    A = [grpo.advantage(rewards.reshape(2, 2), grpo.HP, None) for rewards in (before, after)]
    np.testing.assert_allclose(A[1].sum(axis=1), 0, atol=1e-12)
    np.testing.assert_array_equal(A[1], -A[0])


kept = LESSON.kept


@pytest.mark.parametrize("words", ROWS)
def test_the_table_of_faults(words):
    (said,) = re.findall(rf"^ *\| {re.escape(words)} \| (\d\.\d+(?: ± \d\.\d+)?) \|", LESSON.text, re.M)
    agrees(said if "±" in said else f"{said} ± 0.00", kept(words))


def test_the_start_and_the_size_of_the_policy():
    LESSON.says("0.329", tasks.exact_pass(tasks.checkpoint("add")).mean())
    LESSON.says("8,708", sum(a.size for a in tinylm.Policy().params.values()))
    assert Knobs().groups * Knobs().K == 128 and "128 rows" in LESSON.text


def test_what_the_arrows_carry():
    _, carried, _ = recording.iteration()
    for said, edge in (("69,664", "sync"), ("16,512", "trajs"), ("1,024", "reward")):
        LESSON.says(said, carried[edge])
    assert carried["reward"] == min(carried.values()) and carried["sync"] == max(carried.values())


def test_the_updates_of_an_iteration():
    assert "8,192" in LESSON.text
    assert updates_per_iteration(8192, 512, 1) == 16 and "16 steps" in LESSON.text
    assert updates_per_iteration(128, 128, 1) == 1


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


def test_the_rest_of_what_the_widget_showed():
    LESSON.spread("0.94 ± 0.02", kept("none, 4 passes"))
    assert (kept("`old_logp` recomputed, 4 passes") < kept("none, 4 passes") - 0.2).all()
    np.testing.assert_array_equal(kept("reference is the policy, β = 0.1"), kept("none"))  # it pays no price
    LESSON.between("between 0.1 and 1.6 nats", kept("reference is the policy, nats a token"))
    LESSON.spread("7.1 ± 0.3", kept("padding in the loss, KL over the mask"))


@LESSON.when_changed
def test_what_one_run_of_either_fault_shows():
    assert last(**PADDED).batch.response_mask.sum(axis=1).min() == 8
    assert last(fault="no weight sync").rollout[-1].mean() == pytest.approx(last().trainer[0].mean())


def test_without_its_price_the_run_ends_above_the_one_that_pays_it():
    LESSON.spread("0.88 ± 0.01", kept("none, β = 0.1"))
    LESSON.counts("in {} of twenty seeds it ends above the healthy run", kept("none") > kept("none, β = 0.1"))


def test_the_two_loops_of_the_head():
    assert kept("none").min() > 0.85 and kept("rewards shifted by a row").max() < 0.01
    assert "33 sums of 100" in LESSON.text and round(100 * last().trainer[0].mean()) == 33


def test_what_the_figure_of_the_shift_says():
    for n, right, wrong in ((0, 3, 0), (1, 0, 3), (2, 1, 2)):
        reward, A = figures.moved(n)
        np.testing.assert_allclose(A.sum(axis=1), 0, atol=1e-12)
        assert reward.mean() == figures.PAID.mean()
        said = re.findall(r"(\d) of (\d)", figures.praised(n))
        assert said == [(str(right), "3"), (str(wrong), "5")]


@LESSON.when_changed
@pytest.mark.parametrize("name", figures.FAULTS)
def test_every_fault_of_the_figure_puts_a_lamp_out_and_three_show_in_no_pass_rate(name):
    spoiled, healthy = figures.followed(name)
    assert spoiled.violated and not healthy.violated
    assert spoiled.violated <= {lamp for row in figures.LAMPS.values() for lamp in row}
    hidden = name in ("wrong groups", "padding in the loss", "reference aliased, β = 0.1")
    assert (min(spoiled.trainer[-1], spoiled.rollout[-1]) > healthy.trainer[-1] - 0.1) == hidden
    assert ("the curve does not show it" in figures.told(name)) == hidden
    assert "Three faults cost nothing" in LESSON.text


def test_the_row_that_goes_through_the_figure():
    batch, now, version = figures.third()
    assert version == batch.version[0] + 1
    i, j = figures.shown_rows()[[0, -1]]
    assert batch.accuracy[i] == 1 and batch.advantage[i, 0] > 0 > batch.advantage[j, 0]
    assert (now - batch.old_logp)[i].sum() > 0 > (now - batch.old_logp)[j].sum()


def test_the_guess():
    assert kept("padding in the loss").min() > 0.86 and kept("padding in the loss").max() < 0.95
    assert controller.GUESS.answers[controller.GUESS.right] == "it ends near 0.9"


def test_what_prompts_kept_out_show():
    LESSON.spread("0.93 ± 0.01", kept("kept out, trained prompts"))
    LESSON.spread("0.38 ± 0.04", kept("kept out, the others"))
    LESSON.says("0.321", last(held_out=True).trainer[0][controller.HELD_OUT].mean())


def test_thirty_problems_leave_a_standard_error():
    # each right always or never, so that more samples of it say nothing new: a coin a problem
    LESSON.says("0.09,", np.sqrt(0.5 * 0.5 / 30))


def test_the_map_shows_the_arrays_themselves():
    drawn = pipeline_map.pipeline(rows=True)
    for shape in ("tokens (128, 8)", "reward (128,)", "advantage (128, 8)", "W1 (160, 48)"):
        assert shape in drawn
    assert (
        drawn.count("<dt>first row</dt>") == len(pipeline_map.ORDER)
        and "<dt>first row</dt>" not in pipeline_map.pipeline()
    )
