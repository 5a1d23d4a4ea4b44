"""The job that a trainer's options describe, as its release reads them: anything that an exported text leaves out has
the program's default, so a misfit is found without a GPU.

Defaults follow the sources of verl 0.9.1 (`trainer/config`), OpenRLHF 0.11.2 (`cli/train_ppo_ray.py`) and TRL 1.16.0
(`trainer/grpo_config.py`), of 2026. It is not a model: what a job needs is computed in envelope.py.
"""

import re
from typing import Any

from sim.cluster import memory
from sim.cluster.envelope import PLACEMENTS, Job
from sim.cluster.memory import Engine, Training

ROLLOUT, ACTOR = "actor_rollout_ref.rollout", "actor_rollout_ref.actor"
OFFLOADED, RESIDENT, APART = PLACEMENTS
LOGITS_CHUNK = 1024  # tokens per chunk of a fused head: verl's kernels, TRL's chunks
# {verl's engine: (section of its options, option for GPUs per sequence, option for GPUs that split the experts)}
ENGINES_OF_VERL = {
    "dp": ("fsdp_config", "ulysses_sequence_parallel_size", ""),
    "veomni": ("veomni", "veomni.ulysses_parallel_size", "veomni.expert_parallel_size"),
    "megatron": ("megatron", "megatron.context_parallel_size", "megatron.expert_model_parallel_size"),
}
# {quantity of options.TABLE: how the programs write its number}, and the words for what stays in host memory
NUMBERS = {
    "adapters": r"(?:lora_rank=|lora\.rank[= ]|LoraConfig\(r=)(\d+)",
    "base_bits": r"load_in_(\d)bit(?!=False)",
    "optimizer_bits": r"(?:AdamW|adamw_(?:\w+_)?)(\d)bit",
}
ON_HOST = {
    "all": ("offload_policy=True", "enable_fsdp_offload=True", "offload_param_device cpu", "fsdp_offload_params true"),
    "optimizer": ("optimizer_cpu_offload=True", "--ds.adam_offload", "offload_optimizer_device cpu"),
}
WIDTHS = {"fp8": 1.0}  # bytes by an option's name; if it names nothing, bf16 or as in the checkpoint


def described_by(text: str) -> Job:
    """The Job described by text that `rlpt/planning/options.py` writes for verl, OpenRLHF or TRL."""
    marks = {"python -m verl.": by_verl, "python -m openrlhf.": by_openrlhf, "GRPOConfig(": by_trl}
    readers = [read for mark, read in marks.items() if mark in uncommented(text)]
    if not readers:
        raise ValueError("this text starts neither verl nor OpenRLHF nor TRL")
    return readers[0](text)


def of_small_jobs(text: str) -> dict[str, int | str]:
    """What is written of adapters, narrow numbers and host memory, as quantities of options.TABLE."""
    # accelerate's command is a remark in TRL's text
    written = uncommented(text) + "".join(re.findall(r"^# accelerate launch.*$", text, re.MULTILINE))
    found = {quantity: re.search(pattern, written) for quantity, pattern in NUMBERS.items()}
    quantities: dict[str, int | str] = {quantity: int(number[1]) for quantity, number in found.items() if number}
    kept = [state for state, words in ON_HOST.items() if any(word in written for word in words)]
    return quantities | ({"offload_state": kept[0]} if kept else {})


def of_training(text: str, ledger: memory.Ledger) -> dict[str, Any]:
    """The same as fields of `memory.Training`."""
    small = of_small_jobs(text)
    return dict(
        adapters=int(small.get("adapters", 0)),
        four_bits=small.get("base_bits") == 4,
        ledger=ledger.narrow if small.get("optimizer_bits") == 8 else ledger,
        on_host=str(small.get("offload_state", memory.KEPT_ON_HOST[0])),
    )


def job(training: Training, engine: Engine, train: int, generate: int, two: bool, offloaded: bool) -> Job:
    if two:
        return Job(train + generate, training, engine, APART, generate / (train + generate))
    return Job(train, training, engine, OFFLOADED if offloaded else RESIDENT)


