"""What each knob must do, and that what is shown is what the model of costs says."""

from dataclasses import fields, replace

import pytest

from rlpt.planning import options, planner, refusals
from sim.cluster.step import OVERLAPS
from sim.words import capital
from tests.widgets.grid import answers
from widgets.plan import widget as plan
from widgets.plan.widget import PRESETS, Knobs


def result(k):
    (r,) = plan.run(k)
    return r


def step(**knobs):
    return planner.step_range(plan.scenario(replace(Knobs(), **knobs))[0])


def test_the_default_is_the_example_of_the_page():
    # 1.3 times: 299 s of a script that shares no code, 60 µs of the host for each of 256 sequences an engine and token,
    # and 65.5 GB at 46 GB/s in 576 tensors; 1.4 times shorter and longer. Engines of two GPUs, 96 of 256 sequences
    r = result(Knobs())
    predicted = planner.seconds(r.scenario)
    by_hand = 299 + 60e-6 * 256 * r.scenario.law.mean + 65.5 / 46 + 576 * 1e-4
    assert predicted == pytest.approx(1.3 * by_hand, rel=0.005)
    assert step() == pytest.approx((predicted / 1.4, 1.4 * predicted))
    assert r.found.engine.tensor_parallel == 2 and int(r.found.live) == 96
    assert r.path[0].free and r.path[0].seconds < 0.99 * predicted


@pytest.mark.parametrize(
    "knobs, cause",
    [
        (dict(gpus=8), "training state fills the memory"),  # 16 x 32.76 GB on four trainers
        (dict(recompute="none"), "activations fill the memory"),
        (dict(recompute="selective"), "activations fill the memory"),
        (dict(util=0.8, tensor_parallel="1"), "weights leave the engine no room"),  # 65.5 GB of 64
        (dict(longest=131072, p99=131072, training_parallel=64), "one sequence is too long"),
        (dict(tensor_parallel="16"), "no such layout can be built"),  # 40 heads
        (dict(p50=12000, p90=9000), "the inputs contradict"),
        (dict(seconds="update=1"), "the inputs contradict"),
        (dict(prompts=8, samples=1), "more engines than completions"),
    ],
)
def test_a_break_is_named_for_its_mechanism_whatever_preset_has_it_too(knobs, cause):
    k = replace(Knobs(), **knobs)
    assert plan.broken(k, result(k)).cause == cause


def test_a_job_that_does_not_fit_names_jobs_that_do():
    for k in (PRESETS["Selective recomputation"], replace(Knobs(), gpus=8), PRESETS["DeepSeek-V3 on 64 H100"]):
        r = result(k)
        assert r.misfits and 1 <= len(r.nearest) <= 3
        assert r.nearest[0].words.startswith(plan.answer(k, r)[1].removeprefix("It would with ").removesuffix("."))
        shown = [readout.value for readout in plan.readouts(k, r)]
        assert shown[: len(r.nearest)] == [plan.without_amounts(capital(one.words)) for one in r.nearest]
        table = next(panel for panel in plan.figure(k, r) if panel["title"] == "What would fit")
        assert all(one.words in str(table) for one in r.nearest)
        claims = plan.broken(k, r).why.claims
        assert all(holds() for holds in claims.values())


ONE_CARD = "8B with QLoRA on one RTX 4090"


@pytest.mark.parametrize(
    "preset, knobs",
    [
        ("", dict(gpus=1)),
        ("", dict(gpus=1, model="qwen2.5-7b")),
        ("", dict(gpus=1, model="qwen3-8b", accelerator="t4")),  # no engine holds it at all
        ("", dict(model="deepseek-v3", accelerator="h200", gpus=8, overlap="sync")),
        ("", dict(model="gemma3-27b", accelerator="rtx4090", gpus=4, trained="QLoRA")),
        ("", dict(model="mixtral-8x7b", gpus=2, overlap="sync")),
        ("", dict(share=0.99)),
        ("", dict(tensor_parallel="32")),
        (ONE_CARD, dict(model="qwen2.5-32b")),
        ("DeepSeek-V3 on 64 H100", dict(timed="64 sequences, 2048 tokens, 30 ms")),
        ("Selective recomputation", dict(seconds="step=342.7 update=120")),
    ],
)
def test_what_would_fit_does_once_the_knobs_are_set_to_it(preset, knobs):
    k = replace(PRESETS.get(preset, Knobs()), **knobs)
    r = result(k)
    assert r.misfits and all(plan.fits(replace(k, **one.turned)) for one in r.nearest)
    found = plan.broken(k, r)
    assert found.fix and plan.fits(replace(k, **found.fix))
    assert not r.nearest or found.fix == r.nearest[0].turned  # which the headline names
    if not (k.timed or k.seconds):  # the knobs can be set to all that the terminal offers
        assert [one.words for one in r.nearest] == [one.words for one in refusals.nearest(r.scenario)]


