"""Generation beside training: seconds of a step, and the age of what is trained on."""

from collections import deque

import numpy as np
import pytest

from sim.cluster import pipeline, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS

B, UPDATES, SLOTS, PROMPT, SYNC = 128, 40, 256, 512, 2.0


def decode(n, kv_tokens):
    return throughput.iteration_seconds(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], n, kv_tokens)


def lengths(n, seed=0):
    """Lognormal, median 1,500, σ 0.8, cut at 8,192."""
    return np.minimum(np.ceil(1500 * np.exp(0.8 * np.random.default_rng(seed).standard_normal(n))), 8192)


def stream(train, head, sync=SYNC, updates=UPDATES, **more):
    return pipeline.stream(lengths(20_000).tolist(), updates, B, PROMPT, decode, train, sync, head, SLOTS, **more)


def whole(how, train, sync=SYNC):
    return how(lengths(B * UPDATES).reshape(UPDATES, B), PROMPT, decode, train, sync, SLOTS)


def counted(train, head, updates, hard_cap=np.inf):
    """The same pipeline by another program, one engine iteration at a time: mean seconds of a step and lags.

    Qwen2.5-7B on an H100 reads 2 bytes for 7,070,619,136 weights and 57,344 for a cached token, at 75 % of
    3.35 TB/s, and launching takes 1.5 ms; 256 sequences do not keep its arithmetic busy.
    """
    drawn, ready = lengths(20_000), deque()
    end, age, version = (np.zeros(SLOTS) for _ in range(3))  # of each slot; an empty one has end 0
    now, trained, training, submitted, taken, lags, dropped = 0.0, 0, np.inf, 0, 0, [], 0
    while True:
        for slot in np.flatnonzero(end == 0):
            if submitted // B > trained + head:
                break
            end[slot], age[slot], version[slot] = drawn[taken], 0, trained
            submitted, taken = submitted + 1, taken + 1
        n = np.count_nonzero(end)
        if n:
            bytes_read = 2 * 7_070_619_136 + 57_344 * (n * PROMPT + age[end > 0].sum())
            now += bytes_read / (0.75 * 3.35e12) + 0.0015
            age[end > 0] += 1
            done = np.flatnonzero((end > 0) & (age >= end))
            ready.extend(version[done])
            end[done] = 0
        elif training < np.inf:
            now = training
        updated = now >= training
        if updated:  # the trainer goes on at once, and the engine waits for the weights
            trained, ended, training, now = trained + 1, training, np.inf, now + SYNC
        if hard_cap < np.inf:
            old = sum(trained - v > hard_cap for v in ready)
            ready = deque(v for v in ready if trained - v <= hard_cap)
            submitted, dropped = submitted - old, dropped + old
        if trained == updates:
            return ended / updates, np.array(lags), dropped
        if training == np.inf and len(ready) >= B:
            lags.append([trained - ready.popleft() for _ in range(B)])
            training = (ended if updated else now) + train


@pytest.mark.when_changed()
@pytest.mark.parametrize("train, head", [(30, 1), (30, 4), (20, 2)])
def test_another_program_finds_the_same_seconds_and_lags(train, head):
    run, (seconds, lags, _) = stream(train, head, updates=16), counted(train, head, 16)
    assert run.step_seconds == pytest.approx(seconds, rel=0.01)
    assert run.lag.mean() == pytest.approx(lags.mean(), abs=0.05)


@pytest.mark.when_changed()
def test_so_it_does_where_old_ones_are_dropped():
    run, (seconds, lags, dropped) = stream(30, 4, updates=16, hard_cap=4), counted(30, 4, 16, hard_cap=4)
    assert run.step_seconds == pytest.approx(seconds, rel=0.01)
    assert len(run.dropped) == pytest.approx(dropped, rel=0.02)
    assert run.lag.max() == lags.max() == 4


def test_without_a_head_start_the_stream_is_one_after_the_other():
    run, sync = stream(30, 0), whole(pipeline.one_after_the_other, 30)
    assert not run.lag.any()
    assert run.wall + SYNC == pytest.approx(sync.wall, abs=1e-9)  # only the last weights are not sent


def test_the_three_arrangements_of_one_job():
    # what each takes a step, from an independent script: 102.9, 73.7 and 30.4 s
    assert whole(pipeline.one_after_the_other, 30).step_seconds == pytest.approx(102.9, rel=0.01)
    assert whole(pipeline.one_batch_ahead, 30).step_seconds == pytest.approx(73.7, rel=0.01)
    assert stream(30, 2).step_seconds == pytest.approx(30.4, rel=0.01)


def test_one_batch_ahead_is_a_maximum_of_two_lanes():
    constant = np.full((3, 2), 100.0)  # two sequences, 100 iterations of 1 s each
    run = pipeline.one_batch_ahead(constant, 0, lambda n, kv: 1.0 + 0 * n, 130.0, 5.0)
    # 100, then twice the longer of 100 and 130, each with 5 for the weights, then the last training
    assert run.wall == pytest.approx(105 + 135 + 135 + 135)
    assert run.lag.tolist() == [[0, 0], [1, 1], [1, 1]]
    assert run.train[:, 0].tolist() == [105.0, 240.0, 375.0]


