import json
from dataclasses import fields, replace

import numpy as np
import pytest

from rlpt.planning import options
from tests.widgets import expected
from tests.widgets.catalogue import fixed
from widgets.frame.contract.values import knobs_from
from widgets.frame.reader import host
from widgets.memory import widget
from widgets.memory.widget import PRESETS, Knobs


def result(**knobs):
    k = replace(Knobs(), **knobs)
    (r,) = widget.run(k)
    return k, r


def readouts(form):
    (frame,) = host.stream("memory", json.dumps(form))
    return {row["label"]: row["text"] for row in json.loads(frame)["readouts"]}


def test_eight_h100_hold_the_textbook_case():
    _, r = result()
    parts = {name: size / 1e9 for name, size in r.moments["update"].items() if size}
    # 16 P / 8, 2 P / 8, 34 · 32 · 8192 · 4096, 1024 · 128 256 · 10
    P = 8_030_261_248
    assert parts == pytest.approx(
        dict(state=2 * P / 1e9, reference=P / 4e9, activations=34 * 32 * 8192 * 4096 / 1e9, logits=1.3133), rel=1e-4
    )
    assert r.fewest == 5


def test_the_first_five_knobs_are_those_that_size_a_job():
    assert [f.name for f in fields(Knobs)][:5] == ["model", "accelerator", "gpus", "longest", "recompute"]


def test_a_newcomer_sizes_the_32_billion_by_its_form():
    form = dict(model="qwen2.5-32b", gpus="128", longest="8192", placement="two pools", reference="none")
    selective = readouts(form | dict(recompute="selective"))
    assert selective["Fullest moment of the trainer"] == "106.7 of 73.6"  # 8.2 + 97.0 + 1.6
    full = readouts(form | dict(recompute="full", p50="3000", p90="8192", p99="16384"))
    # test_envelope.py has this by hand: 8.19 + 7.22 + 1.56 GB, engines of two, 8 192 / 32 completions each
    assert full["Fullest moment of the trainer"] == "17.0 of 73.6"
    assert full["Sequences at once per engine"] == "97 of 256, TP 2"


def test_a_newcomer_sizes_a_config_that_no_preset_has():
    config = dict(model_type="qwen3", num_hidden_layers=40, hidden_size=5120, num_attention_heads=40)
    config |= dict(num_key_value_heads=8, head_dim=128, intermediate_size=17408, vocab_size=151936)
    k = knobs_from(Knobs, dict(config=json.dumps(config), gpus="32", recompute="full"))
    (r,) = widget.run(k)
    # by hand: queries and output, keys and values, two head norms; the MLP; two norms
    layer = 2 * 5120 * 5120 + 2 * 5120 * 1024 + 2 * 128 + 3 * 5120 * 17408 + 2 * 5120
    P = 40 * layer + 2 * 151936 * 5120 + 5120
    assert 14.7e9 < P < 14.8e9
    update = r.moments["update"]
    assert update["state"] == pytest.approx(16 * P / 32) and update["reference"] == pytest.approx(2 * P / 32)
    assert update["activations"] == pytest.approx((2 * 40 + 34) * 8192 * 5120)
    assert update["logits"] == pytest.approx(1024 * 151936 * 10)
    # 29.5 GB of weights leave 42.5 of 72 on one GPU
    assert r.tensor_parallel == 1 and not r.misfits


def test_a_chip_of_the_reader_s_own_has_its_memory():
    k = knobs_from(Knobs, dict(chip="40 GB, 1.5 TB/s, 300 TFLOP/s, 300 GB/s"))
    (r,) = widget.run(k)
    assert r.peak.has == pytest.approx(0.92 * 40e9) and r.misfits


@pytest.mark.parametrize("name", expected.BREAKS["memory"])
def test_a_broken_preset_shows_no_seconds(name):
    fullest, _, *seconds = widget.readouts(PRESETS[name], next(widget.run(PRESETS[name])))
    assert [row.value for row in seconds] == ["–"] * 3 and fullest.state == "violated"


