"""Steps that others have timed, in seconds. Data, not a model.

VERL, a synchronous run next to the asynchronous run of the same job, is from verl's documentation of its fully
asynchronous trainer (docs/advance/fully_async.md, 2025, read in its versions of 2025-10 and 2026-05): means over 400
steps of 512 prompts x 16 completions on H20. PUBLISHED has every row of the sources that it names, without any
selection.
"""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from rlpt.planning.configs import model_from_config
from sim.cluster.memory import HBM_SHARE
from sim.cluster.models import MODELS, Model
from sim.cluster.trainer import FILLED, Trainer


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
    async_wait: float  # the trainer's wait for samples, called gen in the asynchronous rows

    def named(self) -> float:
        """Seconds of the synchronous step that are attributed to a role."""
        return self.generate + self.old_log_prob + self.reference + self.update


# The first row: in the version of 2025-10, 313.81 and 269.80 are swapped. In that order the rows add up (11.2 s
# unattributed, as in the other synchronous rows); as printed since, the asynchronous update is longer than its own
# step, but the update scales with the GPUs as in the other rows. Which one is correct decides two numbers of this row:
# its unattributed seconds (7 % as printed now, 1 % in the older version) and the share of its update (34 or 40 %).
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
    """A job whose publication says enough to compute it; None or 0 means not timed or not stated."""

    name: str
    model: Model | None  # None if no table of this book has it: such a row is not computed
    accelerator: str  # a key of sim/cluster/hardware.py
    gpus: int
    prompts: int
    samples: int
    mean: float  # tokens per completion
    longest: int  # limit on its tokens
    tensor_parallel: int  # GPUs per engine
    reference: bool
    source: str  # a key of SOURCES
    overlap: str = "sync"
    generating: int = 0  # GPUs that generate, if there are two pools
    step: float | None = None
    generate: float | None = None
    log_probs: float | None = None  # those of the old policy and of the reference
    update: float | None = None
    length_from_update: bool = False  # no mean length is published: it follows from this update, which is no evidence
    reuse: bool = False  # the engine's log-probs replace the old ones
    hbm_share: float = HBM_SHARE
    weight_bytes: float = 2  # for the engine's weights
    trainer: Trainer | None = None  # as in its recipe; None: as a plan lays it out
    updates: int = 1  # optimizer steps per step
    batches: float = 1.0  # batches in flight one step ahead
    computed: bool = True  # False if something about its generation is not published

    @property
    def fitted(self) -> bool:
        """Whether a constant of the cost model, or the mean length of this row, was chosen on seconds of its source."""
        return self.source in FITTED


# The releases on which the rate of a broadcast (sim/cluster/fabric.py) and the factors of calibration.py were chosen,
# the runs on which that of an H20's products was (sim/cluster/hardware.py), and those whose mean lengths follow from
# two of their updates
FITTED = ("NeMo RL 0.4", "NeMo RL 0.5", "verl practice", "verl async")


SOURCES = {
    "verl async": (
        "verl, Fully async policy trainer, 2026",
        "https://github.com/verl-project/verl/blob/eba3110d5277147ef5036f64f86658fd7c822c20/docs/advance/fully_async.md",
    ),
    "verl v1": (
        "verl, V1 async trainer, 2026",
        "https://github.com/verl-project/verl/blob/890dfc3ebdd5647f7ea9730375414b1e3fb4e9a6/docs/advance/v1_async_trainer.md",
    ),
    "NeMo RL 0.4": (
        "NVIDIA NeMo RL 0.4, performance summary, 2025",
        "https://github.com/NVIDIA-NeMo/RL/blob/cff17f83bf30c4f9c757b5fe707b2c32db606411/docs/about/performance-summary.md",
    ),
    "NeMo RL 0.5": (
        "NVIDIA NeMo RL 0.5, performance summary, 2026",
        "https://github.com/NVIDIA-NeMo/RL/blob/v0.5.0/docs/about/performance-summary.md",
    ),
    "NeMo RL 0.6": (
        "NVIDIA NeMo RL 0.6, performance summary, 2026",
        "https://github.com/NVIDIA-NeMo/RL/blob/v0.7.0/docs/about/performance-summary.md",
    ),
    "NeMo RL 0.3": (
        "NVIDIA NeMo RL 0.3, its published steps in issue 959, 2025",
        "https://github.com/NVIDIA-NeMo/RL/issues/959",
    ),
    "verl 671B": (
        "verl, training DeepSeek 671B, 2025",
        "https://github.com/verl-project/verl/blob/1dda039b9c6311889a9c9a26040677e1254814f9/docs/perf/dpsk.md",
    ),
    "verl practice": (
        "verl with FSDP and Megatron side by side, 2026",
        "https://github.com/ISEEKYAN/verl_megatron_practice/tree/dfd811adc3e42edc0d5b32cdfca5e7ad9df5c4f0",
    ),
    "Miles": ("LMSYS, Miles on ROCm, 2026", "https://lmsys.org/blog/2026-03-17-rocm-miles-rl-amd/"),
}
# assumed: prompt tokens of all these jobs, which train on math problems; tokens per second times seconds, minus the
# published lengths, leave 100 to 160 in the rows of NeMo and of verl's V1 trainer
PROMPT = 128
# Tokens per sequence, prompt included, at which 6PN at the assumed MFU takes these seconds, which verl timed on 32
# and on 128 GPUs
UPDATES = (VERL["7B, 32 GPUs"].update, VERL["30B-A3B, 128 GPUs"].update)
FROM_UPDATE = {"qwen2.5-7b": 1365, "qwen3-30b-a3b": 3967}


