"""Thirteen published recipes as rows of eleven factors, and what follows from the numbers that their papers print.

A cell holds what the paper says, what its code says, what follows from either by arithmetic or from a formula that it
names ("derived"), or "nr", not reported. A paper that does not mention a filter or its GPUs may still have used them.
The recipes range from Ouyang et al. (2022), arXiv:2203.02155, to GLM-5 (2026), arXiv:2602.15763; each names its source.
"""

from dataclasses import dataclass, field
from math import exp

import numpy as np

from sim.estimators import group_baselines

FACTORS = (
    "init",
    "preference",
    "verified",
    "estimator",
    "kl",
    "clip",
    "aggregation",
    "updates",
    "filter",
    "length",
    "topology",
)
NOT_REPORTED = "nr"


@dataclass(frozen=True)
class Cell:
    value: str
    evidence: str
    source: str


@dataclass(frozen=True)
class Published:
    name: str
    year: int
    arxiv: str
    factors: dict  # {factor: Cell}
    scale: dict = field(default_factory=dict)  # the numbers in the paper, under the names that `budget` reads


def row(arxiv, values, code=(), derived=()):
    """{factor: Cell} from eleven values in the order of FACTORS."""

    def tag(name, value):
        return (
            NOT_REPORTED
            if value == NOT_REPORTED
            else "code"
            if name in code
            else "derived"
            if name in derived
            else "paper"
        )

    values = dict(zip(FACTORS, values.split(), strict=True))
    return {name: Cell(value, tag(name, value), f"arXiv:{arxiv}") for name, value in values.items()}


def published(name, year, arxiv, values, code=(), derived=(), **scale):
    return Published(name, year, arxiv, row(arxiv, values, code, derived), scale)


PUBLISHED = {
    "instructgpt": published(
        *("InstructGPT", 2022, "2203.02155"),
        "sft human_rm none ppo_critic reward sym0.2 nr 8 nr cap nr",
        derived=("updates",),
        batch=512,
        minibatch=64,
        episodes=256_000,
    ),
    "r1_zero": published(
        *("R1-Zero", 2025, "2501.12948"),
        "base none rule grpo moving_ref_loss nr seq 16 nr cap_schedule colocated",
        derived=("aggregation",),
        questions=32,
        K=16,
        rollout=8_192,
        batch=512,
        minibatch=512,
        steps=10_400,
        epochs=1.6,
        reference_every=400,
        gpus=512,
        hours=198,
        max_tokens=65_536,
    ),
    "r1": published(
        *("R1", 2025, "2501.12948"),
        "cold_sft ai_pref_rm rule+language grpo moving_ref_loss loose10 seq 16 nr cap colocated",
        derived=("aggregation",),
        gpus=512,
        hours=80,
    ),
    "tulu3_8b": published(
        *("Tülu 3 8B", 2024, "2411.15124"),
        "dpo dpo_pairs rule ppo_critic reward sym0.2 nr 4 none cap disaggregated",
        derived=("filter",),  # the whole training sets of GSM8K and MATH: 7,473 and 7,500 prompts
        batch=224,
        minibatch=224,
        passes=4,
        episodes=100_000,
        max_tokens=2_048,
    ),
    "qwen25": published(
        *("Qwen2.5", 2024, "2412.15115"),
        "dpo mixed_rm none grpo nr nr seq 1 reward_variance nr nr",
        derived=("aggregation", "updates"),
        K=8,
        batch=2_048,
        minibatch=2_048,
    ),
    "qwen25_math": published(
        *("Qwen2.5-Math", 2024, "2409.12122"),
        "sft none rule+rm grpo loss nr seq 8 passrate nr nr",
        derived=("aggregation", "updates"),
        K=32,
        batch=4_096,
        minibatch=512,
    ),
    "qwen3": published(
        *("Qwen3", 2025, "2505.09388"), "cold_sft rm+judge rule grpo nr nr nr nr learnable nr nr", steps=170
    ),
    "kimi_k15": published(
        *("Kimi k1.5", 2025, "2501.12599"),
        "cold_sft none rule+cot_rm mirror_descent iterate none seq nr curriculum relative_reward colocated",
        derived=("aggregation",),
        max_tokens=131_072,
    ),
    "dapo": published(
        *("DAPO", 2025, "2503.14476"),
        "base none rule grpo none high0.28 token 16 zero_variance soft_penalty nr",
        questions=512,
        K=16,
        batch=8_192,
        minibatch=512,
        max_tokens=20_480,
    ),
    "olmo3_think": published(
        *("OLMo 3 Think", 2025, "2512.13961"),
        "dpo ai_judge rule grpo none high0.272 token nr zero_variance cap disaggregated",
        code=("clip",),
        max_tokens=32_768,
    ),
    "minimax_m1": published(
        *("MiniMax-M1", 2025, "2506.13585"),
        "cold_sft ai_judge rule grpo none weight_cap token 16 zero_variance soft_penalty nr",
    ),
    "deepseek_v32": published(
        *("DeepSeek-V3.2", 2025, "2512.02556"), "sft ai_judge rule+language grpo loss nr seq nr nr length_penalty nr"
    ),
    "glm5": published(  # its reasoning stage
        *("GLM-5", 2026, "2602.15763"), "sft none rule+judge grpo none high0.28 seq 1 hard nr nr", K=32
    ),
}


