"""What a job's settings are called in five engines and trainers, as "Export" shows them; unsloth.py writes a sixth.

One table, with a row per quantity and a column per program; described.py reads a trainer's text back as a job. A name
is included only if it was found in the source of the release in VERSIONS: `vllm/engine/arg_utils.py`, SGLang's
`srt/arg_groups/fields/`, verl's `trainer/config/`, TRL's `trainer/grpo_config.py`, `experimental/async_grpo/` and
`accelerate_configs/`, OpenRLHF's `cli/train_ppo_ray.py`, all of 2026. It is not a model.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from rlpt.planning import unsloth
from rlpt.planning.described import described_by
from rlpt.programs import ACTOR, BATCH, MODEL, ROLLOUT, START, VERSIONS
from sim.cluster import envelope
from sim.cluster.hardware import Accelerator
from sim.cluster.models import Model

ENGINES = ("vLLM", "SGLang")  # the others train, and also have the rows under TRAINING
VLLM = f"+{ROLLOUT}.engine_kwargs.vllm"  # passed on to vLLM; hydra needs a plus for options that its file does not name

# values of weights_dtype for a file that is stored quantized; an engine that is asked for another precision stops
CONVERTED, REQUANTIZED = "bf16 of a quantized file", "fp8 of a file quantized otherwise"
GIVEN_IN_BF16 = "# the published file is quantized, so give one converted to bf16 as the model"
GIVEN_IN_FP8 = "# the published file is quantized in another format, so give one converted to fp8 as the model"
BF16_AND_FP8 = f"{GIVEN_IN_BF16}, and add {ROLLOUT}.quantization=fp8"

STORED = {"bf16": "", "stored": "", CONVERTED: GIVEN_IN_BF16, REQUANTIZED: GIVEN_IN_FP8}
# {quantity: (what it is, {program: option})}. In an option, {} is the value, and {completions} prompts times samples.
# An option that depends on the value is {value: option}: "" if there is nothing to set, "# …" is a remark instead of an
# option. A program or a value that is left out has none.
Table: TypeAlias = dict[str, tuple[str, dict[str, Any]]]
SERVING: Table = {
    "tensor_parallel": (
        "GPUs per engine",
        {
            "vLLM": "--tensor-parallel-size {}",
            "SGLang": "--tp-size {}",
            "verl": ROLLOUT + ".tensor_model_parallel_size={}",
            "TRL": "vllm_tensor_parallel_size={}",
            "OpenRLHF": "--vllm.tensor_parallel_size {}",
        },
    ),
    "dcp": (
        "decode context parallelism",
        {
            "vLLM": "--decode-context-parallel-size {}",
            "SGLang": "--dcp-size {}",
            "verl": VLLM + ".decode_context_parallel_size={}",
        },
    ),
    "data_parallel": (
        "groups of an engine that share its experts",
        {
            "vLLM": "--data-parallel-size {} --enable-expert-parallel --all2all-backend deepep_low_latency",
            "SGLang": "--attn-dp-size {} --ep-size {experts_over} --moe-a2a-backend deepep",
            "verl": ROLLOUT + ".data_parallel_size={} " + ROLLOUT + ".expert_parallel_size={experts_over}",
        },
    ),
    # verl has a name for it, but 0.9.1 raises NotImplementedError for vLLM and SGLang
    "pipeline": ("stages of an engine", {"vLLM": "--pipeline-parallel-size {}", "SGLang": "--pp-size {}"}),
    "servers": (
        "an engine that spans several servers",
        {
            "vLLM": "--nnodes {} --node-rank RANK --master-addr ADDRESS",
            "SGLang": "--nnodes {} --node-rank RANK --dist-init-addr ADDRESS",
            "verl": "",
        },
    ),
    "memory_fraction": (
        "the fraction of a GPU's memory that the engine may fill",
        {
            "vLLM": "--gpu-memory-utilization {}",
            "SGLang": "--mem-fraction-static {}",
            "verl": ROLLOUT + ".gpu_memory_utilization={}",
            "TRL": "vllm_gpu_memory_utilization={}",
            "OpenRLHF": "--vllm.gpu_memory_utilization {}",
        },
    ),
    "context": (
        "the longest sequence",
        {
            "vLLM": "--max-model-len {}",
            "SGLang": "--context-length {}",
            "verl": ROLLOUT + ".max_model_len={}",
            "TRL": "vllm_max_model_length={}",
            "OpenRLHF": "--data.max_len {}",
        },
    ),
    "concurrency": (
        "sequences at once",
        {
            "vLLM": "--max-num-seqs {}",
            "SGLang": "--max-running-requests {}",
            "verl": ROLLOUT + ".max_num_seqs={}",
            "TRL": "max_inflight_tasks={of_all_engines}",
        },
    ),
    "chunk": (
        "prompt tokens read at a time",
        {
            "vLLM": "--max-num-batched-tokens {}",
            "SGLang": "--chunked-prefill-size {}",
            "verl": ROLLOUT + ".max_num_batched_tokens={}",
        },
    ),
    "prefix_cache": (
        "sharing the cache of prompts",
        {
            "vLLM": {True: "--enable-prefix-caching", False: "--no-enable-prefix-caching"},
            "SGLang": {True: "", False: "--disable-radix-cache"},
            "verl": {True: ROLLOUT + ".enable_prefix_caching=True", False: ROLLOUT + ".enable_prefix_caching=False"},
            "TRL": {True: ""},  # vLLM's own default, which TRL does not change
            "OpenRLHF": {True: "--vllm.enable_prefix_caching", False: ""},
        },
    ),
    "drafts": (
        "tokens guessed ahead",
        {
            "vLLM": '--speculative-config \'{{"method":"ngram","num_speculative_tokens":{}}}\'',
            "SGLang": "# SGLang: --speculative-num-draft-tokens {}, with the --speculative-algorithm of your drafter",
            "verl": "# verl: {} tokens guessed, by actor_rollout_ref.model.mtp for an MTP head or by engine_kwargs",
        },
    ),
    "block": (
        "slots per block",
        {"vLLM": "--block-size {}", "SGLang": "--page-size {}", "verl": VLLM + ".block_size={}"},
    ),
    "kv_dtype": (
        "the precision of the cache",
        {
            "vLLM": {"bf16": "", "fp8": "--kv-cache-dtype fp8"},
            "SGLang": {"bf16": "", "fp8": "--kv-cache-dtype fp8_e4m3"},
            "verl": {"bf16": "", "fp8": VLLM + ".kv_cache_dtype=fp8"},
            "TRL": {"bf16": ""},
            "OpenRLHF": {"bf16": ""},
        },
    ),
    "weights_dtype": (
        "the precision of the engine's weights",
        {
            # "stored": as in the checkpoint, which engines read themselves
            "vLLM": STORED | {"fp8": "--quantization fp8_per_tensor"},  # fp8 itself is for files in fp8 alone
            "SGLang": STORED | {"fp8": "--quantization fp8"},
            "verl": STORED | {"fp8": ROLLOUT + ".quantization=fp8", REQUANTIZED: BF16_AND_FP8},
            "TRL": STORED,
            "OpenRLHF": STORED,
        },
    ),
    "offload_gib": (
        "room for the cache in host memory",
        {
            "vLLM": "--kv-offloading-size {}",  # for all GPUs of an engine; SGLang counts it per GPU
            "SGLang": "--enable-hierarchical-cache --hicache-size {of_one_gpu}",
            "verl": VLLM + ".kv_offloading_size={}",
        },
    ),
    "engines": ("engines", {"vLLM": "", "SGLang": "", "verl": "", "TRL": "", "OpenRLHF": "--vllm.num_engines {}"}),
    "placement": (
        "the placement of generation",
        {
            # the routes that both need exist only in dev mode, which `started` sets
            "vLLM": {"colocated": "--enable-sleep-mode", "split": '--weight-transfer-config \'{{"backend":"nccl"}}\''},
            "SGLang": {
                "colocated": "--enable-memory-saver",
                "split": "# new weights come by POST /update_weights_from_distributed",
            },
            "verl": {
                "colocated": ROLLOUT + ".free_cache_engine=True",
                "split": ROLLOUT + ".checkpoint_engine.backend=nccl",
            },
            "TRL": {
                "colocated": 'use_vllm=True, vllm_mode="colocate", vllm_enable_sleep_mode=True',
                "split": 'use_vllm=True, vllm_mode="server"',
            },
            "OpenRLHF": {
                "colocated": "--train.colocate_all --vllm.enable_sleep --ds.enable_sleep",
                "split": "--vllm.sync_backend nccl",
            },
        },
    ),
    "adapters": (
        "adapters (LoRA) in place of all weights",
        {
            "vLLM": "--enable-lora --max-lora-rank {served}",
            "SGLang": "--enable-lora --max-lora-rank {} --lora-target-modules all",
            "verl": f"{MODEL}.lora_rank={{}} {MODEL}.lora_alpha={{twice}} {MODEL}.target_modules=all-linear "
            f"{ROLLOUT}.load_format=safetensors",
            # the second, because a model is loaded in fp32 otherwise
            "TRL": 'peft_config = LoraConfig(r={}, lora_alpha={twice}, target_modules="all-linear")\n'
            'model_init_kwargs={{"dtype": "bfloat16"}}',
            # broadcast_to_vllm sends parameters by their names, those of the adapters too
            "OpenRLHF": "# OpenRLHF trains adapters with --ds.lora.rank, but vLLM rejects the names that it sends",
        },
    ),
}
RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)  # that vLLM reserves room for: MaxLoRARanks
CUT_IN_TRL = "# TRL scores a cut completion as it is: your reward function has to score it as wrong"
INDIVISIBLE = "do not divide by"
SERVER_IN_TRL = "# TRL's server is vLLM's own, with its options for tensor parallelism, memory and length"
SCALES_IN_TRL = (
    "# sleep mode is off because it discards the scales of a 4-bit base, which TRL does not send to vLLM again"
)
ADAPTERS_ALONE = (
    "# TRL sends a server no weights of a 4-bit base; AsyncGRPOTrainer sends the adapters alone, if there is one engine"
)
FOLDER_OF_VERL = (
    "# VERL is the folder of the installed package, which python -c 'import verl; print(verl.__path__[0])' prints"
)
LEFT_IN_VERL = "# verl: set actor_rollout_ref.rollout.name, actor_rollout_ref.model.path and the data"
TOOLS_IN_TRL = (
    "# TRL: pass your tools, or an environment, to the trainer; a turn that calls no tool ends the completion"
)
ASYNC_IN_TRL = ("concurrency", "micro_batch_tokens", "lag")  # quantities that only AsyncGRPOConfig has
TURNS_IN_VERL = (
    "# verl: set actor_rollout_ref.rollout.agent.default_agent_loop, your tools, and "
    "multi_turn.max_tool_response_length, which counts characters"
)
TRAINING: Table = {
    "prompts": (
        "prompts per step",
        {
            "verl": "data.train_batch_size={} " + ACTOR + ".ppo_mini_batch_size={of_update}",
            "TRL": BATCH["prompts"][1]["TRL"],
            "OpenRLHF": "--rollout.batch_size {} --train.batch_size {completions_of_update}",
        },
    ),
    "updates": ("updates per step", {"verl": "", "TRL": "", "OpenRLHF": ""}),  # implied by the prompts' option
    "samples": BATCH["samples"],
    "prompt": ("the longest prompt", {"verl": "data.max_prompt_length={}"}),
    "completion": BATCH["completion"],
    "turns": (
        "turns per completion",
        {
            "verl": ROLLOUT + ".multi_turn.enable=True " + ROLLOUT + ".multi_turn.max_assistant_turns={}",
            "TRL": "max_tool_calling_iterations={between}",
        },
    ),
    "grouped": (
        "training on a prompt once for all of its completions",
        {"verl": {True: ACTOR + ".use_prefix_grouper=True"}},
    ),
    "batches": ("several batches in flight", {}),
    "micro_batch_tokens": (
        "tokens that a GPU trains on at a time",
        {
            "verl": f"{ACTOR}.use_dynamic_bsz=True {ACTOR}.ppo_max_token_len_per_gpu={{}}",
            "TRL": "token_budget={}",
            "OpenRLHF": "--train.dynamic_batch_enable --train.max_tokens_per_gpu {}",
        },
    ),
    "overlap": (
        "overlapping generation and training",
        {
            "verl": {
                "sync": "trainer.v1.trainer_mode=sync",
                "carry-over": "trainer.v1.trainer_mode=colocate_async",
                # a separate entry point, which refuses a hybrid engine and looks for the others' files in a checkout
                "one-off": "'hydra.searchpath=[file://VERL/trainer/config]' actor_rollout_ref.hybrid_engine=False",
                "async": "trainer.v1.trainer_mode=separate_async "
                "trainer.v1.separate_async.parameter_sync_step={updates} actor_rollout_ref.hybrid_engine=False",
            },
            "TRL": {"sync": "", "async": "weight_sync_steps={updates}"},
            "OpenRLHF": {
                "sync": "",
                "one-off": "--train.async_enable",
                "async": "--train.async_enable --train.partial_rollout_enable",
            },
        },
    ),
    "lag": (
        "versions that a completion may be behind",
        {
            "verl": "trainer.v1.sampler.max_off_policy_threshold={spanned}",
            "TRL": "max_staleness={}",
            "OpenRLHF": "# OpenRLHF drops nothing for its age; --train.async_queue_size limits how many batches wait",
        },
    ),
    "reuse_log_probs": (
        "training on the engine's log-probs",
        {
            "verl": {
                True: "algorithm.rollout_correction.bypass_mode=True",
                False: "algorithm.rollout_correction.bypass_mode=False",
            },
            "TRL": {False: ""},  # with vllm_importance_sampling_correction, which is on by default
        },
    ),
    "estimator": (
        "a group's mean instead of a critic",
        {
            "verl": {"grpo": "algorithm.adv_estimator=grpo"},
            "TRL": {"grpo": ""},
            "OpenRLHF": {"grpo": "--algo.advantage.estimator group_norm"},
        },
    ),
    "reference": (
        "a reference model",
        {
            "verl": {True: f"{ACTOR}.use_kl_loss=True", False: f"{ACTOR}.use_kl_loss=False"},
            "TRL": {True: "beta=0.001", False: "beta=0.0"},
            "OpenRLHF": {
                True: "--ref.num_nodes {nodes} --ref.num_gpus_per_node {per_node}",
                False: "--algo.kl.init_coef 0",
            },
        },
    ),
    "training_gpus": (
        "GPUs that train",
        {
            "verl": "trainer.nnodes={nodes} trainer.n_gpus_per_node={per_node}",
            "TRL": "# accelerate launch --config_file {accelerated}{on_host} --num_machines {nodes} --num_processes {}",
            "OpenRLHF": "--actor.num_nodes {nodes} --actor.num_gpus_per_node {per_node}",
        },
    ),
    "generating_gpus": (
        "the GPUs of a generating pool",
        {
            "vLLM": "",
            "SGLang": "",
            "verl": ROLLOUT + ".nnodes={nodes} " + ROLLOUT + ".n_gpus_per_node={per_node}",
            "TRL": "",
            "OpenRLHF": "",
        },
    ),
    "offload": (
        "keeping the trainer's state on the host while the engine generates",
        {
            "verl": {
                True: f"{ACTOR}.fsdp_config.param_offload=True {ACTOR}.fsdp_config.optimizer_offload=True "
                "actor_rollout_ref.ref.fsdp_config.param_offload=True",
                False: f"{ACTOR}.fsdp_config.param_offload=False {ACTOR}.fsdp_config.optimizer_offload=False",
            },
            "TRL": "# {accelerated} is in TRL's accelerate_configs",
            "OpenRLHF": {True: "--ref.offload", False: ""},
        },
    ),
    "zero": (
        "ZeRO stage",
        {
            "verl": {
                3: f"{ACTOR}.strategy=fsdp2 {ACTOR}.fsdp_config.fsdp_size=-1 "
                f"{ACTOR}.fsdp_config.reshard_after_forward=True {ACTOR}.fsdp_config.model_dtype=fp32",
                # Megatron's distributed optimizer; FSDP that keeps its weights gathered still gathers and drops them in
                # every micro-batch, a different kind of ZeRO 2
                1: f"model_engine=megatron {ACTOR}.megatron.use_distributed_optimizer=True",
            },
            "TRL": {1: "", 2: "", 3: ""},  # by the file that accelerate is given
            "OpenRLHF": "--ds.zero_stage {} --ds.packing_samples",
        },
    ),
    "offload_state": (
        "training state in host memory",
        {
            # param_offload and optimizer_offload bring it back for an update; FSDP2 keeps all on the host or none
            "verl": dict.fromkeys(("optimizer", "all"), f"{ACTOR}.fsdp_config.offload_policy=True"),
            "TRL": {"optimizer": "", "all": ""},  # by the command of "training_gpus"
            "OpenRLHF": {"optimizer": "--ds.adam_offload"},
        },
    ),
    "optimizer_bits": (
        "an optimizer in 8 bits",
        {
            "verl": {8: f"{ACTOR}.optim.optimizer=AdamW8bit {ACTOR}.optim.optimizer_impl=torchao.optim"},
            "TRL": {8: 'optim="adamw_bnb_8bit"'},
        },
    ),
    "base_bits": (
        "a frozen base in 4 bits",
        {
            "TRL": {
                4: 'quantization_config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", '
                'bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype="bfloat16")'
            },
            "OpenRLHF": {4: "--ds.load_in_4bit"},
        },
    ),
    "shared_weights": (
        "one copy of the weights for trainer and engine",
        {"verl": {False: ""}, "TRL": {False: ""}, "OpenRLHF": {False: ""}},
    ),
    "training_tensor": (
        "GPUs that share a layer in training",
        {"verl": f"{ACTOR}.megatron.tensor_model_parallel_size={{}}", "OpenRLHF": "--ds.tensor_parallel_size {}"},
    ),
    "training_stages": ("stages of the trainer", {"verl": f"{ACTOR}.megatron.pipeline_model_parallel_size={{}}"}),
    "recompute": (
        "recomputing activations",
        {
            "verl": {
                "full": "actor_rollout_ref.model.enable_gradient_checkpointing=True",
                "selective": "actor_rollout_ref.model.enable_gradient_checkpointing=False",
            },
            "TRL": {"full": "gradient_checkpointing=True", "selective": "gradient_checkpointing=False"},
            "OpenRLHF": {"full": "--actor.gradient_checkpointing_enable", "selective": ""},
        },
    ),
    "sequence_parallel": (
        "GPUs that share a sequence in training",
        {"verl": ACTOR + ".ulysses_sequence_parallel_size={}", "TRL": {1: ""}, "OpenRLHF": "--ds.ring_attn_size {}"},
    ),
    "expert_parallel": (  # FSDP with expert parallelism is in verl's VeOmni engine; its FSDP engine has none
        "dealing out experts over several GPUs in training",
        {"verl": f"model_engine=veomni {ACTOR}.veomni.expert_parallel_size={{}}"},
    ),
    "logits_chunk": (
        "computing logits for some tokens at a time",
        {"verl": "actor_rollout_ref.model.use_fused_kernels=True", "TRL": "", "OpenRLHF": None},
    ),
    "cut": (
        "the score of completions that were cut off",
        {"TRL": {"masked": "mask_truncated_completions=True", "scored wrong": CUT_IN_TRL}},
    ),
}
TABLE = SERVING | TRAINING
# without these options a different job starts
NEEDED: tuple[str, ...] = ("data_parallel", "pipeline", "dcp", "turns", "grouped", "batches", "zero")
NEEDED += ("training_tensor", "training_stages", "adapters", "base_bits")
# {option of verl's FSDP engine: its name in the VeOmni engine}, which always shards everything; a reference follows the
# actor
VEOMNI = {
    f"{ACTOR}.fsdp_config.offload_policy": f"{ACTOR}.veomni.enable_fsdp_offload",
    f"{ACTOR}.strategy=fsdp2 ": "",
    f" {ACTOR}.fsdp_config.reshard_after_forward=True {ACTOR}.fsdp_config.model_dtype=fp32": "",
    " actor_rollout_ref.ref.fsdp_config.param_offload=True": "",
    f"{ACTOR}.fsdp_config.": f"{ACTOR}.veomni.",
    f"{ACTOR}.ulysses_sequence_parallel_size": f"{ACTOR}.veomni.ulysses_parallel_size",
}
# the same for its Megatron engine, which has its own options for recomputing and cannot share a group's prompt
OVERRIDDEN = f"{ACTOR}.optim.override_optimizer_config"
RECOMPUTED = f"{ACTOR}.megatron.override_transformer_config.recompute"
MEGATRON = {
    f"{ACTOR}.fsdp_config.offload_policy=True": f"+{OVERRIDDEN}.optimizer_cpu_offload=True "
    f"+{OVERRIDDEN}.optimizer_offload_fraction=1.0 {ACTOR}.optim.use_precision_aware_optimizer=True",
    f"{MODEL}.lora_rank": f"{MODEL}.lora.rank",
    f"{MODEL}.lora_alpha": f"{MODEL}.lora.alpha",
    f"{MODEL}.target_modules=all-linear ": "",
    " actor_rollout_ref.ref.fsdp_config.param_offload=True": "",
    f"{ACTOR}.fsdp_config.": f"{ACTOR}.megatron.",
    f"{ACTOR}.ulysses_sequence_parallel_size": f"{ACTOR}.megatron.context_parallel_size",
    f"model_engine=veomni {ACTOR}.veomni.expert_parallel_size": f"{ACTOR}.megatron.expert_tensor_parallel_size=1 "
    f"{ACTOR}.megatron.expert_model_parallel_size",
    "actor_rollout_ref.model.enable_gradient_checkpointing=True": f"{RECOMPUTED}_granularity=full "
    f"{RECOMPUTED}_method=uniform {RECOMPUTED}_num_layers=1",
    "actor_rollout_ref.model.enable_gradient_checkpointing=False": "",
}


def texts(setting: Mapping[str, Any]) -> dict[str, str]:
    """{program and version: text to paste} for a setting {quantity: value}; anything a program has no option for is a
    line that begins with #. Quantities are those of TABLE; `prompts` needs `samples`. In addition, `plan` is a line for
    the top of each text, `program` the reader's own, which comes first, and `on` a (Model, Accelerator): a trainer
    whose text would not fit there then says so instead.
    """
    if unknown := set(setting) - set(TABLE) - {"plan", "on", "program"}:
        raise ValueError(f"{', '.join(sorted(unknown))}: the quantities are {', '.join(TABLE)}")
    asked = {quantity: value for quantity, value in setting.items() if quantity in TABLE}
    by_program = {}
    for program, version in VERSIONS.items():
        written = text(program, asked)
        if "on" in setting and program not in ENGINES:
            written = refusal(program, written, asked, *setting["on"]) or written
        by_program[f"{program} {version}"] = written
    if unsloth.writes(asked):  # it holds no more than any plan: one copy of the weights
        of_trl = {quantity: option("TRL", quantity, asked) or "" for quantity in unsloth.AS_IN_TRL if quantity in asked}
        by_program[f"Unsloth {unsloth.VERSION}"] = unsloth.text(asked, of_trl, served(asked["adapters"]))
    head = f"# {setting['plan']}\n" if "plan" in setting else ""
    first = f"{setting.get('program', '')} "
    ordered = sorted(by_program.items(), key=lambda text: not text[0].startswith(first))
    return {program: f"{head}{written}" for program, written in ordered}


def refusal(program: str, written: str, asked: Mapping[str, Any], model: Model, accelerator: Accelerator) -> str:
    """Why this text would not start the planned job, or "" if it would."""
    if option(program, "overlap", asked) is None:
        return f"# {program} {VERSIONS[program]} does not run {asked['overlap']}: nothing to copy"
    for needed in (needed for needed in NEEDED if needed in asked):
        words = option(program, needed, asked)
        if words is None:
            words = f"# {program} {VERSIONS[program]} has no option for {described_quantity(needed, asked)}"
        if words.startswith("#"):
            return f"{words}: nothing to copy"
    if INDIVISIBLE in written:
        return next(line for line in written.splitlines() if INDIVISIBLE in line)
    misfits = envelope.misfits(model, accelerator, described_by(written))
    return f"# this does not fit the way {program} {VERSIONS[program]} runs it: {misfits[0].what}" if misfits else ""


def text(program: str, setting: Mapping[str, Any]) -> str:
    asked = [quantity for quantity in (SERVING if program in ENGINES else TABLE) if quantity in setting]
    lines = {quantity: option(program, quantity, setting) for quantity in asked}
    notes = [f"# {program} has no option for {described_quantity(q, setting)}" for q in asked if lines[q] is None]
    notes += [words for words in lines.values() if words and words.startswith("#")]
    if program in ENGINES and len(asked) < len(setting):
        notes.append("# the other settings belong to the trainer")
    options = [words for words in lines.values() if words and not words.startswith("#")]
    if program == "verl":
        notes.append(LEFT_IN_VERL)
        notes += [TURNS_IN_VERL] if "turns" in setting else []
        notes += [FOLDER_OF_VERL] if setting.get("overlap") == "one-off" else []
    if program == "TRL":
        notes += [TOOLS_IN_TRL] if "turns" in setting else []
        notes += (
            [SCALES_IN_TRL, unsloth.PLUGIN]
            if "base_bits" in setting and setting.get("placement") == "colocated"
            else []
        )
        return config_of_trl(notes, options, setting)
    return "\n".join([*notes, " \\\n    ".join([started(program, setting), *options])])


def started(program: str, setting: Mapping[str, Any]) -> str:
    """The command that comes before the options."""
    if program == "verl" and setting.get("overlap") == "one-off":
        return "python -m verl.experimental.one_step_off_policy.main_ppo"
    return (environment(setting) if program == "vLLM" else "") + START[program]


def environment(setting: Mapping[str, Any]) -> str:
    """The variables without which a vLLM server has no routes for new weights and adapters."""
    dev = "VLLM_SERVER_DEV_MODE=1 " if "placement" in setting else ""
    return dev + ("VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 " if "adapters" in setting else "")


def config_of_trl(notes: list[str], options: list[str], setting: Mapping[str, Any]) -> str:
    """TRL's options as a configuration class, after what the trainer itself is given and the command of a separate
    server.
    """
    name, asynchronous = "GRPOConfig", setting.get("overlap") == "async"
    options = [line for words in options for line in words.split("\n")]
    if setting.get("placement") == "split":  # these are read only in colocate mode
        options = [words for words in options if not words.startswith("vllm_")]
        notes += [SERVER_IN_TRL, f"# {server_of_trl(setting)}"]
    if asynchronous:
        name = "AsyncGRPOConfig"
        none = ("use_vllm", "vllm_mode", "steps_per_generation", "beta", "mask_truncated_completions")
        each = [word for words in options for word in ([words] if "(" in words else words.split(", "))]
        options = [word for word in each if not word.startswith(none)]
        notes.append(
            "# AsyncGRPOConfig is trl.experimental.async_grpo's, and has neither a beta nor steps_per_generation"
        )
        if any(
            words.startswith("quantization_config = ") for words in options
        ):  # AsyncGRPOTrainer has no such argument
            with_base = 'dict(dtype="bfloat16", quantization_config=quantization_config)'
            options = [f"model_init_kwargs={with_base}" if w.startswith("model_init") else w for w in options]
    if setting.get("samples") == 1:
        notes.append("# TRL raises an error if a prompt has fewer than two completions")
    given = [words for words in options if " = " in words]
    if given:
        notes.append(f"# pass what follows to {name.replace('Config', 'Trainer')}, and the configuration as args")
    return "\n".join([*notes, *given, f"{name}(", *(f"    {words}," for words in options if words not in given), ")"])


def server_of_trl(setting: Mapping[str, Any]) -> str:
    """The server that TRL generates on in split mode, which takes new weights, or with one engine adapters."""
    names = {"tensor_parallel": "tensor-parallel-size", "engines": "data-parallel-size"}
    names |= {"memory_fraction": "gpu-memory-utilization", "context": "max-model-len"}
    words = [f"--{option} {shown(setting[q])}" for q, option in names.items() if q in setting]
    words.append('--weight-transfer-config \'{"backend":"nccl"}\' --logprobs-mode processed_logprobs')
    alone = "adapters" in setting and setting.get("overlap") == "async" and setting.get("engines", 1) == 1
    if alone:  # a version for each that may be in use, and the next
        rank, versions = served(setting["adapters"]), setting.get("lag", STALENESS) + 2
        words.append(f"--enable-lora --max-lora-rank {rank} --max-loras {versions}")
    kept = dict(setting) if alone else {q: v for q, v in setting.items() if q != "adapters"}
    return f"{environment(kept)}vllm serve MODEL {' '.join(words)}"


STALENESS = 4  # max_staleness of AsyncGRPOConfig, if it is not said


def served(rank: int) -> int:
    """The least rank that vLLM reserves room for and that holds these adapters."""
    return next((size for size in RANKS if size >= rank), rank)


def option(program: str, quantity: str, setting: Mapping[str, Any]) -> str | None:
    """The words that set a quantity; "" if there is nothing to set, None if the program cannot set it."""
    value, form = setting[quantity], TABLE[quantity][1].get(program)
    if program == "TRL" and quantity == "reuse_log_probs" and setting.get("overlap") == "async":
        return "" if value else "# AsyncGRPOTrainer trains on the engine's log-probs"
    if isinstance(form, dict):
        form = form.get(value)
    if form is None or not made_for(program, quantity, setting):
        return None
    completions, updates = setting.get("prompts", 0) * setting.get("samples", 0), setting.get("updates", 1)
    if quantity == "prompts" and value % updates:
        return f"# {program}: {value:,} prompts {INDIVISIBLE} {updates} updates"
    if program == "TRL" and quantity == "base_bits" and setting.get("placement") == "split":
        asynchronous, engines = setting.get("overlap") == "async", setting.get("engines", 1)
        form = form if asynchronous and engines == 1 else ADAPTERS_ALONE
    if program == "TRL" and quantity == "placement" and "base_bits" in setting:
        form = form.replace(", vllm_enable_sleep_mode=True", "")
    if program == "TRL" and quantity == "optimizer_bits" and setting.get("overlap") == "async":
        form = form.replace("bnb", "torch")  # torchao's, which works on FSDP2's tensors
    if program == "TRL" and quantity == "prompts" and "training_gpus" in setting:
        return batch_of_trl(completions, setting["training_gpus"], updates)
    if program == "verl" and quantity == "generating_gpus" and setting.get("overlap") == "one-off":
        form = form.replace(ROLLOUT, "rollout")
    if program == "verl" and setting.get("overlap") == "one-off" and quantity == "placement":
        return ""  # its own file has these
    if program == "verl" and quantity == "adapters" and setting.get("placement") == "split":
        form += f" {MODEL}.lora.merge=True"  # a checkpoint engine is sent the base alone otherwise
    if program == "verl" and setting.get("zero", 3) == 1:
        for fsdp, megatron in MEGATRON.items():
            form = form.replace(fsdp, megatron)
    elif program == "verl" and "expert_parallel" in setting:
        for fsdp, veomni in VEOMNI.items():
            form = form.replace(fsdp, veomni)
    elif program == "verl" and quantity == "zero" and "adapters" in setting:
        form = form.replace("model_dtype=fp32", "model_dtype=bf16")  # of a frozen base
    if program == "OpenRLHF" and quantity == "reference" and value:
        value = setting["training_gpus"]
    group, groups = setting.get("tensor_parallel", 1), setting.get("data_parallel", 1)
    if program == "SGLang" and quantity == "tensor_parallel":
        value = group * groups  # GPUs per stage; the attention groups divide it
    spanned = value + 1 if quantity == "lag" else 0  # verl counts versions from a completion's own to the trainer's
    nodes, per_node = servers(value) if isinstance(value, int) else (1, 1)
    return form.replace("{}", "{0}").format(
        shown(value),
        completions=completions,
        updates=updates,
        of_update=setting.get("prompts", 0) // updates,
        completions_of_update=completions // updates,
        spanned=spanned,
        nodes=nodes,
        per_node=per_node,
        experts_over=group * groups,
        between=value - 1 if quantity == "turns" else 0,
        of_all_engines=value * setting.get("engines", 1) if quantity == "concurrency" else 0,
        of_one_gpu=-(-value // (group * groups * setting.get("pipeline", 1))) if quantity == "offload_gib" else 0,
        accelerated=accelerated(setting)[0],
        on_host=accelerated(setting)[1],
        served=served(value) if quantity == "adapters" else 0,
        twice=2 * value if quantity == "adapters" else 0,
    )


def made_for(program: str, quantity: str, setting: Mapping[str, Any]) -> bool:
    """Whether the trainer, or that engine of verl's which the setting needs, has the option of the table."""
    value, asynchronous, zero = setting[quantity], setting.get("overlap") == "async", setting.get("zero", 3)
    if program == "TRL":
        of_async = quantity not in ASYNC_IN_TRL or asynchronous
        of_zero = quantity != "zero" or value == 3 or not asynchronous  # AsyncGRPO accepts only FSDP2
        # DeepSpeed puts its own Adam, in 32 bits, in the place of one whose state it keeps on the host
        replaced = quantity == "optimizer_bits" and "offload_optimizer_device" in accelerated(setting)[1]
        return (
            of_async and of_zero and not replaced and not (quantity == "offload_state" and value == "all" and zero < 3)
        )
    if program != "verl":
        return True
    if zero == 1:
        return quantity not in ("grouped", "optimizer_bits") and not (quantity == "offload_state" and value == "all")
    if "expert_parallel" in setting and quantity in ("adapters", "optimizer_bits"):
        return False
    return quantity not in ("training_tensor", "training_stages")  # its FSDP and VeOmni engines have neither


