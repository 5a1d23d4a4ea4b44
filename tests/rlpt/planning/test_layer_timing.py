"""What is moved and multiplied, by hand and from published models; medians; and with torch the shapes themselves."""

from importlib.util import find_spec

import pytest

from rlpt.planning import layer_timing
from rlpt.planning.layer_timing import FEWEST, REPEATS, SMALL, WARM_UP, Machine
from sim.cluster.models import MODELS

LLAMA = layer_timing.shape_of(MODELS["llama3.1-8b"])
EXPERTS = layer_timing.shape_of(MODELS["qwen3-30b-a3b"])


def weights(of):
    return sum(out * into for out, into in of)


def test_the_matrices_of_all_layers_are_the_published_model():
    # meta-llama/Llama-3.1-8B: 8,030,261,248 weights in its safetensors, tables and norms among them
    others = 2 * 128256 * 4096 + (2 * 32 + 1) * 4096
    assert 32 * weights(LLAMA.matrices) + others == 8_030_261_248
    # Qwen/Qwen3-30B-A3B: 30,532,122,624, with norms of queries and keys, 128 wide
    others = 2 * 151936 * 2048 + (2 * 48 + 1) * 2048 + 48 * 2 * 128
    assert 48 * (weights(EXPERTS.matrices) + 128 * weights(EXPERTS.expert)) + others == 30_532_122_624


def test_products_read_each_weight_once_and_multiply_it_with_every_token():
    layer = 4096 * 6144 + 4096 * 4096 + 3 * 4096 * 14336  # 218,103,808
    assert layer_timing.products_work(LLAMA, 64) == (2 * layer, 2 * 64 * layer)


def test_of_experts_those_are_read_that_somebody_is_routed_to():
    assert EXPERTS.touched(1) == 8 and EXPERTS.touched(8192) == 128
    assert EXPERTS.touched(16) == 82  # 128 (1 − (15/16)¹⁶) = 82.4
    expert = 3 * 2048 * 768
    plain = 2048 * (32 + 8) * 128 + 32 * 128 * 2048 + 128 * 2048
    assert layer_timing.products_work(EXPERTS, 16) == (2 * (plain + 82 * expert), 2 * 16 * (plain + 8 * expert))


def test_a_cached_token_is_a_key_and_a_value_of_each_head():
    # 64 x 4,096 tokens x 2 x 8 heads x 128 numbers of two bytes: a GiB; four query heads read each, scores and sums
    assert layer_timing.cache_work(LLAMA, 64, 4096) == (2**30, 2 * 2 * 32 * 128 * 64 * 4096)


def test_causal_attention_counts_half_of_the_square():
    assert layer_timing.attention_flop(LLAMA, 16384) == pytest.approx(4 * 32 * 128 * 16384**2 / 2)
    of_model = MODELS["llama3.1-8b"].prefill_flops_per_token(16384 / 2) / 32
    assert layer_timing.attention_flop(LLAMA, 16384) == 16384 * of_model


@pytest.mark.parametrize("key", ["deepseek-v3", "qwen3-next-80b-a3b"])
def test_attention_without_keys_by_head_is_refused(key):
    with pytest.raises(ValueError, match=r"has (a latent|layers with a state)"):
        layer_timing.shape_of(MODELS[key])


def test_the_first_runs_do_not_count_and_one_slow_run_does_not_either():
    runs = iter([9.0] * WARM_UP + [1.0] * (REPEATS // 2) + [50.0] + [2.0] * (REPEATS // 2))
    assert layer_timing.timed(lambda: next(runs)) == (1.5, REPEATS)  # ten of 1, one of 50, nine of 2


def test_what_takes_long_is_run_three_times(monkeypatch):
    monkeypatch.setattr(layer_timing, "LIMIT", 0.0)
    assert layer_timing.timed(lambda: 7.0) == (7.0, FEWEST)


def test_a_small_layer_is_of_the_same_kind():
    assert (
        layer_timing.small(LLAMA).kv_heads < layer_timing.small(LLAMA).heads and not layer_timing.small(LLAMA).experts
    )
    assert layer_timing.small(EXPERTS).experts == 8 and not layer_timing.small(EXPERTS).intermediate


@pytest.mark.slow
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is no dependency")
@pytest.mark.parametrize("shape", [LLAMA, EXPERTS])
def test_every_row_is_timed_on_a_cpu(shape):
    found = layer_timing.timings(Machine(layer_timing.found_torch(), "cpu"), layer_timing.small(shape), SMALL)
    assert {one.name for one in found} == {"weights", "cache", "batch", "training", "launch", "host", "attention"}
    assert all(0 < one.seconds < 10 and one.repeats >= FEWEST for one in found)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is no dependency")
def test_what_is_timed_is_what_is_counted():
    torch = pytest.importorskip("torch")
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    def counted(work):
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):  # others are not counted on a CPU
            work()
        return counter.get_total_flops()

    machine, shape = Machine(torch, "cpu"), layer_timing.small(EXPERTS)
    made = layer_timing.Weights(machine, shape)
    assert counted(made.forward(64)) == layer_timing.products_work(shape, 64)[1]
    assert counted(made.update(64)) == 3 * layer_timing.products_work(shape, 64)[1]
    one_token = layer_timing.decoding(machine, shape, SMALL)
    assert counted(one_token) == layer_timing.cache_work(shape, SMALL.sequences, SMALL.context)[1]
    # this kernel computes the whole square, and keeps its scores: twice a forward pass backward, and not 2.5 times
    assert counted(layer_timing.attention(machine, shape, 64)) == 2 * 3 * layer_timing.attention_flop(shape, 64)
