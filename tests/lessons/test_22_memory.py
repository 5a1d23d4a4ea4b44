import re
from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest

from sim.cluster import calibrated, envelope, memory, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import LEDGERS, Engine, Training
from sim.cluster.models import MODELS, Model
from sim.estimators import precision
from tests.lessons.prose import Lesson
from widgets.frame import machine_knobs
from widgets.frame.values import knobs_from
from widgets.memory import widget

LESSON = Lesson("22")
LLAMA, QWEN, LARGE, V3 = (MODELS[key] for key in ("llama3.1-8b", "qwen2.5-32b", "llama3.1-70b", "deepseek-v3"))
H100 = ACCELERATORS["h100"]


def link(words):
    (query,) = re.findall(rf"\[{re.escape(words)}\]\(#memory\)\{{ data-knobs=\"([^\"]+)\" \}}", LESSON.text)
    return knobs_from(widget.Knobs, dict(parse_qsl(query)))


def result(knobs):
    (r,) = widget.run(knobs)
    return r


def update(knobs):
    return {name: size / 1e9 for name, size in result(knobs).moments["update"].items()}


def test_sixteen_bytes_and_what_they_come_to():
    LESSON.says("8.03", LLAMA.params() / 1e9)
    LESSON.says("128", memory.state_bytes(LLAMA, 1, 0) / 1e9)
    LESSON.says("16", memory.state_bytes(LLAMA, 8, 3) / 1e9)
    assert memory.ZERO_PAPER.whole == 2 + 2 + 4 + 4 + 4


def test_a_thousandth_is_lost_in_two_bytes():
    cast = lambda value: float(precision.cast(np.array([value]), "bf16")[0])
    assert cast(1.001) == 1 and cast(1.0078125) == 1.0078125 and cast(1 + 0.0078125 / 2 - 1e-6) == 1
    LESSON.says("1.0078", 1 + 2**-7)


def test_what_a_sequence_leaves_behind():
    LESSON.says("320", 5 * 32 * 8192 / 4096)
    assert (LLAMA.layers, LLAMA.hidden, LLAMA.heads) == (32, 4096, 32) and "width of 4,096 and 32 heads" in LESSON.text
    for said, mode in (("380", "none"), ("36.5", "selective"), ("3.3", "full")):
        LESSON.says(said, memory.activation_bytes(LLAMA, 8192, 8192, mode) / 1e9)


def test_the_default_and_the_four_gpus_that_do_not_hold_it():
    parts = update(widget.Knobs())
    said = dict(state="16.1", reference="2.0", activations="36.5", logits="1.3")
    for part, number in said.items():
        LESSON.says(number, parts[part])
    LESSON.says("74.0", sum(update(widget.Knobs(gpus=4)).values()))
    LESSON.says("73.6", (1 - memory.RESERVE) * 80)
    assert result(widget.Knobs(gpus=4)).misfits and result(widget.Knobs()).fewest == 5


def test_twice_the_length_and_three_ways_out_of_which_gpus_are_none():
    long = link("16,384 tokens")
    LESSON.says("92.4", sum(update(long).values()))
    assert update(long)["activations"] == pytest.approx(2 * update(widget.Knobs())["activations"])
    assert result(long).fewest is None and result(long).misfits[0].part == "activations"
    for way in ("Recomputing whole layers", "two GPUs share each sequence"):
        assert not result(link(way)).misfits


def test_the_logits():
    LESSON.says("128,256", LLAMA.vocab)
    LESSON.says("10.5", memory.logits_bytes(LLAMA, 8192) / 1e9)
    assert memory.logits_bytes(LLAMA, 8192) > 3 * memory.activation_bytes(LLAMA, 8192, 8192, "full")
    parts = update(link("65,536 tokens, all at once"))
    LESSON.says("84", parts["logits"])
    LESSON.says("128", sum(parts.values()))