def _qwen(generation: str, name: str, layers: int, heads: int, intermediate: int, vocab: int) -> Model:
    """A dense model of 5,120 numbers a token with eight KV heads, from its config.json (2024, 2025)."""
    config = dict(
        model_type=generation,
        num_hidden_layers=layers,
        hidden_size=5120,
        num_attention_heads=heads,
        num_key_value_heads=8,
        head_dim=128,
        intermediate_size=intermediate,
        vocab_size=vocab,
    )
    return model_from_config(config, name.lower(), name)[0]


QWEN3_32B = _qwen("qwen3", "Qwen3-32B", 64, 64, 25600, 151936)
QWEN3_14B = _qwen("qwen3", "Qwen3-14B", 40, 40, 17408, 151936)
QWEN25_14B = _qwen("qwen2", "Qwen2.5-14B", 48, 40, 13824, 152064)


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


def _verl_async(row: Measured, tensor_parallel: int, longest: int) -> Published:
    """The same job as a stream, using the engine's own log-probs."""
    before = _verl(row, tensor_parallel, longest)
    generating, training = row.async_gpus
    pools: dict[str, Any] = dict(gpus=generating + training, generating=generating, overlap="async", reuse=True)
    untimed: dict[str, Any] = dict(generate=None, log_probs=None, update=None, length_from_update=False)
    return replace(before, name=f"{before.name}, stream", step=row.async_step, **pools, **untimed)


