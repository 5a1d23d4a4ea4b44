from dataclasses import replace
from math import isinf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.cluster.hardware import ACCELERATORS
from sim.cluster.kv_cache import (
    BlockAllocator,
    RadixCache,
    capacity,
    crossover_context,
    crossover_with_attention,
    decode_roofline,
    expected_utilization,
    fragmentation,
    max_in_groups,
    max_sequences,
    serve_trace,
    shared_fraction,
    slots_per_sequence,
    token_passes,
    unlimited_batch_intensity,
)
from sim.cluster.models import MODELS

LLAMA, LLAMA_70B, DEEPSEEK = MODELS["llama3.1-8b"], MODELS["llama3.1-70b"], MODELS["deepseek-v3"]
H100, H200 = ACCELERATORS["h100"], ACCELERATORS["h200"]


# How many tokens fit


@pytest.mark.parametrize(
    "model, accelerator, tensor_parallel, tokens, sequences",
    [
        (LLAMA, H100, 1, 426_784, 104),  # (0.9 x 80e9 - 2 x 8 030 261 248) / 131 072 = 426 784.3
        (LLAMA_70B, H100, 8, 1_327_186, 324),  # (0.9 x 640e9 - 2 x 70 553 706 496) / 327 680 = 1 327 186.9
        (
            MODELS["llama2-7b"],
            ACCELERATORS["a100_80"],
            1,
            111_624,
            27,
        ),  # (0.9 x 80e9 - 2 x 6 738 415 616) / 524 288 = 111 624.1
    ],
)
def test_what_the_weights_leave_is_the_room_for_the_cache(model, accelerator, tensor_parallel, tokens, sequences):
    assert capacity(model, accelerator, tensor_parallel, 0.9) == tokens
    assert max_sequences(tokens, 4096) == sequences


@pytest.mark.parametrize("cached_heads, sequences", [(32, 26), (8, 104), (1, 833)])
def test_fewer_kv_heads_hold_more_sequences(cached_heads, sequences):
    # 55.94e9 bytes / (4096 x 524 288, 131 072, 16 384)
    assert max_sequences(capacity(replace(LLAMA, cached_heads=cached_heads), H100), 4096) == sequences


def test_eight_bit_keys_and_values_double_the_sequences():
    assert capacity(LLAMA, H100, kv_bytes=1) == pytest.approx(2 * capacity(LLAMA, H100), abs=1)


def test_weights_that_do_not_fit_leave_less_than_nothing():
    assert capacity(LLAMA_70B, H100) < 0 and max_sequences(capacity(LLAMA_70B, H100), 4096) == 0


def test_more_gpus_than_kv_heads_copy_the_cache_instead_of_cutting_it():
    qwen = MODELS["qwen2.5-7b"]  # 4 KV heads: on 8 GPUs each GPU still holds a quarter
    room = 0.9 * 80e9 - 2 * qwen.params() / 8
    assert capacity(qwen, H100, 8) == int(room / (qwen.kv_bytes_per_token() / 4))


def test_the_latent_is_copied_to_every_gpu():
    room = 0.9 * 141e9 - DEEPSEEK.params() / 8
    assert capacity(DEEPSEEK, H200, 8, weight_bytes=1) == int(room / 70_272)


# What reading them costs


@pytest.mark.parametrize("batch, tokens_per_second", [(1, 205.157), (64, 6449.98), (256, 10115.59)])
def test_a_batch_reads_the_weights_once_and_every_cache(batch, tokens_per_second):
    # 3.35e12 B / (2 x 8 030 261 248 + B x 2048 x 131 072) s
    decode = decode_roofline(LLAMA, H100, batch, 2048)
    assert decode.bound == "memory"
    assert decode.tokens_per_second == pytest.approx(tokens_per_second, rel=1e-5)


def test_without_a_cache_the_batch_turns_compute_bound_at_the_ridge():
    assert decode_roofline(LLAMA, H100, 295, 0).bound == "memory"  # 989.4e12 / 3.35e12 = 295.34 FLOP a byte, bf16
    assert decode_roofline(LLAMA, H100, 296, 0).bound == "compute"


def test_tokens_per_second_never_fall_with_the_batch():
    batch = 2.0 ** np.arange(13)
    for context in (128, 4096, 131072):
        decode = decode_roofline(LLAMA, H100, batch, context)
        waits = (decode.memory_seconds > decode.compute_seconds)[1:]
        gain = np.diff(decode.tokens_per_second) / decode.tokens_per_second[1:]
        assert (gain[waits] > 0).all() and (gain > -1e-12).all()  # flat where the chip computes without a pause


