import numpy as np
import pytest

from sim.cluster import throughput
from sim.cluster.hardware import ACCELERATORS, ridge
from sim.cluster.models import MODELS

QWEN, H100 = MODELS["qwen2.5-7b"], ACCELERATORS["h100"]
V3 = MODELS["deepseek-v3"]


@pytest.mark.parametrize(
    "decode_tokens, kv_tokens, milliseconds",
    [
        (1, 0, 7.562182),  # 2 · 7 615 616 512 B / (3.35e12 · .75) + 1.5 ms
        (64, 64 * 2048, 10.553702),  # (weights + 64 · 2048 · 57 344 B) / (3.35e12 · .75) + 1.5 ms
        (512, 0, 14.636567),  # 2 · 7 615 616 512 · 512 / (989.4e12 · .6) + 1.5 ms: compute-bound
    ],
)
def test_an_iteration_costs_what_it_reads_or_what_it_multiplies(decode_tokens, kv_tokens, milliseconds):
    assert 1e3 * throughput.iteration_seconds(QWEN, H100, decode_tokens, kv_tokens) == pytest.approx(
        milliseconds, rel=1e-6
    )


def test_arrays_of_counts_give_the_same_seconds_as_numbers_even_as_int32():
    decode_tokens, kv_tokens = np.array([1, 64, 512], np.int32), np.array([0, 64 * 2048, 512 * 4096], np.int32)
    one_by_one = [throughput.iteration_seconds(QWEN, H100, int(n), int(kv)) for n, kv in zip(decode_tokens, kv_tokens)]
    assert throughput.iteration_seconds(QWEN, H100, decode_tokens, kv_tokens) == pytest.approx(one_by_one, rel=1e-12)


def test_decode_alone_waits_for_memory_and_a_long_prefill_for_arithmetic():
    decode, prefill = (
        throughput.iteration_seconds(QWEN, H100, 1, 0, overhead_seconds=0),
        throughput.iteration_seconds(QWEN, H100, 0, 0, prefill_tokens=8192, overhead_seconds=0),
    )
    assert decode == pytest.approx(2 * 7_615_616_512 / (3.35e12 * 0.75), rel=1e-12)
    assert prefill == pytest.approx(2 * 7_615_616_512 * 8192 / (989.4e12 * 0.6), rel=1e-12)


def test_the_flops_of_attention_add_to_the_arithmetic_when_they_are_given():
    # 4 L H d_h a token and cached token: 4 · 28 · 28 · 128
    flops = 8192 * QWEN.attention_flops_per_token(4096)
    assert flops == 8192 * 4 * 28 * 28 * 128 * 4096
    with_attention = throughput.iteration_seconds(QWEN, H100, 0, 0, prefill_tokens=8192, attention_flops=flops)
    assert with_attention - throughput.iteration_seconds(QWEN, H100, 0, 0, prefill_tokens=8192) == pytest.approx(
        flops / (989.4e12 * 0.6), rel=1e-9
    )


def test_the_cache_is_cut_by_kv_heads_and_beyond_them_only_copied():
    weights = 2 * 7_615_616_512
    per_gpu = [throughput.bytes_read(QWEN, 1, 1000, tensor_parallel=gpus) - weights / gpus for gpus in (1, 2, 4, 8)]
    assert per_gpu == pytest.approx([57_344_000, 28_672_000, 14_336_000, 14_336_000])  # 4 KV heads


def test_a_latent_cache_is_copied_to_every_rank():
    alone, cut = (
        throughput.bytes_read(V3, 1, 1000, tensor_parallel=gpus) - 2 * throughput.weights_read(V3, 1) / gpus
        for gpus in (1, 8)
    )
    assert alone == pytest.approx(70_272_000) and cut == pytest.approx(alone)


