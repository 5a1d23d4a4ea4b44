"""The numbers of the lesson, recomputed."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sim.cluster import measured, straggler, throughput, topology
from sim.cluster.topology import ASYNC, CARRY, COLOCATED, ONE_OFF, SPLIT, WAYS
from tests.lessons.prose import Lesson
from widgets.topology import figures, widget

LESSON = Lesson("19")
DEFAULT = widget.Knobs()
JOB, DRAWN = widget.job(DEFAULT), widget.lengths(DEFAULT)


def rate(way, generating=7, job=JOB, drawn=DRAWN):
    return topology.simulate(job, way, generating, drawn).tokens_per_second


def best(way, **change):
    job, drawn = JOB, DRAWN
    if change:
        k = replace(DEFAULT, **change)
        job, drawn = widget.job(k), widget.lengths(k)
    return max((rate(way, generating, job, drawn), generating) for generating in range(1, 32))


def test_the_smallest_case():
    LESSON.says("7.6", JOB.model.params() / 1e9)
    assert (DEFAULT.gpus, DEFAULT.prompts, DEFAULT.samples) == (32, 128, 16)
    assert (DEFAULT.p50, DEFAULT.longest) == (1200, 8192)


def test_the_last_completion_takes_a_minute_on_any_number_of_gpus():
    one = throughput.iteration_seconds(JOB.model, JOB.accelerator, 1.0, 512.0)
    assert 0.0065 < one < 0.0075 and "about 7 ms" in LESSON.text
    LESSON.says("59", topology.floor_seconds(JOB, DRAWN))
    assert 3.5 < figures.generation(32) - figures.generation(128) < 4.5 and "buys four seconds" in LESSON.text


def test_half_of_a_rollout_is_spent_on_the_last_tenth():
    shares = [
        straggler.tail_of(*straggler.drain(lengths[e::32].ravel(), JOB.prompt, JOB.seconds, JOB.slots))[0]
        for lengths in DRAWN
        for e in range(32)
    ]
    assert sum(shares) / len(shares) == pytest.approx(0.5, abs=0.03) and "half of those seconds" in LESSON.text


def test_what_the_ways_are_worth():
    first = rate(COLOCATED)
    LESSON.says("47,691", first)
    LESSON.says("2.15", rate(CARRY) / first)
    LESSON.says("2.72", rate(ASYNC) / first)
    share = (rate(CARRY) - first) / (rate(ASYNC) - first)
    assert "two thirds of the gain of async" in LESSON.text and 0.6 < share < 0.7


def test_where_it_breaks():
    run = topology.simulate(JOB, ASYNC, 28, DRAWN)
    assert run.tokens_per_second < rate(COLOCATED) > rate(ASYNC, 2)
    LESSON.says("92", 100 * run.idle("generate"))
    slow = replace(JOB, sync_bytes_per_second=0.1e9)
    assert rate(ASYNC, job=slow) < rate(COLOCATED)


def test_the_answers():
    row = measured.VERL
    LESSON.says("151", row["7B, 64 GPUs"].generate)
    LESSON.says("178", row["7B, 128 GPUs"].generate)
    two = replace(JOB, tensor_parallel=2)
    LESSON.says("61,588", rate(ONE_OFF, 16))
    LESSON.says("82,200", rate(ONE_OFF, 16, two))
    LESSON.says("83,147", rate(ASYNC, 16))
    assert rate(ASYNC, 16, two) == pytest.approx(rate(ASYNC, 16))


def test_a_split_that_waits_never_wins():
    top, at = best(SPLIT)
    LESSON.says("38,132", top)
    assert at == 10
    LESSON.says("0.80", top / rate(COLOCATED))
    LESSON.says("0.15", topology.switch_seconds(JOB))


def drawn_rate(way, cut):
    return lambda seed: rate(way, cut, JOB, topology.drawn_lengths(JOB, 6, seed))


MEASURED = {str(way): drawn_rate(way, cut) for way, cut in zip(WAYS, (7, 7, 10, 19, 7))}


def test_the_spread():
    ratio = lambda sigma, way=ASYNC: best(way, sigma=sigma)[0] / rates(sigma)
    rates = lambda sigma: rate(
        COLOCATED, 7, widget.job(replace(DEFAULT, sigma=sigma)), widget.lengths(replace(DEFAULT, sigma=sigma))
    )
    LESSON.says("1.27", ratio(0.0))
    LESSON.says("2.87", ratio(0.6))
    LESSON.says("2.30", ratio(1.2))
    assert best(ONE_OFF, sigma=0.0)[0] > 0.99 * best(ASYNC, sigma=0.0)[0]


def test_the_order_of_the_ways_holds_in_twenty_draws():
    """And no way differs by more than the text says."""
    seen = {way: LESSON.kept(str(way)) for way in WAYS}
    furthest = max(np.ptp(rates) / (rates.max() + rates.min()) for rates in seen.values())  # to either side
    LESSON.says("1.1", 100 * furthest)
    assert "Over twenty draws of the lengths no way lies more than" in LESSON.text
    for slower, faster in pairwise((SPLIT, COLOCATED, ONE_OFF, CARRY, ASYNC)):
        assert (seen[slower] < seen[faster]).all()


def test_what_was_measured():
    speedup = {name: row.step / row.async_step for name, row in measured.VERL.items()}
    LESSON.says("790", measured.VERL["7B, 32 GPUs"].step)
    LESSON.says("295", measured.VERL["7B, 32 GPUs"].async_step)
    LESSON.says("2.68", speedup["7B, 32 GPUs"])
    LESSON.says("1.93", speedup["7B, 64 GPUs"])
    LESSON.says("2.37", speedup["7B, 128 GPUs"])
    LESSON.says("1.76", speedup["30B-A3B, 128 GPUs"])


def test_carried_over_a_published_run_is_as_fast_as_split():
    """verl, docs/advance/v1_async_trainer.md of August 2026, table "V1 trainer all modes": hours of 150 steps, tokens a
    second, mean length.
    """
    sync, carried, split = (22.79, 12_053, 12_720), (14.72, 18_852, 12_854), (14.10, 18_829, 12_288)
    for said, run in (("1.55", carried), ("1.62", split)):
        LESSON.says(said, sync[0] / run[0])
        assert f"{run[2]:,}" in LESSON.text and f"{run[1]:,}" in LESSON.text
    assert carried[1] >= split[1] > 1.5 * sync[1] and "the carry-over has all of the gain" in LESSON.text


def test_larger_engines_lower_the_floor():
    for gpus, alone, rate in ((1, "59", "47,691"), (2, "39", "61,844"), (4, "28", "72,519")):
        k = replace(widget.Knobs(), tensor_parallel=gpus)
        LESSON.says(alone, topology.floor_seconds(widget.job(k), widget.lengths(k)))
        LESSON.says(rate, topology.simulate(widget.job(k), topology.COLOCATED, 7, widget.lengths(k)).tokens_per_second)
    LESSON.says("28", widget.job(k).model.heads)
    assert 8 not in widget.job(k).model.tp_sizes()


def test_the_best_cut_and_its_lag():
    k = widget.Knobs(way=topology.ASYNC)
    LESSON.says("6.9", topology.best_split(widget.job(k)))
    run = topology.simulate(widget.job(k), topology.ASYNC, 7, widget.lengths(k))
    assert run.lag == pytest.approx(2, abs=0.1) and "with 7 of 32 GPUs generating, has about two" in LESSON.text