# From NeMo RL's recipes at the tags of all releases (examples/configs/recipes/llm/performance): model, prompts,
# completions of each, tokens of the longest sequence, updates per step, and whether layers are recomputed. The code
# scores a reference in all of them. A micro-batch is as long as the longest sequence and is packed
_RECIPES = {
    "8B": (MODELS["llama3.1-8b"], 64, 32, 4096, 4, True),
    "DeepSeek-V3": (MODELS["deepseek-v3"], 32, 16, 1536, 1, True),
    "235B-A22B": (MODELS["qwen3-235b-a22b"], 16, 32, 8192, 1, True),
    "30B-A3B": (MODELS["qwen3-30b-a3b"], 64, 32, 4096, 4, False),
    "32B": (QWEN3_32B, 64, 32, 4096, 4, False),
}
ON, OFF = "sync", "one-off"  # "On policy" and "1-step Off"
# Every row of their tables: recipe, way, mean tokens per completion, GPUs, TP of the engines, TP, CP, EP and PP of the
# trainer, seconds per step
Row: TypeAlias = tuple[str, str, float, int, int, tuple[int, int, int, int], float]
_NEMO: dict[tuple[str, str], list[Row]] = {
    ("NeMo RL 0.4", "h100"): [
        ("8B", ON, 1060, 16, 1, (1, 1, 1, 2), 97.7),
        ("8B", OFF, 1129, 16, 1, (1, 1, 1, 2), 74.6),
        ("DeepSeek-V3", ON, 745, 256, 32, (1, 1, 16, 16), 154),
        ("DeepSeek-V3", OFF, 744, 512, 32, (1, 1, 16, 16), 77.9),
        ("235B-A22B", ON, 5671, 128, 16, (2, 2, 16, 8), 506),
        ("235B-A22B", OFF, 5691, 256, 8, (4, 1, 16, 8), 241),
        ("30B-A3B", ON, 3154, 32, 4, (2, 1, 8, 1), 225),
        ("30B-A3B", OFF, 3158, 32, 2, (1, 1, 8, 2), 244),
        ("32B", ON, 3206, 32, 4, (4, 1, 1, 4), 393),
        ("32B", OFF, 3207, 64, 4, (4, 1, 1, 4), 215),
    ],
    ("NeMo RL 0.5", "h100"): [
        ("8B", ON, 1019, 16, 1, (1, 1, 1, 2), 92.8),
        ("8B", OFF, 1123, 16, 1, (1, 1, 1, 1), 64.8),
        ("DeepSeek-V3", ON, 744, 256, 32, (1, 1, 16, 16), 134),
        ("DeepSeek-V3", OFF, 738, 512, 32, (1, 1, 16, 16), 64.9),
        ("DAPO, DeepSeek-V3", ON, 974, 512, 64, (8, 4, 32, 8), 974),
        ("235B-A22B", ON, 5700, 128, 16, (2, 2, 16, 8), 431),
        ("235B-A22B", OFF, 5707, 256, 8, (4, 1, 16, 8), 203),
        ("30B-A3B", ON, 3196, 32, 2, (1, 1, 8, 1), 198),
        ("30B-A3B", OFF, 3201, 32, 2, (1, 1, 8, 2), 154),
        ("32B", ON, 3251, 32, 4, (4, 1, 1, 4), 376),
        ("32B", OFF, 3252, 64, 4, (4, 1, 1, 4), 200),
        ("8B in fp8", OFF, 1128, 16, 1, (1, 1, 1, 1), 53.0),
        ("DeepSeek-V3 in fp8", OFF, 761, 512, 16, (1, 1, 16, 16), 67.6),
    ],
    ("NeMo RL 0.5", "gb200"): [
        ("8B", ON, 1066, 8, 1, (1, 1, 1, 1), 91.0),
        ("8B", OFF, 1107, 8, 1, (1, 1, 1, 1), 71.1),
        ("DeepSeek-V3", ON, 996, 128, 32, (1, 1, 16, 8), 128),
        ("DeepSeek-V3", OFF, 994, 256, 16, (1, 1, 16, 8), 64.5),
        ("235B-A22B", ON, 5711, 64, 8, (2, 2, 16, 4), 332),
        ("235B-A22B", OFF, 5711, 128, 8, (4, 1, 16, 4), 268),
        ("30B-A3B", ON, 3198, 16, 1, (1, 1, 16, 1), 232),
        ("30B-A3B", OFF, 3204, 32, 1, (1, 1, 16, 1), 136),
        ("32B", ON, 3253, 16, 1, (2, 1, 1, 1), 381),
        ("32B", OFF, 3258, 32, 1, (2, 1, 1, 1), 210),
    ],
    # if table and recipe differ, it is the recipe that ran: EP 32 for DeepSeek-V3 on policy on twice the GPUs, and EP
    # 8 for 30B-A3B on the eight GB200 that train, where the table says 16
    ("NeMo RL 0.6", "h100"): [
        ("DeepSeek-V3", ON, 701, 256, 32, (1, 1, 16, 16), 134),
        ("DeepSeek-V3", ON, 697, 512, 32, (1, 1, 32, 16), 111),
        ("DeepSeek-V3", OFF, 710, 512, 32, (1, 1, 16, 16), 64.1),
        ("235B-A22B", ON, 5698, 128, 16, (2, 2, 16, 8), 395),
        ("235B-A22B", ON, 5713, 256, 16, (2, 2, 16, 8), 312),
        ("235B-A22B", OFF, 5721, 256, 8, (4, 1, 16, 8), 231),
        ("30B-A3B", ON, 3203, 32, 2, (1, 1, 8, 1), 192),
        ("30B-A3B", OFF, 3201, 32, 2, (1, 1, 8, 2), 152),
        ("DeepSeek-V3 in fp8", OFF, 721, 512, 16, (1, 1, 16, 16), 59.2),
    ],
    ("NeMo RL 0.6", "gb200"): [
        ("DeepSeek-V3", ON, 711, 128, 32, (1, 1, 16, 8), 108),
        ("DeepSeek-V3", ON, 700, 256, 32, (1, 1, 32, 8), 98.7),
        ("DeepSeek-V3", OFF, 708, 256, 16, (1, 1, 16, 8), 61.7),
        ("235B-A22B", ON, 5709, 64, 8, (2, 2, 16, 4), 286),
        ("235B-A22B", ON, 5693, 128, 8, (2, 2, 16, 4), 345),
        ("235B-A22B", OFF, 5705, 128, 8, (4, 1, 16, 4), 278),
        ("30B-A3B", ON, 3199, 16, 1, (1, 1, 16, 1), 221),
        ("30B-A3B", OFF, 3197, 16, 1, (1, 1, 8, 1), 301),
    ],
}
# Share of memory for the engines in one pool, if a recipe of release 0.6 gives less than 0.6: recipe, chip, GPUs
_FILLS = {("DeepSeek-V3", "gb200", 128): 0.3, ("DeepSeek-V3", "gb200", 256): 0.3, ("235B-A22B", "gb200", 64): 0.4}


