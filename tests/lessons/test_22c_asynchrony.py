"""The numbers of the lesson on asynchrony, recomputed."""

from functools import cache

import numpy as np
import pytest

from sim.cluster import fabric, pipeline
from sim.cluster.models import MODELS
from sim.estimators import weight_delta
from sim.experiments import delayed_gradient, lagged_sequences
from tests.lessons.prose import Lesson
from widgets.asynchrony import figures
from widgets.asynchrony import widget as asynchrony
from widgets.asynchrony.widget import Knobs

LESSON = Lesson("22c")


@cache
def result(**knobs):
    (r,) = asynchrony.run(Knobs(**knobs))
    return r


def seconds(**knobs):
    return result(**knobs).run.step_seconds


def lag(**knobs):
    run = result(**knobs).run
    return run.lag[run.settled].mean()


def test_the_job_of_the_page():
    sync = result(overlap="sync").run
    LESSON.says("71", np.mean(sync.finish[:, -1] - sync.start[:, 0]))
    LESSON.says("103", sync.step_seconds)
    LESSON.says("74", seconds(overlap="one-off"))
    LESSON.says("30.4", seconds())


def test_the_small_copy_of_the_job():
    steps = [figures.small(way).step_seconds for way in figures.WAYS]
    for said, step in zip(("In turn, a step takes 45 s", "33 s", "20 s", "16 s"), steps):
        assert said in LESSON.text and round(step) == int(said.split()[-2])
    assert figures.TRAIN + figures.SYNC == 14 and "hardly more than the update and the new weights, 14 s" in LESSON.text
    oldest, _ = figures.oldest_of("stream, 4 ahead")
    began, trained_on = figures.number(oldest.began), figures.number(oldest.update)
    assert f"was begun with weights {began}, and update {trained_on} trains on it" in LESSON.text


def test_the_slots_of_the_small_job_hold_its_lag_below_its_head_start():
    """Little's law with what is under way: with twice the slots, and all else the same, the lag is the head start."""
    of = lambda run: run.lag[run.settled].mean()
    ran, roomy = figures.small("stream, 4 ahead"), figures.small("stream, 4 ahead", 2 * figures.B)
    assert "the mean lag stays at 2.0." in LESSON.text and of(ran) == pytest.approx(2.0, abs=0.05)
    assert of(roomy) == pytest.approx(4.0, abs=0.05)
    at = np.linspace(*ran.train[[ran.settled.start, -6], 0], 50)[:, np.newaxis, np.newaxis]
    assert (((ran.start <= at) & (ran.finish > at)).sum(axis=(1, 2)) == figures.B).all()  # no slot is ever free


def test_the_late_push():
    best = delayed_gradient.course(16, 3.0).best
    assert "At update 50 the best answer is too rare, 25 of 100." in LESSON.text and round(100 * best[50]) == 25
    assert "from update 34, when it had 79 and was too common" in LESSON.text and round(100 * best[34]) == 79
    assert "the best answer 51 of 100" in LESSON.text and round(100 * delayed_gradient.optimum()[0][-1]) == 51
    assert best[51] < best[50]


def test_the_product_of_step_and_lag():
    step = 3 * 0.2 * delayed_gradient.curvature()
    LESSON.says("2.8", step * 13)
    LESSON.says("3.2", step * 15)
    LESSON.says("3.10", step / 2 * 29)
    for delay in range(40):  # nearly exact, and never below the exact limit
        assert 0.63 < delayed_gradient.step_limit(delay) * (2 * delay + 1) / np.pi < 1
    assert delayed_gradient.step_limit(6) * 13 / np.pi > 0.99


def test_with_both_repairs_the_lag_is_gone():
    r = result(delay="16", correction="KL as a loss, and ratio")
    LESSON.says("0.718", asynchrony.final(r))
    assert np.ptp(r.course.best[-200:]) < 1e-3


@LESSON.when_changed
def test_the_head_start():
    for head, step, age in ((1, "39.5", "1.0"), (2, "30.4", "2.0"), (4, "30.4", "4.0"), (16, "30.4", "11.1")):
        LESSON.says(step, seconds(head=head))
        LESSON.says(age, lag(head=head))
    assert result(head=2).run.lag.max() == 5  # "here up to five"


def test_a_trainer_that_is_faster_than_the_engine():
    LESSON.says("22.4", seconds(train=20.0, head=8))
    LESSON.says("3.0", lag(train=20.0, head=8))
    assert seconds(train=20.0, head=3) == pytest.approx(seconds(train=20.0, head=8), rel=0.001)
    assert seconds(train=20.0, head=2) > 1.05 * seconds(train=20.0, head=3)


