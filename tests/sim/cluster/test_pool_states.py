import numpy as np
import pytest

from sim.cluster import pool_states, scheduling
from sim.cluster.kv_cache import BlockAllocator
from sim.cluster.scheduling import Policy, Request


def STEP(n, kv_tokens, prefill=0, context=0):
    return 1.0


REQUESTS = [Request(20, length, group) for group in range(3) for length in (30, 90, 60, 12)]
POLICIES = [
    Policy(batch=12, chunk=0, prefix=False),
    Policy(batch=12, chunk=0, prefix=True),
    Policy(batch=12, chunk=0, reserve=160, prefix=False),
]


def recorded(policy, blocks=30):
    return pool_states.recorded(REQUESTS, STEP, blocks, 16, policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_block_is_held_by_the_sequences_in_whose_tables_it_stands(policy):
    _, states = recorded(policy)
    for state in states:
        held = pool_states.owners(state, 30)
        assert sorted(s for block in held for s, _ in block) == sorted(
            s for s, table in state.tables.items() for _ in table
        )
        assert set(state.tables) == set(state.running) and not set(state.running) & set(state.waiting)
        assert len(state.running) + len(state.waiting) + state.finished == len(REQUESTS)
        assert policy.prefix or max(map(len, held)) <= 1


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_that_is_watched_is_the_run(policy):
    trace, states = recorded(policy)
    plain = scheduling.run(REQUESTS, STEP, BlockAllocator(30, 16), policy, stride=1)
    np.testing.assert_array_equal(trace.seconds, plain.seconds)
    assert trace.preemptions == plain.preemptions and states[-1].seconds == trace.makespan
    assert states[-1].finished == len(REQUESTS) and not states[-1].tables


def test_a_reservation_for_the_longest_holds_ten_blocks_from_the_start():
    _, states = recorded(POLICIES[2])
    assert all(len(table) == 10 for state in states for table in state.tables.values())  # 160 / 16
    assert max(len(state.running) for state in states) == 3  # thirty blocks


def test_blocks_hold_what_was_written_and_never_more():
    _, states = recorded(POLICIES[0])
    for state in states:
        for s, table in state.tables.items():
            inside = sum(pool_states.tokens_in(state, s, place, 16) for place in range(len(table)))
            assert inside == min(state.known[s], 16 * len(table))


def test_what_an_evicted_sequence_held_is_remembered_while_it_waits():
    """Two are evicted at once, after the twelfth step: the blocks of both were theirs before it."""
    _, states = recorded(POLICIES[0])
    first = next(i for i, state in enumerate(states) if state.evicted)
    until = states[first].seconds
    lost = pool_states.lost(states, until - 1, until)
    assert set(lost) == set(pool_states.at(states, until).evicted) == {10, 11}
    assert lost == {s: states[first - 1].tables[s] for s in lost}
    assert pool_states.lost(states, 0, until - 1) == {}


def test_the_state_at_a_time_is_the_last_that_began():
    _, states = recorded(POLICIES[0])
    assert pool_states.at(states, 0.0).seconds == 0.0
    assert pool_states.at(states, states[3].seconds + 0.5).seconds == states[3].seconds
