"""The lesson on the KV cache: what its numbers are computed by, and what it says without a number."""

from dataclasses import replace
from functools import cache
from math import ceil

import numpy as np
import pytest

from sim.cluster import kv_cache, memory, scheduling, throughput
from sim.cluster.hardware import ACCELERATORS, ridge
from sim.cluster.kv_cache import expected_utilization
from sim.cluster.memory import Engine
from sim.cluster.models import MODELS
from sim.cluster.throughput import ASSUMED, PEAK, crossover, iteration, reachable_context
from tests.sim.cluster.plain_engine import serve
from widgets.frame.contract import machine_knobs
from widgets.kv_cache import widget
from widgets.kv_cache.widget import Knobs

EXPENSIVE = "every_sequence", "at_once"
LLAMA, H100, H200 = MODELS["llama3.1-8b"], ACCELERATORS["h100"], ACCELERATORS["h200"]
DEEPSEEK, SMALL, SEVENTY, QWEN = (
    MODELS[key] for key in ("deepseek-v3", "qwen2.5-1.5b", "llama3.1-70b", "qwen3-30b-a3b")
)
P = 8_030_261_248 - 128_256 * 4096  # weights of the 8B without the table of embeddings
M = 131_072
EIGHT = dict(tensor_parallel=8, efficiency=PEAK)
RESERVED, LARGE, SHARED = Knobs(block=widget.WHOLE), Knobs(batch=256), Knobs(sharing=True)
ONE_HEAD, EIGHT_BITS = Knobs(attention="MQA"), Knobs(kv_precision="fp8")
H20 = Knobs(accelerator="h20", context=2048, batch=512)
REFUSED = Knobs(context=131_072, batch=1, hbm_share=0.3)
SHORT = Knobs(context=256, batch=1024)
MANY = Knobs(model="qwen2.5-1.5b", context=256, batch=4096, hbm_share=0.3)


def result(knobs):
    (r,) = widget.run(knobs)
    return r


def fits(**knobs):
    return result(Knobs(**knobs)).fits


def writes(batch):
    """Tokens a second, at 4,096 tokens of context."""
    return batch / iteration(LLAMA, H100, batch, batch * 4096).seconds


def of_caches(batch):
    """Part of what a step reads that is cache."""
    return batch * 4096 * M / (2 * P + batch * 4096 * M)


def busy(efficiency, context=4096):
    """Part of the time that the chip computes at so many tokens, with a batch without end."""
    without_end = iteration(LLAMA, H100, 1e12, 1e12 * context, efficiency=efficiency)
    return without_end.compute / without_end.memory


def keep_busy(efficiency):
    """Sequences of 512 tokens that keep an H200 busy."""

    def bound(n):
        return iteration(LLAMA, H200, n, n * 512, efficiency=efficiency).bound

    return next(n for n in range(1, 4096) if bound(n) == "compute")


def with_heads(model, cached_heads):
    """Bytes of a token."""
    return replace(model, cached_heads=cached_heads).kv_bytes_per_token()


def if_all_grow():
    """Sequences of 4,096 that would fit if no layer of Gemma had a window."""
    of_a_sequence = 62 * 2 * 16 * 128 * 2 * 4096 / 2  # bytes on each of two GPUs
    return int(memory.engine_room(MODELS["gemma3-27b"], H100, Engine(tensor_parallel=2)) / of_a_sequence)


def for_each_byte(model):
    """Operations of attention."""
    return model.attention_flops_per_token(1) / model.kv_bytes_per_token()


def pool_of_eight(parts):
    """Tokens that DeepSeek-V3 has room for on 8 H200, each sequence cut into so many parts."""
    return memory.capacity(DEEPSEEK, H200, Engine(8, 8, context_parallel=parts, weight_bytes=1))


def in_use():
    """Part of the slots of blocks of 16 that hold a token."""
    lengths = np.ceil(np.minimum(np.random.default_rng(0).lognormal(np.log(1200), 0.8, 20_000), 8192))
    return kv_cache.fragmentation(lengths, 8192, 16)


