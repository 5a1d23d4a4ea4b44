from dataclasses import replace
from itertools import pairwise

import pytest

from sim.cluster import lengths, planner, step, validation
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.planner import Scenario
from sim.cluster.user_inputs import Timed

# The example of the page: Qwen2.5-32B on 64 + 64 H100, 512 x 16 completions, median 3,000, spread 0.8, cut at 8,192
EXAMPLE = Scenario(
    MODELS["qwen2.5-32b"], ACCELERATORS["h100"], lengths.lognormal(3000, 0.8, 8192), gpus=128, overlap="async"
)
SMALL = Scenario(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], lengths.lognormal(720, 0.8, 8192), gpus=64)


def test_the_example_fits_with_state_activations_and_logits_of_one_sequence():
    state = 16 * 32763876352 / 64
    activations = 8704 * 5120 * (2 * 64 + 34)
    logits = 1024 * 152064 * 10
    assert MODELS["qwen2.5-32b"].params() == 32763876352  # Qwen2.5's config.json, by hand
    assert planner.plan(EXAMPLE).peak.needs == pytest.approx(state + activations + logits, rel=1e-9)
    assert planner.plan(EXAMPLE).peak.moment == "update"


def test_the_example_step_is_what_the_trainer_takes():
    # values of a script that shares no code: rollout 299 s in a stream, log-probs 88, update 265, weights 2.6
    found = planner.plan(EXAMPLE)
    assert step.seconds(found.fast, "rollout", "async") == pytest.approx(299, rel=0.005)
    assert (found.fast.log_probs, found.fast.train) == pytest.approx((88.2, 264.5), rel=0.002)
    assert found.fast.sync == pytest.approx(2 * 32763876352 / 25e9)
    assert found.step_range[0] == pytest.approx(found.fast.log_probs + found.fast.train)
    assert found.gpu_hours[0] == pytest.approx(128 * 500 * found.step_range[0] / 3600)
    assert found.money == pytest.approx(tuple(2 * hours for hours in found.gpu_hours))
    assert found.gpu_hours == pytest.approx((6270, 11300), rel=0.005)


def test_the_slow_end_is_the_calibration_times_the_fast_one_where_nothing_is_exchanged():
    one_gpu = replace(SMALL, tensor_parallel=1, overlap="async")
    fast, slow = planner.plan(one_gpu).step_range
    assert slow == pytest.approx(1.8 * fast)
    experts = replace(one_gpu, model=MODELS["qwen3-30b-a3b"], tensor_parallel=2)
    fast, slow = planner.plan(experts).step_range
    assert slow == pytest.approx(4.8 * fast, rel=0.05)  # what engines exchange is no slower


def test_what_was_timed_has_no_range_and_is_met():
    # 12 ms for 64 sequences of 2,048 tokens: bytes read over 3.35 TB/s x (12 - 1.5) ms, as on page 22a
    timed = planner.measured(SMALL, Timed(64, 2048, 0.012, 1), update_seconds=50.0)
    assert timed.efficiency.bandwidth == pytest.approx(0.615705, rel=1e-5)
    found = planner.plan(timed)
    assert found.step_range[0] == pytest.approx(found.step_range[1], rel=1e-3)
    assert found.fast.train == pytest.approx(50.0)
    with pytest.raises(ValueError, match="MFU"):
        planner.plan(planner.measured(SMALL, update_seconds=1.0))


@pytest.mark.parametrize(
    "overlap, tensor_parallel, reuse, seconds",
    # the same script: all 128 GPUs in one pool, TP 4
    [("sync", 4, False, 333), ("carry-over", 4, False, 293), ("carry-over", 4, True, 249)],
)
def test_one_pool_of_all_gpus(overlap, tensor_parallel, reuse, seconds):
    shared = replace(EXAMPLE, overlap=overlap, tensor_parallel=tensor_parallel, reuse=reuse)
    assert planner.plan(shared).step_range[0] == pytest.approx(seconds, abs=0.6)