def test_fp8_weights_halve_the_bytes_and_double_the_arithmetic_only_where_the_chip_has_it():
    assert throughput.bytes_read(QWEN, 1, 0, weight_bytes=1) == 7_615_616_512
    assert throughput.peak_flops(H100, 1) == 1978.9e12
    assert throughput.peak_flops(ACCELERATORS["a100_80"], 1) == 312e12


def test_a_mixture_of_experts_reads_the_experts_that_someone_was_routed_to():
    # E(1 − (1 − k/E)^n) distinct experts a layer; routed parameters of DeepSeek-V3: 58 layers · 256 experts · 3 · 7168
    # · 2048
    routed, others = 653_908_770_816, 17_117_633_536
    assert throughput.weights_read(V3, 1) == pytest.approx(V3.active_params(), rel=1e-12)
    assert throughput.weights_read(V3, 64) == pytest.approx(others + routed * 222.4425 / 256, rel=1e-6)
    assert throughput.weights_read(V3, 64) / V3.params() == pytest.approx(0.872, abs=5e-4)  # 585 of 671 billion
    assert throughput.weights_read(V3, 1e9) == pytest.approx(V3.params(), rel=1e-12)


def test_a_ring_sums_in_the_time_of_its_closed_form():
    assert 1e3 * throughput.ring_all_reduce(8, 1e9, 450e9, 3e-6) == pytest.approx(
        3.930889, rel=1e-6
    )  # 2 · 7 · (3 µs + 1e9 / (8 · 450e9))
    assert throughput.ring_all_reduce(1, 1e9, 450e9) == 0


def test_tensor_parallelism_pays_two_all_reduces_a_layer():
    # per layer: 2 · 2(r − 1)(α + n d · 2 B / (r B)); r = 8 ranks, n = 64 tokens, hidden d = 3584, 28 layers
    exchange = 28 * 2 * 2 * 7 * (3e-6 + 64 * 3584 * 2 / (8 * 450e9))
    assert throughput.iteration_seconds(QWEN, H100, 64, 0, tensor_parallel=8) == pytest.approx(
        2 * 7_615_616_512 / 8 / (3.35e12 * 0.75) + 1.5e-3 + exchange, rel=1e-9
    )


def test_without_a_switch_two_neighbours_have_only_their_own_link():
    mi300x = ACCELERATORS["mi300x"]
    assert [throughput.ring_bytes_per_second(mi300x, n) / 1e9 for n in (2, 4, 8, 16)] == [64, 192, 448, 50]
    assert [throughput.ring_bytes_per_second(H100, n) / 1e9 for n in (2, 8, 16)] == [450, 450, 50]


def test_roles_stand_under_the_roof_where_their_bytes_and_flops_put_them():
    decode, prefill, log_probs, train = throughput.role_points(QWEN, H100, 64, 2048, 8192)
    assert decode.flop_per_byte == pytest.approx(42.8532, rel=1e-5)  # 2P · 64 / (2P + 64 · 2048 · 57 344)
    assert decode.flops_per_second / 1e12 == pytest.approx(92.366, rel=1e-5)  # 2P · 64 / 10.553702 ms
    assert prefill.flop_per_byte == log_probs.flop_per_byte == train.flop_per_byte == 8192
    assert decode.flop_per_byte < ridge(H100) < train.flop_per_byte  # 295.3
    assert throughput.role_points(QWEN, H100, 1, 0, 8192)[0].flop_per_byte == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("key", MODELS)
def test_no_role_stands_above_the_roof(key):
    for accelerator in ACCELERATORS.values():
        for point in throughput.role_points(MODELS[key], accelerator, 256, 1024, 4096):
            assert point.flops_per_second <= throughput.roof(accelerator, point.flop_per_byte)


def test_a_measured_update_has_the_utilization_of_its_flops():
    # 6 · 7 615 616 512 · 1e6 / (64 · 989.4e12 · 10 s)
    assert throughput.attained_mfu(QWEN, H100, 64, 1e6, 10.0) == pytest.approx(0.0721613, rel=1e-5)