def known():
    """Seconds to compute a token of a known text; half of the context is behind it, on average."""
    return (2 * P + 4 * 32 * 4096 * 2048) / (0.6 * H100.flops())


def job(k, rounds=3):
    """`rounds` times as many requests as are asked for at once, and the tokens of all."""
    prompt, longest = k.context // 4, ceil(k.context / expected_utilization(1200, 0.8, 8192))
    drawn = np.random.default_rng(0).lognormal(0, 0.8, rounds * k.batch)
    live = (drawn**2).mean() / drawn.mean() / 2
    lengths = np.clip(np.ceil(drawn * (k.context - prompt) / live), 1, longest - prompt).astype(int)
    requests = [scheduling.Request(prompt, int(n), i) for i, n in enumerate(lengths)]
    return requests, sum(request.prompt + request.output for request in requests)


def blocks(k):
    return memory.capacity(machine_knobs.model(k), machine_knobs.accelerator(k), widget.engine(k)) // 16


def shape(k):
    return lambda *tokens: float(
        throughput.iteration_seconds(machine_knobs.model(k), machine_knobs.accelerator(k), *tokens)
    )


@cache
def every_sequence(k):
    """(tokens read again for each token of the job, share of the time), by the program that knows nothing of sim/."""
    requests, tokens = job(k)
    plain = serve(requests, blocks(k), shape(k), k.batch)
    return plain.read_again / tokens, plain.read_again_seconds / plain.seconds


@cache
def at_once(k, rounds=3, prefix=True):
    """The same by the simulator, which moves on by many iterations where nothing happens."""
    requests, tokens = job(k, rounds)
    pool = kv_cache.BlockAllocator(blocks(k), 16)
    trace = scheduling.run(requests, shape(k), pool, scheduling.Policy(batch=k.batch, chunk=0, prefix=prefix))
    seconds = trace.read_again * tokens * widget.reading_seconds(k, machine_knobs.model(k))
    return trace.read_again, seconds / trace.makespan


def test_recomputing_every_token_would_cost_millions_of_passes():
    assert kv_cache.token_passes(4096, cached=False) == sum(range(1, 4097)) > 8e6


def test_a_cached_head_for_each_query_leaves_four_times_as_much():
    assert with_heads(LLAMA, 32) == 4 * LLAMA.kv_bytes_per_token() == 4 * M


def test_the_attention_of_deepseek_is_bound_by_compute_at_every_length_unless_gpus_hold_copies():
    assert crossover(DEEPSEEK, H200, efficiency=PEAK) == np.inf
    assert crossover(DEEPSEEK, H200, weight_bytes=1, context_parallel=8, **EIGHT) == np.inf
    assert QWEN.kv_heads == 4 and QWEN.kv_shards(8) == QWEN.kv_shards(4) == 4 and DEEPSEEK.kv_shards(8) == 1


def test_deepseek_in_bf16_does_not_fit_where_it_is_drawn_and_in_fp8_does():
    assert memory.capacity(DEEPSEEK, H200, Engine(8, 8, weight_bytes=2)) < 0 < pool_of_eight(1)


def test_without_a_cache_the_chip_computes_without_a_pause():
    one = iteration(LLAMA, H100, 1e9, 0)
    assert 1e9 / one.seconds == pytest.approx(0.6 * H100.flops() / (2 * P), rel=1e-6)


def test_the_crossover_in_closed_form():
    assert crossover(LLAMA, H100, efficiency=PEAK) == pytest.approx(2 * P / (M * ridge(H100) - 4 * 32 * 4096))
    assert ASSUMED.bandwidth / ASSUMED.flops == pytest.approx(1.25)  # a quarter higher, where attention is left out
    assert crossover(LLAMA, H100) < 512 < crossover(LLAMA, H200)


