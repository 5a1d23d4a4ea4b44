"""Against closed forms, and against a plain loop over iterations that shares no code with the model."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sim.cluster import straggler, topology
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
    weights, layers = 7_070_619_136.0, 28  # float64: whole numbers of numpy have 32 bits in the browser
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
    floor = topology.floor_seconds(JOB, DRAWN[:1])
    assert DRAWN[0].max() == 8192 and floor == pytest.approx(59.26, abs=0.01)
    assert topology.rollout_seconds(JOB, DRAWN[0], 128) > floor


def test_a_step_is_never_shorter_than_its_own_longest_completion():
    """Few completions, where one draw's longest lies far from the expected one; one engine to one for each prompt."""
    rng = np.random.default_rng(0)
    for seed in range(60):
        prompts, sigma = int(rng.choice([1, 2, 5, 16])), float(rng.uniform(0.2, 1.2))
        model, chip = rng.choice(["qwen2.5-7b", "qwen2.5-32b"]), rng.choice(["h200", "mi355x"])
        law = lognormal(1200, sigma, int(rng.choice([4096, 131_072])))
        few = replace(JOB, model=MODELS[model], accelerator=ACCELERATORS[chip], prompts=prompts, samples=4, law=law)
        lengths = topology.drawn_lengths(few, 6, seed)
        finish = topology.finish_seconds(few, lengths, int(rng.choice([1, prompts])))
        for batch, found in zip(lengths, finish):
            assert topology.floor_seconds(few, batch[np.newaxis]) <= found[-1] * (1 + 1e-12)
        assert topology.floor_seconds(few, lengths) <= finish[:, -1].mean() * (1 + 1e-12)


def test_the_five_ways_add_up():
    """Roles of 100 s rollout, 5 s checks, 50 s log-probs and training, 3 s sync, by hand."""

    def step(way, rollout):
        return topology.BOTH[way]([rollout], [50.0], 3.0)[1]

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
    def mean(gpus):
        return np.mean([topology.rollout_seconds(JOB, lengths, gpus) for lengths in DRAWN])

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


# The five ways by hand
PARAMS, KV_BYTES = 7_615_616_512, 57_344


def read_prompts(prompts):
    passes = math.ceil(prompts * 512 / 8192)
    return passes * seven_billion(0, 0, prompts * 512 / passes, 256)


def emptied(lengths):
    """Seconds of one engine, completion after completion."""
    clock, done = 0.0, 0
    for i, length in enumerate(sorted(lengths)):
        n = len(lengths) - i
        clock += (length - done) * seven_billion(n, n * (512 + (length + done) / 2))
        done = length
    return clock


def moments(sigma):
    """E[l] and E[l²] by a sum over a million deviates."""
    z = np.linspace(-6, 6, 1_000_001)
    weight = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    length = np.minimum(1200 * np.exp(sigma * z), 8192)
    return (length * weight).sum(), (length**2 * weight).sum()


def by_hand(sigma, generating):
    """{way: tokens a second} over six steps on 32 GPUs."""
    rng = np.random.default_rng(0)
    batches = [np.minimum(np.ceil(1200 * np.exp(sigma * rng.standard_normal(2048))), 8192) for _ in range(6)]
    mean, second = moments(sigma)
    context = 512 + second / mean / 2

    def written(batch, engines):
        own = [batch.reshape(128, 16)[e::engines] for e in range(engines)]
        return max(emptied(of.ravel()) + read_prompts(len(of)) for of in own)

    def streamed(batch, engines):
        live = min(2048 / engines, (72e9 - 2 * PARAMS) / KV_BYTES / context)
        return read_prompts(128 / engines) + batch.sum() / (engines * live) * seven_billion(live, live * context)

    def trained(batch, gpus):
        return 10 * PARAMS * (batch.sum() + 2048 * 512) / (gpus * 989.4e12 * 0.4)

    sync, switch = 2 * PARAMS / 25e9, 2 * 12 * PARAMS / 32 / 50e9 + 2 * PARAMS / 450e9
    all_train, train = ([trained(b, n) for b in batches] for n in (32, 32 - generating))
    own = [written(b, generating) for b in batches]
    seconds = {
        COLOCATED: [written(b, 32) + t + switch for b, t in zip(batches, all_train)],
        CARRY: [streamed(b, 32) + t + switch for b, t in zip(batches, all_train)],
        SPLIT: [o + t + sync for o, t in zip(own, train)],
        ONE_OFF: [max(own[i], train[i - 1]) + sync for i in range(6)],
        ASYNC: [max(streamed(b, generating) + sync, t) for b, t in zip(batches, train)],
    }
    tokens = sum(b.sum() + 2048 * 512 for b in batches)
    return {way: tokens / sum(each) for way, each in seconds.items()}