def test_the_suggested_fix_turns_the_knob_of_the_quantity_that_is_too_large():
    def fix(**knobs):
        return widget.broken(*result(**knobs)).fix

    assert fix(longest=15872) == dict(recompute="full")
    assert fix(model="llama3.1-70b", gpus=16, recompute="full") == dict(gpus=24)
    assert fix(placement="in turn, state stays") == dict(placement="in turn, state offloaded")
    assert fix(p50=4600) == dict(p90=4600)


def test_the_suggested_fix_has_several_knobs_where_one_is_not_enough():
    k, r = result(model="llama3.1-405b", gpus=64, recompute="none", logits_chunk=0, longest=32256)
    mended = fixed("memory", k, widget.broken(k, r).fix)
    assert widget.broken(mended, next(widget.run(mended))) is None
    assert sum(getattr(k, f.name) != getattr(mended, f.name) for f in fields(k)) > 1


@pytest.mark.parametrize(
    "knobs",
    [
        dict(p50=2048, p99=720, recompute="none", accelerator="b200", placement="in turn, state stays"),
        dict(p50=7680, longest=60000, model="qwen3-next-80b-a3b", accelerator="b300", gpus=2),
    ],
)
def test_quantiles_that_fall_are_put_in_order_and_the_rest_is_made_to_fit_at_once(knobs):
    k, r = result(**knobs)
    verdict = widget.broken(k, r)
    assert "they rise in every batch" in verdict.why and widget.misfits(replace(k, **verdict.fix)) == []


def test_a_nearly_full_gpu_is_worse_and_not_broken():
    # 18 P / 10 + 34 · 32 · 12 512 · 4096 + 1.3 = 71.5 of 73.6 GB
    k, r = result(gpus=10, longest=12000)
    assert 0.95 < r.peak.share < 1 and "to spare" in widget.worse(k, r) and widget.broken(k, r) is None


def test_two_pools_give_the_trainer_only_its_own_gpus():
    _, shared = result(gpus=16)
    _, apart = result(gpus=16, placement="two pools")
    assert apart.moments["update"]["state"] == pytest.approx(2 * shared.moments["update"]["state"])
    assert apart.update_seconds == pytest.approx(2 * shared.update_seconds)


def test_adapters_need_no_reference_and_pairs_no_engine():
    assert result(algorithm="GRPO with LoRA")[1].moments["update"]["reference"] == 0
    k, r = result(algorithm="DPO", recompute="full")
    assert r.moments["generate"] == {} and [row.value for row in widget.readouts(k, r)][2:4] == ["–", "–"]
    # a pair of 8 192 each, whatever the micro-batch
    assert r.moments["update"]["activations"] == (2 * 32 + 34) * 16384 * 4096


def test_a_sequence_is_not_cut_by_a_small_micro_batch():
    small, large = (result(micro_batch=n, recompute="full")[1].moments["update"]["activations"] for n in (1024, 16384))
    assert large == 2 * small == (2 * 32 + 34) * 16384 * 4096


def test_memory_use_follows_the_knobs():
    def update_bytes(**knobs):
        return sum(result(**knobs)[1].moments["update"].values())

    for knob, values in dict(
        zero=range(4),
        recompute=("none", "selective", "full"),
        gpus=(4, 8, 16, 64),
        longest=(32256, 15872, 7680, 1536),
        logits_chunk=(0, 4096, 1024, 256),
        train_tp=(1, 2, 4, 8),
    ).items():
        sizes = [update_bytes(**{knob: value}) for value in values]
        assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1], knob
    assert update_bytes() > update_bytes(reference="offloaded") == update_bytes(reference="none")