def _nemo(release: str, accelerator: str, row: Row) -> Published:
    recipe, way, mean, gpus, engine, layout, seconds = row
    model, prompts, samples, longest, updates, recompute = _RECIPES[
        recipe.removeprefix("DAPO, ").removesuffix(" in fp8")
    ]
    tensor, context, experts, pipeline = layout
    apart = way == OFF
    fills = _FILLS.get((recipe, accelerator, gpus), 0.6) if release == "NeMo RL 0.6" else 0.6
    return Published(
        f"{release}, {recipe} on {gpus} {accelerator.upper()}{', one step off' if apart else ''}",
        model,
        accelerator,
        gpus,
        prompts,
        samples,
        mean,
        longest - PROMPT,
        engine,
        True,
        release,
        overlap=way,
        generating=gpus // 2 if apart else 0,  # in every recipe of two pools
        step=seconds,
        hbm_share=0.8 if apart else fills,
        weight_bytes=1 if "fp8" in recipe else 2,  # its trainer, which also uses fp8, is counted in bf16
        trainer=Trainer(
            gpus // 2 if apart else gpus,
            tensor,
            context,
            pipeline,
            expert_parallel=experts,
            recompute=recompute,
            pack=longest,
            filled=FILLED,
        ),
        updates=updates,
        computed="DAPO" not in recipe,
    )


def _nemo_eight_off() -> Published:
    """Release 0.6, "8-step Off": 64 of 192 GPUs generate, and completions are at most eight versions old."""
    row = _nemo("NeMo RL 0.6", "h100", ("30B-A3B", OFF, 3206, 192, 2, (1, 1, 8, 1), 34.5))
    assert row.trainer is not None, "a recipe has a trainer"
    name = row.name.replace("one step off", "eight steps off")
    return replace(row, name=name, generating=64, trainer=replace(row.trainer, gpus=128), batches=8.0)


# Release 0.6, 512 completions per step, at most 131,072 tokens: turns and tools are not published
_SWE = Published(
    "NeMo RL 0.6, SWE, Nemotron-3-Nano on 128 H100, one step off",
    None,
    "h100",
    128,
    0,
    0,
    31_599,
    131_072,
    8,
    True,
    "NeMo RL 0.6",
    overlap=OFF,
    generating=64,
    step=430,
    computed=False,
)


def _v1(way: str, overlap: str, generating: int, mean: float, hours: float) -> Published:
    job = (32, 64, 8, mean, 32768, 4)  # 512 completions: tokens per second x seconds per step / tokens per sequence
    times: dict[str, Any] = dict(overlap=overlap, generating=generating, step=hours * 3600 / 150)
    # the page names H100 for another benchmark on it, and four nodes for this one
    return Published(
        f"verl, 35B-A3B on 32 H100, {way}", MODELS["qwen3.5-35b-a3b"], "h100", *job, False, "verl v1", **times
    )


# NeMo RL 0.3, examples/configs/grpo_math_8B and _70B at its tag: 64 x 32 completions of at most 4,096 tokens, four
# updates, packed; engines of 1 and of 4 GPUs. The recipe of the 70B on FSDP2 is not there; assumed: TP 8
_V03 = [
    ("Llama-3.1-8B, Megatron", "llama3.1-8b", 8, 795, 1, dict(pipeline=2), (112, 58, 18, 28)),
    ("Llama-3.1-8B, FSDP2", "llama3.1-8b", 8, 777, 1, dict(zero=3), (122, 57, 19, 38)),
    ("Llama-3.1-70B, Megatron", "llama3.1-70b", 64, 398, 4, dict(tensor_parallel=4, pipeline=4), (147, 84, 18, 28)),
    ("Llama-3.1-70B, FSDP2", "llama3.1-70b", 64, 395, 4, dict(zero=3, tensor_parallel=8), (230, 82, 28, 97)),
]


def _v03(name: str, model: str, gpus: int, mean: float, engine: int, layout: dict[str, Any], times: Any) -> Published:
    return Published(
        f"NeMo RL 0.3, {name} on {gpus} H100",
        MODELS[model],
        "h100",
        gpus,
        64,
        32,
        mean,
        4096 - PROMPT,
        engine,
        True,
        "NeMo RL 0.3",
        **dict(zip(("step", "generate", "log_probs", "update"), times)),
        hbm_share=0.6,
        trainer=Trainer(gpus, **layout, pack=4096, filled=FILLED),
        updates=4,
    )


