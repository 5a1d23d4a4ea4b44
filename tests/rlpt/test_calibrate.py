"""Shares of a data sheet by hand, the line that a plan reads back, and what stands in the way in a sentence."""

import json
import sys
from dataclasses import replace
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from rlpt import calibrate
from rlpt.calibrate import Share
from rlpt.planning import planner, user_inputs
from rlpt.planning.layer_timing import Machine, Sizes, Timing
from sim.cluster import throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS

H100 = ACCELERATORS["h100"]  # 3.35 TB/s, 989.4 TFLOP/s, 64 GB/s from the host
LLAMA = MODELS["llama3.1-8b"]
SIZES = Sizes(64, 4096, 1024, 8192, 16384)
TIMED = [
    Timing("weights", 200e-6, 20, 436.2e6, 27.9e9),
    Timing("cache", 500e-6, 20, 1073.7e6, 4.3e9),
    Timing("batch", 700e-6, 20, 436.2e6, 446.7e9),
    Timing("training", 15e-3, 20, 1308.6e6, 10.72e12),
    Timing("launch", 0.25e-3, 20),
    Timing("host", 5e-3, 20, 268.4e6),
    Timing("attention", 16e-3, 20, 0.0, 7.7e12),
]


def shares(timed=TIMED, accelerator=H100):
    return {one.name: found for one in timed if (found := calibrate.share(one, accelerator))}


def test_shares_of_a_data_sheet():
    found = shares()
    assert found["weights"] == (pytest.approx(0.65104, rel=1e-4), "bandwidth")  # 2.181 of 3.35 TB/s
    assert found["cache"] == (pytest.approx(0.64101, rel=1e-4), "bandwidth")  # 2.1474
    assert found["batch"] == (pytest.approx(0.64499, rel=1e-4), "arithmetic")  # 638.1 of 989.4 TFLOP/s
    assert found["training"] == (pytest.approx(0.72232, rel=1e-4), "arithmetic")  # 714.7
    assert found["attention"] == (pytest.approx(0.48641, rel=1e-4), "arithmetic")  # 481.25
    assert found["host"] == (pytest.approx(0.83875, rel=1e-4), "link")  # 53.68 of 64 GB/s
    assert "launch" not in found
    assert "host" not in shares(accelerator=ACCELERATORS["tpu_7x"])  # its sheet has no such link


def test_where_arithmetic_takes_longer_a_row_says_nothing_of_bandwidth():
    # 64 tokens on an H20, 148 TFLOP/s and 4 TB/s: 0.189 ms of products, 0.109 ms of reading
    assert shares(accelerator=ACCELERATORS["h20"])["weights"].of == "arithmetic"
    found = calibrate.efficiency(LLAMA, shares(accelerator=ACCELERATORS["h20"]), SIZES)
    assert found.bandwidth == pytest.approx(1073.7e6 / 500e-6 / 4e12)  # the cache's alone


def test_weights_and_cache_count_by_their_seconds_in_the_whole_model():
    known = dict(weights=Share(0.8, "bandwidth"), cache=Share(0.4, "bandwidth"), batch=Share(0.5, "arithmetic"))
    # 7.505 billion weights but the table, 15.01 GB, and 64 x 4,096 tokens x 131,072 bytes, 34.36 GB
    weights, cache = 2 * (8_030_261_248 - 128256 * 4096), 64 * 4096 * 131072
    found = calibrate.efficiency(LLAMA, known, SIZES)
    assert found.bandwidth == pytest.approx((weights + cache) / (weights / 0.8 + cache / 0.4))
    assert (found.flops, found.overhead_seconds) == (0.5, 1.5e-3)


def test_what_no_row_shows_stays_as_it_is_assumed():
    other = dict(weights=Share(0.8, "arithmetic"), cache=Share(0.4, "arithmetic"), batch=Share(0.5, "bandwidth"))
    assert calibrate.efficiency(LLAMA, other, SIZES) == throughput.ENGINE


@pytest.mark.parametrize("key", ["llama3.1-8b", "qwen2.5-7b", "qwen3-30b-a3b", "gpt-oss-120b"])
@pytest.mark.parametrize("bandwidth", [0.31, 0.644, 0.93])
def test_the_plan_reads_the_line_back_to_the_same_share(key, bandwidth):
    line = calibrate.line(MODELS[key], H100, throughput.ENGINE._replace(bandwidth=bandwidth, flops=0.55), SIZES)
    made = planner.Scenario(MODELS[key], H100, Law(720, 2000, 4600, 8192), gpus=64)
    read = planner.known(made, user_inputs.timed(line)[0]).efficiency
    assert read.bandwidth == pytest.approx(bandwidth, rel=1e-5)
    assert user_inputs.timed(line)[1] == line


def test_the_line_by_hand():
    # 2.455 TB/s, 49.37 GB: 20.11 ms, and 1.5 besides
    line = calibrate.line(LLAMA, H100, throughput.Efficiency(2.455 / 3.35, 0.6), SIZES)
    assert line.startswith("64 sequences, 4096 tokens, ") and line.endswith(" ms, 1 GPUs")
    seconds = user_inputs.timed(line)[0].seconds
    assert seconds == pytest.approx(49.3704e9 / 2.455e12 + 1.5e-3, rel=1e-4)


