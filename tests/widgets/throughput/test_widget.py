import json
from dataclasses import fields, replace

import pytest

from sim.cluster import step
from sim.cluster import throughput as model
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from tests.widgets.catalogue import fixed
from tests.widgets.grid import answers
from widgets.frame.contract.values import spelled
from widgets.frame.reader import host
from widgets.throughput import widget as throughput
from widgets.throughput.widget import PRESETS, WAYS, Knobs

VERL, AGENT = Knobs(), PRESETS["Agent, 60 s tests"]


def result(k):
    (r,) = throughput.run(k)
    return r


def tau(k):
    return step.step_time(result(k).roles, WAYS[k.overlap])


def breaks(k):
    return throughput.broken(k, result(k))


def frame(k):
    form = {f.name: spelled(getattr(k, f.name)) for f in fields(Knobs)}
    (text,) = host.stream("throughput", json.dumps(form))
    return json.loads(text)


def panels(k):
    return {p["title"].split(" ")[0]: p for p in frame(k)["panels"]}


@pytest.mark.parametrize(
    "row, sync, seconds",
    [("7B, 64 GPUs", 0.12, 365.28), ("7B, 32 GPUs", 0.12, 790.10), ("30B-A3B, 128 GPUs", 4.38, 497.89)],
)
def test_the_rows_of_verl_take_the_published_seconds_when_nothing_is_faster(row, sync, seconds):
    assert tau(replace(throughput.published(row, sync), k=1.0)) == pytest.approx(
        seconds, abs=0.005
    )  # docs/advance/fully_async.md


@pytest.mark.parametrize("name", [name for name, k in PRESETS.items() if not result(k).misfits])
@pytest.mark.parametrize("reuse", [False, True])
def test_more_overlap_never_lengthens_a_step(name, reuse):
    times = [tau(replace(PRESETS[name], overlap=overlap, reuse=reuse)) for overlap in WAYS]
    sync, carried, one_off, stream = times
    assert sync >= one_off >= stream and sync >= carried


def test_doubling_the_engine_is_worth_26_per_cent_nothing_or_13_per_cent_by_what_overlaps():
    # 365.28 / (365.28 − 75.36); 70.26 + 133.41 hides the rollout; 150.72 / 133.41
    def gain(k):
        return step.speedup(result(k).before, WAYS[k.overlap], "rollout", 2.0)

    assert gain(VERL) == pytest.approx(1.260, abs=5e-4)
    assert gain(replace(VERL, overlap="one-step off-policy")) == gain(replace(VERL, overlap="asynchronous")) == 1.0
    assert gain(replace(VERL, overlap="asynchronous", reuse=True)) == pytest.approx(1.130, abs=5e-4)


def test_the_curve_of_an_overlapped_step_is_flat_beyond_the_second_longest_lane():
    k = replace(VERL, overlap="asynchronous", reuse=True)
    curve = panels(k)["Gain"]["data"][0]
    assert curve["name"] == "asynchronous"
    flat = [y for x, y in zip(curve["x"], curve["y"]) if x > 150.72 / 133.41]
    assert max(flat) - min(flat) < 1e-9 and flat[0] == pytest.approx(1.1298, abs=1e-4)
    assert tau(replace(k, k=1.15)) == tau(replace(k, k=64.0)) < tau(replace(k, k=1.1))


def test_the_curve_of_a_sum_keeps_rising_towards_amdahls_ceiling():
    curve = panels(VERL)["Gain"]["data"][0]
    assert curve["name"] == "synchronous"
    assert all(a < b for a, b in zip(curve["y"], curve["y"][1:]))
    assert curve["y"][-1] < 365.28 / (365.28 - 150.72)


def lead(k):
    return throughput.figure(k, result(k))[0]["columns"][0][0]


