"""The lesson on memory: what its numbers are computed by, and what it says without a number."""

from dataclasses import replace

import numpy as np
import pytest

from rlpt.planning import calibrated
from sim.cluster import envelope, memory, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import LEDGERS, Engine, Training
from sim.cluster.models import MODELS, Model
from sim.estimators import precision
from widgets.frame.contract import machine_knobs
from widgets.memory import widget
from widgets.memory.widget import Knobs

LLAMA, QWEN, LARGE, V3 = (MODELS[key] for key in ("llama3.1-8b", "qwen2.5-32b", "llama3.1-70b", "deepseek-v3"))
SMALL, H100 = MODELS["qwen2.5-1.5b"], ACCELERATORS["h100"]
P, LAW = QWEN.params(), machine_knobs.law(widget.SPLIT)  # of the job by hand
LIMIT = (1 - memory.RESERVE) * 80  # GB that a trainer may fill
LARGER = dict(model="llama3.1-70b", recompute="full")
MIXTURE = dict(model="deepseek-v3", gpus=256, recompute="full")
AT_ONCE = dict(longest=65024, recompute="full", logits_chunk=0)


def result(knobs):
    (r,) = widget.run(knobs)
    return r


def update(knobs):
    """{component: GB} of the moment of the update."""
    return {name: size / 1e9 for name, size in result(knobs).moments["update"].items()}


def part(name, **knobs):
    return update(Knobs(**knobs))[name]


def fills(**knobs):
    return sum(update(Knobs(**knobs)).values())


def fewest(**knobs):
    return result(Knobs(**knobs)).fewest


def of_a_sequence():
    """GB of activations and logits of the 70B at 16,384 tokens."""
    return part("activations", longest=15872, **LARGER) + part("logits", longest=15872, **LARGER)


def state(ledger, stage):
    return memory.state_bytes(LLAMA, 8, stage, LEDGERS[ledger]) / 1e9


def whole_state(gpus):
    """GB on each GPU, divided by stage 3."""
    return memory.state_bytes(LLAMA, gpus, 3) / 1e9


def activations(recompute):
    return memory.activation_bytes(LLAMA, 8192, 8192, recompute) / 1e9


def logits(tokens):
    return memory.logits_bytes(LLAMA, tokens) / 1e9


def gpt3(*how):
    model = Model("gpt-3", "GPT-3 175B", 96, 12288, 96, 96, 128, 49152, 51200)
    return memory.activation_bytes(model, 2048, 2048, *how) / 1e9


def copies(algorithm):
    """GB of all copies of the 8B, each once."""
    trainings = {
        "GRPO": Training(8, reference=True),
        "PPO": Training(8, reference=True, critic=True),
        "DPO": Training(8, reference=True),
        "GRPO with LoRA": Training(8, adapters=widget.RANK),
    }
    engine = None if algorithm == "DPO" else Engine(8)
    return sum(envelope.copies(LLAMA, trainings[algorithm], engine).values()) / 1e9


def prefill():
    """Operations in the weights and in attention."""
    return throughput.prefill_flops(LLAMA, 4096)


def room():
    """Tokens whose caches fit in an engine of two GPUs."""
    return 2 * (72e9 - P) // 262_144


def by_hand():
    """Seconds of an update: 6 · 32.76e9 · 8192 · (512 + mean) on 64 · 989.4e12 · 0.4."""
    return 6 * P * 8192 * (512 + LAW.mean) / (64 * 989.4e12 * 0.4)


def by_shape(model):
    """Bytes that a layer keeps of a token over its width: norms, attention and gated MLP as torch keeps them."""
    queries, both = model.heads * model.head_dim / model.hidden, model.kv_heads * model.head_dim / model.hidden
    return 4 + (2 + 2 * queries + 4 * both + 2 * queries) + (2 + 8 * model.intermediate / model.hidden)


