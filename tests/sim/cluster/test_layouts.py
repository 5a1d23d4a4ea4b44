"""Layouts of an engine against the one-server engine, hand counts and another implementation's numbers."""

from dataclasses import replace

import numpy as np
import pytest

from sim.cluster import layouts, memory, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.layouts import Layout, Work
from sim.cluster.models import MODELS

H100, H200 = ACCELERATORS["h100"], ACCELERATORS["h200"]
V3, LLAMA = MODELS["deepseek-v3"], MODELS["llama3.1-405b"]
# a step of 8,192 completions, sixteen a prompt of 512 tokens, on 256 H200: sequences of 7,360 tokens on average, in fp8
WORK, WAITING = Work(7360, 512, 16, weight_bytes=1), 8192 / 256


@pytest.mark.parametrize("key", MODELS)
def test_a_group_alone_costs_what_an_engine_of_one_server_costs(key):
    model = MODELS[key]
    for tp in (size for size in model.tp_sizes() if size <= 8):
        one = layouts.decode_pass(model, H100, Layout(tp), 48, Work(4096))
        same = throughput.iteration(model, H100, 48, 48 * 4096, tensor_parallel=tp)
        assert one.seconds == pytest.approx(float(same.seconds), rel=1e-12)
        assert (one.reading, one.arithmetic, one.exchange) == pytest.approx(
            (float(same.memory), float(same.compute), float(same.exchange)), rel=1e-12
        )
        engine = memory.Engine(tensor_parallel=tp)
        assert layouts.room(model, H100, Layout(tp), Work(4096)) == pytest.approx(
            memory.sequences(model, H100, 4096, engine), rel=1e-12
        )


# Milliseconds of a pass, tokens a second and GPU, GB of weights a GPU: a separate prototype of the same formulas
@pytest.mark.parametrize(
    "layout, milliseconds, tokens, weights",
    [
        (Layout(8), 39.6, 281, 83.9),
        (Layout(1, 8), 35.8, 894, 98.9),
        (Layout(1, 16), 28.3, 1132, 58.0),
        (Layout(1, 32), 24.6, 1302, 37.6),
        (Layout(1, 32, overlap=True), 17.1, 1871, 37.6),
        (Layout(16), 43.7, 251, 41.9),
    ],
    ids=lambda value: value.words if isinstance(value, Layout) else str(value),
)
def test_deepseek_v3_on_256_h200(layout, milliseconds, tokens, weights):
    at = layouts.laid(V3, H200, layout, WAITING, WORK)
    assert 1e3 * at.one.seconds == pytest.approx(milliseconds, abs=0.05)
    assert at.tokens_per_second_and_gpu == pytest.approx(tokens, abs=0.6)
    assert layouts.weight_bytes_per_gpu(V3, layout, 1) / 1e9 == pytest.approx(weights, abs=0.05)


def test_405b_fits_on_two_servers_and_not_on_one():
    work = Work(8192)
    assert layouts.room(LLAMA, H100, Layout(8), work) == 0
    assert layouts.room(LLAMA, H100, Layout(16), work) == pytest.approx(40.2, abs=0.05)
    assert layouts.room(LLAMA, H100, Layout(8, pipeline=2), work) == pytest.approx(80.5, abs=0.05)
    wide = layouts.decode_pass(LLAMA, H100, Layout(16), 40, work)
    staged = layouts.decode_pass(LLAMA, H100, Layout(8, pipeline=2), 64, work)
    assert 1e3 * wide.seconds == pytest.approx(39.2, abs=0.05) and 40 / wide.seconds / 16 == pytest.approx(64, abs=0.5)
    assert 1e3 * staged.seconds == pytest.approx(54.6, abs=0.05)


@pytest.mark.parametrize("key", MODELS)
def test_prompts_beside_decoding_cost_what_they_cost_in_an_engine_of_one_server(key):
    model = MODELS[key]
    shape = (
        np.array([0, 48, 300.0]),
        np.array([0, 48 * 4096, 3e6]),
        np.array([8192, 0, 512.0]),
        np.array([256, 0, 99]),
    )
    for tp, widths in zip((1, 2, 4), ((2, 2), (1, 1), (None, 2))):
        if tp in model.tp_sizes():
            one = layouts.engine_pass(model, H100, Layout(tp), *shape, *widths)
            same = throughput.iteration(model, H100, *shape, tp, 1, *widths)
            assert one.seconds == pytest.approx(same.seconds, rel=1e-12)