def test_the_state_alone():
    knobs = link("70B on 16 GPUs")
    LESSON.says("93.7", sum(update(knobs).values()))
    assert result(knobs).misfits[0].part == "state"
    LESSON.says("22", result(knobs).fewest)
    kept = update(knobs)
    LESSON.says("14.3", kept["activations"] + kept["logits"])
    LESSON.says("1,270", 18 * LARGE.params() / 1e9)
    LESSON.says("59.3", 73.6 - kept["activations"] - kept["logits"])
    LESSON.says("21.4", 18 * LARGE.params() / 1e9 / (73.6 - kept["activations"] - kept["logits"]))
    assert not result(link("Set it up")).misfits and result(link("Set it up")).fewest == 22


def test_an_engine_that_no_node_holds():
    knobs = link("DeepSeek-V3 on 256 H100")
    LESSON.says("57.7", sum(update(knobs).values()))
    LESSON.says("576", 8 * 0.9 * 80)
    LESSON.says("1,342", 2 * V3.params() / 1e9)
    assert [m.part for m in result(knobs).misfits] == ["weights"]
    assert not result(link("In fp8, on H200")).misfits


def test_the_job_that_is_sized():
    knobs = link("Qwen2.5-32B on 64 + 64 H100")
    r = result(knobs)
    assert not r.misfits and knobs == widget.SPLIT
    LESSON.says("17.0", sum(update(knobs).values()))
    LESSON.says("256", r.asked)
    LESSON.says("97", int(r.fit))
    assert r.tensor_parallel == 2 and "two GPUs share an engine" in LESSON.text


