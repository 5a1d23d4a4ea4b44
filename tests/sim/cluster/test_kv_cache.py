import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.cluster.kv_cache import (
    BlockAllocator,
    RadixCache,
    expected_utilization,
    fragmentation,
    max_in_groups,
    shared_fraction,
    slots_per_sequence,
    token_passes,
)

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


def test_the_map_shows_how_full_each_block_is_and_who_reads_it():
    pool = BlockAllocator(6, 16)
    pool.append("a", 40)
    pool.fork("a", "b", 32)
    references, fill = pool.map()
    assert references.tolist() == [2, 2, 1, 0, 0, 0] and fill.tolist() == [1, 1, 0.5, 0, 0, 0]


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
