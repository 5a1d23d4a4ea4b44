import json
import math
from dataclasses import fields, replace

import pytest

from sim.cluster import step
from widgets import throughput
from widgets.frame import host
from widgets.throughput import PRESETS, Knobs

VERL, AGENT = Knobs(), PRESETS["Agent, 60 s tests"]


def result(k):
    (r,) = throughput.run(k)
    return r


def tau(k):
    return step.step_time(result(k).roles, k.topology)


def breaks(k):
    return throughput.broken(k, result(k))


def frame(k):
    form = {f.name: host.spelled(getattr(k, f.name)) for f in fields(Knobs)}
    (text,) = host.stream("throughput", json.dumps(form))
    return json.loads(text)


def panels(k):
    return {p["title"].split(" ")[0]: p for p in frame(k)["panels"]}


@pytest.mark.parametrize(
    "name, seconds", [("verl 7B, 64 GPUs", 365.28), ("verl 7B, 32 GPUs", 790.10), ("verl 30B-A3B", 497.89)]
)
def test_the_presets_of_verl_take_the_published_seconds_when_nothing_is_faster(name, seconds):
    assert tau(replace(PRESETS[name], k=1.0)) == pytest.approx(seconds, abs=0.005)  # docs/advance/fully_async.md


def test_only_the_preset_with_too_few_test_workers_is_broken():
    assert [name for name, k in PRESETS.items() if breaks(k)] == ["8 test workers"]


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("reuse", [False, True])
def test_more_overlap_never_lengthens_a_step(name, reuse):
    times = [tau(replace(PRESETS[name], topology=topology, reuse=reuse)) for topology in step.TOPOLOGIES]
    assert times[0] >= times[1] >= times[2]


def test_doubling_the_engine_is_worth_26_per_cent_nothing_or_13_per_cent_by_what_overlaps():
    # 365.28 / (365.28 − 75.36); 70.26 + 133.41 hides the rollout; 150.72 / 133.41
    gain = lambda **moved: step.speedup(
        result(replace(VERL, **moved)).before, moved.get("topology", "sync"), "rollout", 2.0
    )
    assert gain() == pytest.approx(1.260, abs=5e-4)
    assert gain(topology="one-off") == gain(topology="async") == 1.0
    assert gain(topology="async", reuse=True) == pytest.approx(1.130, abs=5e-4)


def test_the_curve_of_an_overlapped_step_is_flat_beyond_the_second_longest_lane():
    k = replace(VERL, topology="async", reuse=True)
    curve = panels(k)["What"]["data"][0]
    assert curve["name"] == "async"
    flat = [y for x, y in zip(curve["x"], curve["y"]) if x > 150.72 / 133.41]
    assert max(flat) - min(flat) < 1e-9 and flat[0] == pytest.approx(1.1298, abs=1e-4)
    assert tau(replace(k, k=1.15)) == tau(replace(k, k=64.0)) < tau(replace(k, k=1.1))


def test_the_curve_of_a_sum_keeps_rising_towards_amdahls_ceiling():
    curve = panels(VERL)["What"]["data"][0]
    assert curve["name"] == "sync"
    assert all(a < b for a, b in zip(curve["y"], curve["y"][1:]))
    assert curve["y"][-1] < 365.28 / (365.28 - 150.72)


def test_the_axis_of_the_step_stays_while_the_overlap_and_the_factor_move():
    tops = {
        tuple(panels(replace(VERL, topology=t, k=k))["One"]["layout"]["yaxis"]["range"])
        for t in step.TOPOLOGIES
        for k in (1.0, 2.0, 64.0)
    }
    assert len(tops) == 1


def test_in_a_sum_the_bars_form_a_staircase_and_all_are_on_the_path():
    waits, path, hidden, _ = panels(VERL)["One"]["data"]
    assert waits["y"] == pytest.approx([sum(path["y"][:n]) for n in range(6)]) and not any(hidden["y"])


def test_in_a_maximum_one_lane_is_on_the_path_and_the_others_are_hidden():
    waits, path, hidden, rest = panels(replace(VERL, topology="async", k=1.0))["One"]["data"]
    on = {x for x, y in zip(path["x"], path["y"]) if y}
    assert on == {"logp", "train"} and {x for x, y in zip(hidden["x"], hidden["y"]) if y} == {
        "rollout",
        "verify",
        "sync",
        "other",
    }
    assert waits["y"][3] == pytest.approx(70.26) and rest["y"][0] == pytest.approx(70.26 + 133.41 - 150.72)


