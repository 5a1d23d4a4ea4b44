"""Against closed forms, and against a plain loop over iterations that shares no code with the model."""

from dataclasses import replace

import numpy as np
import pytest

from sim.cluster import topology
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import lognormal
from sim.cluster.models import MODELS
from sim.cluster.topology import ASYNC, CARRY, COLOCATED, ONE_OFF, SPLIT

JOB = topology.Job(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], 32, 128, 16, 512, lognormal(1200, 0.8, 8192))
DRAWN = topology.drawn_lengths(JOB, 6, 0)


def seven_billion(n, kv, prefill=0, context=0.0):
    """Seconds of one iteration of Qwen2.5-7B on an H100, from its config by hand: weights without the look-up, 4 KV
    heads of 128 in 28 layers, 28 query heads, three quarters of 3.35 TB/s, three fifths of 989.4 TFLOP/s, 1.5 ms.
    """
    weights, layers = 7_070_619_136, 28
    read = (2 * weights + kv * layers * 4 * 128 * 2 * 2) / (0.75 * 3.35e12)
    work = 2 * weights * (n + prefill) + 4 * layers * 28 * 128 * (kv + prefill * context)
    return max(read, work / (0.6 * 989.4e12)) + 1.5e-3


def test_the_iteration_by_hand_is_that_of_the_cost_model():
    for n, kv in ((1, 512), (64, 64 * 2048), (512, 512 * 300)):
        assert float(JOB.seconds(n, kv)) == pytest.approx(seven_billion(n, kv), rel=1e-6)
    assert float(JOB.seconds(0, 0, 4096, 256)) == pytest.approx(seven_billion(0, 0, 4096, 256), rel=1e-6)


def by_iterations(lengths, prompt, groups):
    """One engine, one pass at a time."""
    tokens = groups * prompt
    passes = -(-tokens // 8192)
    seconds = passes * seven_billion(0, 0, tokens / passes, prompt / 2)
    for written in range(int(max(lengths))):
        running = sum(length > written for length in lengths)
        seconds += seven_billion(running, running * (prompt + written + 0.5))
    return seconds


def test_a_rollout_is_that_of_its_slowest_engine():
    lengths = DRAWN[0][:4, :3]
    job = replace(JOB, prompts=4, samples=3)
    engines = [by_iterations(np.concatenate(lengths[e::2]), 512, 2) for e in range(2)]
    assert topology.rollout_seconds(job, lengths, 2) == pytest.approx(max(engines), rel=1e-3)


def test_engines_without_a_prompt_change_nothing():
    lengths = DRAWN[0][:4]
    assert topology.rollout_seconds(JOB, lengths, 4) == topology.rollout_seconds(JOB, lengths, 32)


def test_no_number_of_gpus_goes_below_the_longest_alone():
    """8,192 passes of 7.1 ms and their own cache: 59 s; the step's longest was cut there."""
    assert DRAWN[0].max() == 8192 and topology.floor_seconds(JOB) == pytest.approx(59.26, abs=0.01)
    assert topology.rollout_seconds(JOB, DRAWN[0], 128) > topology.floor_seconds(JOB)


def test_the_five_ways_add_up():
    """Roles of 100 s rollout, 5 s checks, 50 s log-probs and training, 3 s sync, by hand."""
    step = lambda way, rollout: topology.BOTH[way]([rollout], [50.0], 3.0)[1]
    assert [step(SPLIT, 105.0), step(ONE_OFF, 105.0), step(ASYNC, 100.0)] == [158.0, 108.0, 103.0]


def rate(way, generating=7, **change):
    job = replace(JOB, **change)
    return topology.simulate(job, way, generating, DRAWN).tokens_per_second


@pytest.mark.parametrize(
    ("way", "generating", "expected"),
    [(COLOCATED, 7, 47.7), (CARRY, 7, 102), (SPLIT, 10, 38.1), (ONE_OFF, 19, 63.6), (ASYNC, 7, 130)],
)
def test_thousand_tokens_a_second_as_an_independent_model_has_them(way, generating, expected):
    """The specification's own numpy script, three digits."""
    assert rate(way, generating) / 1000 == pytest.approx(expected, rel=5e-3)


def test_a_slow_wire_and_wider_engines_as_the_independent_model_has_them():
    assert rate(ONE_OFF, 16) / 1000 == pytest.approx(61.6, rel=1e-3)
    assert rate(ONE_OFF, 16, tensor_parallel=2) / 1000 == pytest.approx(82.2, rel=1e-3)
    assert rate(ASYNC, 7, sync_bytes_per_second=0.25e9) / 1000 == pytest.approx(46.9, rel=5e-3)


def test_generation_on_more_gpus_as_the_independent_model_has_it():
    mean = lambda gpus: np.mean([topology.rollout_seconds(JOB, lengths, gpus) for lengths in DRAWN])
    assert [mean(n) for n in (8, 16, 32, 64, 128)] == pytest.approx([79.8, 70.8, 65.6, 62.7, 61.2], abs=0.06)


def test_a_split_that_waits_is_never_faster():
    assert all(rate(SPLIT, generating) <= rate(COLOCATED) for generating in range(1, 32))


def test_lag_is_littles_law():
    """Sequences in flight over those that an update takes."""
    assert topology.lag(JOB, ASYNC, 7) == 1.0  # 2,048 on 7 engines of some 500 slots
    assert topology.lag(JOB, ASYNC, 2) == pytest.approx(2 * JOB.slots / 2048)
    assert (topology.lag(JOB, COLOCATED, 32), topology.lag(JOB, ONE_OFF, 7)) == (0.0, 1.0)


def test_an_engine_that_is_full_takes_the_next():
    full = replace(JOB, prompts=40, samples=32, law=lognormal(1200, 0.8, 8192))
    lengths = topology.drawn_lengths(full, 1, 3)[0]
    alone = topology.rollout_seconds(full, lengths, 1)
    assert alone > lengths.sum() / (full.slots / float(full.seconds(full.slots, full.slots * full.law.context(512))))
