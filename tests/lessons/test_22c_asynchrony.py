"""The lesson on asynchrony: what its numbers are computed by, and what it says without a number."""

from functools import cache

import numpy as np
import pytest

from sim.cluster import fabric, pipeline
from sim.cluster.models import MODELS
from sim.estimators import weight_delta
from sim.experiments import delayed_gradient, lagged_sequences
from tests.lessons import spreads
from widgets.asynchrony import figures, widget
from widgets.asynchrony.widget import Knobs

EXPENSIVE = "seconds", "lag", "capped", "writing", "turns_beyond"
MENDED = dict(delay="16", correction="KL as a loss, and ratio")
WAYS = lagged_sequences.WAYS
UNCLIPPED = [way for way in WAYS if way != "ratio and clip"]


def broadcast(key):
    return fabric.transfer_seconds(MODELS[key], fabric.BROADCAST)


@cache
def result(**knobs):
    return next(widget.run(Knobs(**knobs)))


def seconds(**knobs):
    """Of a step."""
    return result(**knobs).run.step_seconds


def lag(**knobs):
    return mean_lag(result(**knobs).run)


def mean_lag(run):
    return run.lag[run.settled].mean()


def writing():
    """Seconds from the first start to the last end of a batch, in turn."""
    run = result(overlap="sync").run
    return np.mean(run.finish[:, -1] - run.start[:, 0])


def slow_link(in_place):
    return seconds(train=20.0, head=8, sync=30.0, in_place=in_place)


def capped():
    """Nothing older than 4 is trained on."""
    return result(head=4, hard_cap="4")


def ringed():
    """(weights it was begun with, update that trains on it) of the completion with a ring."""
    oldest, _ = figures.oldest_of("asynchronous, 4 ahead")
    return int(figures.number(oldest.began)), int(figures.number(oldest.update))


def late():
    """Probability of the best answer after each update, at a lag of 16."""
    return delayed_gradient.course(16, 3.0).best


def score(**knobs):
    return widget.final(result(**knobs))


def step(rate):
    """Part of the distance that an update takes away."""
    return rate * 0.2 * delayed_gradient.curvature()


def wall(rate):
    """The largest lag at which the policy comes to rest."""
    return delayed_gradient.freshness_wall(rate, 0.2, delayed_gradient.curvature())


def turns_beyond(rate):
    """The same of the simulated policy."""

    def swings(delay):
        return np.ptp(delayed_gradient.course(delay, rate, updates=3000).best[-200:]) > 1e-3

    return next(delay for delay in range(40) if swings(delay + 1))


def widest(ways):
    """The largest standard deviation over the draws of short texts."""
    return max(spreads.values("22c_asynchrony", f"{way}, 32 old").std(ddof=1) for way in ways)


def earned(way, lag):
    return lambda seed: lagged_sequences.rewards(way, lag, seed).mean()


MEASURED = {**{f"{way}, 32 old": earned(way, 32) for way in WAYS}, "without a lag": earned("none", 0)}


def test_the_slots_of_the_small_job_hold_its_lag_below_its_head_start():
    """Little's law with what is under way: with twice the slots, and all else the same, the lag is the head start."""
    ran, roomy = figures.small("asynchronous, 4 ahead"), figures.small("asynchronous, 4 ahead", 2 * figures.B)
    assert mean_lag(roomy) == pytest.approx(4.0, abs=0.05)
    at = np.linspace(*ran.train[[ran.settled.start, -6], 0], 50)[:, np.newaxis, np.newaxis]
    assert (((ran.start <= at) & (ran.finish > at)).sum(axis=(1, 2)) == figures.B).all()  # no slot is ever free


@pytest.mark.when_changed()
def test_beyond_a_head_start_of_two_no_step_is_faster():
    assert seconds(head=2) == pytest.approx(seconds(head=4), rel=0.002) == pytest.approx(seconds(head=16), rel=0.002)
    assert seconds(train=20.0, head=3) == pytest.approx(seconds(train=20.0, head=8), rel=0.001)
    assert seconds(train=20.0, head=2) > 1.05 * seconds(train=20.0, head=3)


def test_the_product_of_lag_and_step_is_bounded_and_nearly_exactly():
    for delay in range(40):  # and never below the exact limit
        assert 0.63 < delayed_gradient.step_limit(delay) * (2 * delay + 1) / np.pi < 1
    assert delayed_gradient.step_limit(6) * 13 / np.pi > 0.99


def test_the_limit_solves_the_equation_of_the_derivation():
    for delay in (2, 4, 8, 16):
        turn = np.pi / (2 * delay + 1)
        assert 2 * np.sin(turn / 2) == pytest.approx(delayed_gradient.step_limit(delay))
        z = np.exp(1j * turn)
        assert abs(z ** (delay + 1) - z**delay + delayed_gradient.step_limit(delay)) < 1e-12


def test_at_a_lag_of_16_the_policy_swings_and_both_repairs_bring_it_to_rest():
    assert late()[51] < late()[50]  # pushed down further
    swings = result(delay="16").course.best[-200:]
    assert swings.min() < 0.2 and swings.max() > 0.9
    assert np.ptp(result(**MENDED).course.best[-200:]) < 1e-3


def test_a_kl_in_the_reward_is_late_only_by_the_log_probs_it_is_computed_from(monkeypatch):
    """Recomputed for the present policy it mends what the same reward with the sampler's log-probs does not."""

    def recomputed(pi, mu, drawn, reward, beta):
        value = reward - beta * np.log(pi * len(pi))
        return drawn * (value - drawn @ value)

    monkeypatch.setitem(delayed_gradient.CORRECTIONS, "recomputed", recomputed)
    mended = delayed_gradient.course(16, 3.0, correction="recomputed").best[-200:]
    assert np.ptp(late()[-200:]) > 0.5 and np.ptp(mended) < 1e-3


def test_half_of_the_samples_count_where_half_of_the_batch_is_left():
    assert delayed_gradient.effective_share(np.log(2) ** 0.5) == pytest.approx(0.5)  # e^(−2 KL) = 1/2


def test_under_the_clip_every_33rd_update_moves_it_at_first():
    for seed in range(8):
        gains = np.diff(lagged_sequences.rewards("ratio and clip", 32, seed, updates=50))
        assert np.argmax(gains[1:]) + 1 == 33 and gains[33] > 2 * np.sort(gains[1:])[-2]
