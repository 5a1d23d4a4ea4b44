import random
import re
from functools import partial

import numpy as np
import pytest

from sim.estimators import aggregation
from tests.widgets import catalogue
from widgets.trainer import widget as trainer
from widgets.trainer.widget import Knobs

last = partial(catalogue.last, trainer)


def is_broken(**knobs):
    return catalogue.broken(trainer, **knobs) is not None


LOCAL = dict(mode="token-mean", micro=4, divisor="its own count")


def test_the_loss_is_zero_at_every_step_while_the_pass_rate_rises():
    assert max(map(abs, last().loss)) < 1e-12
    assert last().start == pytest.approx(0.3285, abs=1e-3) and 0.88 < last().pass_rate[-1] < 0.94
    assert min(last().grad_norm) > 0.05  # the gradient is not zero


@pytest.mark.when_changed()
def test_only_the_mean_of_means_makes_the_loss_zero():
    for mode in set(aggregation.MODES) - {"seq-mean-token-mean"}:
        assert 0.01 < max(map(abs, last(mode=mode).loss)) < 0.5


def test_the_four_averages_end_within_a_few_points_of_each_other():
    assert np.ptp([last(mode=mode).pass_rate[-1] for mode in aggregation.MODES]) < 0.05


def test_in_one_pass_and_one_mini_batch_nothing_is_clipped_whatever_the_range():
    narrow = last(eps_low=0.05, eps_high=0.05)
    assert max(narrow.clipped) == 0 and narrow.pass_rate == last().pass_rate


@pytest.mark.when_changed()
def test_with_more_steps_on_a_batch_the_clip_acts():
    assert max(last(passes=4).clipped) > 0.02 and max(last(minibatches=4).clipped) > 0.02
    assert np.mean(last(passes=4, eps_high=0.5).clipped) < np.mean(last(passes=4).clipped)
    assert np.mean(last(passes=4, eps_low=0.5).clipped) < np.mean(last(passes=4).clipped)


@pytest.mark.parametrize("rate, breaks", [(0.003, False), (0.02, False), (0.05, False), (0.1, True), (0.3, True)])
def test_the_break_lies_between_a_learning_rate_of_005_and_01(rate, breaks):
    assert is_broken(learning_rate=rate) == breaks == (last(learning_rate=rate).pass_rate[-1] < last().start)


def test_past_the_break_neither_gradient_nor_entropy_is_left():
    late = slice(70, None)
    assert np.median(last(learning_rate=0.1).grad_norm[late]) < np.median(last().grad_norm[late]) / 3
    assert np.mean(last(learning_rate=0.1).entropy[late]) < np.mean(last().entropy[late]) / 2


@pytest.mark.when_changed()
def test_cutting_the_gradient_norm_changes_little():
    assert np.ptp([last(max_norm=cut).pass_rate[-1] for cut in ("off", "0.1", "1")]) < 0.03


@pytest.mark.when_changed()
def test_a_reward_ten_times_as_large_is_ten_steps_for_sgd_and_nothing_for_adamw():
    dr = dict(mode="seq-mean-token-sum-norm", advantage="reward − mean", max_norm="off")
    adamw, sgd = ([last(scale=scale, optimizer=name, **dr) for scale in (1.0, 10.0)] for name in ("AdamW", "SGD"))
    assert abs(adamw[1].pass_rate[-1] - adamw[0].pass_rate[-1]) < 0.02
    assert sgd[1].pass_rate[0] - last().start > 5 * (sgd[0].pass_rate[0] - last().start) > 0
    assert sgd[1].grad_norm[0] == pytest.approx(10 * sgd[0].grad_norm[0], rel=1e-9)


def test_the_z_score_takes_the_scale_of_the_reward_out_again():
    assert last(scale=10.0).grad_norm[0] == pytest.approx(last().grad_norm[0], rel=1e-4)


@pytest.mark.when_changed()
def test_own_counts_of_sorted_slices_spoil_the_gradient_and_break_nothing():
    for seed in range(5):
        knobs = {**LOCAL, "seed": seed}
        assert last(**knobs).first.now > 0.15 and last(**knobs).pass_rate[-1] > 0.87 and not is_broken(**knobs)


@pytest.mark.when_changed()
def test_a_run_is_broken_if_it_ends_below_its_start():
    chance, ends_below = random.Random("trainer"), []
    for _ in range(7):
        knobs = dict(
            mode=chance.choice(["seq-mean-token-mean", "token-mean"]),
            learning_rate=chance.choice([0.02, 0.1, 0.3]),
            passes=chance.choice([1, 4]),
            minibatches=chance.choice([1, 1, 8]),
            micro=chance.choice([1, 16]),
            divisor=chance.choice(["the batch's count", "its own count"]),
            optimizer=chance.choice(["AdamW", "AdamW", "SGD"]),
        )
        curve = trainer.figure(Knobs(**knobs), last(**knobs))[0]["data"][0]["y"]
        ends_below.append(curve[-1] < curve[0])
        assert is_broken(**knobs) == ends_below[-1], knobs
    assert 0.2 < np.mean(ends_below) < 0.8


