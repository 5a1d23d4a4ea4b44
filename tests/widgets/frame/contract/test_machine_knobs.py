"""What the pages about machines share: what a reader brings takes the place of a row, or is refused."""

import json
from dataclasses import dataclass, make_dataclass

import pytest

from sim.cluster import throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import Engine
from sim.cluster.models import MODELS
from tests.rlpt.planning.test_user_inputs import HOSTILE, QWEN3_14B
from widgets.frame.contract import machine_knobs, values
from widgets.frame.contract.knobs import PASTED, choice, ladder
from widgets.frame.reader import host


@dataclass(frozen=True)
class Own:
    model: str = choice("Model", "qwen2.5-7b", list(MODELS))
    accelerator: str = choice("Accelerator", "h100", list(ACCELERATORS))
    p50: int = ladder("Median", 720, [128, 720])
    p90: int = ladder("90 %", 2000, [2000, 4000])
    p99: int = ladder("99 %", 4600, [4600, 8192])
    longest: int = ladder("Longest", 8192, [8192, 131072])


@dataclass(frozen=True)
class Knobs(machine_knobs.Brought, machine_knobs.AssumedOfTraining, Own):
    pass


def brought(**texts):
    return values.knobs_from(Knobs, texts)


def test_a_page_s_own_knobs_come_before_those_that_pages_share():
    assert list(vars(Knobs())) == [
        *("model", "accelerator", "p50", "p90", "p99", "longest"),
        *("bandwidth", "flops", "overhead", "mfu", "config", "chip", "log", "timed"),
    ]


def test_without_pasted_texts_the_table_row_and_the_assumed_efficiency_are_used():
    k = Knobs()
    assert (machine_knobs.model(k), machine_knobs.accelerator(k)) == (MODELS["qwen2.5-7b"], ACCELERATORS["h100"])
    assert machine_knobs.names(k) == (MODELS["qwen2.5-7b"].name, ACCELERATORS["h100"].name)
    assert machine_knobs.efficiency(k) == throughput.ASSUMED and k.mfu == throughput.MFU
    assert vars(machine_knobs.law(k)) == dict(p50=720, p90=2000, p99=4600, longest=8192)


def test_a_pasted_model_chip_or_log_replaces_the_table_row():
    k = brought(config=json.dumps(QWEN3_14B), chip="40 GB, 1 TB/s, 100 TFLOP/s, 50 GB/s", log="6000 24000 60000 131072")
    assert machine_knobs.model(k).layers == 40 and machine_knobs.accelerator(k).hbm_gb == 40
    assert machine_knobs.names(k) == ("your model", "your chip")
    assert vars(machine_knobs.law(k)) == dict(p50=6000, p90=24000, p99=60000, longest=131072)
    assert values.knobs_from(Knobs, dict(host_form(k))) == k


def host_form(k):
    return {name: values.spelled(value) for name, value in vars(k).items()}


def test_a_timed_iteration_gives_the_bandwidth_efficiency_that_explains_its_time():
    k = brought(timed="64 sequences, 2048 tokens, 12 ms")
    reached = machine_knobs.efficiency(k)
    # 7B on an H100: 14.14 GB of weights and 64 · 2048 tokens of cache, read in 12 − 1.5 ms
    read = 2 * 7_070_619_136 + 64 * 2048 * 57_344
    assert reached.bandwidth == pytest.approx(read / (3.35e12 * 10.5e-3), rel=1e-6) == pytest.approx(0.615705, abs=1e-6)
    assert reached.flops == throughput.ASSUMED.flops
    assert machine_knobs.efficiency(brought(timed="64 sequences, 2048 tokens, 5 ms")).bandwidth > 1


def test_a_timed_iteration_is_of_the_widths_of_the_engine():
    k = brought(timed="64 sequences, 2048 tokens, 12 ms")
    half = machine_knobs.efficiency(k, Engine(weight_bytes=1, kv_bytes=1))
    assert half.bandwidth == pytest.approx(machine_knobs.efficiency(k).bandwidth / 2)


@pytest.mark.parametrize("what", HOSTILE)
def test_a_refused_text_reaches_no_run(what):
    (answer,) = host.stream("throughput", json.dumps(dict(config=HOSTILE[what], gpus="8")))
    assert json.loads(answer).keys() == {"brought"}
    refused = json.loads(answer)["brought"]["config"]
    assert refused["value"] is None and refused["said"].endswith(".")


@pytest.mark.parametrize("text", [7, True, ["a"], {"a": 1}, "x" * (PASTED + 1)])
def test_a_pasted_value_that_is_no_text_or_too_long_is_refused(text):
    (answer,) = host.stream("throughput", json.dumps(dict(chip=text)))
    assert json.loads(answer)["brought"]["chip"]["value"] is None


@pytest.mark.parametrize("nothing", ["", None, " \n\t "])
def test_an_empty_field_brings_nothing(nothing):
    *_, frame = host.stream("throughput", json.dumps(dict(chip=nothing) if nothing is not None else {}))
    *_, default = host.stream("throughput", "{}")
    assert frame == default


def test_an_accepted_pasted_text_is_reported_before_the_first_frame():
    first, frame, *_ = host.stream("throughput", json.dumps(dict(config=json.dumps(QWEN3_14B, indent=4))))
    first = json.loads(first)["brought"]
    assert first.keys() == {"config"} and json.loads(first["config"]["value"]).keys() <= QWEN3_14B.keys()
    assert "14.8 billion" in first["config"]["said"]
    assert "panels" in json.loads(frame)


def test_a_text_is_asked_for_by_the_name_of_its_knob():
    with pytest.raises(ValueError, match="chip: “fast” is not one of the numbers that are read here"):
        brought(chip="fast")


@pytest.mark.parametrize("name", ["config", "chip", "log", "timed"])
def test_the_example_in_an_empty_field_is_valid(name):
    m = Knobs.__dataclass_fields__[name].metadata
    value, sentence = m["read"](m["example"])
    assert value and sentence and m["read"](value)[0] == value


def test_a_page_may_have_only_some_of_the_pasted_text_knobs():
    few = make_dataclass("Few", [("config", str, machine_knobs.config())], frozen=True)
    assert machine_knobs.model(few(config=json.dumps(QWEN3_14B))).layers == 40
