"""An export is read back as the job that it starts: what it leaves out is the program's own default."""

import random
from dataclasses import replace

import pytest

from rlpt.planning import options, planner
from rlpt.planning.user_inputs import WEIGHTS
from sim.cluster import envelope, layouts
from sim.cluster.envelope import PLACEMENTS
from sim.cluster.models import MODELS
from tests.widgets.plan.test_terminal import drawn
from widgets.plan import widget as plan
from widgets.plan.widget import PRESETS, Knobs

TRAINERS = tuple(program for program in options.VERSIONS if program not in options.ENGINES)


V3 = replace(PRESETS["DeepSeek-V3 on 128 + 128 H200"], zero="3", training_stages="1", data_parallel=8)


def exported(k):
    """(scenario, {trainer: its text}) of a setting that fits, else None."""
    s, contradictions = plan.scenario(k)
    if contradictions or plan.misfits(k):
        return None
    texts = options.texts(plan.export(k, plan.Result([], s, planner.plan(s))))
    return s, {program: texts[f"{program} {options.VERSIONS[program]}"] for program in TRAINERS}


def refused(text):
    return "nothing to copy" in text or "this does not fit" in text or "do not divide by" in text


def same_job(program, text, s):
    """What the text starts is what was planned, and fits."""
    job = options.described_by(text)
    assert envelope.misfits(s.model, s.accelerator, job) == [], (program, text)
    # some count engines where a pool of theirs would leave GPUs over
    engines = [pools[0] // s.engine.size for pools in (envelope.pools(job), envelope.pools(s.job))]
    assert engines[0] == engines[1], text
    stays = PLACEMENTS[1]  # TRL puts no weights aside with ZeRO 1; above, what it does fits
    assert job.placement in (
        s.job.placement,
        stays if program == "TRL" or s.job.placement == envelope.BOTH_STAY else "",
    ), text
    assert envelope.pools(job)[1] == envelope.pools(s.job)[1], text
    assert layouts.layout_of(job.engine) == layouts.layout_of(s.engine)
    assert s.job.engine.hbm_share - 0.011 < job.engine.hbm_share <= s.job.engine.hbm_share + 1e-9
    assert job.engine.longest == s.longest and job.training.context_parallel == s.training_parallel
    assert (job.training.recompute, job.training.zero, job.training.critic) == (s.recompute, s.zero, False)
    cut = job.training.tensor_parallel, job.training.pipeline, job.training.expert_parallel
    dealt = s.dealt if program == "verl" else 1  # the others say that they have no option for it
    assert cut == (s.training_tensor, s.training_stages, dealt)
    assert job.training.tokens >= s.longest


@pytest.mark.parametrize("overlap", ["sync", "carry-over", "one-off", "async"])
@pytest.mark.parametrize("name", PRESETS)
def test_what_a_preset_exports_starts_what_was_planned(name, overlap):
    export = exported(replace(PRESETS[name], overlap=overlap))
    if export is None:
        return
    s, texts = export
    assert s.four_bits or not refused(texts["verl"])  # which has no base in four bits
    for program, text in texts.items():
        if not refused(text):
            same_job(program, text, s)


@pytest.mark.slow()
def test_what_random_settings_export_fits_or_is_refused():
    counts = dict.fromkeys(TRAINERS, 0)
    for i, k in enumerate(drawn(240)):
        sharded = dict(zero="3", training_tensor="1", training_stages="1")
        k = replace(k, **sharded) if i % 3 else replace(k, zero="1")
        if i % 2:  # a batch that TRL can divide, of completions that every trainer can be asked for
            k = replace(k, gpus=64, share=0.5, prompts=512, turns=1, batches=1.0, grouped=False)
        k = replace(k, sharing=plan.BY_PROGRAM, program=plan.ANY, whole_logits=False)
        export = exported(replace(k, weights=random.Random(k.gpus).choice([k.weights, "bf16"])))
        s, texts = export or (None, {})
        for program, text in texts.items():
            if not refused(text):
                counts[program] += 1
                same_job(program, text, s)
    assert counts["verl"] > 40 and min(counts.values()) > 10, counts


def test_engines_of_several_servers_are_started_as_planned_or_not_at_all():
    k = replace(V3, training_parallel=4)
    _, texts = exported(k)
    assert "rollout.data_parallel_size=8" in texts["verl"] and "expert_parallel_size=16" in texts["verl"]
    assert refused(texts["OpenRLHF"]) and refused(texts["TRL"])
    (r,) = plan.run(k)
    engines = options.texts(plan.export(k, r))
    vllm, sglang = (engines[f"{program} {options.VERSIONS[program]}"] for program in options.ENGINES)
    assert "--tensor-parallel-size 2 " in vllm and "--data-parallel-size 8 --enable-expert-parallel" in vllm
    assert "--tp-size 16 " in sglang and "--attn-dp-size 8 --ep-size 16" in sglang and "--nnodes 2 " in vllm
    staged = exported(replace(k, pipeline=2, data_parallel=4))[1]
    assert "stages of an engine" in staged["verl"] and refused(staged["verl"])


@pytest.mark.parametrize("name", MODELS)
def test_a_file_that_is_quantized_is_not_quantized_again(name):
    # DeepSeek's and Moonshot's files are in fp8, OpenAI's in mxfp4, and all others in bf16 (quantization_config)
    stored = {"deepseek-v3": "fp8", "kimi-k2": "fp8", "gpt-oss-120b": "mxfp4"}.get(name)
    dtypes = [plan.weights_dtype(plan.scenario(Knobs(model=name, weights=weights))[0]) for weights in WEIGHTS]
    others = {None: ["bf16", "fp8"], "fp8": [options.CONVERTED, "stored"]}
    assert dtypes == ["stored", *others.get(stored, [options.CONVERTED, options.REQUANTIZED])]
    for program in options.ENGINES:
        texts = [options.texts(dict(weights_dtype=dtype))[f"{program} {options.VERSIONS[program]}"] for dtype in dtypes]
        assert ["--quantization" in text for text in texts] == [False, False, stored is None]


@pytest.mark.parametrize("overlap", ["sync", "one-off", "async"])
def test_a_trainer_in_groups_and_stages_is_verls_megatron_engine(overlap):
    k = Knobs(zero="1", training_tensor="8", training_stages="2", overlap=overlap, recompute="selective")
    s, texts = exported(k)
    same_job("verl", texts["verl"], s)
    actor = "actor_rollout_ref.actor"
    for option in (
        "model_engine=megatron",
        f"{actor}.megatron.tensor_model_parallel_size=8",
        f"{actor}.megatron.pipeline_model_parallel_size=2",
        f"{actor}.megatron.context_parallel_size=1",
    ):
        assert f" {option} " in texts["verl"].replace("\n", " "), option
    assert "fsdp" not in texts["verl"] and "gradient_checkpointing" not in texts["verl"]
    assert (f"{actor}.megatron.optimizer_offload=True" in texts["verl"]) == (overlap == "sync")
    assert refused(texts["OpenRLHF"]) and refused(texts["TRL"])
    again = exported(replace(k, recompute="full"))[1]["verl"]
    assert "override_transformer_config.recompute_granularity=full" in again


def test_experts_of_stages_are_dealt_out_by_megatron_and_those_of_full_sharding_by_veomni():
    for more, engine in ((dict(zero="1", training_stages="8"), "megatron"), (dict(training_parallel=4), "veomni")):
        s, texts = exported(replace(V3, **more))
        same_job("verl", texts["verl"], s)
        assert f"model_engine={engine} " in texts["verl"] and texts["verl"].count("model_engine") == 1


def test_zero_2_is_deepspeeds_and_no_engine_of_verl_has_it():
    k = Knobs(model="qwen2.5-7b", zero="2", training_tensor="2")
    s, texts = exported(k)
    assert "--ds.zero_stage 2 " in texts["OpenRLHF"] and "--ds.tensor_parallel_size 2 " in texts["OpenRLHF"]
    same_job("OpenRLHF", texts["OpenRLHF"], s)
    assert "no option for ZeRO stage" in texts["verl"] and refused(texts["TRL"])


def test_what_the_review_found_left_out_is_found_without_a_gpu():
    # verl without offload: 2 x 7.6 + 14 x 7.6 GB over 8 GPUs beside 72 GB of engine
    s, texts = exported(plan.SMALL)
    without = texts["verl"].replace("_offload=True", "_offload=False")
    job = options.described_by(without)
    assert job.placement == PLACEMENTS[1] and envelope.misfits(s.model, s.accelerator, job)[0].part == "engine"
    # the estimator that is not said is gae, with a critic of the same size
    assert options.described_by(texts["verl"].replace("algorithm.adv_estimator=grpo", "")).training.critic
    # OpenRLHF's own defaults: ZeRO 2, no checkpointing, gae, a reference
    s, texts = exported(Knobs())
    bare = "\n".join(line for line in texts["OpenRLHF"].splitlines() if "--ds." not in line and "--algo." not in line)
    job = options.described_by(bare.replace("--actor.gradient_checkpointing_enable", ""))
    assert (job.training.zero, job.training.critic, job.training.reference) == (2, True, True)
    assert envelope.misfits(s.model, s.accelerator, job)


def test_two_pools_that_are_not_told_apart_are_not_the_two_that_were_planned():
    s, texts = exported(Knobs())
    shared = options.described_by(texts["verl"].replace("hybrid_engine=False", "hybrid_engine=True"))
    assert shared.placement == PLACEMENTS[1] and envelope.misfits(s.model, s.accelerator, shared)


def test_a_trainer_whose_own_way_does_not_fit_says_so_in_place_of_a_command():
    # 4 sequences of 60,000 tokens: OpenRLHF has all logits of a micro-batch, 60,000 x 152,064 x 10 bytes = 91 GB
    k = Knobs(model="qwen2.5-7b", prompt=512, p50=9000, p90=20000, p99=40000, longest=60000, prompts=64)
    (r,) = plan.run(k)
    texts = options.texts(plan.export(k, r))
    refusal = texts[f"OpenRLHF {options.VERSIONS['OpenRLHF']}"]
    assert "this does not fit" in refusal and "logits" in refusal and "python -m" not in refusal
    assert "python -m" in texts[f"verl {options.VERSIONS['verl']}"]


def test_an_export_says_at_least_one_sequence_at_once():
    k = Knobs(prompts=32, samples=1, reuse=True)
    (r,) = plan.run(k)
    setting = plan.export(k, r)
    assert setting["concurrency"] == 2 and setting["chunk"] >= setting["concurrency"]
    assert "--max-num-seqs 2 " in options.texts(setting)[f"vLLM {options.VERSIONS['vLLM']}"]


def test_a_qlora_on_one_card_is_unsloths_job_and_says_rank_and_bits():
    k = Knobs(model="qwen3-8b", accelerator="rtx4090", gpus=1, trained=plan.QLORA, prompts=8, samples=8, p50=400)
    (r,) = plan.run(k)
    assert not r.misfits and r.scenario.one_copy  # the first way that fits
    texts = options.texts(plan.export(k, r))
    unsloth = next(text for program, text in texts.items() if program.startswith("Unsloth"))
    assert "load_in_4bit=True" in unsloth and "r=32" in unsloth.replace(" ", "")
    (r,) = plan.run(replace(k, accelerator="h100", trained=plan.LORA, program="TRL"))
    assert "LoraConfig(r=32" in options.texts(plan.export(k, r))[f"TRL {options.VERSIONS['TRL']}"]


def test_state_on_the_host_and_narrow_moments_are_exported():
    k = replace(plan.SMALL, on_host="optimizer", adam="8")
    (r,) = plan.run(k)
    quantities = plan.export(k, r)
    assert (quantities["offload_state"], quantities["optimizer_bits"]) == ("optimizer", 8)
    assert not {"adapters", "base_bits", "shared_weights"} & quantities.keys()
