"""What each knob must do, and that what is shown is what the model of costs says."""

from dataclasses import replace

import pytest

from sim.cluster import options
from sim.cluster.step import OVERLAPS
from tests.widgets.catalogue import fixed
from tests.widgets.grid import answers
from widgets.plan import widget as plan
from widgets.plan.widget import PRESETS, Knobs


def result(k):
    (r,) = plan.run(k)
    return r


def step(**knobs):
    return result(replace(Knobs(), **knobs)).found.step_range


def test_the_default_is_the_example_of_the_page():
    # a script that shares no code: 353 to 635 s a step, 6,270 to 11,300 GPU-hours for 500, TP 2, 96 of 256 live
    r = result(Knobs())
    assert step() == pytest.approx((353, 635), abs=0.5)
    assert r.found.gpu_hours == pytest.approx((6270, 11300), rel=0.002)
    assert r.found.engine.tensor_parallel == 2 and int(r.found.live) == 96
    assert [change.words for change in r.path[:2]] == ["reuse the engine's log-probs", "engines of 4 GPUs"]


def test_two_presets_do_not_fit_and_each_says_what_is_too_large():
    found = {name: plan.broken(k, result(k)) for name, k in PRESETS.items()}
    causes = {name: there.cause for name, there in found.items() if there}
    assert causes == {
        "Selective recomputation": "activations fill the memory",
        "DeepSeek-V3 on 64 H100": "weights leave the engine no room",
    }
    for name, there in found.items():
        if there:
            after = fixed("plan", PRESETS[name], there.fix)
            assert not plan.broken(after, result(after))


def test_a_job_that_does_not_fit_says_how_many_gpus_would_hold_it():
    k = PRESETS["Selective recomputation"]
    assert result(k).fewest is None  # activations of a sequence are not divided among more GPUs
    split = replace(k, training_parallel=2)  # 16 P / n + 53.6 / 2 ... fits at 128 already
    assert not result(split).misfits
    tiny = replace(Knobs(), gpus=8)  # 4 GPUs train: 16 x 32.76 GB / 4
    fewest = result(tiny).fewest
    assert not result(replace(tiny, gpus=next(n for n in plan.GPUS if n >= fewest))).misfits and fewest > 8


def test_reused_log_probs_leave_the_engines_as_the_longer_lane():
    assert step(reuse=True)[0] == pytest.approx(302, abs=1.5)  # the same script: 299 s and 2.6 s of weights


def test_an_engine_of_four_changes_nothing_until_the_trainer_is_faster():
    assert step(tensor_parallel="4") == pytest.approx(step())
    assert step(tensor_parallel="4", reuse=True)[0] == pytest.approx(265, abs=0.6)


@pytest.mark.parametrize("overlap, seconds", [("sync", 333), ("carry-over", 293)])
def test_a_step_on_one_pool_of_all_gpus_takes_the_expected_seconds(overlap, seconds):
    assert step(overlap=overlap, tensor_parallel="4")[0] == pytest.approx(seconds, abs=0.6)


def test_longer_completions_more_prompts_and_a_reference_cost_and_narrower_weights_do_not():
    for overlap in OVERLAPS:
        now = step(overlap=overlap)[0]
        assert step(overlap=overlap, prompts=1024)[0] > now
        assert step(overlap=overlap, reference=True)[0] > now
        assert step(overlap=overlap, longest=4600)[0] < now
        assert step(overlap=overlap, weights="fp8")[0] <= now * 1.0001
        assert step(overlap=overlap, cache="fp8")[0] <= now * 1.0001


def test_running_the_tests_of_completions_is_a_lane_of_its_own():
    k = PRESETS["7B with tests"]
    assert result(k).found.fast.verify == 128 * 8 * 30 / 256
    assert result(k).found.step_range == (120, 120) and plan.worse(k, result(k))
    assert result(k).path[0].words == "512 test workers"
    assert result(replace(k, workers=65536)).found.fast.verify == 30  # never less than the longest test


def test_money_is_price_times_hours_and_steps_count_once():
    once, twice = result(Knobs()).found, result(Knobs(steps=1000, price=4.0)).found
    assert twice.gpu_hours == pytest.approx([2 * hours for hours in once.gpu_hours])
    assert twice.money == pytest.approx([4 * money for money in once.money])
    assert plan.holds(Knobs(price=0.0), result(Knobs(price=0.0))).endswith("cost 0 at your price.")


def test_a_timed_update_is_used_as_measured_and_an_impossibly_fast_one_is_refused():
    r = result(Knobs(update_seconds=400.0))
    assert (r.found.fast.train, r.found.slow.train) == pytest.approx((400, 400))
    impossible = result(Knobs(update_seconds=1.0))
    assert "the inputs contradict" in impossible.misfits[0].what


def test_the_curve_goes_through_the_ring():
    r = result(Knobs())
    at = {gpus: (fast, slow) for gpus, fast, slow in r.sizes}
    assert at[128] == pytest.approx(r.found.step_range)
    fast = [fast for _, fast, _ in r.sizes]
    assert fast == sorted(fast, reverse=True)


def test_the_exported_setting_has_only_quantities_that_the_options_have():
    for k in PRESETS.values():
        r = result(k)
        setting = plan.export(k, r)
        assert (setting is None) == bool(r.misfits)
        if setting:
            texts = options.texts(setting)
            assert f"--tensor-parallel-size {r.found.engine.tensor_parallel}" in next(iter(texts.values()))


@pytest.mark.when_changed()
def test_no_setting_of_the_grid_uses_more_bytes_than_available():
    for answer in answers("plan"):
        if not answer.broken:
            assert answer.result.found.peak.share <= 1
            low, high = answer.result.found.step_range
            assert 0 < low <= high * (1 + 1e-9)
