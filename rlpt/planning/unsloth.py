"""What a job of adapters on one GPU is called in Unsloth, which has one copy of the weights for trainer and engine, and
trains by TRL's GRPOConfig.

Names from the sources of unsloth 2026.10.9 (`models/loader.py`, `models/llama.py`, `models/rl.py`) and unsloth_zoo
(`vllm_utils.py`), of 2026. It is not a model.
"""

from collections.abc import Mapping
from typing import Any

VERSION = "2026.10.9"
# {quantity of options.TABLE: argument}, as in that table
LOADED: dict[str, Any] = {  # of from_pretrained, which hands the engine's on to vLLM
    "base_bits": {4: "load_in_4bit=True", 16: "load_in_4bit=False"},
    "placement": {"colocated": "fast_inference=True"},
    "adapters": "max_lora_rank={room}",
    "context": "max_seq_length={}",
    "memory_fraction": "gpu_memory_utilization={}",
    "concurrency": "max_num_seqs={}",
    "chunk": "max_num_batched_tokens={}",
    "prefix_cache": {True: "enable_prefix_caching=True", False: "enable_prefix_caching=False"},
    "kv_dtype": {"bf16": "", "fp8": "float8_kv_cache=True"},
    "weights_dtype": {"bf16": "", "stored": "", "fp8": "load_in_fp8=True"},
}
ADAPTED: dict[str, Any] = {  # of get_peft_model
    "adapters": "r={}, lora_alpha={twice}",
    "recompute": {"full": 'use_gradient_checkpointing="unsloth"', "selective": "use_gradient_checkpointing=False"},
}
TRAINED: dict[str, Any] = {"optimizer_bits": {8: 'optim="adamw_8bit"', 32: 'optim="adamw_torch"'}}
# quantities that TRL's configuration has, and that there is nothing to set for on one GPU or with shared weights
AS_IN_TRL = ("prompts", "samples", "completion", "turns", "cut", "reference")
IMPLIED: tuple[str, ...] = (
    "shared_weights",
    "logits_chunk",
    "estimator",
    "updates",
    "overlap",
    "zero",
    "training_gpus",
)
IMPLIED += ("engines", "tensor_parallel", "sequence_parallel", "reuse_log_probs", "offload")
OLDER_TRL = "# Unsloth asks for trl 1.15.0 or older, and has to be imported before it"
PLUGIN = "# from version 0.28, vLLM needs vllm-bnb-plugin for a base in 4 bits"
STANDBY = 'os.environ["UNSLOTH_VLLM_STANDBY"] = "1"  # the cache makes room for training; before the import'


def writes(setting: Mapping[str, Any]) -> bool:
    """Whether the job is one that is written here."""
    one = setting.get("training_gpus", 1) == 1 and setting.get("placement") == "colocated"
    plain = setting.get("overlap", "sync") == "sync" and not setting.get("offload")
    return "adapters" in setting and one and plain and "offload_state" not in setting


def text(setting: Mapping[str, Any], of_trl: Mapping[str, str], room: int) -> str:
    """The text to paste, with TRL's options for the quantities AS_IN_TRL and the engine's `room` for a rank."""
    asked = dict(base_bits=16, optimizer_bits=32) | dict(setting)  # Unsloth's own are 4 and 8

    def arguments(table: Mapping[str, Any]) -> list[str]:
        forms = {
            q: form.get(asked[q], "") if isinstance(form, dict) else form for q, form in table.items() if q in asked
        }
        shown = {q: f"{asked[q]:.12g}" if isinstance(asked[q], float) else asked[q] for q in forms}
        rank = setting["adapters"]
        return [form.format(shown[q], room=room, twice=2 * rank) for q, form in forms.items() if form]

    trained = [words for words in [*arguments(TRAINED), *of_trl.values()] if words]
    remarks = [words for words in trained if words.startswith("#")] + ([PLUGIN] if asked["base_bits"] == 4 else [])
    tables = LOADED | ADAPTED | TRAINED
    able = {q for q, form in tables.items() if q in asked and (not isinstance(form, dict) or asked[q] in form)}
    if left := [quantity.replace("_", " ") for quantity in setting if quantity not in {*able, *AS_IN_TRL, *IMPLIED}]:
        remarks.append(f"# not written here: {', '.join(left)}")
    calls = {
        "model, tokenizer = FastLanguageModel.from_pretrained": ['"MODEL"', *arguments(LOADED)],
        "model = FastLanguageModel.get_peft_model": ["model", *arguments(ADAPTED)],
        "GRPOConfig": ['use_vllm=True, vllm_mode="colocate"', *(words for words in trained if words[0] != "#")],
    }
    written = [f"{call}(\n" + "".join(f"    {words},\n" for words in given) + ")" for call, given in calls.items()]
    return "\n".join([OLDER_TRL, *remarks, "import os", STANDBY, "from unsloth import FastLanguageModel", *written])
