"""The cluster as the picture: cells are GPUs, what overflows is what does not fit, lanes are seconds of readouts."""

import random
import time
from dataclasses import replace

import pytest

from rlpt.planning import planner
from sim.cluster import envelope, step
from tests.widgets.plan.test_terminal import drawn
from widgets.frame.contract import impossible_job
from widgets.frame.drawing import drawing, fleet
from widgets.plan import cluster
from widgets.plan import widget as plan
from widgets.plan.widget import PRESETS, Knobs

SIZES = (1, 2, 7, 8, 60, 128, 129, 130, 512, 1000, 2048, 8192)


def job(k):
    """(scenario, what is impossible) of a setting."""
    s, contradictions = plan.scenario(k)
    return s, contradictions or planner.misfits(s)


def settings():
    """Settings of which some fit, and others on few GPUs of which some do not."""
    chance = random.Random(35)
    for i, k in enumerate(drawn(80)):
        few = dict(gpus=chance.randint(2, 24), model=chance.choice(["qwen2.5-32b", "llama3.1-70b", "qwen3-30b-a3b"]))
        few |= dict(training_tensor="1", training_stages="1", trained=plan.ALL_WEIGHTS, on_host="nothing")
        k = k if i % 2 else replace(k, **few, data_parallel=1, pipeline=1, updates=1, prompts=512, host_memory=4000.0)
        if not impossible_job.out_of_order(k):
            yield k


@pytest.mark.parametrize("overlap", step.OVERLAPS)
@pytest.mark.parametrize("gpus", SIZES)
def test_cells_stand_for_all_gpus_and_for_no_other(gpus, overlap):
    s, misfits = job(Knobs(gpus=gpus, overlap=overlap))
    pools = cluster.pools(s, misfits)
    each = fleet.per_cell(pools)
    counted = [sum(fleet.cells(pool, each)) for pool in pools]
    assert counted == [pool.gpus for pool in pools] == list(envelope.pools(s.job))  # one pool is drawn at two times
    assert each == 1 if max(counted) <= 128 else each % 8 == 0
    for pool in pools:
        boxes = fleet.boxes(pools, pool)
        assert len(boxes) == len(fleet.cells(pool, each)) <= 129
        for x, y, wide, high in boxes:  # each stands whole in the picture
            assert x >= 0 and y >= 0 and x + wide <= fleet.WIDE and y + high <= fleet.HIGH
            assert wide > 2.5 and high > 2.5


@pytest.mark.slow()
def test_a_cell_overflows_where_and_only_where_its_memory_does_not_fit():
    settings_drawn = {True: 0, False: 0}  # whether something overflows
    for k in settings():
        s, misfits = job(k)
        pools = cluster.pools(s, misfits)
        engine = [
            m for m in misfits if m.what.startswith(("one sequence", f"{s.model.name} has", f"{s.model.name} in"))
        ]
        trainer = [m for m in misfits if m.what.startswith(("training " + s.model.name, "the moment of"))]
        laid_out = not cluster.misfits_of(misfits, cluster.PLAIN)  # else there is no GPU whose memory could be drawn
        over = [bool(engine) and laid_out, bool(trainer) and laid_out]
        assert [pool.over for pool in pools] == [pool.high > 1 for pool in pools] == over, (k, misfits)
        if not misfits:
            peak = planner.needed(s)
            filled = s.job.placement == envelope.BOTH_STAY  # by a cache that never leaves
            assert filled or peak.moment == "generate" or pools[1].high == pytest.approx(peak.share)
        settings_drawn[any(over)] += 1
    assert min(settings_drawn.values()) > 5, settings_drawn


def test_overflow_stands_to_scale():
    s, misfits = job(Knobs(gpus=8))  # 139.8 of 73.6 GB
    pools = cluster.pools(s, misfits)
    assert pools[1].high == pytest.approx(misfits[0].needs / misfits[0].has, rel=1e-9)
    pen = drawing.drawn(cluster.picture(s, None, misfits))
    ((*_, high), *_) = fleet.boxes(pools, pools[1])
    over = pen.state["f1o.d"].split("z")[0]
    assert float(over.split("v")[1].split("h")[0]) == pytest.approx(high * (139.832 / 73.6 - 1), abs=0.06)
    assert pen.state["rw.text"] == "needs 140 of 73.6 GB"