@pytest.mark.parametrize("seconds", ["step=0.1", "rollout=1", "log_probs=1", "update=1", "rollout=20"])
def test_a_timing_that_no_chip_can_reach_is_no_plan(seconds):
    k = replace(Knobs(), seconds=seconds)
    assert plan.broken(k, result(k)).cause == "the inputs contradict"
    assert plan.broken(k, result(k)).fix == dict(seconds="")


def test_the_curve_over_gpus_is_that_of_the_page_at_each_of_them():
    for k in (Knobs(), PRESETS[ONE_CARD]):
        s, _ = plan.scenario(k)
        for gpus, *seconds in plan.sizes(s):
            there, _ = plan.scenario(replace(k, gpus=gpus, overlap=s.overlap))
            assert not planner.misfits(there) and planner.step_range(there) == pytest.approx(tuple(seconds))


def test_tests_that_take_longest_set_the_pace():
    k = replace(PRESETS["7B, ten turns with tools"], workers=1)
    assert plan.worse(k, result(k)).startswith("The tests set the pace")


@pytest.mark.parametrize(
    "words, short",
    [
        ("1,024 GPUs", "1,024 GPUs"),
        ("LoRA of rank 32, ZeRO 2", "LoRA of rank 32"),
        ("another layout: ZeRO 2, 4 trainer GPUs a layer", "another layout: ZeRO 2, 4 trainer GPUs a layer"),
        ("the optimizer's state in host memory (35 GB a server)", "the optimizer's state in host memory"),
    ],
)
def test_a_headline_keeps_what_is_different(words, short):
    assert plan.shortly(words) == short


@pytest.mark.parametrize(
    "knobs, said",
    [
        (dict(), ("It fits.", "A step takes 6 to 11 minutes.")),
        (dict(gpus=8), ("It does not fit.", "It would with the weights and the optimizer in host memory.")),
        (dict(p50=12000, p90=9000), ("The inputs contradict.", "")),
        (dict(prompts=8, samples=1), ("More engines than completions.", "")),
    ],
)
def test_the_headline_is_the_answer(knobs, said):
    k = replace(Knobs(), **knobs)
    assert plan.answer(k, result(k)) == said


def test_lengths_follow_the_median_until_one_of_them_is_set():
    twice = plan.scenario(Knobs(p50=6000))[0].law
    assert (twice.p50, twice.p90, twice.p99, twice.longest) == (6000, 2 * 8363, 2 * 19289, 2 * 8192)
    assert plan.idle(Knobs(p50=6000))["p90"] == "16,726 with the median" and "p90" not in plan.idle(Knobs())
    by_hand = plan.scenario(Knobs(p50=6000, p90=9000))[0].law
    assert (by_hand.p90, by_hand.p99, by_hand.longest) == (9000, 19289, 8192)


def test_a_best_change_names_its_settings_in_the_unit_of_the_headline():
    *_, best = plan.readouts(Knobs(), result(Knobs()))
    first, now = result(Knobs()).path[0], planner.seconds(result(Knobs()).scenario)
    assert best.unit == first.words
    assert best.value == f"{now / 60:.1f} → {first.seconds / 60:.1f} min"


def test_longer_completions_more_prompts_and_a_reference_cost_and_narrower_weights_do_not():
    for overlap in OVERLAPS:
        plain = step(overlap=overlap)[0]
        assert step(overlap=overlap, prompts=1024)[0] > plain
        if overlap != "one-off":  # there the engines take longer than the trainer, reference or not
            assert step(overlap=overlap, reference=True)[0] > plain
        assert step(overlap=overlap, longest=4600)[0] < plain
        assert step(overlap=overlap, weights="fp8")[0] <= plain * 1.0001
        assert step(overlap=overlap, cache="fp8")[0] <= plain * 1.0001


def test_recomputing_less_and_dealing_out_experts_shorten_an_update():
    selective = step(recompute="selective", training_parallel=2, host=0.0)  # where the step waits for the trainer
    assert selective[0] < step(host=0.0)[0]
    large = dict(model="deepseek-v3", accelerator="h200", gpus=256, weights="fp8")
    gathered, dealt = (plan.scenario(Knobs(**large, expert_parallel=over))[0] for over in ("1", "16"))
    assert planner.roles(dealt).train < 0.7 * planner.roles(gathered).train
    assert plan.idle(Knobs())["expert_parallel"] and "expert_parallel" not in plan.idle(Knobs(model="deepseek-v3"))
    uneven = Knobs(model="qwen3-30b-a3b", expert_parallel="32")
    assert "while 48 GPUs train" in result(replace(uneven, gpus=96)).misfits[0].what
    assert plan.fix(replace(uneven, gpus=96)) == dict(expert_parallel="16") and not result(uneven).misfits


def test_running_the_tests_of_completions_is_a_lane_of_its_own():
    k = replace(PRESETS["7B, ten turns with tools"], turns=1, overlap="async")
    assert result(k).found.fast.verify == 128 * 8 * 30 / 256
    assert result(k).found.step_range == pytest.approx((120, 120)) and plan.worse(k, result(k))
    assert result(k).path[0].words == "512 test workers"
    assert result(replace(k, workers=65536)).found.fast.verify == 30  # never less than the longest test


