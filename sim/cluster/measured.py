"""Steps that others have timed, in seconds. Data, not a model.

VERL, a synchronous run and the asynchronous run of the same job beside it, is from verl's documentation of its fully
asynchronous trainer (docs/advance/fully_async.md, 2025, read in its versions of 2025-10 and 2026-05): means over 400
steps of 512 prompts x 16 completions on H20. PUBLISHED is what else is published with lengths, row by row.
"""

from dataclasses import dataclass
from typing import Any

from sim.cluster.configs import model_from_config
from sim.cluster.models import MODELS, Model


@dataclass(frozen=True)
class Measured:
    name: str
    model: str  # a key of sim/cluster/models.py
    gpus: int
    step: float  # synchronous: every role on all GPUs, one after the other
    generate: float
    old_log_prob: float
    reference: float
    update: float
    async_step: float  # the same job with the GPUs split into a generating and a training pool
    async_gpus: tuple[int, int]  # (generating, training)
    async_update: float
    async_wait: float  # the trainer's wait for samples, which the asynchronous rows call gen

    def named(self) -> float:
        """Seconds of the synchronous step that are attributed to a role."""
        return self.generate + self.old_log_prob + self.reference + self.update


# The first row: the version of 2025-10 has 313.81 and 269.80 the other way round. With it the rows add up (11.2 s
# unattributed, as in the other synchronous rows); as printed since, the asynchronous update is longer than its own
# step, but the update scales with the GPUs as in the other rows. What rests on which is right: the seconds left over in
# this row (7 % as printed now, 1 % in the older version) and its share of update (34 or 40 %).
_ROWS = [
    Measured("7B, 32 GPUs", "qwen2.5-7b", 32, 790.10, 357.41, 107.71, 0.0, 269.80, 294.77, (16, 16), 313.81, 21.26),
    Measured("7B, 64 GPUs", "qwen2.5-7b", 64, 365.28, 150.72, 70.26, 0.0, 133.41, 189.26, (32, 32), 156.98, 28.46),
    Measured("7B, 128 GPUs", "qwen2.5-7b", 128, 356.30, 177.85, 53.92, 0.0, 113.81, 150.63, (64, 64), 113.16, 33.14),
    Measured(
        "30B-A3B, 128 GPUs", "qwen3-30b-a3b", 128, 497.89, 348.05, 28.73, 20.86, 86.27, 282.75, (96, 32), 206.63, 22.06
    ),
]
VERL = {row.name: row for row in _ROWS}
COMPLETIONS = 512 * 16
# verl, docs/advance/one_step_off.md (2025): 7B, FSDP2, 4 + 12 H20; `waited` for the previous generation is a mean
ONE_OFF = dict(step=520, generate=458, old_log_prob=108, update=337, waited=45)
SYNC_7B = 0.12  # weight transfer, 4 + 4 ranks, same page
SYNC_30B = 4.38  # 16 + 16 ranks, with its checkpoint engine


@dataclass(frozen=True)
class Published:
    """A job whose publication says enough to compute it: what is None or 0 was not timed or is not said."""

    name: str
    model: Model
    accelerator: str  # a key of sim/cluster/hardware.py
    gpus: int
    prompts: int
    samples: int
    mean: float  # tokens of a completion
    longest: int  # its limit
    tensor_parallel: int  # of an engine
    reference: bool
    source: str  # a key of SOURCES
    overlap: str = "sync"
    generating: int = 0  # GPUs of two pools that generate
    step: float | None = None
    generate: float | None = None
    log_probs: float | None = None  # old ones and the reference's
    update: float | None = None
    length_from_update: bool = False  # no mean length is published: it follows from this update, which is no evidence