def test_stages_divide_what_a_gpu_reads_and_pass_a_token_on_p_times():
    one, two = (layouts.decode_pass(LLAMA, H100, Layout(8, pipeline=p), 64, Work(8192)) for p in (1, 2))
    # half the layers over half the sequences; a hop sends 32 states of 16,384 numbers in bf16 over 50 GB/s
    hop = 10e-6 + 32 * 16384 * 2 / 50e9
    stage = max(two.reading, two.arithmetic) + two.exchange + hop
    assert two.seconds == pytest.approx(2 * stage + 1.5e-3) and two.reading < one.reading / 2 * 1.01


def test_the_last_sequence_stands_on_one_group_of_one_stage():
    # it reads all of its cache, however many groups and stages there are, and the weights of every stage
    many = Layout(1, 32, pipeline=2)
    short, long = (layouts.decode_pass(V3, H200, many, 1, Work(context, weight_bytes=1)) for context in (0, 100_000))
    assert long.seconds - short.seconds == pytest.approx(100_000 * 70_272 / (0.75 * 4.8e12))


def test_siblings_keep_one_prompt_between_them():
    alone, sixteen = Work(7360, 512, 1, weight_bytes=1), Work(7360, 512, 16, weight_bytes=1)
    kept = 7360 - 512 * 15 / 16
    ratio = layouts.room(V3, H200, Layout(1, 16), sixteen) / layouts.room(V3, H200, Layout(1, 16), alone)
    assert ratio == pytest.approx(7360 / kept)


def test_decode_context_parallelism_sends_the_queries_and_outputs_of_all_its_ranks():
    # a layer on 8 H200, 256 sequences, 128 heads: queries of 576 numbers gathered and outputs of 512 scattered, 7/8 of
    # 2 · 256 · 128 · (576 + 512) bytes over 450 GB/s, with one start of 8 µs each
    plain, cut = Layout(8), Layout(8, context_parallel=8)
    more = (
        layouts.decode_pass(V3, H200, cut, 256, WORK).exchange
        - layouts.decode_pass(V3, H200, plain, 256, WORK).exchange
    )
    assert more / 61 == pytest.approx(2 * 8e-6 + 7 / 8 * 2 * 256 * 128 * (576 + 512) / 450e9)
    assert layouts.room(V3, H200, cut, WORK) == pytest.approx(8 * layouts.room(V3, H200, plain, WORK))


def test_redundant_experts_take_memory():
    more = layouts.weight_bytes_per_gpu(V3, Layout(1, 32, redundant=32), 1)
    less = layouts.weight_bytes_per_gpu(V3, Layout(1, 32), 1)
    assert more - less == pytest.approx(V3.routed_params() / 8 / 32)  # 32 of 256 experts, over 32 GPUs


def test_overlap_takes_the_longer_half_and_a_tenth_of_the_shorter():
    plain = layouts.decode_pass(V3, H200, Layout(1, 32), 1024, WORK)
    both = layouts.decode_pass(V3, H200, Layout(1, 32, overlap=True), 1024, WORK)
    longer = max(plain.reading, plain.arithmetic)
    assert both.seconds == pytest.approx(longer + 0.1 * plain.exchange + 1.5e-3)


@pytest.mark.parametrize("key", ["deepseek-v3", "kimi-k2", "llama3.1-405b"])
def test_models_larger_than_a_server_have_layouts_that_hold_them(key):
    found = layouts.best(MODELS[key], H100, 256, 8192, Work(8192, 512, 16), longest=32_768)
    assert found and all(layouts.used(at.layout, 256) > 0 for at in found)
    speeds = [at.tokens_per_second_and_gpu for at in found]
    assert (
        speeds == sorted(speeds, reverse=True) or max(abs(a - b) for a, b in zip(speeds, sorted(speeds)[::-1])) < 1e-5
    )
    bytes_held = [layouts.weight_bytes_per_gpu(MODELS[key], at.layout) for at in found]
    assert max(bytes_held) < 0.9 * H100.hbm_bytes


def test_32b_on_64_gpus_is_faster_on_more_than_the_fewest_that_hold_it():
    found = layouts.best(MODELS["qwen2.5-32b"], H100, 64, 8192, Work(8704, 512, 16), longest=33_280)
    one_server = [at for at in found if at.layout.gpus <= 8 and at.layout.pipeline == 1]
    fewest = next(at for at in found if at.layout == Layout(2))
    assert one_server[0].tokens_per_second_and_gpu > 1.3 * fewest.tokens_per_second_and_gpu


def test_no_layout_is_found_where_nothing_holds_the_model():
    assert layouts.best(LLAMA, H100, 8, 512, Work(8192), longest=8192) == ()


def test_words_name_what_is_parallel():
    assert Layout(8, pipeline=2).words == "TP 8, PP 2" and Layout().words == "TP 1"
    assert replace(Layout(1, 32), overlap=True).words == "DP 32 with EP 32, overlapped"
