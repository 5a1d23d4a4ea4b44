import re

import pytest

from rlpt.planning import options
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS

# Every name that may be written, as read in the source of the releases; --no-… is argparse's form of a switch.
READ = {
    "vLLM": """
        --tensor-parallel-size --decode-context-parallel-size --gpu-memory-utilization --max-model-len --max-num-seqs
        --max-num-batched-tokens --enable-prefix-caching --no-enable-prefix-caching --kv-cache-dtype --block-size
        --data-parallel-size --enable-expert-parallel --all2all-backend --pipeline-parallel-size --nnodes --node-rank
        --master-addr --kv-offloading-size --quantization --enable-sleep-mode --weight-transfer-config
        --speculative-config --enable-lora --max-lora-rank""",
    "SGLang": """
        --model-path --attn-dp-size --ep-size --moe-a2a-backend --pp-size --nnodes --node-rank --dist-init-addr
        --tp-size --dcp-size --mem-fraction-static --context-length --max-running-requests
        --enable-hierarchical-cache --hicache-size
        --chunked-prefill-size --disable-radix-cache --kv-cache-dtype --page-size --quantization
        --enable-memory-saver --speculative-num-draft-tokens --speculative-algorithm
        --enable-lora --max-lora-rank --lora-target-modules""",
    "verl": """
        actor_rollout_ref.rollout.data_parallel_size actor_rollout_ref.rollout.expert_parallel_size
        actor_rollout_ref.rollout.tensor_model_parallel_size actor_rollout_ref.rollout.gpu_memory_utilization
        actor_rollout_ref.rollout.max_model_len actor_rollout_ref.rollout.max_num_seqs
        actor_rollout_ref.rollout.max_num_batched_tokens actor_rollout_ref.rollout.enable_prefix_caching
        actor_rollout_ref.rollout.engine_kwargs.vllm.kv_cache_dtype
        actor_rollout_ref.rollout.engine_kwargs.vllm.block_size
        actor_rollout_ref.rollout.engine_kwargs.vllm.kv_offloading_size
        actor_rollout_ref.rollout.engine_kwargs.vllm.decode_context_parallel_size
        actor_rollout_ref.rollout.quantization actor_rollout_ref.rollout.free_cache_engine
        actor_rollout_ref.rollout.checkpoint_engine.backend actor_rollout_ref.rollout.n data.train_batch_size
        data.max_prompt_length data.max_response_length actor_rollout_ref.actor.use_dynamic_bsz
        actor_rollout_ref.actor.ppo_max_token_len_per_gpu trainer.v1.trainer_mode
        actor_rollout_ref.actor.ppo_mini_batch_size trainer.v1.separate_async.parameter_sync_step
        trainer.v1.sampler.max_off_policy_threshold algorithm.rollout_correction.bypass_mode
        hydra.searchpath actor_rollout_ref.hybrid_engine algorithm.adv_estimator actor_rollout_ref.actor.use_kl_loss
        trainer.nnodes trainer.n_gpus_per_node actor_rollout_ref.rollout.nnodes
        actor_rollout_ref.rollout.n_gpus_per_node rollout.nnodes rollout.n_gpus_per_node
        actor_rollout_ref.actor.fsdp_config.param_offload
        actor_rollout_ref.actor.fsdp_config.optimizer_offload actor_rollout_ref.ref.fsdp_config.param_offload
        actor_rollout_ref.actor.strategy actor_rollout_ref.actor.fsdp_config.fsdp_size
        actor_rollout_ref.actor.fsdp_config.reshard_after_forward actor_rollout_ref.actor.fsdp_config.model_dtype
        actor_rollout_ref.model.enable_gradient_checkpointing actor_rollout_ref.actor.ulysses_sequence_parallel_size
        actor_rollout_ref.model.use_fused_kernels model_engine actor_rollout_ref.actor.veomni.expert_parallel_size
        actor_rollout_ref.rollout.multi_turn.enable actor_rollout_ref.rollout.multi_turn.max_assistant_turns
        actor_rollout_ref.actor.use_prefix_grouper
        actor_rollout_ref.actor.veomni.fsdp_size actor_rollout_ref.actor.veomni.ulysses_parallel_size
        actor_rollout_ref.actor.veomni.param_offload actor_rollout_ref.actor.veomni.optimizer_offload
        actor_rollout_ref.actor.megatron.param_offload actor_rollout_ref.actor.megatron.optimizer_offload
        actor_rollout_ref.actor.megatron.use_distributed_optimizer
        actor_rollout_ref.actor.megatron.tensor_model_parallel_size
        actor_rollout_ref.actor.megatron.pipeline_model_parallel_size
        actor_rollout_ref.actor.megatron.context_parallel_size
        actor_rollout_ref.actor.megatron.expert_model_parallel_size
        actor_rollout_ref.actor.megatron.expert_tensor_parallel_size
        actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity
        actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method
        actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers
        actor_rollout_ref.model.lora_rank actor_rollout_ref.model.lora_alpha actor_rollout_ref.model.target_modules
        actor_rollout_ref.model.lora.rank actor_rollout_ref.model.lora.alpha actor_rollout_ref.model.lora.merge
        actor_rollout_ref.rollout.load_format actor_rollout_ref.actor.optim.optimizer
        actor_rollout_ref.actor.optim.optimizer_impl actor_rollout_ref.actor.optim.use_precision_aware_optimizer
        actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload
        actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_offload_fraction
        actor_rollout_ref.actor.fsdp_config.offload_policy actor_rollout_ref.actor.veomni.enable_fsdp_offload""",
    "TRL": """
        vllm_tensor_parallel_size vllm_gpu_memory_utilization vllm_max_model_length vllm_mode vllm_enable_sleep_mode
        use_vllm generation_batch_size per_device_train_batch_size gradient_accumulation_steps steps_per_generation
        weight_sync_steps beta gradient_checkpointing max_tool_calling_iterations max_inflight_tasks token_budget
        num_generations max_completion_length mask_truncated_completions max_staleness
        model_init_kwargs r lora_alpha target_modules optim dtype quantization_config
        load_in_4bit bnb_4bit_quant_type bnb_4bit_use_double_quant bnb_4bit_compute_dtype""",
    "OpenRLHF": """
        --vllm.tensor_parallel_size --vllm.gpu_memory_utilization --vllm.enable_prefix_caching --vllm.num_engines
        --vllm.sync_backend --vllm.enable_sleep --ds.enable_sleep --data.max_len --rollout.batch_size
        --train.batch_size --rollout.n_samples_per_prompt --rollout.max_new_tokens --train.dynamic_batch_enable
        --train.max_tokens_per_gpu --train.colocate_all --train.async_enable --train.partial_rollout_enable
        --train.async_queue_size --algo.advantage.estimator --algo.kl.init_coef --ref.num_nodes
        --ref.num_gpus_per_node --actor.num_nodes --actor.num_gpus_per_node --ref.offload --ds.zero_stage
        --ds.packing_samples --actor.gradient_checkpointing_enable --ds.ring_attn_size
        --ds.tensor_parallel_size --ds.adam_offload --ds.load_in_4bit --ds.lora.rank""",
}
ONE = dict(
    tensor_parallel=2,
    data_parallel=4,
    pipeline=2,
    servers=2,
    dcp=2,
    memory_fraction=0.9,
    context=8704,
    concurrency=104,
    chunk=2048,
    prefix_cache=True,
    drafts=3,
    block=16,
    kv_dtype="fp8",
    weights_dtype="fp8",
    offload_gib=64,
    engines=4,
    placement="split",
    prompts=512,
    samples=16,
    prompt=512,
    completion=8192,
    turns=10,
    updates=1,
    grouped=True,
    batches=2,
    micro_batch_tokens=8192,
    overlap="async",
    lag=4,
    reuse_log_probs=True,
    cut="masked",
    estimator="grpo",
    reference=True,
    training_gpus=64,
    generating_gpus=64,
    offload=False,
    zero=3,
    training_tensor=2,
    training_stages=4,
    recompute="full",
    sequence_parallel=1,
    expert_parallel=8,
    logits_chunk=1024,
)
SMALL = dict(adapters=32, base_bits=4, shared_weights=True, optimizer_bits=8, offload_state="optimizer")
OTHER = dict(prefix_cache=False, kv_dtype="bf16", weights_dtype="bf16", placement="colocated", overlap="carry-over")
OTHER |= dict(reuse_log_probs=False, cut="scored wrong", reference=False, offload=True, recompute="selective")
BRIEF = {quantity: value for quantity, value in ONE.items() if quantity != "training_gpus"} | OTHER
DENSE = {quantity: value for quantity, value in ONE.items() if quantity != "expert_parallel"}
SETTINGS = [ONE, DENSE | dict(offload=True), ONE | OTHER, BRIEF, ONE | dict(overlap="one-off")]
SETTINGS += [ONE | dict(overlap="sync"), ONE | dict(overlap="sync", placement="colocated", offload=True)]
SETTINGS += [
    ONE | dict(zero=1, offload=True),
    DENSE | SMALL,
    DENSE | SMALL | dict(zero=1),
    DENSE | SMALL | dict(engines=1),
]
SETTINGS.append(ONE | dict(offload_state="all"))
# LoRA on one GPU, as TRL and Unsloth run it
QUANTITIES = ("tensor_parallel", "memory_fraction", "context", "prompts", "samples", "completion", "estimator")
ALONE = {quantity: ONE[quantity] for quantity in QUANTITIES} | dict(tensor_parallel=1, prompts=8, samples=8)
ALONE |= dict(placement="colocated", overlap="sync", training_gpus=1, offload=False, zero=3, adapters=32)