def test_the_cache_is_all_that_is_read_in_the_end():
    share = decode_roofline(LLAMA, H100, 4096, 4096).kv_share
    assert share == pytest.approx(4096 * 4096 * 131072 / (4096 * 4096 * 131072 + 2 * LLAMA.params()), rel=1e-12)


@pytest.mark.parametrize(
    "model, accelerator, tensor_parallel, context",
    [
        (LLAMA, H100, 1, 414.880),
        (LLAMA_70B, H100, 1, 1458.051),
        (LLAMA_70B, H100, 8, 1458.051),
        (LLAMA, H200, 1, 594.455),
    ],
)
def test_beyond_the_crossover_no_batch_is_bound_by_compute(model, accelerator, tensor_parallel, context):
    # 2P / (KV bytes a token x FLOP/s / bytes/s): 16 060 522 496 / (131 072 x 295.343)
    assert crossover_context(model, accelerator, tensor_parallel) == pytest.approx(context, abs=5.1e-4)


def test_the_crossover_separates_compute_from_memory_at_any_batch():
    context = crossover_with_attention(LLAMA, H100)
    assert decode_roofline(LLAMA, H100, 1e9, context * 0.99).bound == "compute"
    assert decode_roofline(LLAMA, H100, 1e9, context * 1.01).bound == "memory"


def test_attention_of_its_own_moves_the_crossover_by_six_tokens_for_grouped_heads():
    # 2P / (131 072 x 295.343 - 4 x 32 x 4096) = 420.576
    assert crossover_with_attention(LLAMA, H100) == pytest.approx(420.576, abs=1e-3)


def test_latent_attention_is_above_the_ridge_of_an_h200_at_every_context():
    # 2 x 128 x (576 + 512) / 1152 = 241.8 FLOP a byte, against 206.1
    assert isinf(crossover_with_attention(DEEPSEEK, H200))
    assert unlimited_batch_intensity(DEEPSEEK, 1e9) == pytest.approx(2 * 128 * (576 + 512) / 1152, rel=1e-3)
    assert decode_roofline(DEEPSEEK, H200, 1e6, 131072).bound == "compute"


def test_tensor_parallelism_copies_the_latent_and_brings_the_crossover_back():
    assert crossover_with_attention(DEEPSEEK, H200, tensor_parallel=8) < 1000


def test_grouped_attention_ends_at_the_query_heads_per_kv_head():
    assert unlimited_batch_intensity(LLAMA, 1e9) == pytest.approx(4, rel=1e-3)  # H / H_kv = 32 / 8


# What is reserved and not used


def test_reserving_the_longest_completion_uses_a_fifth():
    # E[min(X, 8192)] / 8192, X lognormal(ln 1200, 0.8), in closed form
    assert expected_utilization(1200, 0.8, 8192) == pytest.approx(0.19887, abs=5e-6)
    lengths = np.minimum(np.random.default_rng(0).lognormal(np.log(1200), 0.8, 20_000), 8192)
    assert fragmentation(lengths, 8192) == pytest.approx(0.195, abs=0.01)


def test_blocks_of_sixteen_use_all_but_half_a_percent():
    lengths = np.ceil(np.minimum(np.random.default_rng(0).lognormal(np.log(1200), 0.8, 20_000), 8192))
    used = [fragmentation(lengths, 8192, block) for block in (1, 16, 64, 256)]
    assert used[0] == 1 and used[1] > 0.994
    assert used == sorted(used, reverse=True) and used[3] < 0.94  # 127.5 of 1 630 slots: 7 %


def test_a_sequence_wastes_half_a_block():
    lengths = np.arange(4096, 4096 + 16 * 256)  # evenly over the last block, as assumed
    for block in (1, 16, 256):
        assert np.mean(np.ceil(lengths / block) * block) == pytest.approx(
            slots_per_sequence(np.mean(lengths), block), rel=1e-12
        )


@pytest.mark.parametrize("prompt, K, completion, fraction", [(1024, 8, 2000, 0.704), (4096, 64, 512, 0.125)])
def test_a_group_keeps_its_prompt_once(prompt, K, completion, fraction):
    assert shared_fraction(prompt / (prompt + completion), K) == pytest.approx(
        (prompt + K * completion) / (K * (prompt + completion)), rel=1e-12
    )
    assert shared_fraction(prompt / (prompt + completion), K) == pytest.approx(fraction, abs=5e-4)
    assert slots_per_sequence(prompt + completion, 1, prompt, K) == pytest.approx(
        fraction * (prompt + completion), rel=1e-3
    )


