import math

import pytest

from rlpt.planning import calibration, measured, planner, validation
from rlpt.planning.validation import compared, law_of
from sim.cluster import fabric, step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS


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
        tokens = row.prompts * row.samples * (measured.PROMPT + row.mean)
        flat = throughput.update_seconds(row.model, ACCELERATORS[row.accelerator], row.gpus, tokens)
        assert flat == pytest.approx(row.update, rel=1e-3)
    by_hand = 6 * 7_615_616_512 * 8192 * 1365 / (32 * 148e12 * 0.4)
    assert by_hand == pytest.approx(rows[0].update, rel=1e-3)


def test_an_input_is_no_evidence():
    shown = {(c.row.name, c.role) for c in compared()}
    assert not {(row.name, "update") for row in measured.PUBLISHED if row.length_from_update} & shown
    # steps; roles of verl's first rows, of Miles, of NeMo RL 0.3, of the 671B, and of FSDP beside Megatron
    assert len(shown) == len(compared()) == 62 + 5 + 13 + 12 + 1 + 22


# The prototype of the same formulas: seconds of a step with the faster way of moving weights. Its rows of a release,
# chip and recipe, in one pool and in two
PROTOTYPE = {
    ("NeMo RL 0.4", "h100"): [(63, 53), (94, 89), (217, 206), (105, 91), (228, 145)],
    ("NeMo RL 0.5", "h100"): [(62, 53), (94, 89), (218, 207), (103, 92), (231, 147)],
    ("NeMo RL 0.5", "gb200"): [(42, 42), (88, 83), (155, 136), (87, 63), (224, 108)],
}
RECIPES = ("8B", "DeepSeek-V3", "235B-A22B", "30B-A3B", "32B")


@pytest.mark.parametrize("release, chip", PROTOTYPE)
def test_a_prototype_that_shares_no_code_says_the_same(release, chip, monkeypatch):
    # it has no host in its engines, no factors, and sends weights at 23 GB/s
    monkeypatch.setattr(fabric, "BROADCAST", fabric.BROADCAST._replace(bytes_per_second=23e9))
    monkeypatch.setitem(fabric.TRANSFERS, "broadcast", fabric.BROADCAST)
    found = {
        row.name: validation.predicted(row, throughput.ASSUMED, calibration.Factors())["step"]
        for row in measured.PUBLISHED
        if row.source == release and row.computed
    }
    for recipe, both in zip(RECIPES, PROTOTYPE[release, chip]):
        names = [name for name in found if name.startswith(f"{release}, {recipe} on ") and chip.upper() in name]
        for seconds, name in zip(both, sorted(names, key=lambda name: "off" in name)):
            if name != "NeMo RL 0.4, 30B-A3B on 32 H100":  # it took engines of two, as the recipe of the next release
                assert found[name] == pytest.approx(seconds, rel=0.045), name


def test_the_factors_are_the_geometric_means_of_the_releases_that_they_were_fitted_on():
    for placed in (False, True):
        fitted = [
            c for c in validation.steps() if c.row.source in validation.BEFORE and (c.row.generating > 0) == placed
        ]
        assert validation.spread(fitted).mean == pytest.approx(1.0, abs=0.01)


def test_steps_that_nothing_was_fitted_on_are_predicted_within_a_factor_of_one_and_a_half():
    since = validation.spread(c for c in validation.steps() if c.row.source == "NeMo RL 0.6")
    assert 1 / 1.15 < since.mean < 1.15 and since.factor < 1.35
    unfitted = validation.spread(validation.unfitted())
    assert 1 / 1.15 < unfitted.mean < 1.15 and unfitted.factor < 1.5


TOKENS = ("NeMo RL 0.6, 30B-A3B on 192 H100, eight steps off", 1025)


def test_every_row_of_a_release_is_there():
    def count(source):
        return sum(row.source == source for row in measured.PUBLISHED)

    assert (count("NeMo RL 0.4"), count("NeMo RL 0.5"), count("verl async"), count("verl v1")) == (10, 23, 8, 3)
    assert count("NeMo RL 0.6") == 10 + 1 + 8  # its tables on H100, on H100 in fp8, on GB200
    uncomputed = [row.name for row in measured.PUBLISHED if not row.computed]
    assert uncomputed == [
        "NeMo RL 0.5, DAPO, DeepSeek-V3 on 512 H100",
        "NeMo RL 0.6, SWE, Nemotron-3-Nano on 128 H100, one step off",
    ]
    assert validation.within(1e9) == (67, 69)  # which count as misses
    # tokens of a completion and of an assumed prompt, a second and GPU, as the table has them beside its seconds
    for name, printed in (("NeMo RL 0.4, 8B on 16 H100", 1562), ("NeMo RL 0.4, 32B on 32 H100", 540), TOKENS):
        row = next(row for row in measured.PUBLISHED if row.name == name)
        tokens = row.prompts * row.samples * (row.mean + measured.PROMPT)
        assert tokens / row.step / row.gpus == pytest.approx(printed, rel=0.01)


def test_pairs_differ_in_one_thing():
    for pair in validation.pairs("placement"):
        assert (
            pair.before.row.accelerator == pair.after.row.accelerator and pair.before.row.model == pair.after.row.model
        )
    assert {pair.before.row.source for pair in validation.pairs("chip")} == {"NeMo RL 0.5"}


def test_rows_name_sources_and_models_that_are_there():
    for row in measured.PUBLISHED:
        assert row.source in measured.SOURCES and row.mean < row.longest
        assert row.generating < row.gpus and (row.generating > 0) == (row.overlap in ("one-off", "async"))
    # Qwen3-32B: 64 (5120·(2·8192 + 2·1024) + 2·128 + 3·5120·25600 + 2·5120) + 2·5120·151936 + 5120
    by_hand = 64 * (5120 * (2 * 8192 + 2 * 1024) + 256 + 3 * 5120 * 25600 + 10240) + 2 * 5120 * 151936 + 5120
    assert measured.QWEN3_32B.params() == by_hand == 32_762_123_264
    assert MODELS["qwen2.5-7b"].params() == 7_615_616_512


def test_no_published_role_is_faster_than_the_chip():
    for one in compared():
        if one.role != "step":
            least = planner.floor(validation.scenario(one.row))
            rollout = step.seconds(least, "rollout", one.row.overlap)
            at_least = dict(generate=rollout, log_probs=least.log_probs, update=least.train)
            assert one.published >= at_least[one.role], (one.row.name, one.role)
