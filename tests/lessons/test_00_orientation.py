"""The lesson that orients: what its numbers are computed by, and what it says without a number."""

from functools import partial

import numpy as np
import pytest

from sim.estimators import equal_models
from sim.experiments import cut_arrows, running_batch
from sim.worlds import modsum
from tests.lessons import spreads
from tests.widgets import catalogue
from tools.pages import pipeline_map, recording
from widgets.frame.drawing import answers
from widgets.orientation import figures
from widgets.orientation import widget as orientation

START = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]
weights = modsum.Policy().params["theta"].size
sums_like_5 = modsum.TARGETS[running_batch.PROMPT] + modsum.MODULUS * np.arange(3)  # 5, 12, 19
settled = partial(catalogue.last, orientation)
kept = partial(spreads.values, "00_orientation")


def best_of(K):
    """The pass rate of the best of K completions, a mean over the prompts."""
    return np.mean(1 - (1 - START) ** K)


def rows_right(name, i):
    """How many of eight answers are right at round i of the opening: in the log, and of the model."""
    now = figures.asked(name)[i]
    return [answers.right(rows, running_batch.PROMPT) for rows in (now.sampled, now.trained)]


first_setting = [rows_right("with weight sync", i)[1] for i in (0, 60)]  # before and after training


@pytest.mark.parametrize("digits, right", [([2, 3], True), ([1, 1], False)])
def test_the_task_judges_the_examples_as_the_text_does(digits, right):
    tokens = np.full((1, modsum.T), modsum.EOS)
    tokens[0, : len(digits)] = np.array(digits) - 1  # token 0 is the digit 1
    own = (np.arange(modsum.T) <= len(digits))[None].astype(float)
    (answer,) = modsum.Task().answers(tokens, own, np.array([True]))
    assert (answer == f"Final: {modsum.TARGETS[running_batch.PROMPT]}") == right


def test_a_completion_that_never_stops_has_no_answer():
    assert modsum.Task().answers(np.zeros((1, modsum.T), int), np.ones((1, modsum.T)), np.array([False])) == [""]


def end(read, **knobs):
    return lambda seed: read(settled(seed=seed, **knobs))


def right(r):
    return r.pass_rate[-1].mean()


MEASURED = {
    "whole": end(right),
    "whole, nats": end(lambda r: r.kl[-1]),
    "no price": end(right, beta=0.0),
    "no price, nats": end(lambda r: r.kl[-1], beta=0.0),
    "price 1": end(right, beta=1.0),
    "no sync": end(right, cut="weight sync"),
    "no sync, percent of the last ten batches": end(lambda r: 100 * r.measured[-10:].mean(), cut="weight sync"),
    "no sync, percent of the first ten batches": end(lambda r: 100 * r.measured[:10].mean(), cut="weight sync"),
}


def test_a_price_of_1_keeps_the_policy_near_its_start():
    assert settled(beta=1.0).kl[-1] < 0.4


def test_without_the_sync_the_batches_stay_as_they_were_and_the_trainer_is_slower_too():
    last, first = (kept(f"no sync, percent of the {which} ten batches") for which in ("last", "first"))
    assert abs(first.mean() - last.mean()) < 1
    assert (kept("no sync") < kept("whole") - 0.2).all()
    assert settled(cut="weight sync").behind == orientation.ITERATIONS  # a step in every iteration


def test_the_log_of_the_other_run_hides_what_its_model_has_learned():
    assert rows_right("without it", 0) == [2, 2] and rows_right("without it", 60) == [2, 6]


def test_the_four_rows_are_those_of_the_running_batch():
    ratio, rate = running_batch.one_step(running_batch.RIGHT, figures.RATE)
    assert figures.RATE == cut_arrows.LEARNING_RATE and 0.6 < rate < 0.7 and (ratio[0, :3] > 1).all()
    assert figures.said(figures.PUSHED).endswith(f"Now {100 * rate:.0f} in a hundred are correct.")
    assert figures.said(figures.SAMPLED).endswith(
        f"to this prompt, {100 * START[running_batch.PROMPT]:.0f} are correct."
    )


def test_a_row_that_nobody_pushed_lost_as_the_answer_of_the_question_says():
    factors = figures.likelier()
    assert (factors[running_batch.RIGHT == 0] < 1).all() and (factors[running_batch.RIGHT == 1] > 1).all()
    assert running_batch.ROWS[1] == (0, 0, modsum.EOS)


def test_the_map_follows_the_four_rows_through_the_step_of_the_figure():
    here = recording.four_rows()
    assert here["rollout"].startswith("2 3 stop; 1 1 stop; 3 2 3 1 3 stop; 3 stop.")
    assert here["reward"] == "1, 0, 1, 0, one for each row" and here["algorithm"].startswith(
        "rows 1 and 3 are pushed up"
    )
    before, after = START[running_batch.PROMPT], running_batch.one_step(running_batch.RIGHT, figures.RATE)[1]
    assert here["trainer"] == f"one step: of a hundred answers {100 * before:.0f} were right, now {100 * after:.0f} are"
    assert here["sync"] == "112 numbers; rollout now has version 1"
    assert here.keys() == {*pipeline_map.ORDER}


def test_the_best_of_k_rises_and_one_completion_does_not():
    shown = figures.FIGURES["best"].sentence(64)
    assert "0.935" in shown and "0.219" in shown and "0.219" in figures.FIGURES["best"].sentence(1)


@pytest.mark.parametrize("cut", ["+reward", "loss_fn"])
def test_without_reward_or_loss_the_policy_is_the_first_one_to_the_last_digit(cut):
    r = settled(cut=cut)
    np.testing.assert_array_equal(r.pass_rate[-1], r.pass_rate[0])
    assert r.behind == 0


def test_the_reference_may_be_missing_and_the_loop_still_learns():
    assert settled(cut="ref_logp").pass_rate[-1].mean() > START.mean() + 0.5


def test_the_map_has_six_roles_in_the_order_of_the_list():
    assert maps_order() == ["rollout", "env.verify", "reference", "algorithm", "trainer", "controller"]


def maps_order():
    """The six boxes of the map, in the order of their steps, the controller, which calls them, last."""
    roles = sorted(pipeline_map.ROLES.values(), key=lambda role: role.step % 7 or 7)
    return [role.heading.lower() for role in roles[1:] + roles[:1]]


def test_what_nobody_counts_is_not_even_loop_a():
    assert np.isnan(settled(cut="trajs").measured).all()
    for cut in ("tokens", "ref_logp"):
        assert settled(cut=cut).pass_rate[-1].mean() > 0.9, "loop C without line 4"