# dapo14b.csv and dapo32b.csv: 512 x 16 completions of at most 20,480 tokens, 16 updates, offloaded while generating;
# which model on how many H20, trainer, mean length, update, old log-probs. Their generation samples more prompts than
# are trained on, so it is not computed, nor are the steps
_PRACTICE = [
    (QWEN25_14B, 32, "sp8", 774, 239.5, None),
    (QWEN25_14B, 32, "sp4", 763, 244.7, None),
    (QWEN3_14B, 32, "sp8", 3344, 1019.5, None),
    (QWEN3_14B, 32, "sp4", 3210, 1068.3, None),
    (QWEN3_14B, 32, "sp4", 3656, 1226.4, None),
    (QWEN25_14B, 32, "tp8pp2", 791, 265.3, None),
    (QWEN3_14B, 32, "tp4", 3510, 933.8, None),
    (QWEN3_14B, 32, "tp4cp2", 3131, 770.0, None),
    (QWEN3_14B, 32, "tp8pp2", 3041, 799.4, None),
    (QWEN3_14B, 32, "tp8cp2", 3645, 905.9, None),
    (MODELS["qwen2.5-32b"], 64, "sp8", 1827, 576.2, 152.1),
    (MODELS["qwen2.5-32b"], 64, "sp8", 2819, 917.9, 228.6),
    (MODELS["qwen2.5-32b"], 64, "sp8", 1490, 473.7, 127.4),
    (MODELS["qwen2.5-32b"], 32, "sp8", 1354, 819.3, 218.1),
    (MODELS["qwen2.5-32b"], 32, "tp8pp2", 1544, 840.3, 315.4),
    (MODELS["qwen2.5-32b"], 64, "tp8pp2", 1430, 422.2, 172.2),
]
_LAYOUTS: dict[str, dict[str, Any]] = {
    "sp4": dict(zero=3, context_parallel=4),
    "sp8": dict(zero=3, context_parallel=8),
    "tp4": dict(tensor_parallel=4),
    "tp4cp2": dict(tensor_parallel=4, context_parallel=2),
    "tp8cp2": dict(tensor_parallel=8, context_parallel=2),
    "tp8pp2": dict(tensor_parallel=8, pipeline=2),
}


def _practice(model: Model, gpus: int, way: str, mean: float, update: float, log_probs: float | None) -> Published:
    layout = _LAYOUTS[way]
    program = "FSDP" if "zero" in layout else "Megatron"
    return Published(
        f"verl, {model.name} on {gpus} H20, {program} {way.upper()}, {mean:,} tokens",
        model,
        "h20",
        gpus,
        512,
        16,
        mean,
        20480,
        4,
        False,
        "verl practice",
        log_probs=log_probs,
        update=update,
        trainer=Trainer(gpus, **layout, pack=22528 * layout.get("context_parallel", 1), recompute="zero" in layout),
        updates=16,
    )


# docs/perf/dpsk.md and its script: Adam on the host, three updates
_V3_ON_H20 = Published(
    "verl, DeepSeek-V3 on 96 H20, Adam on the host",
    MODELS["deepseek-v3"],
    "h20",
    96,
    96,
    8,
    1960,
    9632,
    32,
    False,
    "verl 671B",
    step=1700,
    generate=1050,
    trainer=Trainer(96, 8, 1, 12, expert_parallel=8, recompute=True, pack=11680, on_host="optimizer"),
    updates=3,
)
# assumed: engines in verl's first rows are the smallest that hold the model, those of Miles as wide as its trainer's
# tensor parallelism
PUBLISHED = [
    *(_verl(VERL[f"7B, {gpus} GPUs"], 1, 28672) for gpus in (32, 64, 128)),
    _verl(VERL["30B-A3B, 128 GPUs"], 2, 8192),
    *(_verl_async(VERL[f"7B, {gpus} GPUs"], 1, 28672) for gpus in (32, 64, 128)),
    _verl_async(VERL["30B-A3B, 128 GPUs"], 2, 8192),
    _v1("in turn", "sync", 0, 12720, 22.79),
    _v1("carried over", "carry-over", 0, 12854, 14.72),
    _v1("two pools", "async", 16, 12288, 14.10),
    *(_nemo(*of, row) for of, rows in _NEMO.items() for row in rows),
    _nemo_eight_off(),
    _SWE,
    *(_v03(*row) for row in _V03),
    _V3_ON_H20,
    *(_practice(*row) for row in _PRACTICE),
    # the mean length follows from rollout tokens per second and GPU: 1,200 x 8 x 152.79 s / 256
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
