import numpy as np
import pytest

from sim.cluster import throughput
from sim.cluster.hardware import ACCELERATORS, ridge
from sim.cluster.models import MODELS
from sim.cluster.throughput import PEAK

QWEN, LLAMA, H100 = MODELS["qwen2.5-7b"], MODELS["llama3.1-8b"], ACCELERATORS["h100"]
V3 = MODELS["deepseek-v3"]


@pytest.mark.parametrize(
    "decode_tokens, kv_tokens, milliseconds",
    [
        (1, 0, 7.128354),  # 2 · 7 070 619 136 B / (3.35e12 · .75) + 1.5 ms
        (64, 64 * 2048, 10.119873),  # (weights + 64 · 2048 · 57 344 B) / (3.35e12 · .75) + 1.5 ms
        (512, 0, 13.696473),  # 2 · 7 070 619 136 · 512 / (989.4e12 · .6) + 1.5 ms: compute-bound
    ],
)
def test_an_iteration_costs_what_it_reads_or_what_it_multiplies(decode_tokens, kv_tokens, milliseconds):
    seconds = throughput.iteration_seconds(QWEN, H100, decode_tokens, kv_tokens)
    assert 1e3 * seconds == pytest.approx(milliseconds, rel=1e-6)


def test_arrays_of_counts_give_the_same_seconds_as_numbers_even_as_int32():
    decode_tokens, kv_tokens = np.array([1, 64, 512], np.int32), np.array([0, 64 * 2048, 512 * 4096], np.int32)
    one_by_one = [throughput.iteration_seconds(QWEN, H100, int(n), int(kv)) for n, kv in zip(decode_tokens, kv_tokens)]
    assert throughput.iteration_seconds(QWEN, H100, decode_tokens, kv_tokens) == pytest.approx(one_by_one, rel=1e-12)


def test_decode_alone_waits_for_memory_and_a_long_prefill_for_arithmetic():
    decode = throughput.iteration(QWEN, H100, 1, 0)
    prefill = throughput.iteration(QWEN, H100, 0, 0, prefill_tokens=8192)
    assert (decode.bound, prefill.bound) == ("memory", "compute")
    assert decode.memory == pytest.approx(2 * 7_070_619_136 / (3.35e12 * 0.75), rel=1e-12)
    assert prefill.compute == pytest.approx(2 * 7_070_619_136 * 8192 / (989.4e12 * 0.6), rel=1e-12)


def test_at_peak_nothing_is_lost():
    # 3.35e12 B / (2 x 7 504 924 672 + B x 2048 x 131 072) s for Llama-3.1-8B
    for batch, tokens_per_second in ((1, 219.265), (64, 6660.51), (256, 10242.53)):
        seconds = throughput.iteration_seconds(LLAMA, H100, batch, batch * 2048, efficiency=PEAK)
        assert batch / seconds == pytest.approx(tokens_per_second, rel=1e-5)


def test_attention_counts_in_decode_and_in_prefill():
    # 4 L H d_h a token and cached token: 4 · 28 · 28 · 128
    flops = 4 * 28 * 28 * 128

    def added(context):
        return throughput.iteration(QWEN, H100, 0, 0, prefill_tokens=8192, prefill_context=context).compute

    assert added(4096) - added(0) == pytest.approx(8192 * 4096 * flops / (989.4e12 * 0.6), rel=1e-9)

    def decode(context):
        return throughput.iteration(QWEN, H100, 64, 64 * context).compute

    assert decode(2048) - decode(0) == pytest.approx(64 * 2048 * flops / (989.4e12 * 0.6), rel=1e-9)


def test_attention_runs_in_bf16_whatever_the_weights_width():
    def compute(width, context):
        return throughput.iteration(LLAMA, H100, 64, 64 * context, weight_bytes=width).compute

    assert compute(1, 4096) - compute(1, 0) == pytest.approx(compute(2, 4096) - compute(2, 0), rel=1e-9)
    assert compute(1, 0) == pytest.approx(compute(2, 0) * 989.4 / 1978.9, rel=1e-9)


