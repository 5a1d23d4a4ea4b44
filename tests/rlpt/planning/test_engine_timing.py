"""A line through passes whose three terms are known, and what an engine reaches by it, by hand."""

import numpy as np
import pytest

from rlpt.planning import engine_timing
from rlpt.planning.engine_timing import Line, Timed
from sim.cluster import throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.throughput import Efficiency

QWEN, H100 = MODELS["qwen2.5-7b"], ACCELERATORS["h100"]
WEIGHTS, TOKEN = 2 * 7_070_619_136, 57_344  # bytes of the weights without the table, and of a cached token
PEAK = 3.35e12  # bytes per second
HOST = Efficiency(0.75, 0.6, 1.5e-3, 60e-6)
SEQUENCES, CONTEXT = (of.ravel() for of in np.meshgrid([1.0, 16.0, 64.0], [64.0, 1024.0, 4096.0]))


def test_the_fit_recovers_the_terms_that_made_the_passes():
    found = engine_timing.fit(SEQUENCES, SEQUENCES * CONTEXT, 7e-3 + 60e-6 * SEQUENCES + 22e-9 * SEQUENCES * CONTEXT)
    assert found.line[:3] == pytest.approx((7e-3, 60e-6, 22e-9), rel=1e-9)
    assert found.points == 9 and found.worst < 1e-9


def test_the_standard_errors_are_those_of_a_linear_model():
    n, tokens = np.array([1.0, 1.0, 3.0, 3.0]), np.array([0.0, 2.0, 0.0, 2.0])
    seconds = 1 + n + tokens + np.array([0.1, -0.1, -0.1, 0.1])  # orthogonal to all three columns
    found = engine_timing.fit(n, tokens, seconds)
    assert found.line[:3] == pytest.approx((1, 1, 1))
    # s² = 4 · 0.01 / 1; centered, n and tokens are ±1, so 0.04 / 4 each, and 0.04 (1/4 + 2²/4 + 1²/4) for the first
    assert found.errors == pytest.approx((np.sqrt(0.06), 0.1, 0.1))


def test_noise_never_makes_a_term_negative():
    seconds = 7e-3 + 60e-6 * SEQUENCES - 1e-9 * SEQUENCES * CONTEXT
    found = engine_timing.fit(SEQUENCES, SEQUENCES * CONTEXT, seconds)
    assert found.line.token == 0 and np.isnan(found.errors[2]) and found.line.sequence > 0


@pytest.mark.parametrize(
    "sequences, context, because",
    [
        ([1, 64], [64, 4096], "at least three different ones"),
        ([1, 1, 1], [64, 64, 64], "at least three different ones"),
        ([64, 64, 64, 70], [64, 1024, 4096, 64], "so vary that number"),
        ([1, 8, 16, 64], [1000, 1000, 1000, 1100], "so vary the length of the prompts"),
    ],
)
def test_passes_that_cannot_separate_the_three_terms_are_refused(sequences, context, because):
    sequences, context = np.array(sequences, float), np.array(context, float)
    with pytest.raises(ValueError, match=because):
        engine_timing.fit(sequences, sequences * context, 7e-3 + 60e-6 * sequences)
    with pytest.raises(ValueError, match="more than 0 seconds"):
        engine_timing.fit(SEQUENCES, SEQUENCES * CONTEXT, 0 * SEQUENCES)


@pytest.mark.parametrize("share", [0.31, 0.75, 0.9])
def test_a_line_gives_the_share_of_bandwidth_the_launch_and_the_host(share):
    line = Line(WEIGHTS / (share * PEAK) + 2e-3, 45e-6, TOKEN / (share * PEAK))
    reached = engine_timing.efficiency(line, QWEN, H100, HOST)
    assert reached == pytest.approx((share, 0.6, 2e-3, 45e-6), rel=1e-6)


@pytest.mark.parametrize("key", ["qwen3-30b-a3b", "gpt-oss-120b", "deepseek-v3"])
def test_experts_windows_and_latents_bend_the_line_and_are_read_back(key):
    # what a plan predicts for passes of an engine is the engine, if a line is all that is known of them
    shape, split = (MODELS[key], ACCELERATORS["h200"]), dict(tensor_parallel=8, weight_bytes=None)
    engine = Efficiency(0.7, 0.6, 2e-3, 50e-6)
    seconds = throughput.iteration_seconds(*shape, SEQUENCES, SEQUENCES * CONTEXT, efficiency=engine, **split)
    line = engine_timing.fit(SEQUENCES, SEQUENCES * CONTEXT, seconds).line
    assert engine_timing.efficiency(line, *shape, HOST, **split) == pytest.approx(engine, rel=1e-3)


def test_a_line_without_tokens_leaves_the_assumed_bandwidth_unless_it_is_faster():
    line = Line(WEIGHTS / (0.75 * PEAK) + 2e-3, 45e-6, 0.0)
    assert engine_timing.efficiency(line, QWEN, H100, HOST) == pytest.approx((0.75, 0.6, 2e-3, 45e-6), rel=1e-6)
    faster = Line(WEIGHTS / (0.9 * PEAK), 45e-6, 0.0)
    assert engine_timing.efficiency(faster, QWEN, H100, HOST).bandwidth > 0.85
    wrong = Line(WEIGHTS / (2 * PEAK), 45e-6, 0.0)
    assert engine_timing.efficiency(wrong, QWEN, H100, HOST).bandwidth > 1
    assert "faster than its chip" in engine_timing.understood(wrong, QWEN, H100, HOST)


def test_of_a_single_pass_the_host_takes_its_assumed_part_and_memory_the_rest():
    # 256 · 60 µs and 1.5 ms of 40 ms; 28.8 GB in the other 23.14 ms are 1.2455 TB/s
    one = Timed(256, 1000, 40e-3, 1)
    reached = engine_timing.efficiency(one, QWEN, H100, HOST)
    assert reached == (pytest.approx((WEIGHTS + 256_000 * TOKEN) / (23.14e-3 * PEAK)), 0.6, 1.5e-3, 60e-6)
    said = engine_timing.understood(one, QWEN, H100, HOST)
    assert "23.1 ms are 37% of the memory bandwidth." in said and "eager" not in said


def test_a_pass_that_no_memory_explains_looks_like_a_host():
    said = engine_timing.understood(Timed(256, 1000, 90e-3, 1), QWEN, H100, HOST)
    assert "looks like a slow host or an eager engine" in said and "calibrate --engine" in said


def test_a_pass_that_leaves_no_time_for_the_assumed_host_has_a_faster_one():
    # 21.66 GB at 75 % of 3.35 TB/s, and 1.5 ms, leave 1.88 of 12 ms to 64 sequences
    reached = engine_timing.efficiency(Timed(64, 2048, 12e-3, 1), QWEN, H100, HOST)
    left = 12e-3 - 1.5e-3 - (WEIGHTS + 64 * 2048 * TOKEN) / (0.75 * PEAK)
    assert reached == pytest.approx((0.75, 0.6, 1.5e-3, left / 64))
    # 9 ms leave it none, and 5 ms are less than the chip needs
    assert engine_timing.efficiency(Timed(64, 2048, 9e-3, 1), QWEN, H100, HOST)[2:] == (1.5e-3, 0.0)
    assert engine_timing.efficiency(Timed(64, 2048, 5e-3, 1), QWEN, H100, HOST).bandwidth > 1


def test_bytes_of_a_token():
    assert engine_timing.bytes_per_token(QWEN, 64, 4096) == TOKEN
    assert engine_timing.bytes_per_token(QWEN, 64, 4096, 4) == TOKEN / 4