def accelerated(setting: Mapping[str, Any]) -> tuple[str, str]:
    """(the file of TRL's accelerate_configs that shards as planned, accelerate's options that keep state on the
    host).
    """
    whole = setting.get("offload", False) or setting.get("offload_state") == "all"
    some = whole or "offload_state" in setting
    if setting.get("overlap") == "async":
        return "fsdp2.yaml", " --fsdp_offload_params true" if some else ""
    if setting.get("training_gpus") == 1 and not some:
        return "single_gpu.yaml", ""
    zero = setting.get("zero", 3)
    weights = " --offload_param_device cpu" if whole and zero == 3 else ""
    return f"zero{zero}.yaml", (" --offload_optimizer_device cpu" if some else "") + weights


def shown(value: Any) -> Any:
    return f"{value:.12g}" if isinstance(value, float) else value


def servers(gpus: int) -> tuple[int, int]:
    """(servers, GPUs of each): eight per server, or the largest smaller number that divides the GPUs evenly."""
    per_node = next(n for n in range(min(8, gpus), 0, -1) if gpus % n == 0) if gpus else 1
    return gpus // per_node, per_node


def batch_of_trl(completions: int, gpus: int, updates: int) -> str:
    """Options for one completion per GPU at a time, and `updates` updates on all generated completions."""
    if completions // updates % gpus:
        return f"# TRL: {completions // updates:,} completions {INDIVISIBLE} {gpus} GPUs"
    each = completions // updates // gpus
    of_all = updates * each
    return f"per_device_train_batch_size=1, gradient_accumulation_steps={each}, steps_per_generation={of_all}"


def described_quantity(quantity: str, setting: Mapping[str, Any]) -> str:
    words, value = TABLE[quantity][0], setting[quantity]
    return f"{words}: {value}" if isinstance(value, str) else words