@pytest.mark.when_changed()
def test_unsorted_slices_a_mean_of_means_or_the_batch_count_leave_the_gradient_right():
    assert last(**LOCAL, by_length=False).first.now < 0.05
    assert last(micro=4, divisor="its own count").first.now < 1e-12
    assert (
        last(mode="token-mean", micro=4).first.now == 0
        and last(mode="token-mean", micro=4).pass_rate == last(mode="token-mean").pass_rate
    )


def test_the_error_grows_with_the_number_of_slices():
    for errors in last(mode="token-mean").first.error.values():
        assert errors == sorted(errors) and errors[0] < 1e-12


def test_the_ring_is_on_the_curve():
    first = last(**LOCAL).first
    assert first.now == pytest.approx(first.error[True][trainer.COUNTS.index(4)], abs=1e-12)


@pytest.mark.when_changed()
def test_a_cell_says_what_the_token_is_asked_to_do():
    (cells,) = [p for p in trainer.figure(Knobs(), last()) if p["title"].startswith("Push")]
    assert cells["data"][0]["z"].shape == (16, 8)
    assert re.fullmatch(
        r"\d\+\d=.+<br>token 1: A -?\d\.\d\d, ratio 1\.00, weight \d\.\d\d thousandths",
        cells["data"][0]["hovertext"][0][0],
    )
    assert any(
        "clipped" in words
        for row in trainer.figure(Knobs(), last(passes=4))[4]["data"][0]["hovertext"]
        for words in row
    )


def test_a_row_has_one_sign_and_a_group_has_both():
    push = -last().first.tokens.dlogp
    signs = np.sign(push).sum(axis=1)
    assert (np.abs(signs) == (push != 0).sum(axis=1)).all()
    assert {-1.0, 1.0} <= set(np.sign(push[:8, 0]))


@pytest.mark.parametrize(
    "knobs, fix",
    [
        (dict(learning_rate=0.1), dict(learning_rate=0.02)),
        (dict(passes=4, minibatches=8), dict(passes=1, minibatches=1)),
    ],
)
def test_the_way_back_turns_what_was_too_much(knobs, fix):
    assert catalogue.broken(trainer, **knobs).fix == fix


@pytest.mark.when_changed()
def test_the_run_streams_and_counts_its_updates():
    assert [trainer.progress(Knobs(), r)[1] for r in trainer.run(Knobs())] == [1, *range(8, 97, 8), 100]


def test_the_verdict_of_a_run_that_holds_still_reports_a_wrong_gradient():
    k, r = Knobs(**LOCAL), last(**LOCAL)
    assert "no curve shows it" in trainer.holds(k, r) and "no curve" not in trainer.holds(Knobs(), last())
    assert trainer.worse(k, r) is None


def test_a_rate_of_005_is_worse():
    assert trainer.worse(Knobs(learning_rate=0.05), last(learning_rate=0.05))


def test_the_guess_is_answered_by_the_run():
    guess, r = trainer.GUESS, last(**vars(trainer.GUESS.knobs))
    assert guess.answers[guess.right] == "about 0.9" and r.pass_rate[-1] == pytest.approx(0.9, abs=0.03)
    assert trainer.broken(guess.knobs, r) is None and trainer.error_now(r) > 0.2


@pytest.mark.when_changed()
@pytest.mark.parametrize("seed", range(2))
def test_the_transformer_learns_at_a_tenth_of_the_learning_rate_and_breaks_at_its_own_rate(seed):
    """The window breaks at 0.1, which is 0.01 here."""
    knobs = dict(policy="transformer", seed=seed)
    assert last(**knobs).start == pytest.approx(0.305, abs=1e-3)
    assert last(**knobs).pass_rate[-1] > 0.88 and not is_broken(**knobs)
    assert last(**knobs, learning_rate=0.1).pass_rate[-1] < 0.75
    break_ = catalogue.broken(trainer, **knobs, learning_rate=0.2)
    assert "up to about 0.02 per weight" in break_.why and break_.fix == dict(learning_rate=0.02)


def test_a_picture_of_the_transformer_comes_every_second_update():
    frames = []
    for r in trainer.run(Knobs(policy="transformer")):
        frames.append(len(r.loss))
        if len(frames) == 3:
            break
    assert frames == [1, 2, 4]