# Blocks


def test_a_sequence_takes_a_block_when_the_last_one_is_full():
    pool = BlockAllocator(4, 16)
    for n, blocks in ((16, 1), (1, 2), (15, 2), (1, 3)):
        assert pool.append("a", n) and len(pool.tables["a"]) == blocks
    assert pool.lengths["a"] == 33 and pool.used == 48


def test_a_request_that_does_not_fit_changes_nothing():
    pool = BlockAllocator(2, 16)
    assert pool.append("a", 20) and not pool.append("b", 1) and not pool.append("a", 13)
    assert pool.tables == {"a": pool.tables["a"]} and pool.lengths == {"a": 20}
    assert pool.append("a", 12)


def test_blocks_need_not_lie_side_by_side():
    pool = BlockAllocator(4, 16)
    for sequence in "abcd":
        pool.append(sequence, 16)
    pool.free("a")
    pool.free("c")
    assert pool.append("e", 32)  # 2 blocks, and no 2 neighbors are free
    assert sorted(pool.tables["e"]) == [0, 2]


def test_a_fork_takes_no_room_until_it_writes():
    pool = BlockAllocator(8, 16)
    pool.append("a", 40)  # 2 full blocks and 8 tokens of a third
    pool.fork("a", "b", 40)
    assert pool.used == 48 and pool.saved == 48 and pool.tokens == 80
    pool.append("b", 1)
    assert pool.used == 64 and pool.saved == 32  # the half-full block was copied, the full ones are read by both
    assert pool.tables["a"][:2] == pool.tables["b"][:2] and pool.tables["a"][2] != pool.tables["b"][2]
    pool.append("a", 1)
    assert pool.used == 64  # nobody else reads that block any more