def names(program, text):
    """The names of options in a text, without values, notes and the command."""
    form = {"TRL": r"\b([a-z_0-9]+)=", "verl": r"(?<=[\s+'])([a-z][\w.]*)="}.get(program, r"(?<=\s)(--[a-z][\w.-]*)")
    return set(re.findall(form, text))


def written(program, setting):
    return options.texts(setting)[f"{program} {options.VERSIONS[program]}"]


@pytest.mark.parametrize("program", READ)
def test_no_option_is_written_that_was_not_read_in_the_release_and_each_is_written_somewhere(program):
    seen = set().union(*(names(program, written(program, setting)) for setting in SETTINGS))
    assert seen == set(READ[program].split())


def test_the_setting_above_asks_for_every_quantity_of_the_table():
    assert set(ONE | SMALL) == set(options.TABLE)


@pytest.mark.parametrize(
    "program, line",
    [
        ("vLLM", "--max-num-seqs 104"),
        ("vLLM", '--weight-transfer-config \'{"backend":"nccl"}\''),
        ("SGLang", "--kv-cache-dtype fp8_e4m3"),
        ("verl", "actor_rollout_ref.rollout.n=16"),
        ("verl", "+actor_rollout_ref.rollout.engine_kwargs.vllm.kv_cache_dtype=fp8"),
        # 512 × 16 completions on 64 GPUs, one at a time: one update
        ("TRL", "gradient_accumulation_steps=128,"),
        ("OpenRLHF", "--rollout.batch_size 512 --train.batch_size 8192"),
    ],
)
def test_a_value_stands_beside_its_name(program, line):
    assert line in [row.strip().removesuffix(" \\") for row in written(program, ONE).splitlines()]