def updates(recompute):
    """(row, bytes beside state and logits) of each update that was measured on an H100."""
    for row in calibrated.rows("whole_model"):
        if row["what"] == "update" and row["recompute"] == recompute:
            # bf16 weights and gradients; the optimizer's copy, gradient and moments in float32
            others = row["params"] * (20 if "optimizer" in row else 4)
            others += memory.logits_bytes(MODELS[row["model"]], row["sequences"] * row["tokens"])
            yield row, row["peak_bytes"] - others


def kept_by_layers(fused=False):
    """The same as `by_shape`, measured, of each update with all activations kept."""
    rows = [(row, free) for row, free in updates(recompute=False) if row.get("fused_norms", False) == fused]
    each = [row["sequences"] * row["tokens"] * MODELS[row["model"]].layers for row, _ in rows]
    return [free / n / MODELS[row["model"]].hidden for (row, free), n in zip(rows, each)]


def over_counted():
    """The fullest moment over what is counted, of each update with whole layers recomputed."""
    for row, free in updates(recompute=True):
        model, tokens = MODELS[row["model"]], row["sequences"] * row["tokens"]
        counted = memory.activation_bytes(model, tokens, row["tokens"], "full")
        yield row["peak_bytes"] / (row["peak_bytes"] - free + counted)


def ends_of(values):
    values = list(values)
    return min(values), max(values)


def test_a_thousandth_is_lost_in_two_bytes():
    def cast(value):
        return float(precision.cast(np.array([value]), "bf16")[0])

    assert cast(1.001) == 1 and cast(1.0078125) == 1.0078125 and cast(1 + 0.0078125 / 2 - 1e-6) == 1


def test_four_gpus_do_not_hold_what_five_do():
    assert result(Knobs(gpus=4)).misfits and fewest() == 5


def test_twice_the_length_and_three_ways_out_of_which_gpus_are_none():
    long = Knobs(longest=15872)
    assert update(long)["activations"] == pytest.approx(2 * part("activations"))
    assert result(long).fewest is None and result(long).misfits[0].part == "activations"
    assert not result(replace(long, recompute="full")).misfits
    assert not result(replace(long, train_tp=2)).misfits
    assert result(replace(long, gpus=1024)).misfits


def test_what_does_not_fit_names_its_part():
    assert result(Knobs(gpus=16, **LARGER)).misfits[0].part == "state"
    assert not result(Knobs(gpus=24, **LARGER)).misfits
    assert [m.part for m in result(Knobs(**MIXTURE)).misfits] == ["weights"]
    assert not result(Knobs(accelerator="h200", weights="fp8", **MIXTURE)).misfits


def test_the_job_that_is_sized_fits_and_takes_as_long_as_by_hand():
    assert not result(widget.SPLIT).misfits
    assert result(widget.SPLIT).update_seconds == pytest.approx(by_hand())


def test_an_engine_beside_the_state_collides_or_has_less_than_half_the_cache():
    resident = Knobs(placement="in turn, state stays")
    assert result(resident).misfits[0].part == "engine"
    assert not result(replace(resident, hbm_share=0.69)).misfits and result(replace(resident, hbm_share=0.7)).misfits
    assert memory.capacity(LLAMA, H100, Engine(hbm_share=0.5)) < memory.capacity(LLAMA, H100) / 2


def test_full_recomputation_keeps_what_enters_each_layer():
    assert memory.layer_activations(LLAMA, 32768, "full") == dict(input=2)


def test_adapters_are_a_hundredth_and_fit_on_one_gpu():
    assert memory.adapter_params(LLAMA, 32) / LLAMA.params() == pytest.approx(0.01, abs=0.001)
    assert fewest(algorithm="GRPO with LoRA", gpus=1) == 1


def test_the_pairs_of_dpo_stay_together():
    assert part("activations", algorithm="DPO") == pytest.approx(2 * part("activations"))


def test_the_activations_are_more_than_twice_the_state_which_eight_bits_shrink():
    assert part("activations") > 2 * part("state")
    assert not result(Knobs(ledger="2 + 2 + 6")).misfits


def test_what_layers_were_measured_to_keep_agrees_from_run_to_run():
    for fused in (False, True):
        assert np.ptp(kept_by_layers(fused)) < 1