def test_turns_batches_updates_and_groups_do_what_their_names_say():
    k = PRESETS["7B, ten turns with tools"]

    def job(**more):
        return plan.scenario(replace(k, **more))[0]

    def predicted(**more):
        return planner.roles(job(**more))

    assert predicted(turns=20).rollout > predicted().rollout > predicted(turns=1).rollout
    assert predicted(returned=1000).train > predicted().train  # what tools return is trained on
    assert predicted(tool_seconds=60.0).rollout > predicted().rollout > predicted(tool_seconds=0.0).rollout
    assert predicted(kept="drop").rollout > predicted().rollout
    assert planner.seconds(job(batches=2.0)) < planner.seconds(job())
    assert predicted(updates=16).train > predicted().train
    assert predicted(grouped=True).train < predicted().train
    long = dict(prompt=8192, prompts=512)
    assert predicted(shared_cache=True, **long).rollout < predicted(**long).rollout
    assert predicted().verify >= 30  # the longest test may follow the last completion
    assert set(plan.idle(Knobs())) >= {"returned", "tool_seconds", "kept", "batches"} and "kept" not in plan.idle(k)


def test_money_is_price_times_hours_and_steps_count_once():
    once, twice = result(Knobs()).found, result(Knobs(steps=1000, price=4.0)).found
    assert twice.gpu_hours == pytest.approx([2 * hours for hours in once.gpu_hours])
    assert twice.money == pytest.approx([4 * money for money in once.money])
    _, cost, _ = plan.readouts(Knobs(price=0.0, currency="€"), result(Knobs(price=0.0, currency="€")))
    assert (cost.value, cost.unit) == ("€0", "at €0 per GPU-hour")


def test_a_timed_update_is_used_as_measured_and_an_impossibly_fast_one_is_refused():
    r = result(Knobs(seconds="update=400"))
    assert r.found.predicted.train == pytest.approx(400)
    assert (r.found.fast.train, r.found.slow.train) == pytest.approx((400 / 1.1, 440))
    for seconds, words in (
        ("update=1", "at the chip's peak"),
        ("step=9 rollout=99 update=99", "make it 99 s at least"),
    ):
        k = Knobs(seconds=seconds)
        assert words in result(k).misfits[0].what
        assert plan.broken(k, result(k)).fix == dict(seconds="")


def test_the_timings_that_are_shown_as_examples_hold_at_the_default_setting():
    for f in fields(Knobs):
        if f.name in ("timed", "seconds"):
            k = replace(Knobs(), **{f.name: f.metadata["read"](f.metadata["example"])[0]})
            assert not plan.broken(k, result(k)), f.name


def test_a_batch_that_is_too_small_is_said_in_completions():
    k = Knobs(prompts=8, samples=1)
    assert plan.broken(k, result(k)).why == "8 completions for 32 engines: 24 have none."


@pytest.mark.slow
@pytest.mark.parametrize(
    "model, accelerator, gpus",
    [("deepseek-v3", "h100", 512), ("llama3.1-405b", "h100", 1024), ("kimi-k2", "h200", 1024)],
)
def test_models_larger_than_a_server_are_planned(model, accelerator, gpus):
    # the settings of which the page said that nothing holds them
    for weights in ("bf16", "fp8"):
        k = Knobs(model=model, accelerator=accelerator, gpus=gpus, weights=weights)
        if model == "deepseek-v3":  # 16 · 671 / 256 GB of state and 23 of activations, or of two GPUs a sequence half
            k = replace(k, training_parallel=2)
        r = result(k)
        assert not r.misfits and 0 < r.found.step_range[0] < 1000
        assert r.found.engine.size > 8 or weights == "fp8"
        assert r.path and r.path[0].free


def test_groups_and_stages_of_an_engine_are_more_gpus_of_it():
    k = Knobs(model="deepseek-v3", accelerator="h200", gpus=256, weights="fp8", tensor_parallel="8")
    one, groups, stages = (result(replace(k, **more)).found for more in ({}, dict(data_parallel=2), dict(pipeline=2)))
    assert (one.engine.size, groups.engine.size, stages.engine.size) == (8, 16, 16)
    # experts or layers once in sixteen GPUs, not twice
    assert groups.live > 2 * one.live and stages.live > 2 * one.live
    cut = result(replace(k, cut_copies=True)).found
    assert cut.live == pytest.approx(min(8 * one.live, 8192 / 16)) and cut.engine.context_parallel == 8
    assert step(cut_copies=True) == step()  # its engine of two makes no copies


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
            assert (
                f"--tensor-parallel-size {r.found.engine.tensor_parallel}" in texts[f"vLLM {options.VERSIONS['vLLM']}"]
            )
            assert k.program == plan.ANY or next(iter(texts)).startswith(k.program)  # the reader's own comes first


@pytest.mark.when_changed()
def test_no_setting_of_the_grid_uses_more_bytes_than_available():
    for answer in answers("plan"):
        if not answer.broken:
            assert answer.result.found.peak.share <= 1
            low, high = answer.result.found.step_range
            assert 0 < low <= high * (1 + 1e-9)