def test_what_a_program_cannot_say_is_one_line_each():
    notes = [line for line in written("TRL", ONE).splitlines() if "no option" in line]
    assert "# TRL has no option for several batches in flight" in notes
    assert len(notes) == len(set(notes)) == 16  # of the 42 quantities


def test_several_updates_of_a_step_are_written_as_each_program_counts_them():
    # verl asserts that the batch is parameter_sync_step times a mini-batch (ppo/v1/trainer_separate_async.py)
    four = ONE | dict(updates=4)
    verl = written("verl", four)
    assert "data.train_batch_size=512 actor_rollout_ref.actor.ppo_mini_batch_size=128" in verl
    assert "parameter_sync_step=4 " in verl
    assert "--rollout.batch_size 512 --train.batch_size 2048" in written("OpenRLHF", four)
    trl = written("TRL", four | dict(overlap="sync", placement="colocated"))
    assert "gradient_accumulation_steps=32, steps_per_generation=128" in trl  # 512 x 16 / (4 x 64)
    assert "weight_sync_steps=4" in written("TRL", four)
    for program in ("verl", "OpenRLHF"):
        assert "512 prompts do not divide by 3 updates" in written(program, ONE | dict(updates=3))


def test_completions_of_several_turns_are_started_by_verl_and_trl():
    # both configs of TRL 1.16.0 count the calls of tools, of which one stands between two turns
    for overlap in ("sync", "async"):
        text = written("TRL", ONE | dict(overlap=overlap))
        assert "max_tool_calling_iterations=9," in text and options.TOOLS_IN_TRL in text
    text = written("verl", ONE)
    assert "multi_turn.enable=True actor_rollout_ref.rollout.multi_turn.max_assistant_turns=10" in text
    assert "max_tool_response_length, which counts characters" in text
    assert "# OpenRLHF has no option for turns per completion" in written("OpenRLHF", ONE)