def test_drafts_that_are_checked_multiply_and_do_not_read_the_cache_again():
    plain, checked = (throughput.iteration(QWEN, H100, 64, 64 * 2048, queries=n) for n in (1, 4))
    assert checked.compute == pytest.approx(4 * plain.compute) and checked.memory == plain.memory


def test_the_cache_is_cut_by_kv_heads_and_beyond_them_only_copied():
    weights = 2 * 7_070_619_136
    per_gpu = [throughput.bytes_read(QWEN, 1, 1000, 1, tensor_parallel=n) - weights / n for n in (1, 2, 4, 8)]
    assert per_gpu == pytest.approx([57_344_000, 28_672_000, 14_336_000, 14_336_000])  # 4 KV heads


def test_a_latent_cache_is_copied_to_every_rank_unless_it_is_cut_by_tokens():
    def cache(n, cut):
        return throughput.bytes_read(V3, 1, 1000, 1, n, cut) - 2 * V3.read_params(1) / n

    assert cache(1, 1) == pytest.approx(70_272_000)
    assert cache(8, 1) == pytest.approx(70_272_000)
    assert cache(8, 8) == pytest.approx(70_272_000 / 8, rel=1e-5)


def test_a_window_ends_what_is_read():
    gemma = MODELS["gemma3-27b"]

    def read(context):
        return throughput.bytes_read(gemma, 4, 4 * context, 4) - 2 * gemma.read_params(4)

    assert read(8192) == pytest.approx(4 * (8192 * 81_920 + 1024 * 425_984), rel=1e-6)


def test_fp8_weights_halve_the_bytes_and_double_the_arithmetic_only_where_the_chip_has_it():
    assert throughput.bytes_read(QWEN, 1, 0, 1, weight_bytes=1) == 7_070_619_136
    assert throughput.peak_flops(H100, 1) == 1978.9e12
    assert throughput.peak_flops(ACCELERATORS["a100_80"], 1) == 312e12
    assert throughput.peak_flops(H100, 0.53) == 989.4e12  # no fp4 arithmetic: bf16
    assert throughput.peak_flops(ACCELERATORS["b200"], 0.53) == 9000e12


@pytest.mark.parametrize("n, milliseconds", [(1, 7.474069), (2, 4.872200), (4, 3.509013), (8, 2.766914)])
def test_splitting_a_replica_shortens_its_iteration(n, milliseconds):
    # Llama-3.1-8B: 2 · 7 504 924 672 / n B at .75 · 3.35e12 B/s + 1.5 ms + 64 all-reduces of 8192 B
    seconds = throughput.iteration_seconds(LLAMA, H100, 1, 0, tensor_parallel=n)
    assert 1e3 * seconds == pytest.approx(milliseconds, rel=1e-6)


@pytest.mark.parametrize("key, flop_per_byte", [("h100", 236.27), ("h200", 164.9), ("h20", 29.6)])
def test_the_ridge_that_is_reached_is_four_fifths_of_the_ridge_at_peak(key, flop_per_byte):
    assert throughput.effective_ridge(ACCELERATORS[key]) == pytest.approx(flop_per_byte, abs=5e-3)
    assert throughput.effective_ridge(ACCELERATORS[key], PEAK) == ridge(ACCELERATORS[key])


@pytest.mark.parametrize(
    "key, chip, tensor_parallel, at_peak, reached",
    [  # 2P′ / (KV bytes · ridge − attention FLOP), by hand: 8B/H100 2 · 7 504 924 672 / (131 072 · 295.343 − 524 288)
        ("llama3.1-8b", "h100", 1, 393.06, 493.02),
        ("llama3.1-8b", "h200", 1, 566.56, 711.72),
        ("llama3.1-70b", "h100", 8, 1476.33, 1858.34),  # 8 KV heads on 8 GPUs: as on one
        ("llama3.1-70b", "h100", 1, 1476.33, 1858.34),
        ("deepseek-v3", "h200", 8, 740.75, 967.49),
    ],
)
def test_beyond_a_context_no_batch_is_compute_bound(key, chip, tensor_parallel, at_peak, reached):
    model, accelerator = MODELS[key], ACCELERATORS[chip]
    assert throughput.crossover(model, accelerator, tensor_parallel, efficiency=PEAK) == pytest.approx(
        at_peak, abs=0.01
    )
    assert throughput.crossover(model, accelerator, tensor_parallel) == pytest.approx(reached, abs=0.01)