def diff(a, b):
    """(factors that differ, factors that both report, names of those that differ), for two keys of PUBLISHED."""
    a, b = (PUBLISHED[key].factors for key in (a, b))
    both = [name for name in FACTORS if NOT_REPORTED not in (a[name].value, b[name].value)]
    changed = [name for name in both if a[name].value != b[name].value]
    return len(changed), len(both), changed


def distance_matrix():
    """(recipes, recipes): the share of the factors reported by both recipes in which they differ."""
    return np.array([[np.divide(*diff(a, b)[:2]) for b in PUBLISHED] for a in PUBLISHED])


def budget(key):
    """{quantity: (value, how it follows)}: what a paper's numbers imply without being printed there."""
    s, out = PUBLISHED[key].scale, {}

    def follows(name, needed, value, words):
        if all(part in s for part in needed):
            out[name] = (value(), words)

    rollout = s.get("rollout", s.get("batch"))
    follows("samples a step", ("questions", "K"), lambda: s["questions"] * s["K"], "questions × completions")
    if "minibatch" in s:
        passes = s.get("passes", 1)
        out["updates a rollout"] = (rollout / s["minibatch"] * passes, "rollout ÷ mini-batch × passes")
        follows("rollouts", ("steps",), lambda: s["steps"] * s["minibatch"] / rollout, "steps ÷ updates a rollout")
        follows("rollouts", ("episodes",), lambda: s["episodes"] / s["batch"], "episodes ÷ batch")
        follows(
            *("updates", ("episodes",), lambda: s["episodes"] / s["minibatch"] * passes), "rollouts × updates a rollout"
        )
    follows(
        "reference refreshes", ("steps", "reference_every"), lambda: s["steps"] / s["reference_every"], "steps ÷ 400"
    )
    follows("GPU-hours", ("gpus", "hours"), lambda: s["gpus"] * s["hours"], "GPUs × hours")
    follows("seconds a step", ("hours", "steps"), lambda: 3600 * s["hours"] / s["steps"], "hours × 3600 ÷ steps")
    needed = ("steps", "questions", "epochs")
    follows("questions", needed, lambda: s["steps"] * s["questions"] / s["epochs"], "steps × questions ÷ epochs")
    return out


def pass_band(p, n, low, high):
    """Chance that low to high of n attempts are right, each with probability p: the filter of Qwen2.5-Math keeps 2 to 5
    of 8.
    """
    return group_baselines.outcome_probability(p, n)[..., low : high + 1].sum(axis=-1)


# What a completion is paid.


def qwen_math_reward(score, verified):
    """Qwen2.5-Math, arXiv:2409.12122: σ(score / 2) of a reward model, less 1 where the verifier says wrong."""
    return 1 / (1 + exp(-0.5 * score)) + (verified - 1)


def kimi_length_reward(length, shortest, longest, verified):
    """Kimi k1.5, arXiv:2501.12599: ½ for the shortest of a prompt's completions to −½ for the longest; a wrong one
    gains nothing by being short.
    """
    reward = 0.5 - (length - shortest) / (longest - shortest)
    return reward if verified else min(0.0, reward)