def spans(k, role="path"):
    """{row: [(start, seconds)]} of the first step, as it is drawn."""
    pieces = {}
    for mark in lead(k)["marks"]:
        seen = mark["kind"] in ("span", "path") and mark["start"] < min(mark["end"], tau(k) - 1e-9)
        if seen and mark["role"] == role:
            pieces.setdefault(mark["row"], []).append((mark["start"], mark["end"] - mark["start"]))
    return pieces


def test_the_axis_of_the_step_stays_while_the_overlap_and_the_factor_move():
    assert len({lead(replace(VERL, overlap=t, k=k))["until"] for t in WAYS for k in (1.0, 2.0, 64.0)}) == 1


def test_in_a_sequential_step_the_lanes_form_a_staircase_and_all_are_on_the_path():
    steps = [piece for row in spans(VERL).values() for piece in row]
    assert sorted(start for start, _ in steps)[1:] == pytest.approx([sum(s for _, s in steps[:n]) for n in range(1, 6)])
    assert sum(seconds for _, seconds in steps) == pytest.approx(tau(VERL))


def test_in_a_maximum_one_lane_is_on_the_path_and_the_engine_waits_for_it():
    k = replace(VERL, overlap="asynchronous", k=1.0)
    assert spans(k) == {2: [(0.0, pytest.approx(70.26))], 3: [(pytest.approx(70.26), pytest.approx(133.41))]}
    ((start, seconds),) = [piece for piece in spans(k, "waits")[0] if piece[1]]
    assert start == pytest.approx(150.72) and seconds == pytest.approx(70.26 + 133.41 - 150.72)


def rings(k):
    return [mark["words"] for mark in lead(k)["marks"] if mark["kind"] == "ring" and mark["seen"]]


def test_a_ring_says_where_nothing_is_gained_and_what_both_pools_wait_for():
    guess = throughput.GUESS.knobs
    assert throughput.GUESS.answers[throughput.GUESS.right] == "nothing"
    assert rings(guess) == ["a faster engine saves nothing"] and tau(guess) == tau(replace(guess, k=1.0))
    assert rings(VERL) == [] and rings(replace(VERL, overlap="asynchronous", reuse=True)) == []
    assert rings(PRESETS["8 test workers"]) == ["both pools wait for tests"]
    assert rings(PRESETS["A slow link"]) == ["both pools wait for weights"]


@pytest.mark.parametrize("workers, broken", [(64, False), (32, True), (8, True)])
def test_halving_the_test_workers_breaks_a_balanced_agent(workers, broken):
    assert bool(breaks(replace(AGENT, workers=workers))) is broken  # 60 s of tests against 60 s of rollout is a tie


@pytest.mark.parametrize("sync, broken", [(188.0, False), (189.0, True)])
def test_a_step_breaks_when_it_is_a_quarter_longer_than_its_longer_pool(sync, broken):
    k = replace(VERL, overlap="asynchronous", reuse=True, k=1.0, sync=sync)  # 1.25 · 150.72 s = 188.4 s
    assert bool(breaks(k)) is broken and throughput.worse(k, result(k))


def test_a_single_checker_of_twenty_milliseconds_outlasts_the_rollout_and_one_of_thirty_breaks_the_step():
    k = replace(
        VERL, overlap="asynchronous", reuse=True, k=1.0, workers=1
    )  # 8 192 · 0.02 s = 163.84 s against 150.72 s
    assert not breaks(k) and throughput.worse(k, result(k))
    slow = replace(k, test_seconds=0.1)
    assert "8,192 tests of 0.1 s on one worker take 819 s" in breaks(slow).why
    assert breaks(slow).fix == dict(workers=8) and not breaks(replace(slow, workers=8))


def test_a_slow_weight_sync_breaks_a_stream_late_and_a_sum_early():
    k = replace(VERL, overlap="asynchronous", sync=260.0)
    assert "Sending the weights takes 260 s" in breaks(k).why
    # 70.26 + 133.41 s of the trainer stand beside it: 1.25 · 203.67 s = 254.6 s
    assert not breaks(replace(k, sync=254.0))
    # one step ahead adds it to 203.67 + 8.21 s, of which a quarter is 52.97 s
    ahead = replace(k, overlap="one-step off-policy")
    assert breaks(ahead) and not breaks(replace(ahead, sync=52.0)) and breaks(replace(ahead, sync=54.0))