@pytest.mark.parametrize("chip", [H100, H200], ids=["h100", "h200"])
def test_of_the_batches_that_fit_one_is_compute_bound_up_to_a_shorter_context(chip):
    pool = memory.capacity(LLAMA, chip)
    read = (2 * P + pool * M) / (0.75 * chip.hbm_bytes_per_second)  # of a full pool, whatever the context
    # until the work of pool / S sequences, (2P′ / S + a) pool, takes no longer
    longest = 2 * P * pool / (read * 0.6 * chip.flops() - 4 * 32 * 4096 * pool)
    assert reachable_context(LLAMA, chip) == pytest.approx(longest, abs=1)


def test_eight_bits_double_what_fits_and_how_long_a_context_may_be():
    assert int(memory.sequences(LLAMA, H100, 4096, Engine(kv_bytes=1))) == 2 * 104
    # of the line without attention: m stands in its denominator
    assert LLAMA.kv_bytes_per_token(1) * 2 == LLAMA.kv_bytes_per_token()


def test_the_largest_batch_that_fits_leaves_the_chip_idle():
    for batch in (104, 64):
        read = 2 * P + batch * 4096 * M
        assert writes(batch) == pytest.approx(batch / (read / (0.75 * 3.35e12) + 1.5e-3), abs=0.5)
    assert 1 / 8 < busy(ASSUMED) < 1 / 7


@pytest.mark.when_changed()
def test_what_the_page_sets_holds_or_breaks_as_it_says():
    def broken(k):
        return widget.broken(k, result(k))

    for k in (Knobs(), ONE_HEAD, EIGHT_BITS, SHARED):
        assert broken(k) is None and widget.worse(k, result(k)) is None
    assert (Knobs().context, Knobs().batch) == (4096, 64)
    assert broken(LARGE) is None and widget.worse(LARGE, result(LARGE))
    assert [broken(k).cause for k in (H20, RESERVED, REFUSED)] == [widget.REREAD, widget.RESERVED, widget.REFUSED]


def test_the_page_tells_every_cause_that_is_to_be_found():
    causes = {widget.broken(k, result(k)).cause for k in widget.PRESETS.values() if widget.broken(k, result(k))}
    assert causes == {widget.RESERVED, widget.REREAD, widget.REFUSED}


def test_sharing_moves_the_edge_and_not_the_curve():
    default, shared = result(Knobs()), result(SHARED)
    assert shared.fits > default.fits and shared.tokens_per_second == default.tokens_per_second
    for other in map(result, (ONE_HEAD, EIGHT_BITS)):
        assert other.fits > default.fits and other.tokens_per_second > default.tokens_per_second


@pytest.mark.when_changed()
def test_the_simulator_and_the_widget_agree_with_a_program_that_knows_nothing_of_them():
    again, share = every_sequence(LARGE)
    assert at_once(LARGE) == pytest.approx((again, share), rel=0.05)
    assert result(LARGE).fits == 104 and result(LARGE).reread == pytest.approx(again, rel=1 / 6)


@pytest.mark.when_changed()
def test_eviction_costs_more_than_a_quarter_of_the_speed_where_work_takes_the_time():
    _, share = every_sequence(H20)
    assert iteration(LLAMA, machine_knobs.accelerator(H20), 261, 261 * 2048).bound == "compute"
    assert 0.25 < share < widget.lost(H20, result(H20)) < 7 / 6 * share
    assert H100.flops() / machine_knobs.accelerator(H20).flops() == pytest.approx(7, abs=0.5)


def test_a_reservation_leaves_four_fifths_of_the_memory_empty():
    r = result(RESERVED)
    assert 1 - r.tokens / r.slots == pytest.approx(0.8, abs=0.005)


def test_a_short_context_is_bound_by_compute():
    assert iteration(SMALL, H100, 2768, 2768 * 256).bound == "compute"
    assert widget.broken(SHORT, result(SHORT)) is None
    assert iteration(LLAMA, H100, 1024, 1024 * 256).bound == "compute"
    seconds = 1024 * (2 * P + 524_288 * 256) / (0.6 * H100.flops()) + 1.5e-3
    assert result(SHORT).tokens_per_second == pytest.approx(1024 / seconds, abs=0.5)
