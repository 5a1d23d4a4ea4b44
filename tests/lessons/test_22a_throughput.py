"""The lesson on throughput: what its numbers are computed by, and what it says without a number."""

import json
import re
from dataclasses import replace
from math import inf
from urllib.parse import parse_qsl

import pytest

from rlpt.planning import measured
from sim.cluster import collectives, step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.step import Roles
from tools.pages import bound
from widgets.frame.contract import machine_knobs
from widgets.frame.contract.values import knobs_from
from widgets.frame.reader import host
from widgets.throughput import figures, widget
from widgets.throughput.widget import Knobs

LLAMA = MODELS["llama3.1-8b"]
H100, H20 = ACCELERATORS["h100"], ACCELERATORS["h20"]
WEIGHTS = 2 * 7_504_924_672  # bytes: all weights of Llama-3.1-8B but the lookup, by transformers' count
STREAM = Knobs(overlap="asynchronous")
REUSED = replace(STREAM, reuse=True, k=1.0)
ONE_WORKER = replace(REUSED, workers=1)
verl32, verl64, verl128, verl30b = measured.VERL.values()
halved, exchanged = Roles(35, 0, 0, 30, 0), Roles(40, 0, 0, 60, 0)
trainers_lane = measured.ONE_OFF["old_log_prob"] + measured.ONE_OFF["update"]
QUERIES = re.findall(r'\(#throughput\)\{ data-knobs="([^"]+)" \}', bound.page("22a-throughput"))
BREAKS = {
    "workers=8&": "all GPUs wait for tests",
    "sync=250": "all GPUs wait for weights",
    "p50=4600": "the inputs contradict",
}


def result(knobs):
    return next(widget.run(knobs))


def roles(knobs):
    """With the faster role."""
    return result(knobs).roles


def seconds(knobs):
    """Of a step."""
    return step.step_time(roles(knobs), widget.WAYS[knobs.overlap])


def gain(knobs):
    """What an engine twice as fast is worth."""
    return step.speedup(result(knobs).before, widget.WAYS[knobs.overlap], "rollout", 2)


def shapes(chip, overlap, share=0.5):
    """Seconds that follow from the shapes of model and chip."""
    return replace(REUSED, source="from shapes", accelerator=chip, overlap=overlap, share=share)


def undivided():
    """The five roles of the figure, each on all 64 GPUs."""
    five, args = figures.five(), (1, 8192, figures.LAW, figures.five().verify, True, True)
    return replace(step.roles_from_config(MODELS["qwen2.5-7b"], H100, 64, 64, *args), sync=five.sync)


def iteration(gpus):
    """Seconds, for one sequence on one replica."""
    return throughput.iteration_seconds(LLAMA, H100, 1, 0, tensor_parallel=gpus)


def predicted(row):
    """Gain of a stream that trains on the engine's log-probs."""
    return row.step / step.step_time(Roles(row.generate, 0, row.reference, row.update, 0), "async")


errors = [predicted(row) / (row.step / row.async_step) - 1 for row in measured.VERL.values()]


def shares(role):
    """Least and most of the synchronous step in the 7B runs, %."""
    of = [100 * getattr(row, role) / row.step for row in (verl32, verl64, verl128)]
    return min(of), max(of)


def test_in_the_opening_both_pools_stand_still_for_100_of_160_seconds():
    opening = roles(widget.OPENING.other)
    assert step.step_time(opening, "async") == pytest.approx(160, abs=0.5)
    assert 160 - max(opening.rollout, opening.log_probs + opening.train) == pytest.approx(100, abs=0.5)


def test_what_a_reader_may_believe_is_amdahl():
    assert step.amdahl(0.8, 2) == pytest.approx(1.7, abs=0.05)


def test_a_faster_engine_is_worth_nothing_in_a_stream_whose_longest_lane_is_another():
    assert step.speedup(exchanged, "async", "rollout", 2) == 1 == gain(STREAM)
    assert step.step_time(step.whatif(figures.SMALL, "rollout", 4), "async") == figures.SMALL.train
    assert figures.five_step("asynchronous", 2) == figures.five_step("asynchronous", 1)
    assert step.gain_ends_at(roles(replace(REUSED, reuse=False)), "async", "rollout") == 1


def test_more_than_half_of_the_rollout_is_its_tail():
    assert figures.five().tail > figures.five().rollout / 2


def test_a_replica_can_be_split_over_two_four_and_eight_gpus():
    assert {2, 4, 8} <= {*LLAMA.tp_sizes()}


@pytest.mark.parametrize("one_shot", [6e-6, 15e-6])
def test_eight_gpus_beat_four_whatever_an_exchange_costs(monkeypatch, one_shot):
    # reported latencies of an all-reduce in one shot lie between 6 and 15 µs
    monkeypatch.setattr(collectives, "ALPHA_ONE_SHOT", one_shot)
    assert iteration(8) < iteration(4)


@pytest.mark.parametrize("query", QUERIES)
def test_the_links_that_break_are_the_three_that_are_said_to(query):
    assert list(host.stream("throughput", json.dumps(dict(parse_qsl(query)))))
    knobs = knobs_from(Knobs, dict(parse_qsl(query)))
    broken = widget.broken(knobs, result(knobs))
    assert (broken and broken.cause) == next((cause for part, cause in BREAKS.items() if part in query), None)


def test_one_checker_is_the_step_and_two_hide():
    assert widget.worse(ONE_WORKER, result(ONE_WORKER))
    assert seconds(replace(ONE_WORKER, workers=2)) == seconds(replace(ONE_WORKER, workers=64))


def test_the_mean_at_which_the_published_update_would_be_faster_than_the_chip():
    mean = machine_knobs.law(widget.PRESETS["Longer completions"]).mean
    assert round(mean, -2) == 5200
    # 6 FLOP for each weight and token, 64 H20 of 148 TFLOP/s
    assert 6 * 7_615_616_512 * 8192 * (512 + mean) / (64 * 148e12 * verl64.update) > 1


def test_the_ridge_decides_what_the_same_batch_waits_for():
    ridges = throughput.effective_ridge(H20), throughput.effective_ridge(H100)
    assert ridges[0] < figures.decode(64).flop_per_byte < ridges[1]
    assert H20.hbm_tb_per_second > H100.hbm_tb_per_second


def test_an_overlap_can_gain_time_and_lose_samples():
    assert step.useful_rate(100, 10 / 1.3, 1, 0.75) < step.useful_rate(100, 10, 1, 1)  # 1.3 · 0.75 = 0.975