@pytest.mark.parametrize("overlap", WAYS)
def test_tests_that_break_a_stream_break_every_longer_step_of_the_same_job(overlap):
    # 8,192 tests of 30 s on 64 workers: 3,840 s, beside 204 s or added to them
    k = replace(VERL, test_seconds=30.0, longest_test=30.0, overlap=overlap)
    assert tau(k) >= 3840 and breaks(k).cause == "all GPUs wait for tests"
    assert throughput.watched(k, result(k)).value > throughput.SLACK


def test_splitting_the_gpus_lengthens_every_role_of_a_configuration():
    whole, split = (
        result(replace(VERL, source="from shapes", overlap=overlap, accelerator="h100", k=1.0)).roles
        for overlap in ("synchronous", "asynchronous")
    )
    assert split.train == pytest.approx(2 * whole.train) and split.rollout - split.tail > whole.rollout - whole.tail


def test_on_a_compute_poor_chip_splitting_the_pool_loses_and_with_a_long_tail_it_gains():
    shapes = replace(VERL, source="from shapes", k=1.0, reuse=True)
    assert tau(replace(shapes, overlap="asynchronous")) > tau(shapes)
    tailed = replace(shapes, accelerator="h100", longest=32768)
    assert (
        tau(replace(tailed, overlap="asynchronous")) < tau(replace(tailed, overlap="one-step off-policy")) < tau(tailed)
    )


def test_decode_stands_left_of_the_ridge_on_an_h100_and_right_of_it_on_an_h20():
    paths = {name: result(replace(VERL, role="train", k=4.0, accelerator=name)).path for name in ("h100", "h20")}
    assert paths == {"h100": ("rollout", "left of the ridge"), "h20": ("rollout", "right of the ridge")}


def test_the_lit_branch_of_the_tree_is_the_remedy_of_the_readouts():
    for k in (k for k in PRESETS.values() if not result(k).misfits):
        f = frame(k)
        lit = [a["text"] for a in f["panels"][-1]["layout"]["annotations"] if a["name"] == "series-1"]
        assert lit[1] == f["readouts"][3]["text"] and len(lit) == 2


def test_useful_completions_shrink_with_what_carries_no_gradient():
    def rate(k):
        return step.useful_rate(k.prompts * k.samples, tau(k), k.informative, k.ess)

    assert rate(replace(VERL, informative=0.5, ess=0.8)) == pytest.approx(0.4 * rate(VERL))


# What is impossible

SHAPES = replace(VERL, source="from shapes", accelerator="h100")


@pytest.mark.parametrize(
    "moved, words",
    [
        # 2 · 671 GB of weights in an engine of 4 GPUs that may fill .9 · 80 GB each
        (
            dict(model="deepseek-v3", gpus=8, overlap="asynchronous"),
            "has 1,342 GB of weights, and the largest engine tried, 4 GPUs, may fill 288",
        ),
        (dict(model="kimi-k2", gpus=8, accelerator="a100_80"), "the largest engine tried, 8 GPUs, may fill 576"),
        (dict(model="llama3.1-405b", gpus=8, accelerator="h200"), "training Llama-3.1-405B on 8 GPUs: 811.7 GB each"),
        (dict(gpus=1, overlap="one-step off-policy"), "two pools on one GPU"),
        (dict(p50=3000), "quantiles of 3,000, 2,000 and 4,600 tokens: they rise in every batch"),
    ],
)
def test_a_setting_that_cannot_run_has_no_seconds_and_one_sentence(moved, words):
    k = replace(SHAPES, **moved)
    break_ = breaks(k)
    assert words in break_.why and "does not fit" in break_.why
    assert {r["text"] for r in frame(k)["readouts"]} == {"–"}
    assert breaks(fixed("throughput", k, break_.fix)) is None, break_.fix