def test_an_engine_is_not_asked_for_what_a_trainer_sets():
    text = written("vLLM", dict(tensor_parallel=4, samples=16, prompts=8))
    assert text == "# the other settings belong to the trainer\nvllm serve MODEL \\\n    --tensor-parallel-size 4"


def test_vllm_is_started_with_the_routes_that_new_weights_and_sleep_need():
    # registered by vllm/entrypoints/launchers/api_server/routers.py under VLLM_SERVER_DEV_MODE alone
    assert "\nVLLM_SERVER_DEV_MODE=1 vllm serve MODEL" in f"\n{written('vLLM', ONE)}"
    assert "DEV_MODE" not in written("vLLM", dict(tensor_parallel=4))


def test_one_off_in_verl_is_its_own_entry_point_and_no_hybrid_engine():
    text = written("verl", ONE | dict(overlap="one-off", reuse_log_probs=False))
    assert "python -m verl.experimental.one_step_off_policy.main_ppo" in text and "main_ppo \\\n" in text
    assert "actor_rollout_ref.hybrid_engine=False" in text and " rollout.nnodes=8 rollout.n_gpus_per_node=8" in text
    assert "bypass_mode=False" in text and "trainer_mode" not in text


def test_experts_are_dealt_out_by_another_engine_of_verl():
    text = written("verl", ONE | dict(offload=True))
    assert (
        "model_engine=veomni" in text
        and "veomni.expert_parallel_size=8" in text
        and "fsdp" not in text.lower().replace("veomni.fsdp_size", "")
    )
    job = options.described_by(text)
    assert job.training.context_parallel == 1 and "veomni.param_offload=True" in text
    assert "veomni" not in written("verl", DENSE)


def test_trl_beside_training_is_another_class_without_the_options_of_the_first():
    text = written("TRL", ONE)
    assert "AsyncGRPOConfig(" in text and "weight_sync_steps=1" in text
    assert not {"beta", "steps_per_generation", "use_vllm", "vllm_mode"} & names("TRL", text.partition("Config(")[2])
    assert "vllm serve MODEL --tensor-parallel-size 2 --data-parallel-size 4" in text
    # what async_grpo_config.py has and grpo_config.py has not; 104 sequences on each of four engines
    own = ("token_budget=8192,", "max_staleness=4,", "max_inflight_tasks=416,")
    assert all(option in text for option in own)
    beside = written("TRL", ONE | dict(overlap="sync"))
    assert not any(option in beside for option in own) and "no option for sequences at once" in beside
    assert "do not divide by 48 GPUs" in written("TRL", ONE | dict(training_gpus=48))
    assert "# TRL raises an error if a prompt has fewer than two completions" in written("TRL", ONE | dict(samples=1))


@pytest.mark.parametrize(
    "gpus, split", [(64, (8, 8)), (72, (9, 8)), (52, (13, 4)), (4, (1, 4)), (7, (1, 7)), (22, (11, 2))]
)
def test_gpus_are_whole_servers_of_eight_at_most(gpus, split):
    assert options.servers(gpus) == split


def test_a_plan_stands_at_the_head_of_every_text_and_is_no_option():
    found = options.texts(dict(tensor_parallel=2, plan="plan: 353 s a step"))
    assert all(text.startswith("# plan: 353 s a step\n") for text in found.values())


@pytest.mark.parametrize(
    "setting, command",
    [
        # accelerate_configs/ of the package; AsyncGRPO accepts FSDP2 alone, and no file keeps state on the host
        (dict(), "fsdp2.yaml"),
        (dict(offload_state="optimizer"), "fsdp2.yaml --fsdp_offload_params true"),
        (dict(overlap="sync"), "zero3.yaml"),
        (dict(overlap="sync", offload=True), "zero3.yaml --offload_optimizer_device cpu --offload_param_device cpu"),
        (
            dict(overlap="sync", offload_state="all"),
            "zero3.yaml --offload_optimizer_device cpu --offload_param_device cpu",
        ),
        (dict(overlap="sync", offload_state="optimizer"), "zero3.yaml --offload_optimizer_device cpu"),
        (dict(overlap="sync", zero=2, offload_state="optimizer"), "zero2.yaml --offload_optimizer_device cpu"),
        (dict(overlap="sync", zero=1), "zero1.yaml"),
    ],
)
def test_trl_is_launched_by_a_file_that_it_ships_and_options_of_accelerate(setting, command):
    text = written("TRL", ONE | setting)
    assert f"# accelerate launch --config_file {command} --num_machines 8 --num_processes 64" in text
    assert "deepspeed=" not in text