def test_one_job_by_hand():
    P = QWEN.params()
    LESSON.says("32.76", P / 1e9)
    LESSON.says("152,064", QWEN.vocab)
    LESSON.says("8.2", 16 * P / 64 / 1e9)
    LESSON.says("7.2", (2 * 64 + 34) * 8704 * 5120 / 1e9)
    LESSON.says("97.0", 34 * 64 * 8704 * 5120 / 1e9)
    LESSON.says("1.6", 1024 * 152064 * 10 / 1e9)
    LESSON.says("65.5", 2 * P / 1e9)
    LESSON.says("6.5", 72 - 2 * P / 1e9)
    LESSON.says("39.2", 72 - P / 1e9)
    LESSON.says("262,144", QWEN.kv_bytes_per_token())
    LESSON.says("299,347", 2 * (72e9 - P) // 262_144)
    law = machine_knobs.law(widget.SPLIT)
    LESSON.says("3,073", law.context(512))
    LESSON.says("97", 299_347 // law.context(512))
    # 6 · 32.76e9 · 8192 · (512 + mean) on 64 · 989.4e12 · .4
    seconds = 6 * P * 8192 * (512 + law.mean) / (64 * 989.4e12 * 0.4)
    LESSON.says("264", seconds)
    assert result(widget.SPLIT).update_seconds == pytest.approx(seconds)


def test_the_moments():
    resident = replace(widget.Knobs(), placement="in turn, state stays")
    assert result(resident).misfits[0].part == "engine" and "collides" in LESSON.text
    LESSON.says("0.69", int(100 * (73.6e9 - 18 * LLAMA.params() / 8) / 80e9) / 100)
    assert not result(replace(resident, hbm_share=0.69)).misfits and result(replace(resident, hbm_share=0.7)).misfits
    assert memory.capacity(LLAMA, H100, Engine(hbm_share=0.5)) < memory.capacity(LLAMA, H100) / 2


@pytest.mark.parametrize("name", LEDGERS)
def test_the_table_of_ledgers(name):
    (row,) = re.findall(rf"\| {re.escape(name)}, [^|]+\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", LESSON.text)
    states = [memory.state_bytes(LLAMA, 8, stage, LEDGERS[name]) / 1e9 for stage in (1, 2, 3)]
    assert [float(cell) for cell in row] == pytest.approx([LEDGERS[name].whole, *states], abs=0.0501)


def test_the_figures_of_the_papers():
    for said, bytes_ in zip(("120", "31.4", "16.6", "1.9"), (16, 4 + 12 / 64, 2 + 14 / 64, 16 / 64)):
        LESSON.says(said, 7.5 * bytes_)
    gpt3 = Model("gpt-3", "GPT-3 175B", 96, 12288, 96, 96, 128, 49152, 51200)
    kept = lambda *how: memory.activation_bytes(gpt3, 2048, 2048, *how) / 1e9
    for said, how in (
        ("275.4", ["none"]),
        ("55.6", ["none", 8, False]),
        ("34.4", ["none", 8]),
        ("10.3", ["selective", 8]),
    ):
        LESSON.says(said, kept(*how))


def test_the_inputs_that_were_measured():
    # transformers, pull 48444: 28 layers, width 2048, 32k tokens, bf16
    LESSON.says("3,584", 2 * 28 * 2048 * 32768 / 2**20)
    kept = memory.layer_activations(LLAMA, 32768, "full")
    assert kept == dict(input=2) and "$2LSd$" in LESSON.text


@pytest.mark.parametrize(
    "name, training, engine",
    [
        ("GRPO", Training(8, reference=True), Engine(8)),
        ("PPO", Training(8, reference=True, critic=True), Engine(8)),
        ("DPO", Training(8, reference=True), None),
        ("GRPO with LoRA", Training(8, adapters=widget.RANK), Engine(8)),
    ],
)
def test_the_table_of_copies(name, training, engine):
    (said,) = re.findall(rf"\| {name} \|[^|]+\|[^|]+\| (\d+) \|", LESSON.text)
    assert float(said) == pytest.approx(sum(envelope.copies(LLAMA, training, engine).values()) / 1e9, abs=0.5)


def test_adapters_are_a_hundredth_and_fit_on_one_gpu():
    assert memory.adapter_params(LLAMA, 32) / LLAMA.params() == pytest.approx(0.01, abs=0.001)
    assert result(link("one H100 is enough")).fewest == 1
    assert sum(update(link("four copies that train or score")).values()) == pytest.approx(73.95, abs=0.01)
    assert update(link("two sequences at a time"))["activations"] == pytest.approx(2 * 36.5, abs=0.1)


def test_which_weights_are_counted_where():
    LESSON.says("7.50", LLAMA.matmul_params() / 1e9)
    weights, attention = throughput.prefill_flops(LLAMA, 4096)
    LESSON.says("61.5", weights / 1e12)
    LESSON.says("4.4", attention / 1e12)
    # both grow with the length, one of them with its square
    LESSON.says("57,258", 4096 * weights / attention)
    LESSON.says("53", 40 * 8 / 6)


def test_the_errata():
    assert LEDGERS["2 + 2 + 6"].whole == 10 and not result(link("moments in eight bits")).misfits
    assert update(widget.Knobs())["activations"] > 2 * update(widget.Knobs())["state"]
    long = LESSON.text[LESSON.text.index("ZeRO-3 lets any model") :]
    assert "longest=15872&gpus=1024" in long and result(widget.Knobs(longest=15872, gpus=1024)).misfits


def by_shape(model):
    """Bytes that a layer keeps of a token over its width: norms, attention and gated MLP as torch keeps them."""
    queries, both = model.heads * model.head_dim / model.hidden, model.kv_heads * model.head_dim / model.hidden
    return 4 + (2 + 2 * queries + 4 * both + 2 * queries) + (2 + 8 * model.intermediate / model.hidden)


def test_what_other_layers_keep_and_what_was_measured():
    small = MODELS["qwen2.5-1.5b"]
    LESSON.says("41", by_shape(LLAMA))
    LESSON.says("59", by_shape(small))
    LESSON.says("5.8", small.intermediate / small.hidden)
    ratios = []
    for row in calibrated.rows("whole_model"):
        if row["what"] != "update":
            continue
        model, tokens = MODELS[row["model"]], row["sequences"] * row["tokens"]
        # bf16 weights and gradients; the optimizer's copy, gradient and moments in float32
        state = row["params"] * (20 if "optimizer" in row else 4)
        free = row["peak_bytes"] - state - memory.logits_bytes(model, tokens)
        if row["recompute"]:
            counted = memory.activation_bytes(model, tokens, row["tokens"], "full")
            ratios.append(row["peak_bytes"] / (row["peak_bytes"] - free + counted))
        else:
            kept = free / (tokens * model.layers * model.hidden)
            assert kept == pytest.approx(74 if row.get("fused_norms") else 82, abs=0.5)
    LESSON.says("1.07", min(ratios))
    LESSON.says("1.11", max(ratios))
