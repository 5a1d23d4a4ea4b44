import pytest

from rlpt.planning import peaks
from sim.cluster import memory
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import Engine, Training
from sim.cluster.models import MODELS


def test_published_peaks_of_adapters_lie_a_little_above_the_sum():
    # what is left out, the CUDA context and what an allocator keeps, is about a GB
    mean, factor = peaks.spread()
    assert 1.0 < mean < 1.2 and factor < 1.15
    assert all(0.9 < peak.ratio < 1.4 for peak in peaks.PEAKS)


def test_every_peak_names_a_source_and_stands_in_the_table():
    assert {peak.source for peak in peaks.PEAKS} == set(peaks.SOURCES)
    assert len(peaks.table().splitlines()) == len(peaks.PEAKS)


def test_the_parts_of_a_qlora_by_hand():
    # Llama-2-7B: 6,476,005,376 weights in matrices at 4.127 bits, 262,410,240 others in bf16; rank 8 on 32 layers of
    # 4 · (4,096 + 4,096) + 3 · (4,096 + 11,008), 16 bytes each
    llama = MODELS["llama2-7b"]
    adapters = 8 * 32 * (4 * 2 * 4096 + 3 * (4096 + 11008))
    by_hand = 6_476_005_376 * 4.127 / 8 + 2 * (llama.params() - 6_476_005_376) + 16 * adapters
    job = Training(1, ledger=memory.FSDP, adapters=8, four_bits=True)
    assert memory.policy_bytes(llama, job) == pytest.approx(by_hand)


def test_the_cache_of_a_published_engine_is_met():
    # vLLM, pull request 10511: Llama-3-8B in bf16 at nine tenths of 79.22 GiB leaves 53.29 GiB for the cache
    room = memory.engine_room(MODELS["llama3.1-8b"], ACCELERATORS["h100"], Engine())
    assert room == pytest.approx(53.29 * 2**30, rel=0.03)