def test_a_shared_block_outlives_its_first_owner():
    pool = BlockAllocator(4, 16)
    pool.append("a", 32)
    pool.fork("a", "b", 32)
    pool.free("a")
    assert pool.used == 32 and pool.saved == 0
    pool.free("b")
    assert pool.used == 0 and sorted(pool.free_blocks) == [0, 1, 2, 3]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 5),
    st.lists(
        st.tuples(
            st.sampled_from(["append", "fork", "free"]), st.integers(0, 4), st.integers(0, 4), st.integers(1, 12)
        ),
        max_size=60,
    ),
)
def test_no_block_is_lost_or_written_by_two(block, actions):
    pool = BlockAllocator(12, block)
    for action, sequence, other, n in actions:
        if action == "append":
            pool.append(sequence, n)
        elif action == "fork" and sequence in pool.tables and other not in pool.tables:
            pool.fork(sequence, other, min(n, pool.lengths[sequence]))
        elif action == "free" and sequence in pool.tables:
            pool.free(sequence)
        tables = [b for table in pool.tables.values() for b in table]
        assert (
            sorted({*tables, *pool.free_blocks}) == list(range(12)) and len(pool.free_blocks) + len(set(tables)) == 12
        )
        assert [pool.references[b] for b in range(12)] == [tables.count(b) for b in range(12)]
        assert all(len(table) == -(-pool.lengths[sequence] // block) for sequence, table in pool.tables.items())
        assert pool.saved == (len(tables) - len(set(tables))) * block


# The prefix tree

SYSTEM = list(range(100, 132))


def test_the_same_beginning_is_found_in_whole_blocks():
    cache = RadixCache(16)
    cache.insert(SYSTEM + [1] * 20)
    assert cache.match(SYSTEM + [1] * 16 + [2] * 4) == 48
    assert cache.match(SYSTEM + [2] * 16) == 32
    assert cache.match(SYSTEM[:31]) == 16


def test_the_same_tokens_after_another_beginning_are_another_block():
    cache = RadixCache(4)
    cache.insert([1, 1, 1, 1, 7, 7, 7, 7])
    assert cache.match([2, 2, 2, 2, 7, 7, 7, 7]) == 0
    assert cache.match([7, 7, 7, 7]) == 0


def test_common_blocks_are_kept_once():
    cache = RadixCache(16)
    cache.insert(SYSTEM + [1] * 16)
    cache.insert(SYSTEM + [2] * 16)
    assert len(cache) == 4


def test_the_least_recently_used_leaf_goes_first():
    cache = RadixCache(16)
    cache.insert(SYSTEM + [1] * 16)
    cache.insert(SYSTEM + [2] * 16)
    cache.match(SYSTEM + [1] * 16)
    cache.evict(1)
    assert cache.match(SYSTEM + [2] * 16) == 32 and cache.match(SYSTEM + [1] * 16) == 48


def test_what_a_sequence_reads_is_not_evicted():
    cache = RadixCache(16)
    cache.insert(SYSTEM + [1] * 16)
    cache.hold(SYSTEM)
    cache.evict(10)
    assert cache.match(SYSTEM + [1] * 16) == 32
    cache.hold(SYSTEM, -1)
    cache.evict(10)
    assert len(cache) == 0


# An engine at work


def engine(batch, slots=3200, block=16, K=4, sharing=False, prefill_seconds=1e-4):
    """40 completions of 100 to 300 tokens after prompts of 100, one slot-second per token read: what is counted does
    not depend on the clock.
    """
    lengths = 100 + np.random.default_rng(0).integers(100, 300, 40)
    trace = serve_trace(
        lengths, 100, K, slots, block, batch, lambda n, tokens: 0.01 + 1e-5 * tokens, prefill_seconds, sharing, stride=7
    )
    return trace, float((lengths - 100).sum() / trace.seconds[-1])


def test_a_batch_that_fits_is_never_evicted():
    trace, _ = engine(batch=8)  # 8 x 400 tokens at most, of 3200
    assert trace.evictions.sum() == 0 and trace.recomputed == 0 and trace.live.max() == 8


def test_a_batch_beyond_the_pool_evicts_and_reads_again():
    trace, _ = engine(batch=40)
    assert trace.evictions.sum() > 0 and trace.recomputed > 0 and 0 < trace.recompute_share < 1
    assert trace.used.max() <= 3200


def test_reading_again_costs_speed_and_nothing_crashes():
    slow = 0.003  # seconds to read a token: as dear as decoding it
    (fits, speed), (over, thrash) = engine(10, prefill_seconds=slow), engine(40, prefill_seconds=slow)
    assert fits.evictions.sum() == 0 < over.recomputed
    assert thrash < 0.97 * speed


def test_a_shared_prompt_saves_room_and_evictions():
    (alone, _), (shared, _) = engine(16), engine(16, sharing=True)
    assert alone.saved.max() == 0 < shared.saved.max()
    assert shared.evictions.sum() < alone.evictions.sum()


def test_reservation_is_paging_with_one_block_a_sequence():
    trace, _ = engine(batch=40, block=400)
    assert trace.live.max() == 8 and trace.evictions.sum() == 0  # nothing grows, so nothing is evicted, and 32 wait
    assert (trace.wasted / trace.used).mean() > 0.4


def test_slots_are_used_or_wasted_and_the_map_agrees():
    for block, sharing in ((16, False), (16, True), (64, True)):
        trace, _ = engine(batch=12, block=block, sharing=sharing)
        assert ((trace.wasted >= 0) & (trace.wasted < trace.used)).all()
        fullest = int(np.argmax(trace.used - trace.wasted))
        assert trace.slots == len(trace.references) * block
        assert trace.used[fullest] == (trace.references > 0).sum() * block
        assert trace.wasted[fullest] == pytest.approx(block * ((trace.references > 0) - trace.fill).sum())


def test_every_event_is_later_than_the_one_before():
    trace, _ = engine(batch=40)
    assert (np.diff(trace.seconds) > 0).all()


# What a cache is for


def test_without_a_cache_every_step_starts_over():
    assert [token_passes(n, cached=False) for n in (1, 2, 3, 4096)] == [1, 3, 6, sum(range(4097))]
    assert token_passes(4096, cached=True) == 4096


# Groups


@given(tokens=st.integers(0, 500), own=st.integers(1, 40), shared=st.integers(0, 90), K=st.integers(1, 9))
def test_what_fits_in_groups_is_what_can_be_counted_out_one_by_one(tokens, own, shared, K):
    n = 0
    while -(-(n + 1) // K) * shared + (n + 1) * own <= tokens:  # a begun group needs its whole prompt
        n += 1
    assert max_in_groups(tokens, own, shared, K) == n


def test_weights_that_leave_no_room_hold_no_group():
    assert max_in_groups(-1000, 10, 5, 4) == 0


def test_a_prompt_larger_than_the_pool_is_an_error_and_not_a_wait_for_ever():
    seconds = lambda n, tokens: n
    with pytest.raises(ValueError, match="no room for a prompt of 100 tokens"):
        serve_trace([120], 100, 1, 64, 16, 4, seconds, 1.0, True, 1)