def test_the_two_runs_of_the_opening_and_the_wall():
    swings = result(delay="16").course
    assert swings.best[-200:].min() < 0.2 and swings.best[-200:].max() > 0.9
    LESSON.says("0.356", delayed_gradient.curvature())
    LESSON.says("0.21", 3 * 0.2 * delayed_gradient.curvature())
    assert [delayed_gradient.freshness_wall(rate, 0.2, delayed_gradient.curvature()) for rate in (1.5, 3, 12)] == [
        14,
        6,
        1,
    ]
    LESSON.says("0.107", 1.5 * 0.2 * delayed_gradient.curvature())
    LESSON.says("0.108", delayed_gradient.step_limit(14))
    LESSON.says("0.101", delayed_gradient.step_limit(15))
    LESSON.says("0.717", asynchrony.final(result(delay="7")))
    LESSON.says("0.718", asynchrony.best(Knobs()))
    LESSON.says("0.584", asynchrony.final(result(learning_rate=12.0, delay="8")))


def test_a_kl_in_the_reward_is_late_only_by_the_log_probs_it_is_computed_from(monkeypatch):
    """Recomputed for the present policy it mends what the same reward with the sampler's log-probs does not."""

    def recomputed(pi, mu, drawn, reward, beta):
        value = reward - beta * np.log(pi * len(pi))
        return drawn * (value - drawn @ value)

    monkeypatch.setitem(delayed_gradient.CORRECTIONS, "recomputed", recomputed)
    late, mended = (delayed_gradient.course(16, 3.0, correction=name).best[-200:] for name in ("none", "recomputed"))
    assert np.ptp(late) > 0.5 and np.ptp(mended) < 1e-3
    assert "stays late if it is computed from the sampler's log-probs" in LESSON.text


def test_the_limits_of_the_derivation():
    assert [delayed_gradient.step_limit(n) for n in (0, 1)] == pytest.approx([2, 1])
    for delay, said in ((2, "0.618"), (4, "0.347"), (8, "0.185"), (16, "0.095")):
        LESSON.says(said, delayed_gradient.step_limit(delay))
        turn = np.pi / (2 * delay + 1)
        assert 2 * np.sin(turn / 2) == pytest.approx(delayed_gradient.step_limit(delay))
        z = np.exp(1j * turn)
        assert abs(z ** (delay + 1) - z**delay + delayed_gradient.step_limit(delay)) < 1e-12


def test_what_is_dropped():
    r = result(head=4, hard_cap="4")
    kept, of_all = asynchrony.kept(r)
    LESSON.says("728", len(r.run.dropped))
    LESSON.says("5,522", r.run.dropped.mean())
    LESSON.says("1,489", kept)
    LESSON.says("1,991", of_all)


def test_half_of_the_batch():
    LESSON.says("0.35", np.log(2) / 2)  # e^(−2 KL) = 1/2
    assert delayed_gradient.effective_share(np.log(2) ** 0.5) == pytest.approx(0.5)


def test_sending_the_weights():
    for model, said in (("qwen2.5-7b", "0.61"), ("llama3.1-70b", "5.6"), ("deepseek-v3", "53.7")):
        LESSON.says(said, fabric.weight_sync(MODELS[model]))
    slow = dict(train=20.0, head=8, sync=30.0)
    LESSON.says("49.7", seconds(**slow, in_place=True))
    LESSON.says("20.5", seconds(**slow, in_place=False))
    for rate, said in ((1e-7, "0.59"), (1e-6, "4.2"), (1e-5, "25")):
        LESSON.says(said, 100 * weight_delta.changed_share(rate, 0.02))


def test_bubbles():
    LESSON.says("47", 100 * pipeline.bubble(8, 8))
    LESSON.says("18", 100 * pipeline.bubble(8, 32))
    LESSON.says("5.2", 100 * pipeline.bubble(8, 32, 4))


def earned(way, lag):
    return lambda seed: lagged_sequences.rewards(way, lag, seed).mean()


WAYS = lagged_sequences.WAYS

MEASURED = {**{f"{way}, 32 old": earned(way, 32) for way in WAYS}, "without a lag": earned("none", 0)}


@pytest.mark.parametrize(
    "way, said",
    [
        ("ratio", "0.93"),
        ("truncated ratio", "0.90"),
        ("none", "0.90"),
        ("truncated ratio of the text", "0.76"),
        ("ratio and clip", "0.25"),
    ],
)
def test_short_texts_that_are_32_updates_old(way, said):
    LESSON.says(said, LESSON.kept(f"{way}, 32 old").mean())


def test_how_far_the_draws_of_short_texts_lie_apart():
    *others, last = (LESSON.kept(f"{way}, 32 old").std(ddof=1) for way in sorted(WAYS, key="ratio and clip".__eq__))
    LESSON.says("0.009", last)
    assert max(others) < 0.003 and "at most 0.003 elsewhere" in LESSON.text


def test_under_the_clip_every_33rd_update_moves_it_at_first():
    for seed in range(8):
        gains = np.diff(lagged_sequences.rewards("ratio and clip", 32, seed, updates=50))
        assert np.argmax(gains[1:]) + 1 == 33 and gains[33] > 2 * np.sort(gains[1:])[-2]


def test_short_texts_without_a_lag():
    LESSON.says("0.96", LESSON.kept("without a lag").mean())