@pytest.mark.parametrize("batch, tokens_per_second", [(1, 219.265), (64, 6660.51), (256, 10242.53)])
def test_a_batch_reads_the_weights_once_and_every_cache(batch, tokens_per_second):
    # 3.35e12 B/s / (2 · 7 504 924 672 + B · 2048 · 131 072) · B
    one = throughput.iteration(LLAMA, H100, batch, batch * 2048, efficiency=PEAK)
    assert one.bound == "memory" and batch / one.seconds == pytest.approx(tokens_per_second, rel=1e-5)


def test_attention_alone_does_a_flop_a_byte_for_each_head_that_shares_a_cached_one():
    # 32 query heads on 8; 2 · 128 · (512 + 64 + 512) / 1152 of a latent
    def endless(model):
        return throughput.decode_intensity(model, 1e12, 1e12 * 1e9)

    assert endless(LLAMA) == pytest.approx(4, rel=1e-3)
    assert endless(V3) == pytest.approx(241.8, rel=1e-3)


def test_a_latent_that_is_cut_by_tokens_keeps_the_chip_busy_at_any_context():
    h200 = ACCELERATORS["h200"]

    def at(cut, width):
        return throughput.crossover(V3, h200, 8, cut, weight_bytes=width, efficiency=PEAK)

    assert at(1, 1) == pytest.approx(370, abs=0.5)
    assert at(8, 2) == at(8, 1) == np.inf


def test_at_the_crossover_an_endless_batch_reads_as_long_as_it_multiplies():
    for key, chip in (("llama3.1-8b", "h100"), ("gemma3-27b", "h100"), ("gpt-oss-120b", "b200")):
        model, accelerator = MODELS[key], ACCELERATORS[chip]
        context, batch = throughput.crossover(model, accelerator), 1e12
        one = throughput.iteration(model, accelerator, batch, batch * context)
        assert one.memory == pytest.approx(one.compute, rel=1e-6)


def test_a_state_can_be_longer_to_read_than_the_weights_are_to_multiply():
    # Qwen3-Next: 77.3 MB a sequence at .75 · 3.35e12 B/s, 31 µs, against 2 · 3.56e9 FLOP at .6 · 989.4e12, 12 µs
    assert throughput.crossover(MODELS["qwen3-next-80b-a3b"], H100) == 0


@pytest.mark.parametrize("chip, at_peak, reached", [("h100", 309.0, 387.3), ("h200", 497.8, 625.0)])
def test_a_batch_that_fits_is_compute_bound_up_to_a_shorter_context(chip, at_peak, reached):
    # the batch with live · context = pool: (2P′ + pool · 131 072) / W = (2P′ + a S) pool / (S F)
    def context(efficiency):
        return throughput.reachable_context(LLAMA, ACCELERATORS[chip], efficiency=efficiency)

    assert context(PEAK) == pytest.approx(at_peak, abs=0.1)
    assert context(throughput.ASSUMED) == pytest.approx(reached, abs=0.1)
    assert context(PEAK) < throughput.crossover(LLAMA, ACCELERATORS[chip], efficiency=PEAK)


def test_one_measured_iteration_calibrates_what_takes_longest():
    fitted = throughput.calibrated(QWEN, H100, 64, 2048, 12e-3)
    # (2P′ + 64 · 2048 · 57 344 B) / (3.35e12 · 10.5 ms)
    assert fitted.bandwidth == pytest.approx(0.615705, rel=1e-5) and fitted.flops == 0.6
    again = throughput.iteration_seconds(QWEN, H100, 64, 64 * 2048, efficiency=fitted)
    assert again == pytest.approx(12e-3, rel=1e-9)
    crowded = throughput.calibrated(QWEN, H100, 1024, 64, 30e-3)
    assert crowded.bandwidth == 0.75 and crowded.flops < 0.6
    assert throughput.calibrated(QWEN, H100, 64, 2048, 3e-3).bandwidth > 1
    assert throughput.calibrated(QWEN, H100, 64, 2048, 1e-3).bandwidth == np.inf