def test_one_gpu_is_sharded_by_nothing():
    assert "--config_file single_gpu.yaml --num_machines 1 --num_processes 1" in written("TRL", ALONE)


def test_asynchronous_training_in_trl_has_one_way_to_shard_and_one_to_offload():
    assert "TRL has no option for ZeRO stage" in written("TRL", ONE | dict(zero=2))
    all_of_stage_2 = ONE | dict(overlap="sync", zero=2, offload_state="all")
    assert "TRL has no option for training state in host memory: all" in written("TRL", all_of_stage_2)


def test_trl_is_served_by_vllm_with_the_routes_for_its_weights():
    # trl/scripts/vllm_serve.py, deprecated, says what it starts; the trainer refuses other log-probabilities
    for overlap in ("sync", "async"):
        (server,) = (line for line in written("TRL", ONE | dict(overlap=overlap)).splitlines() if "vllm serve" in line)
        assert server.startswith("# VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --tensor-parallel-size 2 ")
        assert '--weight-transfer-config \'{"backend":"nccl"}\' --logprobs-mode processed_logprobs' in server


def test_adapters_in_trl_are_an_argument_of_the_trainer_beside_a_base_in_bf16():
    text = written("TRL", ALONE)
    assert '\npeft_config = LoraConfig(r=32, lora_alpha=64, target_modules="all-linear")\nGRPOConfig(\n' in text
    assert '    model_init_kwargs={"dtype": "bfloat16"},\n' in text  # loaded in float32 otherwise (trainer/utils.py)
    assert "vllm_enable_sleep_mode=True" in text and "has no option" not in text


def test_a_base_in_4_bits_goes_to_grpo_by_its_own_argument_and_to_async_grpo_by_the_models():
    text = written("TRL", ALONE | dict(base_bits=4))
    assert "\nquantization_config = BitsAndBytesConfig(load_in_4bit=True, " in text and "dict(" not in text
    # scales are no parameters, which is all that is sent, and sleep at level 2 discards the engine's
    assert "vllm_enable_sleep_mode" not in text and options.SCALES_IN_TRL in text and "vllm-bnb-plugin" in text
    apart = ALONE | dict(base_bits=4, placement="split", overlap="async", engines=1, lag=3)
    text = written("TRL", apart)
    assert '    model_init_kwargs=dict(dtype="bfloat16", quantization_config=quantization_config),\n' in text
    # select_adapter_sync: one engine, and max_staleness + 2 adapters
    assert "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 vllm serve" in text
    assert "--enable-lora --max-lora-rank 32 --max-loras 5" in text
    for more in (dict(engines=2), dict(overlap="sync")):
        text = written("TRL", apart | more)
        assert options.ADAPTERS_ALONE in text and "--enable-lora" not in text
        assert "quantization_config" not in text and "BitsAndBytes" not in text


def test_adapters_in_verl_start_from_the_file_and_are_merged_for_another_pool():
    text = written("verl", DENSE | dict(adapters=32, placement="colocated"))
    model = "actor_rollout_ref.model"
    assert f"{model}.lora_rank=32 {model}.lora_alpha=64 {model}.target_modules=all-linear" in text
    assert "rollout.load_format=safetensors" in text and "fsdp_config.model_dtype=bf16" in text and "merge" not in text
    # FSDPEngine.get_per_tensor_param, which a checkpoint engine calls without arguments, leaves adapters out
    assert f"{model}.lora.merge=True" in written("verl", DENSE | dict(adapters=32))
    megatron = written("verl", DENSE | dict(adapters=32, zero=1))
    assert f"{model}.lora.rank=32 {model}.lora.alpha=64 " in megatron and "lora_" not in megatron
    assert "no option for adapters" in written("verl", ONE | dict(adapters=32))  # VeOmni's engine builds none