@pytest.mark.when_changed()
def test_a_head_start_beyond_two_buys_age_and_no_speed():
    runs = {head: stream(30, head) for head in (1, 2, 4, 8)}
    assert runs[1].step_seconds > 1.2 * runs[2].step_seconds
    assert runs[8].step_seconds == pytest.approx(runs[2].step_seconds)
    settled = [run.lag[run.settled].mean() for run in runs.values()]
    assert settled == pytest.approx([1, 2, 4, 8], abs=0.1)


def test_the_head_start_bounds_the_mean_and_not_the_oldest():
    run = stream(30, 2)
    assert run.lag[run.settled].mean() <= 2.01 and run.lag.max() == 5


def test_the_lag_is_what_waits_over_what_is_taken():
    # Little (1961): begun and not taken, over the rate at which they are taken
    for train, head in ((30, 4), (30, 8), (20, 4)):
        run = stream(train, head)
        rate = B / (run.train[-1, 0] / (UPDATES - 1))
        age = (run.train[:, :1] - run.start).mean()
        assert run.waiting / rate == pytest.approx(age, rel=0.15)  # the last ones are begun and never taken


def test_where_generation_is_the_slower_the_lag_stops_growing():
    assert stream(20, 32).lag.mean() == pytest.approx(stream(20, 4).lag.mean(), abs=0.01)
    assert stream(20, 4).lag[20:].mean() < 3


def test_a_hard_cap_throws_the_long_ones_away():
    run, free = stream(30, 4, hard_cap=4), stream(30, 4)
    assert run.dropped.mean() > 2.5 * free.length.mean()
    assert run.length.mean() < 0.8 * free.length.mean()


def test_weights_in_place_stop_the_engine_and_a_second_buffer_hides_them():
    assert stream(20, 4, sync=30.0).step_seconds == pytest.approx(49.7, rel=0.01)
    hidden = stream(20, 8, sync=30.0, in_place=False)
    assert hidden.step_seconds == pytest.approx(20.5, rel=0.01)
    assert hidden.lag.mean() > stream(20, 8).lag.mean()  # and count from when they have arrived


def test_a_completion_spans_the_versions_that_came_while_it_was_written():
    run = stream(30, 4)
    written = run.finish - run.start
    assert run.spanned.min() == 1
    assert np.corrcoef(run.spanned.ravel(), written.ravel())[0, 1] > 0.9
    assert (run.spanned - 1 <= run.lag).all()  # what came while it waited is lag too
    assert (stream(30, 0).spanned == 1).all()


def test_every_completion_is_begun_then_finished_then_taken():
    run = stream(20, 2)
    assert (run.start < run.finish).all() and (run.finish <= run.train[:, :1] + 1e-9).all()
    assert np.diff(run.train, axis=1).ravel() == pytest.approx(np.full(UPDATES, 20.0))


def test_the_board_shows_who_works_on_what():
    constant = np.full((4, 2), 100.0)
    run = pipeline.one_batch_ahead(constant, 0, lambda n, kv: 1.0 + 0 * n, 100.0, 0.0)
    # generating for 100 s each from 0, 100, 200 and 300 s on, training for 100 s each from 100 s on; a step is 125 s
    assert run.wall == 500 and run.settled.start == 2
    slots, training = pipeline.board(run, 3, 10, 2)  # the middles of 25 s from 300 s on
    at = 300 + 12.5 + 25 * np.arange(10)
    assert np.nan_to_num(training, nan=-9).tolist() == [0 if t < 400 else 1 if t < 500 else -9 for t in at]
    # what is trained on from 400 s on was begun at 300 s with the weights before: version 2, the first that is shown
    assert np.nan_to_num(slots, nan=-9).tolist() == [[0 if t < 400 else -9 for t in at]] * 2 + [[-9] * 10]


def test_bubbles_of_a_pipeline():
    # (p − 1)/(m + p − 1), and a quarter of the idle stages with four chunks each
    assert pipeline.bubble(4, 8) == pytest.approx(3 / 11)
    assert pipeline.bubble(8, 32) == pytest.approx(7 / 39)
    assert pipeline.bubble(8, 32, 4) == pytest.approx(1.75 / 33.75)
    assert pipeline.bubble(8, 8) == pytest.approx(7 / 15)


def test_a_trainer_whose_completions_are_all_too_old_is_said_to_starve():
    """Weights that take longer than everything else, and no completion that may be one update old."""
    with pytest.raises(pipeline.Starved, match="have begun, and"):
        pipeline.stream([10.0] * 500, 40, 16, PROMPT, decode, 1.0, 1e6, 5, 32, hard_cap=0, in_place=False)