def by_verl(text: str) -> Job:
    options: dict[str, str] = dict(re.findall(r"(?<![\w.])\+?([a-z][\w.]*)=([^\s\\]+)", uncommented(text)))

    def whole(name: str, default: int) -> int:
        return int(options.get(name) or default)

    def on(name: str, default: bool) -> bool:
        return options.get(name, str(default)) == "True"

    train = whole("trainer.nnodes", 1) * whole("trainer.n_gpus_per_node", 8)
    pool = "rollout" if "rollout.nnodes" in options else ROLLOUT
    generate = whole(f"{pool}.nnodes", 0) * whole(f"{pool}.n_gpus_per_node", 8)
    two = generate > 0 and not on("actor_rollout_ref.hybrid_engine", True)
    config, of_sequence, of_experts = ENGINES_OF_VERL[options.get("model_engine", "dp")]
    megatron = config == "megatron"
    longest, shared = whole(f"{ROLLOUT}.max_model_len", 0), whole(f"{ACTOR}.{of_sequence}", 1)
    again = options.get(f"{ACTOR}.megatron.override_transformer_config.recompute_granularity") == "full"
    again = again if megatron else on("actor_rollout_ref.model.enable_gradient_checkpointing", True)
    small = of_training(text, memory.MEGATRON if megatron else memory.FSDP)
    training = Training(
        train,
        zero=1 if megatron else 3,
        **small,
        reference=on(f"{ACTOR}.use_kl_loss", False) and not small["adapters"],  # without them the policy is one
        critic=options.get("algorithm.adv_estimator", "gae") == "gae",
        tokens=whole(f"{ACTOR}.ppo_max_token_len_per_gpu", 16384) * shared,
        length=longest,
        recompute="full" if again else "selective",
        logits_chunk=LOGITS_CHUNK if on("actor_rollout_ref.model.use_fused_kernels", False) else None,
        tensor_parallel=whole(f"{ACTOR}.megatron.tensor_model_parallel_size", 1),
        context_parallel=shared,
        pipeline=whole(f"{ACTOR}.megatron.pipeline_model_parallel_size", 1),
        expert_parallel=whole(f"{ACTOR}.{of_experts}", 1) if of_experts else 1,
    )
    engine = Engine(
        tensor_parallel=whole(f"{ROLLOUT}.tensor_model_parallel_size", 2),
        longest=longest,
        hbm_share=float(options.get(f"{ROLLOUT}.gpu_memory_utilization", 0.5)),
        weight_bytes=WIDTHS.get(options.get(f"{ROLLOUT}.quantization", "")),
        kv_bytes=WIDTHS.get(options.get(f"{ROLLOUT}.engine_kwargs.vllm.kv_cache_dtype", ""), 2.0),
        context_parallel=whole(f"{ROLLOUT}.engine_kwargs.vllm.decode_context_parallel_size", 1),
        data_parallel=whole(f"{ROLLOUT}.data_parallel_size", 1),
    )
    offloaded = all(on(f"{ACTOR}.{config}.{what}_offload", False) for what in ("param", "optimizer"))
    offloaded = (offloaded or small["on_host"] == "all") and on(f"{ROLLOUT}.free_cache_engine", True)
    return job(training, engine, train, generate, two, offloaded)


def by_openrlhf(text: str) -> Job:
    options: dict[str, str] = dict(re.findall(r"--([\w.]+)(?: ([^\s\\-][^\s\\]*))?", uncommented(text)))

    def whole(name: str, default: int) -> int:
        return int(options.get(name) or default)

    train = whole("actor.num_nodes", 1) * whole("actor.num_gpus_per_node", 8)
    two = "train.colocate_all" not in options or "train.async_enable" in options
    longest, shared = whole("data.max_len", 2048), whole("ds.ring_attn_size", 1)
    dynamic = "train.dynamic_batch_enable" in options
    training = Training(
        train,
        zero=whole("ds.zero_stage", 2),
        **of_training(text, memory.ZERO_PAPER),
        reference=float(options.get("algo.kl.init_coef") or "0.01") > 0,
        critic=options.get("algo.advantage.estimator", "gae") == "gae",
        tokens=whole("train.max_tokens_per_gpu", 16192) * shared if dynamic else longest,
        length=longest,
        recompute="full" if "actor.gradient_checkpointing_enable" in options else "selective",
        context_parallel=shared,  # its logits exist for all tokens of a micro-batch at once
        tensor_parallel=whole("ds.tensor_parallel_size", 1),
        by_tokens=False,  # DeepSpeed's AutoTP splits only matrices
    )
    engine = Engine(
        tensor_parallel=whole("vllm.tensor_parallel_size", 1),
        longest=longest,
        hbm_share=float(options.get("vllm.gpu_memory_utilization") or "0.95"),
        weight_bytes=None,
    )
    sleeps = "vllm.enable_sleep" in options and "ds.enable_sleep" in options
    return job(training, engine, train, whole("vllm.num_engines", 0) * engine.size, two, sleeps)


def by_trl(text: str) -> Job:
    options: dict[str, str] = dict(re.findall(r"(?<![\w-])(\w+)=([^\s,]+),?", uncommented(text)))
    launch: dict[str, str] = dict(re.findall(r"--([\w-]+) ([\d.]+)", text))
    train, two = int(launch.get("num_processes", 1)), "vllm_mode" not in options or "server" in options["vllm_mode"]

    def value(knob: str, option: str, default: float) -> float:
        return float((launch.get(option) if two else options.get(knob)) or default)

    longest = int(value("vllm_max_model_length", "max-model-len", 0))
    config = re.search(r"--config_file (?:zero(\d)|fsdp2|single_gpu).yaml", text)
    small = of_training(text, memory.ZERO_PAPER)
    training = Training(
        train,
        zero=int(config[1] or 3) if config else 0,  # one GPU has all, whatever the stage
        **small,
        reference=float(options.get("beta", 0)) > 0 and not small["adapters"],
        tokens=int(options.get("token_budget") or int(options.get("per_device_train_batch_size", 8)) * longest),
        length=longest,
        recompute="full" if options.get("gradient_checkpointing", "True") == "True" else "selective",
        logits_chunk=LOGITS_CHUNK,
    )
    engine = Engine(
        tensor_parallel=int(value("vllm_tensor_parallel_size", "tensor-parallel-size", 1)),
        longest=longest,
        hbm_share=value("vllm_gpu_memory_utilization", "gpu-memory-utilization", 0.9 if two else 0.3),
        weight_bytes=None,
    )
    generate = int(launch.get("data-parallel-size", 1)) * engine.size
    sleeps = "offload_param_device" in text and options.get("vllm_enable_sleep_mode") == "True"
    return job(training, engine, train, generate, two, sleeps)


def uncommented(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