def test_an_update_faster_than_the_chip_contradicts_the_lengths():
    # 6 · 7.6e9 · 8192 · (512 + mean) FLOP in 133.41 s on 64 · 148 TFLOP/s: above 1 from a mean of 2 867 tokens
    k = replace(VERL, p50=4600, p90=8192, p99=16384, longest=32768)
    assert "times the chip's peak FLOP/s" in breaks(k).why


@pytest.mark.when_changed()
def test_every_broken_setting_of_the_grid_has_a_fix():
    for answer in answers("throughput"):
        assert not answer.broken or answer.broken.fix, answer.knobs


def test_the_drawn_engine_is_exported_and_nothing_where_the_job_does_not_fit():
    k = replace(SHAPES, overlap="asynchronous", reuse=True)
    exported = throughput.export(k, result(k))
    # 8,192 completions on 32 engines of one GPU; verl's own names of batch and group
    assert exported["tensor_parallel"] == 1 and exported["engines"] == 32 and exported["placement"] == "split"
    assert exported["memory_fraction"] == 0.9  # what the sizes assume
    assert exported["concurrency"] == 256 and (exported["prompts"], exported["samples"]) == (512, 16)
    assert "data.train_batch_size=512" in frame(k)["config"]
    too_large = replace(SHAPES, model="kimi-k2", gpus=8)
    assert throughput.export(too_large, result(too_large)) is None


def test_training_becomes_no_faster_than_the_chip():
    k = replace(VERL, role="train", k=64.0)
    r = result(k)
    assert r.limit == pytest.approx(1 / throughput.utilization(k)) and 2 < r.limit < 3
    assert r.roles.train == pytest.approx(r.before.train / r.limit)
    (train,) = (p for p in r.points if p.role == "train")
    assert train.flops_per_second == pytest.approx(0.444 * 148e12, rel=1e-2)  # of the update that was measured


def test_the_decode_point_is_that_of_the_pool_that_generates():
    fifth, half = (result(replace(SHAPES, overlap="asynchronous", share=share)).points[0] for share in (0.2, 0.5))
    assert fifth.flop_per_byte > half.flop_per_byte  # fewer engines, more sequences on each


def test_a_test_of_half_an_hour_and_a_step_of_hours_can_be_typed():
    k = replace(AGENT, rollout=7200.0, test_seconds=180.0, longest_test=1800.0, workers=65536)
    assert result(k).roles.verify == 1800.0 and not breaks(k)


@pytest.fixture
def fit():
    return [answer for answer in answers("throughput") if not answer.result.misfits]


def test_no_curve_of_a_job_that_fits_has_a_gap(fit):
    for answer in fit:
        curves = [mark.get("y", []) for panel in answer.frame["panels"] for mark in panel["data"]]
        assert all(None not in curve for curve in curves), answer.knobs


def test_no_job_that_fits_is_faster_than_the_chip(fit):
    for answer in fit:
        k, chip = answer.knobs, ACCELERATORS[answer.knobs.accelerator]
        for point in answer.result.points:
            assert point.flops_per_second <= chip.flops() * (1 + 1e-9), k
            if point.role != "train":
                assert point.flops_per_second <= model.roof(chip, point.flop_per_byte) * (1 + 1e-9), k
        size = throughput.engine_size(k)
        assert size in MODELS[k.model].tp_sizes() and size <= min(k.gpus, chip.scaleup_domain)
        assert throughput.utilization(k) <= 1


def test_more_test_workers_never_take_longer(fit):
    for k, r in ((answer.knobs, answer.result) for answer in fit[:40]):
        more = result(replace(k, workers=65536)).roles
        assert more.verify <= r.roles.verify and more.verify >= max(k.longest_test, k.test_seconds) / k.k