@pytest.mark.parametrize("workers, broken", [(64, False), (32, True), (8, True)])
def test_half_the_workers_of_a_balanced_agent_break_it(workers, broken):
    assert bool(breaks(replace(AGENT, workers=workers))) is broken  # 60 s of tests against 60 s of rollout is a tie


def test_a_single_checker_of_twenty_milliseconds_outlasts_the_rollout():
    k = replace(VERL, topology="async", reuse=True, k=1.0, workers=1)  # 8 192 · 0.02 s = 163.84 s against 150.72 s
    assert "8,192 tests of 0.02 s on one worker take 164 s" in breaks(k).why
    assert breaks(k).mend == "Verifier workers: 2." and not breaks(replace(k, workers=2))
    assert not breaks(replace(k, topology="sync")) and not breaks(replace(k, reuse=False))


def test_a_slow_weight_sync_breaks_only_what_hid_it():
    k = replace(VERL, topology="async", sync=250.0)
    assert "Sending the weights takes 250 s" in breaks(k).why
    assert not breaks(replace(k, topology="one-off")) and not breaks(replace(k, sync=200.0))


def test_the_readout_of_the_offender_is_marked_when_broken():
    states = {name: [r["state"] for r in frame(k)["readouts"]] for name, k in PRESETS.items()}
    assert "violated" in states["8 test workers"] and not any(
        "violated" in s for name, s in states.items() if name != "8 test workers"
    )


def test_the_threshold_stands_where_both_gpu_pools_are_done():
    (rule,) = [
        s
        for s in panels(replace(VERL, topology="async", reuse=True, k=1.0))["One"]["layout"]["shapes"]
        if s["name"] == "threshold"
    ]
    assert rule["y0"] == pytest.approx(150.72)


def test_splitting_the_gpus_lengthens_every_role_of_a_configuration():
    whole, split = (
        result(replace(VERL, source="from shapes", topology=topology, accelerator="h100", k=1.0)).roles
        for topology in ("sync", "async")
    )
    assert split.train == pytest.approx(2 * whole.train) and split.rollout - split.tail > whole.rollout - whole.tail


def test_on_a_compute_poor_chip_splitting_the_pool_loses_and_with_a_long_tail_it_gains():
    shapes = replace(VERL, source="from shapes", k=1.0, reuse=True)
    assert tau(replace(shapes, topology="async")) > tau(shapes)
    tailed = replace(shapes, accelerator="h100", longest=32768)
    assert tau(replace(tailed, topology="async")) < tau(replace(tailed, topology="one-off")) < tau(tailed)


def test_decode_stands_left_of_the_ridge_on_an_h100_and_right_of_it_on_an_h20():
    at = {name: result(replace(VERL, role="train", k=4.0, accelerator=name)).path for name in ("h100", "h20")}
    assert at == {"h100": ("rollout", "left of the ridge"), "h20": ("rollout", "right of the ridge")}


def test_the_lit_branch_of_the_tree_is_the_remedy_of_the_readouts():
    for k in PRESETS.values():
        f = frame(k)
        lit = [a["text"] for a in f["panels"][-1]["layout"]["annotations"] if a["name"] == "series-1"]
        assert lit[1] == f["readouts"][3]["text"] and len(lit) == 2


def test_useful_completions_shrink_with_what_carries_no_gradient():
    rate = lambda k: step.useful_rate(k.completions, tau(k), k.informative, k.ess)
    assert rate(replace(VERL, informative=0.5, ess=0.8)) == pytest.approx(0.4 * rate(VERL))


@pytest.mark.parametrize(
    "moved",
    [dict(topology=t) for t in step.TOPOLOGIES]
    + [dict(role=r, k=64.0, topology="async") for r in throughput.ROLES]
    + [dict(source="from shapes", model=m, topology=t) for m in throughput.MODELS for t in ("sync", "async")],
)
def test_every_frame_is_finite(moved):
    k = replace(VERL, **moved)
    f = frame(k)
    assert None not in [y for p in f["panels"] for mark in p["data"] for y in mark["y"]] and math.isfinite(tau(k))