def test_each_sequence_that_decodes_costs_the_host_its_seconds():
    host = throughput.ASSUMED._replace(sequence_seconds=60e-6)
    without = throughput.ASSUMED._replace(sequence_seconds=0.0)
    both = [throughput.iteration_seconds(QWEN, H100, 64, 64 * 2048, efficiency=one) for one in (host, without)]
    assert both[0] - both[1] == pytest.approx(64 * 60e-6)


def test_roles_stand_under_the_roof_where_their_bytes_and_flops_put_them():
    decode, prefill, log_probs, train = throughput.role_points(QWEN, H100, 64, 2048, 8192)
    # (2P′ + 4 · 28 · 28 · 128 · 2048) 64 / (2P′ + 64 · 2048 · 57 344), and over 10.119873 ms
    assert decode.flop_per_byte == pytest.approx(44.2182, rel=1e-5)
    assert decode.flops_per_second / 1e12 == pytest.approx(94.6309, rel=1e-5)
    assert prefill.flop_per_byte == log_probs.flop_per_byte == train.flop_per_byte == 8192
    assert decode.flop_per_byte < ridge(H100) < train.flop_per_byte  # 295.3
    assert throughput.role_points(QWEN, H100, 1, 0, 8192)[0].flop_per_byte == pytest.approx(1.0, rel=1e-12)


def test_an_engine_of_four_is_four_points_under_one_roof():
    alone, split = (throughput.role_points(QWEN, H100, 64, 2048, 8192, tensor_parallel=n)[0] for n in (1, 4))
    assert split.flop_per_byte == pytest.approx(alone.flop_per_byte)  # 4 KV heads: all bytes and FLOPs are divided
    assert split.flops_per_second < alone.flops_per_second  # overhead and exchange are not


@pytest.mark.parametrize("key", MODELS)
def test_no_role_stands_above_the_roof(key):
    for accelerator in ACCELERATORS.values():
        for point in throughput.role_points(MODELS[key], accelerator, 256, 1024, 4096):
            assert point.flops_per_second <= throughput.roof(accelerator, point.flop_per_byte)


def test_a_measured_update_has_the_utilization_of_its_flops():
    # 6 · 7 615 616 512 · 1e6 / (64 · 989.4e12 · 10 s)
    assert throughput.attained_mfu(QWEN, H100, 64, 1e6, 10.0) == pytest.approx(0.0721613, rel=1e-5)


def test_a_prompt_costs_its_weights_and_half_of_its_square():
    # 2P′ · 4096 = 61.5 TFLOP and 4 · 32 layers · 32 heads · 128 · 4096²/2 = 4.4; equal where 4 L H d s/2 = 2P′
    weights, attention = throughput.prefill_flops(MODELS["llama3.1-8b"], 4096)
    assert (weights / 1e12, attention / 1e12) == pytest.approx((61.480, 4.398), abs=1e-3)
    weights, attention = throughput.prefill_flops(MODELS["llama3.1-8b"], 57_258)
    assert weights == pytest.approx(attention, rel=1e-4)


def test_an_update_takes_the_seconds_from_which_its_mfu_is_read_back():
    model, chip = MODELS["qwen2.5-7b"], ACCELERATORS["h20"]
    # 6 · 7 615 616 512 · 1e6 FLOP on 8 · 148e12 · .4
    seconds = throughput.update_seconds(model, chip, 8, 1e6, 0.4)
    assert seconds == pytest.approx(6 * 7_615_616_512 * 1e6 / (8 * 148e12 * 0.4))
    assert throughput.attained_mfu(model, chip, 8, 1e6, seconds) == pytest.approx(0.4)
