import math

import pytest

from sim.cluster import measured, validation
from sim.cluster.models import MODELS
from sim.cluster.validation import compared, law_of, predicted


def test_a_law_of_a_mean_has_it_below_its_limit():
    assert law_of(1000, 10**9).p50 == pytest.approx(1000 / math.exp(0.32), rel=1e-6)  # e^(σ²/2) uncut
    assert law_of(5700, 8192).mean == pytest.approx(5700)
    with pytest.raises(ValueError, match="no mean"):
        law_of(9000, 8192)


def test_the_length_that_follows_from_an_update_gives_it_back():
    # 6PN over GPUs x peak x MFU: 6 x 7,615,616,512 x 8,192 x 1,365 / (32 x 148e12 x 0.4)
    rows = [row for row in measured.PUBLISHED if row.length_from_update]
    assert [row.gpus for row in rows] == [32, 128]
    for row in rows:
        assert predicted(row)["update"] == pytest.approx(row.update, rel=1e-3)
    by_hand = 6 * 7_615_616_512 * 8192 * 1365 / (32 * 148e12 * 0.4)
    assert predicted(rows[0])["update"] == pytest.approx(by_hand, rel=1e-9)


def test_an_input_is_no_evidence():
    shown = {(c.row.name, c.role) for c in compared()}
    assert not {(row.name, "update") for row in measured.PUBLISHED if row.length_from_update} & shown
    assert len(shown) == len(compared()) == 26


def test_dense_steps_come_out_too_short_and_small_experts_much_more():
    steps = {c.row.name: c.ratio for c in compared() if c.role == "step"}
    dense = [c.ratio for c in compared() if c.role == "step" and not c.row.model.moe]
    assert len(steps) == 13 and len(dense) == 5
    assert all(1.1 < ratio < 1.8 for ratio in dense)
    assert all(ratio > 1.8 for name, ratio in steps.items() if "A3B" in name)
    # two rows whose engines reach over the NIC come out too long
    assert all(steps[name] < 1 for name in steps if "235B" in name or "V3" in name)


@pytest.mark.parametrize(
    "name, seconds",
    # a script that shares no code, to some per cent: its prompts and its order of lengths are its own
    [
        ("NeMo RL, 8B on 16 H100", 61),
        ("NeMo RL, 32B on 32 H100", 223),
        ("NeMo RL, 30B-A3B on 32 H100", 64),
        ("NeMo RL, 235B-A22B on 128 H100", 610),
        ("Miles, 30B-A3B on 8 MI300X", 79),
    ],
)
def test_an_independent_script_says_the_same(name, seconds):
    row = next(row for row in measured.PUBLISHED if row.name == name)
    assert predicted(row)["step"] == pytest.approx(seconds, rel=0.05)


def test_rows_name_sources_and_models_that_are_there():
    for row in measured.PUBLISHED:
        assert row.source in measured.SOURCES and row.mean < row.longest
        assert row.generating < row.gpus and (row.generating > 0) == (row.overlap in ("one-off", "async"))
    # Qwen3-32B: 64 (5120·(2·8192 + 2·1024) + 2·128 + 3·5120·25600 + 2·5120) + 2·5120·151936 + 5120
    by_hand = 64 * (5120 * (2 * 8192 + 2 * 1024) + 256 + 3 * 5120 * 25600 + 10240) + 2 * 5120 * 151936 + 5120
    assert measured.QWEN3_32B.params() == by_hand == 32_762_123_264
    assert MODELS["qwen2.5-7b"].params() == 7_615_616_512
    assert validation.slowest(False) < validation.slowest(True)
