"""Sessions of several turns against sums by hand and Little's law."""

from dataclasses import replace

import pytest

from sim.cluster import throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.turns import DROP, HOLD, OFFLOAD, Session, steady

TEN = Session(turns=10, generated=2000, returned=1000, tool_seconds=20, prompt=8192, siblings=8)
MODEL, H100 = MODELS["qwen3-30b-a3b"], ACCELERATORS["h100"]
TOKEN = float(throughput.iteration_seconds(MODEL, H100, 0, 0, 8192, TEN.context / 2, tensor_parallel=4)) / 8192
MOVED = float(MODEL.cache_bytes(1)) / (4 * 0.8 * 64e9)


def engine(session, bound, room=149.0):
    def pass_seconds(n):
        return throughput.iteration_seconds(MODEL, H100, n, n * session.context, tensor_parallel=4)

    return steady(session, pass_seconds, TOKEN, room, bound, MOVED)


def test_tokens_of_ten_turns_by_hand():
    assert TEN.trained == 8192 + 10 * 2000 + 9 * 1000
    assert TEN.context == 8192 + 9 * 1500 + 1000  # half of nine turns lies before a token, and half of its own answer
    assert TEN.read == 8192 / 8 + 9 * 1000
    # dropped: at turn j = 1 … 9 the prompt and j times (2,000 + 1,000) are read again, the share of the prompt once
    assert replace(TEN, reuse=DROP).read == 8192 / 8 + sum(8192 + 3000 * j for j in range(1, 10))
    assert replace(TEN, reuse=OFFLOAD).moved == sum(8192 + 3000 * j for j in range(1, 10))


def test_one_turn_is_a_plain_completion():
    one = Session(turns=1, generated=2000, returned=0, tool_seconds=20, prompt=512, siblings=16)
    assert one.trained == 2512 and one.context == 1512 and one.read == 32
    assert replace(one, reuse=DROP).read == 32 and replace(one, reuse=OFFLOAD).moved == 0


# A separate prototype of the same system, 30B-A3B on four H100: sessions a second, to two digits
@pytest.mark.parametrize(
    "reuse, bound, ended", [(HOLD, 128, 0.161), (DROP, 128, 0.129), (HOLD, 1024, 0.168), (OFFLOAD, 1024, 0.176)]
)
def test_sessions_that_an_engine_ends(reuse, bound, ended):
    assert engine(replace(TEN, reuse=reuse), bound).sessions_per_second == pytest.approx(ended, rel=0.02)


def test_little():
    for reuse in (HOLD, DROP, OFFLOAD):
        state = engine(replace(TEN, reuse=reuse), 128)
        assert state.alive == pytest.approx(state.sessions_per_second * state.session_seconds)
        assert state.alive <= 128 * (1 + 1e-9)


def test_a_held_cache_counts_while_its_tool_runs():
    held, offloaded = engine(TEN, 1024), engine(replace(TEN, reuse=OFFLOAD), 1024)
    assert held.alive == pytest.approx(149) and held.decoding < 149
    assert offloaded.decoding == pytest.approx(149) and offloaded.alive > 149


def test_an_engine_divides_its_seconds_between_writing_and_reading():
    state = engine(replace(TEN, reuse=DROP), 128)
    writing = TEN.written * float(
        throughput.iteration_seconds(MODEL, H100, state.decoding, state.decoding * TEN.context, tensor_parallel=4)
    )
    active = state.session_seconds - 9 * 20
    assert writing / active + state.reading == pytest.approx(1)


def test_a_slow_tool_costs_sessions_only_where_their_number_is_bound():
    slow = replace(TEN, reuse=OFFLOAD, tool_seconds=200)
    assert engine(slow, 1e9).sessions_per_second == pytest.approx(
        engine(replace(TEN, reuse=OFFLOAD), 1e9).sessions_per_second
    )
    assert engine(slow, 128).sessions_per_second < engine(replace(TEN, reuse=OFFLOAD), 128).sessions_per_second
