"""What a job's setting is called in five engines and trainers: "Copy as config".

One table, a row a quantity, a column a program. A name stands here only if it was read in the source of the release
that VERSIONS gives: `vllm/engine/arg_utils.py`, SGLang's `srt/arg_groups/fields/`, verl's `trainer/config/`, TRL's
`trainer/grpo_config.py` and `experimental/async_grpo/`, OpenRLHF's `cli/train_ppo_ray.py`, all of 2026. It is
not a model.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from sim.programs import ACTOR, BATCH, ROLLOUT, START, VERSIONS

ENGINES = ("vLLM", "SGLang")  # the others train, and are asked for the rows under TRAINING too
VLLM = f"+{ROLLOUT}.engine_kwargs.vllm"  # handed on to vLLM; hydra adds what its file does not name by a plus

# {quantity: (what it is, {program: option})}. In an option, {} is the value, and {completions} prompts times samples.
# An option by value is {value: option}: "" where nothing is to be set, "# …" what to know where it is no option. A
# program or a value that is left out has none.
Table: TypeAlias = dict[str, tuple[str, dict[str, Any]]]
SERVING: Table = {
    "tensor_parallel": (
        "GPUs an engine",
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
    "memory_fraction": (
        "the engine's share of a GPU's memory",
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
        {"vLLM": "--max-num-seqs {}", "SGLang": "--max-running-requests {}", "verl": ROLLOUT + ".max_num_seqs={}"},
    ),
    "chunk": (
        "tokens of a prompt at a time",
        {
            "vLLM": "--max-num-batched-tokens {}",
            "SGLang": "--chunked-prefill-size {}",
            "verl": ROLLOUT + ".max_num_batched_tokens={}",
        },
    ),
    "prefix_cache": (
        "sharing of prompts",
        {
            "vLLM": {True: "--enable-prefix-caching", False: "--no-enable-prefix-caching"},
            "SGLang": {True: "", False: "--disable-radix-cache"},
            "verl": {True: ROLLOUT + ".enable_prefix_caching=True", False: ROLLOUT + ".enable_prefix_caching=False"},
            "OpenRLHF": {True: "--vllm.enable_prefix_caching", False: ""},
        },
    ),
    "drafts": (
        "tokens guessed ahead",
        {
            "vLLM": '--speculative-config \'{{"method":"ngram","num_speculative_tokens":{}}}\'',
            "SGLang": "# SGLang: --speculative-num-draft-tokens {}, with the --speculative-algorithm of your drafter",
            "verl": "# verl: {} tokens guessed, by actor_rollout_ref.model.mtp for an MTP head, else by engine_kwargs",
        },
    ),
    "block": ("slots a block", {"vLLM": "--block-size {}", "SGLang": "--page-size {}"}),
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
            "vLLM": {"bf16": "", "fp8": "--quantization fp8"},
            "SGLang": {"bf16": "", "fp8": "--quantization fp8"},
            "verl": {"bf16": "", "fp8": ROLLOUT + ".quantization=fp8"},
            "TRL": {"bf16": ""},
            "OpenRLHF": {"bf16": ""},
        },
    ),
    "offload_gib": ("room for the cache in host memory", {"vLLM": "--kv-offloading-size {}"}),
    "engines": ("engines", {"vLLM": "", "SGLang": "", "verl": "", "TRL": "", "OpenRLHF": "--vllm.num_engines {}"}),
    "placement": (
        "where generating stands",
        {
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
}
CUT_IN_TRL = "# TRL scores a cut completion as it is: your reward function has to call it wrong"
SERVER_IN_TRL = "# TRL's server has its own options for tensor parallelism, memory and length"
LEFT_IN_VERL = "# verl: set actor_rollout_ref.rollout.name, and for separate_async rollout.nnodes and n_gpus_per_node"
TRAINING: Table = {
    "prompts": BATCH["prompts"],
    "samples": BATCH["samples"],
    "prompt": ("the longest prompt", {"verl": "data.max_prompt_length={}"}),
    "completion": BATCH["completion"],
    "micro_batch_tokens": (
        "tokens a GPU trains on at a time",
        {
            "verl": f"{ACTOR}.use_dynamic_bsz=True {ACTOR}.ppo_max_token_len_per_gpu={{}}",
            "OpenRLHF": "--train.dynamic_batch_enable --train.max_tokens_per_gpu {}",
        },
    ),
    "overlap": (
        "generating beside training",
        {
            "verl": {
                "sync": "trainer.v1.trainer_mode=sync",
                "carry-over": "trainer.v1.trainer_mode=colocate_async",
                "one-off": "# one-off is an entry point of its own: verl.experimental.one_step_off_policy.main_ppo",
                "async": "trainer.v1.trainer_mode=separate_async trainer.v1.separate_async.parameter_sync_step=1",
            },
            "TRL": {
                "sync": "",
                "async": "# trl.experimental.async_grpo, by its AsyncGRPOConfig, generates beside training",
            },
            "OpenRLHF": {
                "sync": "",
                "one-off": "--train.async_enable",
                "async": "--train.async_enable --train.partial_rollout_enable",
            },
        },
    ),
    "lag": (
        "how many versions a completion may be behind",
        {
            "verl": "trainer.v1.sampler.max_off_policy_threshold={spanned}",
            "TRL": "# AsyncGRPOConfig: max_staleness={}",
            "OpenRLHF": "# OpenRLHF drops nothing by age; --train.async_queue_size bounds the batches that wait",
        },
    ),
    "reuse_log_probs": (
        "training on the engine's log-probs",
        {"verl": {True: "algorithm.rollout_correction.bypass_mode=True", False: ""}},
    ),
    "cut": (
        "what becomes of completions that were cut off",
        {"TRL": {"masked": "mask_truncated_completions=True", "scored wrong": CUT_IN_TRL}},
    ),
}
TABLE = SERVING | TRAINING


def texts(setting: Mapping[str, Any]) -> dict[str, str]:
    """{program and version: text to paste} of a setting {quantity: value}; what a program has no option for is a line
    that begins with #. Quantities are those of TABLE; `prompts` needs `samples`.
    """
    if unknown := set(setting) - set(TABLE):
        raise ValueError(f"{', '.join(sorted(unknown))}: the quantities are {', '.join(TABLE)}")
    return {f"{program} {version}": text(program, setting) for program, version in VERSIONS.items()}


def text(program: str, setting: Mapping[str, Any]) -> str:
    asked = [quantity for quantity in (SERVING if program in ENGINES else TABLE) if quantity in setting]
    said = {quantity: option(program, quantity, setting) for quantity in asked}
    notes = [f"# {program} has no option for {described(q, setting)}" for q in asked if said[q] is None]
    notes += [words for words in said.values() if words and words.startswith("#")]
    if program in ENGINES and len(asked) < len(setting):
        notes.append("# the rest is the trainer's")
    options = [words for words in said.values() if words and not words.startswith("#")]
    if program == "verl":
        notes.append(LEFT_IN_VERL)
    if program == "TRL":
        if setting.get("placement") == "split":  # these are read in colocate mode alone
            options = [words for words in options if not words.startswith("vllm_")]
            notes.append(SERVER_IN_TRL)
        return "\n".join([*notes, "GRPOConfig(", *(f"    {words}," for words in options), ")"])
    return "\n".join([*notes, " \\\n    ".join([START[program], *options])])


def option(program: str, quantity: str, setting: Mapping[str, Any]) -> str | None:
    """The words that set a quantity; "" where nothing is to be set, None where the program cannot."""
    value, form = setting[quantity], TABLE[quantity][1].get(program)
    if isinstance(form, dict):
        form = form.get(value)
    if form is None:
        return None
    completions = setting.get("prompts", 0) * setting.get("samples", 0)
    spanned = value + 1 if quantity == "lag" else 0  # verl counts the versions from a completion's own to the trainer's
    shown = f"{value:g}" if isinstance(value, float) else value
    return form.replace("{}", "{0}").format(shown, completions=completions, spanned=spanned)


def described(quantity: str, setting: Mapping[str, Any]) -> str:
    words, value = TABLE[quantity][0], setting[quantity]
    return f"{words}: {value}" if isinstance(value, str) else words