@pytest.mark.parametrize("sigma, generating", [(0.8, 7), (0.8, 19), (0.0, 4), (0.4, 12)])
def test_five_ways_are_what_a_computation_by_hand_says(sigma, generating):
    job = replace(JOB, law=lognormal(1200, sigma, 8192))
    lengths = topology.drawn_lengths(job, 6, 0)
    for way, expected in by_hand(sigma, generating).items():
        found = topology.simulate(job, way, generating, lengths).tokens_per_second
        assert found == pytest.approx(expected, rel=1e-5), way


def test_where_both_sides_of_a_split_are_equally_long():
    split = topology.best_split(JOB)
    mean, second = moments(0.8)
    live, context = 2048 / split, 512 + second / mean / 2
    write = read_prompts(128 / split) + 2048 * mean / (split * live) * seven_billion(live, live * context)
    train = 10 * PARAMS * 2048 * (mean + 512) / ((32 - split) * 989.4e12 * 0.4)
    assert write + 2 * PARAMS / 25e9 == pytest.approx(train, rel=1e-5) and round(split) == 7


def test_many_engines_at_once_are_each_one_drained_alone():
    job = replace(JOB, prompts=10, samples=4)
    lengths = topology.drawn_lengths(job, 2, 0)
    for engines in (1, 3, 7, 20):
        for batch, found in zip(lengths, topology.finish_seconds(job, lengths, engines)):
            alone = [
                straggler.drain(batch[e::engines].ravel(), 512, job.seconds)[0]
                + topology.prefill_seconds(job, len(batch[e::engines]))
                for e in range(min(engines, 10))
            ]
            assert found == pytest.approx(np.sort(np.concatenate(alone)), rel=1e-12)


@pytest.mark.parametrize("engines", [1, 2, 3])
def test_where_the_cache_is_full_the_rest_waits_for_a_slot(engines):
    # 72 GB less 65.5 GB of weights hold some five sequences of 4,700 tokens
    full = replace(JOB, model=MODELS["qwen2.5-32b"], law=lognormal(8000, 0.2, 16384), prompts=4, samples=4)
    lengths = topology.drawn_lengths(full, 2, 0)
    assert 5 < full.slots < 6

    def alone(own, slots):
        return straggler.drain(own.ravel(), 512, full.seconds, slots)[0] + topology.prefill_seconds(full, len(own))

    for batch, found in zip(lengths, topology.finish_seconds(full, lengths, engines)):
        each = np.concatenate([alone(batch[e::engines], full.slots) for e in range(engines)])
        assert found == pytest.approx(np.sort(each), rel=1e-12)
        assert engines > 1 or found[-1] > alone(batch, math.inf)[-1]


def test_without_spread_the_floor_is_that_of_the_median():
    flat = replace(JOB, law=lognormal(1200, 1e-9, 8192))
    lengths = topology.drawn_lengths(flat, 1, 0)
    floor = topology.floor_seconds(flat, lengths)
    assert floor == pytest.approx(1200 * seven_billion(1, 512 + 600), rel=1e-3)  # lengths are rounded up to tokens
    assert floor < topology.rollout_seconds(flat, lengths[0], 32)


def test_a_sweep_is_the_simulation_at_each_split():
    lengths = topology.drawn_lengths(JOB, 2, 0)
    for way, rates in topology.sweep(JOB, (SPLIT, ONE_OFF, ASYNC), (3, 8, 20), lengths).items():
        assert rates == [topology.simulate(JOB, way, n, lengths).tokens_per_second for n in (3, 8, 20)]


@pytest.mark.parametrize("train", [0.2, 0.5, 0.7])
def test_the_lag_of_a_stream_is_that_of_its_completions_one_by_one(train):
    """Every slot is filled again at once; a full batch is trained on for the share `train` of a step."""
    rng, slots, batch = np.random.default_rng(1), 64, 64
    starts, ends, free = [], [], rng.exponential(1, slots)
    for _ in range(20_000):
        slot = int(np.argmin(free))
        starts.append(free[slot])
        free[slot] += rng.exponential(1)
        ends.append(free[slot])
    order = np.argsort(ends)
    starts, ends = np.array(starts)[order], np.array(ends)[order]
    full = ends[batch - 1 :: batch]
    step = np.diff(full).mean()
    taken = np.repeat(full, batch)
    updates = full + train * step
    lag = np.searchsorted(updates, taken) - np.searchsorted(updates, starts[: len(taken)])
    small = replace(JOB, prompts=8, samples=8)
    assert lag[4000:-4000].mean() == pytest.approx(topology.lag(small, ASYNC, 1, train), abs=0.05)