def test_a_row_has_the_machine_the_versions_the_date_and_each_number_with_unit_and_repeats():
    cuda = SimpleNamespace(get_device_name=lambda: "NVIDIA H100 80GB HBM3")
    torch = SimpleNamespace(cuda=cuda, __version__="2.14.1", version=SimpleNamespace(cuda="13.0", hip=None))
    row = calibrate.row(Machine(torch, "cuda"), H100, LLAMA, SIZES, TIMED)
    assert {"date", "machine", "chip", "python", "torch", "toolkit", "model"} <= {k for k, v in row.items() if v}
    assert json.loads(json.dumps(row)) == row
    told = {one["name"]: one for one in row["measured"]}
    assert told.keys() == {one.name for one in TIMED}
    units = {name: one["unit"] for name, one in told.items()}
    assert units == dict.fromkeys(("weights", "cache", "host"), "bytes/s") | dict(launch="s") | dict.fromkeys(
        ("batch", "training", "attention"), "FLOP/s"
    )
    assert told["training"]["number"] == pytest.approx(714.67e12, rel=1e-4) and told["training"]["repeats"] == 20
    shown = calibrate.table(row, SIZES)
    assert f'--timed "{row["timed"]}"' in shown.splitlines()[-1]
    assert "65% of bandwidth" in shown and "0.250 ms" in shown and "assumed 0.350 ms; median of 20 runs" in shown
    assert (
        "An engine reaches 64.4% of bandwidth and 64.5% of arithmetic. " in shown
    )  # 49.37 GB, 15.01 at 65.1 % and 34.36 at 64.1
    slow = [replace(one, flop=0.0) if one.name == "batch" else one for one in TIMED]
    shown = calibrate.table(calibrate.row(Machine(torch, "cuda"), H100, LLAMA, SIZES, slow), SIZES)
    assert "64.4% of bandwidth and 60.0% of arithmetic (assumed). " in shown


@pytest.mark.parametrize(
    "name, key",
    [
        ("NVIDIA A100-SXM4-80GB", "a100_80"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H200", "h200"),
        ("AMD Instinct MI300X", "mi300x"),
    ],
)
def test_a_device_has_the_data_sheet_of_its_name(name, key):
    assert calibrate.chip_of(name) is ACCELERATORS[key]


def test_a_board_with_another_memory_is_another_chip():
    for name in ("NVIDIA H100 PCIe", "NVIDIA A100-SXM4-40GB", "NVIDIA H200 NVL", "Tesla T4"):
        assert calibrate.chip_of(name) is None


def refusal(monkeypatch, capsys, torch, *words):
    """What is said where `import torch` finds this."""
    monkeypatch.setitem(sys.modules, "torch", torch)
    with pytest.raises(SystemExit) as end:
        calibrate.main(words, "rlpt calibrate")
    shown, wrong = capsys.readouterr()
    assert end.value.code == 2 and not shown and wrong.count("\n") == 1
    return wrong


def test_without_torch_without_a_gpu_and_on_an_unknown_one_it_is_a_sentence(monkeypatch, capsys):
    none = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    new = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: True, get_device_name=lambda: "NVIDIA L40S"))
    for words in ([], ["--cpu"]):
        assert "torch is not installed here" in refusal(monkeypatch, capsys, None, *words)
    assert "torch finds no GPU here. Run this where you train, or add --cpu" in refusal(monkeypatch, capsys, none)
    assert "there is no data sheet for NVIDIA L40S" in refusal(monkeypatch, capsys, new)
    assert "has a latent" in refusal(monkeypatch, capsys, none, "--model", "deepseek-v3")


def test_what_the_gpu_cannot_hold_or_the_sheet_cannot_have_is_a_sentence(monkeypatch, capsys):
    class OutOfMemory(RuntimeError):
        pass

    cuda = SimpleNamespace(
        is_available=lambda: True, get_device_name=lambda: "NVIDIA H200", OutOfMemoryError=OutOfMemory
    )
    torch = SimpleNamespace(cuda=cuda, __version__="2.14.1", version=SimpleNamespace(cuda="13.0", hip=None))

    def raised(fault):
        def timings(machine, shape, sizes):
            raise fault

        return timings

    monkeypatch.setattr(calibrate.layer_timing, "timings", raised(OutOfMemory("CUDA out of memory")))
    assert "does not fit into the GPU's memory" in refusal(monkeypatch, capsys, torch)
    monkeypatch.setattr(calibrate.layer_timing, "timings", raised(RuntimeError("no kernel image\nmore")))
    assert "torch cannot time this layer: no kernel image\n" in refusal(monkeypatch, capsys, torch)
    monkeypatch.setattr(calibrate.layer_timing, "timings", lambda *of: TIMED)
    slow = ("--chip", "80 GB, 1 TB/s, 989 TFLOP/s, 450 GB/s")
    assert "the timing of weights is faster than your chip allows" in refusal(monkeypatch, capsys, torch, *slow)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is no dependency")
def test_on_a_cpu_small_shapes_run_and_calibrate_nothing(capsys):
    assert calibrate.main(["--cpu", "--model", "qwen3-30b-a3b"]) == 0
    *shown, row = capsys.readouterr().out.splitlines()
    assert shown[-1] == "Small shapes on a CPU: they run, but nothing is calibrated." and "--timed" not in row
    assert json.loads(row)["timed"] is None and len(json.loads(row)["measured"]) == len(shown) - 2 == 7