SOURCES = {
    "verl async": (
        "verl, Fully async policy trainer, 2026",
        "https://verl.readthedocs.io/en/latest/advance/fully_async.html",
    ),
    "verl v1": ("verl, V1 async trainer, 2026", "https://verl.readthedocs.io/en/latest/advance/v1_async_trainer.html"),
    "NeMo": (
        "NVIDIA NeMo RL 0.4, performance summary, 2025",
        "https://docs.nvidia.com/nemo/rl/latest/about/performance-summary.html",
    ),
    "Miles": ("LMSYS, Miles on ROCm, 2026", "https://lmsys.org/blog/2026-03-17-rocm-miles-rl-amd/"),
}
# assumed: prompt tokens of all these jobs, which train on problems of mathematics; tokens a second times seconds, less
# the published lengths, leave 100 to 160 in the rows of NeMo and of verl's V1 trainer
PROMPT = 128
# Tokens of a sequence, prompt included, at which 6PN at the assumed MFU takes these seconds, which verl timed on 32
# and on 128 GPUs
UPDATES = (VERL["7B, 32 GPUs"].update, VERL["30B-A3B, 128 GPUs"].update)
FROM_UPDATE = {"qwen2.5-7b": 1365, "qwen3-30b-a3b": 3967}
# Qwen/Qwen3-32B, config.json (2025)
QWEN3_32B, _ = model_from_config(
    dict(
        model_type="qwen3",
        num_hidden_layers=64,
        hidden_size=5120,
        num_attention_heads=64,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=25600,
        vocab_size=151936,
    ),
    "qwen3-32b",
    "Qwen3-32B",
)


def _verl(row: Measured, tensor_parallel: int, longest: int) -> Published:
    job = (row.model, "h20", row.gpus, 512, 16, FROM_UPDATE[row.model] - PROMPT, longest, tensor_parallel)
    log_probs = row.old_log_prob + row.reference
    timed: dict[str, Any] = dict(step=row.step, generate=row.generate, log_probs=log_probs, update=row.update)
    name = f"verl, {row.name.replace(',', ' on').replace('GPUs', 'H20')}"
    return Published(
        name,
        MODELS[job[0]],
        *job[1:],
        row.reference > 0,
        "verl async",
        **timed,
        length_from_update=row.update in UPDATES,
    )


def _nemo(
    name: str, model: Model, gpus: int, completions: int, mean: float, limit: int, tensor_parallel: int, step: float
) -> Published:
    job = (gpus, completions // 16, 16, mean, limit - PROMPT, tensor_parallel)
    return Published(f"NeMo RL, {name} on {gpus} H100", model, "h100", *job, False, "NeMo", step=step)


def _v1(way: str, overlap: str, generating: int, mean: float, hours: float) -> Published:
    job = (32, 64, 8, mean, 32768, 4)  # 512 completions: tokens a second x seconds a step / tokens of a sequence
    found: dict[str, Any] = dict(overlap=overlap, generating=generating, step=hours * 3600 / 150)
    # the page says H100 of another benchmark on it, and four nodes of this one
    return Published(
        f"verl, 35B-A3B on 32 H100, {way}", MODELS["qwen3.5-35b-a3b"], "h100", *job, False, "verl v1", **found
    )


# assumed: engines of verl's first rows are the smallest that hold the model, those of Miles as wide as its trainer's
# tensor parallelism; NeMo draws 16 completions a prompt
PUBLISHED = [
    *(_verl(VERL[f"7B, {gpus} GPUs"], 1, 28672) for gpus in (32, 64, 128)),
    _verl(VERL["30B-A3B, 128 GPUs"], 2, 8192),
    _v1("in turn", "sync", 0, 12720, 22.79),
    _v1("carried over", "carry-over", 0, 12854, 14.72),
    _v1("two pools", "async", 16, 12288, 14.10),
    _nemo("8B", MODELS["llama3.1-8b"], 16, 2048, 1060, 4096, 1, 97.7),
    _nemo("32B", QWEN3_32B, 32, 2048, 3206, 4096, 4, 393),
    _nemo("30B-A3B", MODELS["qwen3-30b-a3b"], 32, 2048, 3154, 4096, 4, 225),
    _nemo("235B-A22B", MODELS["qwen3-235b-a22b"], 128, 512, 5671, 8192, 16, 506),
    _nemo("DeepSeek-V3", MODELS["deepseek-v3"], 256, 512, 745, 1536, 32, 154),
    # the mean length from rollout tokens a second and GPU: 1,200 x 8 x 152.79 s / 256
    Published(
        "Miles, 30B-A3B on 8 MI300X",
        MODELS["qwen3-30b-a3b"],
        "mi300x",
        8,
        32,
        8,
        5700,
        8192,
        4,
        False,
        "Miles",
        step=388.50,
        generate=152.79,
        log_probs=31.53,
        update=95.30,
    ),
]