def test_more_cache_or_shorter_lengths_hold_more_sequences():
    def fit(**knobs):
        return result(**knobs)[1].fit

    assert fit(hbm_share=0.5) < fit() < fit(kv_precision="fp8") and fit(extra=4) < fit()
    assert fit(p90=8192, p99=16384) < fit() and fit(weights="fp8") > fit()
    # vLLM takes the engine's extra bytes off u, SGLang does not
    assert fit(extra=4, rule="outside u (SGLang)") == fit()


def test_a_slower_engine_is_slower_and_the_update_knows_its_mfu():
    plain = result()[1].tokens_per_second
    assert result(bandwidth=0.5)[1].tokens_per_second < plain > result(overhead=10.0)[1].tokens_per_second
    assert result(mfu=0.2)[1].update_seconds == pytest.approx(2 * result(mfu=0.4)[1].update_seconds)


def test_a_timed_iteration_that_is_faster_than_the_chip_contradicts_the_inputs():
    k = knobs_from(Knobs, dict(timed="64 sequences, 2048 tokens, 2 ms"))
    (r,) = widget.run(k)
    assert widget.broken(k, r).cause == "the inputs contradict"


def test_the_bars_show_the_memory_held_at_each_moment():
    k, r = result()
    bars = {mark["name"]: mark["y"][0] for mark in widget.one_gpu(k, r)["data"]}
    assert bars["weights, generate"] == pytest.approx(16.06, abs=0.01)
    assert bars["cache, generate"] == pytest.approx(72 - 16.06, abs=0.01)
    assert sum(y for name, y in bars.items() if name.endswith("update")) == pytest.approx(55.89, abs=0.01)


def test_a_note_says_when_a_bar_passes_the_axis():
    def words(**knobs):
        return [a["text"] for a in widget.one_gpu(*result(**knobs))["layout"]["annotations"]]

    assert "activations 37" in words() and "↑ activations 380" in words(recompute="none")


def test_words_beside_a_bar_stand_apart_and_inside_the_axis():
    for heights in ([2.0, 5.0], [0.0, 1.0, 2.0], [4.0, 158.0, 160.0], [150.0]):
        placed = widget.apart(heights, 16.0, 160.0)
        assert (np.diff(placed) >= 15.999).all() and placed[0] >= 0 and placed[-1] <= 144


def test_the_ring_stands_on_the_curve_of_the_mode_in_force():
    k, r = result()
    marks = {mark["name"]: mark for mark in widget.longer(k, r)["data"]}
    curve, ring = marks["selective"], marks["here"]
    assert np.interp(ring["x"][0], curve["x"], curve["y"]) == pytest.approx(ring["y"][0], rel=1e-6)
    # slope 2 without recomputation at long lengths, 1 with
    for name, slope in {"none recomputed": 2, "selective": 1}.items():
        x, y = np.log([marks[name][axis][-8:] for axis in "xy"])
        assert np.polyfit(x, y, 1)[0] == pytest.approx(slope, abs=0.02 if slope == 2 else 1e-6)


def test_the_chips_are_searched_for_the_fewest():
    k, _ = result()
    dots = widget.by_chip(k, None)["data"][0]
    assert dots["x"][widget.CHIPS.index("h100")] == 5 and dots["x"][widget.CHIPS.index("mi355x")] == 1


def test_the_guess_is_answered_by_its_setting():
    r = next(widget.run(widget.GUESS.knobs))
    assert widget.GUESS.answers[widget.GUESS.right] == "more than 4" and r.fewest == 5
    assert widget.GUESS.told(widget.GUESS.knobs, r).startswith("It takes 5.")


def test_a_job_that_fits_is_exported_as_options():
    job = widget.export(widget.SPLIT, next(widget.run(widget.SPLIT)))
    assert (job["tensor_parallel"], job["engines"], job["concurrency"], job["context"]) == (2, 32, 97, 8704)
    assert job["placement"] == "split" and options.texts(job)
    assert widget.export(*result(longest=15872)) is None and widget.export(*result(algorithm="DPO", gpus=16)) is None