@pytest.mark.parametrize("name", PRESETS)
def test_the_lanes_are_the_seconds_of_the_readouts(name):
    s, misfits = job(PRESETS[name])
    if misfits:
        return
    planned = planner.plan(s)
    board = cluster.step_lanes(s, planned)
    spans = {mark["key"][1:]: mark for mark in board["marks"] if mark["kind"] == "span" and mark["key"][0] == "s"}
    for role, mark in spans.items():
        assert mark["end"] - mark["start"] == pytest.approx(step.seconds(planned.fast, role, s.overlap))
    assert max(mark["end"] for mark in spans.values()) == pytest.approx(planned.step_range[0]) == board["now"]
    later = [mark for mark in board["marks"] if mark["kind"] == "span" and mark["key"][0] == "q"]
    assert max(mark["end"] for mark in later) == pytest.approx(planned.step_range[1]) == board["until"]
    assert min(mark["start"] for mark in later) >= planned.step_range[0]
    waited = [name for name, word in board["rows"] if word]
    assert waited == ([cluster.waited_for(s, planned)] if len(board["rows"]) > 1 else [])


def test_a_step_waits_for_the_trainers_at_first_and_for_the_engines_behind_a_faster_one():
    def lanes(**knobs):
        s, _ = job(Knobs(**knobs))
        return dict(cluster.step_lanes(s, planner.plan(s))["rows"])

    assert lanes(host=0.0) == {"engines": "", "trainers": "set the pace"}
    assert lanes(host=0.0, recompute="selective", training_parallel=2)["engines"] == "set the pace"
    assert set(lanes(overlap="async", test_seconds=2.0)) == {"engines", "tests", "trainers"}
    assert lanes(overlap="sync") == {"all GPUs": ""}


def test_what_a_cell_holds_is_what_memory_says():
    s, _ = job(Knobs())
    generates, trains = cluster.pools(s, [])
    weights, cache, unused = (share for _, share in generates.parts)
    assert weights == pytest.approx(2 * 32763876352 / 2 / 72e9) and unused == 0  # TP 2, of .9 · 80 GB
    assert weights + cache == pytest.approx(1)
    state = 16 * 32763876352 / 64 / 73.6e9
    assert dict(trains.parts)["trains"] == pytest.approx(state)
    assert trains.high == pytest.approx(planner.plan(s).peak.share)
    few, _ = job(Knobs(prompts=64))  # 32 sequences an engine that has room for 96.7: two thirds are paid for and unused
    engines, _ = cluster.pools(few, [])
    assert dict(engines.parts)["waits"] == pytest.approx((1 - 32 / few.slots) * (1 - weights))


@pytest.mark.parametrize("gpus", [8, 128, 2048])
def test_a_cluster_of_any_size_is_drawn_at_once(gpus):
    s, misfits = job(Knobs(gpus=gpus))
    planned = None if misfits else planner.plan(s)
    begun = time.process_time()
    html = drawing.svg(cluster.picture(s, planned, misfits))
    assert time.process_time() - begun < 0.06
    assert len(html) < 40_000 and html.count("data-ring") >= 1


def test_a_host_without_room_gets_a_ring_and_no_overflow():
    k = Knobs(gpus=8, overlap="sync", host_memory=250.0, p50=300, p90=600, p99=900, longest=1024)
    s, misfits = job(k)
    assert misfits[0].part == "host" and not any(pool.over for pool in cluster.pools(s, misfits))
    pen = drawing.drawn(cluster.picture(s, None, misfits))
    assert pen.state["rw.text"] == "needs 393 of 250 GB" and "k-off" not in pen.state["rr.class"]
    assert replace(k, host_memory=1000.0) and not job(replace(k, host_memory=1000.0))[1]


def test_trainers_that_stay_empty_say_so_and_full_ones_do_not():
    def words(**knobs):
        s, misfits = job(Knobs(**knobs))
        return [words for pool in cluster.pools(s, misfits) for _, words in pool.words]

    # 16 x 32.76 GB / 64 of state and 8.4 of a pass, of 73.6
    assert "77% empty" in words()
    assert not any("empty" in said for said in words(gpus=24))