def test_an_engine_of_four_gains_nothing_alone_and_much_behind_reused_log_probs():
    found = {change.words: change for change in planner.changes(EXAMPLE)}
    now = planner.plan(EXAMPLE).step_range[0]
    assert found["engines of 4 GPUs"].seconds == pytest.approx(now)
    assert found["reuse the engine's log-probs"].seconds == pytest.approx(302, abs=1.5)
    path = planner.best_changes(EXAMPLE)
    assert [change.words for change in path][:2] == ["reuse the engine's log-probs", "engines of 4 GPUs"]
    assert path[1].seconds == pytest.approx(265, abs=0.6)
    assert now > path[0].seconds > path[1].seconds > path[2].seconds
    behind = {change.words: change.seconds for change in planner.changes(path[1].scenario)}
    assert behind["split 60 + 68"] == pytest.approx(249, abs=0.6)


def test_a_path_buys_no_gpus_and_cuts_no_completions():
    for scenario in (EXAMPLE, SMALL, replace(SMALL, overlap="one-off", reference=True)):
        for change in planner.best_changes(scenario):
            there = change.scenario
            assert there.gpus == scenario.gpus and there.law == scenario.law
            assert planner.plan(there).step_range[0] == pytest.approx(change.seconds)


def test_every_change_is_what_a_plan_of_it_says_and_none_is_impossible():
    for change in planner.changes(replace(SMALL, reference=True, test_seconds=1.0)):
        assert planner.misfits(change.scenario) == []
        assert planner.plan(change.scenario).step_range[0] == pytest.approx(change.seconds)


def test_more_gpus_never_make_a_step_longer_and_doubling_costs_as_much_at_least():
    for overlap in step.OVERLAPS:
        there = [planner.plan(replace(SMALL, overlap=overlap, gpus=gpus)) for gpus in (16, 32, 64, 128)]
        seconds = [found.step_range[0] for found in there]
        assert seconds == sorted(seconds, reverse=True)
        hours = [found.gpu_hours[0] for found in there]
        assert all(after > 0.999 * before for before, after in pairwise(hours))


def test_what_does_not_fit_has_no_seconds():
    huge = replace(SMALL, model=MODELS["deepseek-v3"], gpus=8)
    assert planner.misfits(huge)
    with pytest.raises(ValueError, match="does not fit"):
        planner.plan(huge)


def test_lag_and_waiting_go_with_what_overlaps():
    at = {overlap: planner.plan(replace(EXAMPLE, overlap=overlap)) for overlap in step.OVERLAPS}
    lag = {overlap: found.lag for overlap, found in at.items()}
    # Little's law: 32 engines with 96.7 sequences each are writing, an update takes 8,192 and is never idle
    assert lag["sync"] == 0 and lag["one-off"] == 1 and lag["async"] == pytest.approx(1 + 32 * 96.73 / 8192, rel=1e-3)
    assert at["sync"].idle == at["carry-over"].idle == 0
    assert at["async"].idle == pytest.approx(1 - 299 / 352.7, abs=0.005)


def test_the_calibration_is_the_worst_published_step_and_nothing_else():
    for kind, experts in (("dense", False), ("experts", True)):
        assert 0 <= planner.SLOWER[kind] - validation.slowest(experts) < 0.1


def test_a_table_names_a_lesson_for_each_answer():
    rows = planner.answers(planner.plan(replace(EXAMPLE, test_seconds=1.0)))
    assert {row.lesson for row in rows} <= {"06", "19", "20", "22", "22a", "22b", "22c"}
    words = {row.question: row.words for row in rows}
    assert words["a step"] == "353 to 635 s"
    assert words["fullest GPU"] == "17.0 of 73.6 GB (update)"
    assert words["tests"] == "128 s"
    assert words["in flight, engine of 2"] == "97 of 256"
