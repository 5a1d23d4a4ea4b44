"""What is assumed of a chip, held to two chips on which it was timed after it had been chosen."""

import pytest

from rlpt import calibrate
from rlpt.planning import calibrated
from sim.cluster import throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS


def test_rows_have_machine_versions_date_and_numbers_with_units_and_repeats():
    for row in calibrated.rows("one_layer"):
        assert calibrated.chip(row["machine"]).name == row["chip"]
        assert row["torch"] == "2.11.0+cu130" and row["date"] == "2026-11-26"
        assert [one["name"] for one in row["measured"] if one["repeats"] < 3] == []
        assert {one["unit"] for one in row["measured"]} == {"bytes/s", "FLOP/s", "s"}
    assert len({(row["machine"], row["model"]) for row in calibrated.rows("one_layer")}) == 8


def test_the_shares_follow_from_the_seconds_and_the_data_sheet():
    h100 = ACCELERATORS["h100"]  # 3.35 TB/s, 989.4 TFLOP/s, 64 GB/s from the host
    row = next(r for r in calibrated.rows("one_layer") if (r["chip"], r["model"]) == (h100.name, "Llama-3.1-8B"))
    told = {one["name"]: one for one in row["measured"]}
    # 64 sequences x 4,096 tokens x 8 heads x 128 x keys and values in bf16
    assert told["cache"]["bytes"] == 64 * 4096 * 8 * 128 * 2 * 2
    assert told["cache"]["share"] == pytest.approx(told["cache"]["bytes"] / 3.35e12 / told["cache"]["seconds"])
    # 218.1 million weights of a layer, 6 FLOP each a token
    assert told["training"]["flop"] == 6 * (6144 * 4096 + 4096 * 4096 + 3 * 4096 * 14336) * 8192
    assert told["training"]["share"] == pytest.approx(told["training"]["flop"] / 989.4e12 / told["training"]["seconds"])


def test_a_line_that_was_printed_is_the_one_that_the_row_lets_expect():
    for row in calibrated.rows("one_layer"):
        model = next(m for m in MODELS.values() if m.name == row["model"])
        reached = throughput.Efficiency(**row["efficiency"])
        sizes = calibrate.Sizes(**row["sizes"])
        assert calibrate.line(model, calibrated.chip(row["machine"]), reached, sizes) == row["timed"]


def test_whole_models_take_what_the_formulas_say_within_the_stated_bounds():
    ratios = {key: [] for key in ("decode", "llama3.1-8b", "qwen2.5-1.5b", "fused norms")}
    for one in calibrated.passes():
        kind = "fused norms" if one.fused_norms else one.model.key
        ratios["decode" if one.what == "decode" else kind].append(one.ratio)
    counts, bounds = (9, 5, 4, 3), ((0.9, 1.15), (1.0, 1.15), (1.35, 1.55), (1.0, 1.35))
    for found, count, (low, high) in zip(ratios.values(), counts, bounds):
        assert len(found) == count and low < min(found) and max(found) < high


def test_what_a_graph_holds_in_memory_is_weights_and_cache():
    for row in calibrated.rows("whole_model"):
        if row["what"] == "decode":
            model = MODELS[row["model"]]
            held = model.weight_bytes_read(1, 2) + row["sequences"] * model.bytes_read(row["tokens"])
            held += 0 if model.tied else 2 * model.vocab * model.hidden  # the table of embeddings, which is not read
            assert 1 < row["peak_bytes"] / held < 1.1