def test_state_that_stays_on_the_host_is_an_option_of_each_engine_of_verl():
    actor = "actor_rollout_ref.actor"
    for state in ("optimizer", "all"):
        assert f"{actor}.fsdp_config.offload_policy=True" in written("verl", DENSE | dict(offload_state=state))
        assert f"{actor}.veomni.enable_fsdp_offload=True" in written("verl", ONE | dict(offload_state=state))
    over = f"+{actor}.optim.override_optimizer_config"
    megatron = written("verl", ONE | dict(zero=1, offload_state="optimizer"))
    assert f"{over}.optimizer_cpu_offload=True {over}.optimizer_offload_fraction=1.0 " in megatron
    assert "host memory: all" in written("verl", ONE | dict(zero=1, offload_state="all"))
    assert "--ds.adam_offload" in written("OpenRLHF", ONE | dict(offload_state="optimizer"))
    assert "host memory: all" in written("OpenRLHF", ONE | dict(offload_state="all"))


@pytest.mark.parametrize("program", ["verl", "TRL", "OpenRLHF"])
def test_what_a_trainer_cannot_do_with_a_small_job_is_said(program):
    def without(**more):
        return f"{program} has no option for {options.TABLE[next(iter(more))][0]}" in written(program, DENSE | more)

    assert without(shared_weights=True) and not without(shared_weights=False)
    assert without(optimizer_bits=8) == (program == "OpenRLHF")
    assert without(base_bits=4) == (program == "verl")
    assert "no option for an optimizer in 8 bits" in written("verl", ONE | dict(optimizer_bits=8))


def test_an_optimizer_in_8_bits_is_replaced_where_deepspeed_keeps_its_state_on_the_host():
    # accelerate's map_pytorch_optim_to_deepspeed makes a DeepSpeedCPUAdam of any that it does not know
    assert 'optim="adamw_bnb_8bit",' in written("TRL", ALONE | dict(optimizer_bits=8))
    assert 'optim="adamw_torch_8bit",' in written("TRL", DENSE | dict(optimizer_bits=8, offload_state="all"))
    replaced = written("TRL", ALONE | dict(optimizer_bits=8, offload_state="optimizer"))
    assert "optim=" not in replaced and "no option for an optimizer in 8 bits" in replaced


def test_a_job_of_adapters_is_not_started_by_a_trainer_that_would_stop_or_train_all_weights():
    on = (MODELS["qwen2.5-7b"], ACCELERATORS["h100"])
    assert "--ds.lora.rank" in written("OpenRLHF", ALONE) and "python -m" not in written(
        "OpenRLHF", ALONE | dict(on=on)
    )
    assert "a frozen base in 4 bits: nothing to copy" in written("verl", ALONE | dict(base_bits=4, on=on))


@pytest.mark.parametrize("rank, served", [(1, 1), (4, 8), (24, 32), (32, 32), (257, 320)])
def test_vllm_has_room_for_ranks_of_a_few_sizes(rank, served):  # config/lora.py: MaxLoRARanks
    assert f"--enable-lora --max-lora-rank {served}" in written("vLLM", dict(adapters=rank))
    assert f"--max-lora-rank {rank} --lora-target-modules all" in written("SGLang", dict(adapters=rank))


@pytest.mark.parametrize(
    "dtype, vllm",
    [
        ("stored", ""),
        ("fp8", "--quantization fp8_per_tensor"),  # Fp8Config raises an error for a file that is not in fp8
        (options.CONVERTED, "# the published file is quantized, so give one converted to bf16"),
        (options.REQUANTIZED, "# the published file is quantized in another format, so give one converted to fp8"),
    ],
)
def test_only_a_file_in_bf16_is_quantized_by_an_option(dtype, vllm):
    assert vllm in written("vLLM", dict(weights_dtype=dtype))
    for program in options.VERSIONS:
        commands = [line for line in written(program, dict(weights_dtype=dtype)).splitlines() if line[0] != "#"]
        able = dtype == "fp8" and program in ("vLLM", "SGLang", "verl")
        assert ("quantization" in " ".join(commands)) == able, program


def test_only_what_is_set_is_written():
    assert written("TRL", dict(samples=8)) == "GRPOConfig(\n    num_generations=8,\n)"


def test_a_quantity_that_the_table_does_not_have_is_refused():
    with pytest.raises(ValueError, match="swap_space: the quantities are tensor_parallel"):
        options.texts(dict(swap_space=4))
