"""The small figures of lesson 23: recipes cell by cell, where a wrong answer begins to win, eight kinds of run."""

from functools import cache

import numpy as np

from sim.algorithms import published
from sim.algorithms.published import FACTORS, NOT_REPORTED, PUBLISHED
from sim.experiments import tracelab
from widgets.frame.drawing.marks import cell, dots, grid, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

# ── recipes ──
FACTOR = dict(
    init="starts from",
    preference="preferences",
    verified="verified by",
    estimator="estimator",
    kl="KL",
    clip="clip",
    aggregation="loss is a mean over",
    updates="updates per rollout",
    filter="prompts kept",
    length="length",
    topology="GPUs",
)
SHORT = {  # what a value of published.PUBLISHED is called in a cell
    "nr": "not said",
    "sft": "SFT",
    "base": "base model",
    "cold_sft": "a little SFT",
    "dpo": "SFT, DPO",
    "human_rm": "from people",
    "ai_pref_rm": "from an AI",
    "dpo_pairs": "pairs (DPO)",
    "mixed_rm": "mixed",
    "rm+judge": "model, judge",
    "ai_judge": "AI judge",
    "rule+language": "rule, language",
    "rule+rm": "rule, model",
    "rule+cot_rm": "rule, model",
    "rule+judge": "rule, judge",
    "ppo_critic": "PPO, critic",
    "grpo": "GRPO",
    "mirror_descent": "mirror descent",
    "reward": "in the reward",
    "moving_ref_loss": "moving reference",
    "loss": "in the loss",
    "iterate": "to last policy",
    "sym0.2": "0.2",
    "loose10": "10",
    "high0.28": "0.2, 0.28",
    "high0.272": "0.2, 0.272",
    "weight_cap": "weights cut",
    "seq": "completions",
    "token": "tokens",
    "reward_variance": "varied reward",
    "passrate": "2–5 of 8 right",
    "learnable": "learnable",
    "curriculum": "curriculum",
    "zero_variance": "live groups",
    "hard": "hard ones",
    "cap": "cap",
    "cap_schedule": "cap, raised",
    "relative_reward": "reward",
    "soft_penalty": "soft penalty",
    "length_penalty": "a penalty",
    "colocated": "shared",
    "disaggregated": "apart",
}
OTHERS = tuple(key for key in PUBLISHED if key != "dapo")


SIGNS = {"differs": ("≠", 1.0), "same": ("=", 0.0), "not said": ("?", None)}


def against(key):
    recipe, dapo = PUBLISHED[key].factors, PUBLISHED["dapo"].factors
    _, _, changed = published.diff(key, "dapo")
    rows = []
    for name in FACTORS:
        values = [of[name].value for of in (recipe, dapo)]
        sign, tone = SIGNS["differs" if name in changed else "not said" if NOT_REPORTED in values else "same"]
        words = [SHORT.get(value, value) for value in values]
        rows.append([FACTOR[name], [cell(sign, "", tone)], words[0] if sign == "=" else " · ".join(words)])
    return [grid(rows, f"{PUBLISHED[key].name} · DAPO", "≠ they differ, = they agree, ? one does not say")]


def counted(key):
    changed, both, _ = published.diff(key, "dapo")
    return f"Of the {both} factors that both report, {PUBLISHED[key].name} and DAPO differ in {changed}."


# ── where a wrong answer begins to win ──
PAYOFFS = (0.8, 0.85, 0.9, 0.95, 0.98, 0.999, 1.0, 1.001, 1.01, 1.05)
SEEDS = 4
DIVIDED = {"deviation": ("divided by the deviation", 1), "mean": ("not divided", 2)}


@cache
def ended(payoff, advantage):
    """Right answers at the end, mean of the seeds."""
    setting = tracelab.Setting(hack=payoff, advantage=advantage)
    return float(np.mean([tracelab.features(tracelab.trace(setting, seed))["held_out"] for seed in range(SEEDS)]))


def payoff(at):
    marks = []
    for advantage, (words, series) in DIVIDED.items():
        curve = [ended(each, advantage) for each in PAYOFFS]
        marks += [
            line(list(range(len(PAYOFFS))), curve, words, series),
            dots([PAYOFFS.index(at)], [ended(at, advantage)], words, series),
        ]
    return [
        panel(
            "Right answers at the end",
            f"share, mean of {SEEDS} seeds; reward not to scale",
            *marks,
            label(5.2, 0.93, "divided by the deviation", 1, "right"),
            label(1.2, 0.58, "not divided", 2),
            x="reward of the trick, which is never right",
            x_range=(-0.3, len(PAYOFFS) - 0.7),
            y_range=(-0.03, 1.03),
            ticks=dict(tickvals=[0, 2, 4, 6, 9], ticktext=["0.8", "0.9", "0.98", "1", "1.05"]),
        )
    ]


def paid(at):
    by = {advantage: f"{ended(at, advantage):.2f}" for advantage in DIVIDED}
    return (
        f"If the trick earns {at:g}, the share of right answers ends at {by['deviation']} with the division, and at "
        f"{by['mean']} without it."
    )


# ── the KL of eight kinds of run ──
READ = (1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 80)
RUNS = 5
KINDS = {
    "healthy": "learns",
    "logprob_mismatch": "error",
    "stale_rollouts": "old",
    "zero_variance": "equal",
    "reward_hacking": "hacked",
    "kl_explosion": "jumps",
    "length_inflation": "long",
    "entropy_collapse": "narrow",
}


@cache
def kl(kind):
    """(seeds, steps)."""
    return np.array([tracelab.trace(tracelab.Setting(**tracelab.KINDS[kind]), seed)["kl"] for seed in range(RUNS)])


def read_at(step):
    marks = []
    for at, kind in enumerate(KINDS):
        series = {"healthy": 1, "kl_explosion": 2}.get(kind, 8)
        values = np.maximum(kl(kind)[:, step - 1], 1e-3)
        marks.append(dots([at] * RUNS, values, KINDS[kind], series))
    return [
        panel(
            "KL to the start",
            f"nats, log scale; {RUNS} seeds of each kind of run",
            *marks,
            x="kind of run",
            x_range=(-0.6, len(KINDS) - 0.4),
            y_range=(1e-3, 20),
            log="y",
            ticks=dict(tickvals=list(range(len(KINDS))), ticktext=list(KINDS.values())),
        )
    ]


def ranges(step):
    learns, jumps = (kl(kind)[:, step - 1] for kind in ("healthy", "kl_explosion"))
    ends = f"{learns.min():.2g} to {learns.max():.2g}", f"{jumps.min():.2g} to {jumps.max():.2g}"
    return f"After step {step}, KL is {ends[0]} nats if the run learns, and {ends[1]} if it jumps."


FIGURES = {
    "against": Figure(
        against,
        published.diff,
        Handle(
            "DAPO against", OTHERS, start=OTHERS.index("r1_zero"), words=tuple(PUBLISHED[key].name for key in OTHERS)
        ),
        counted,
    ),
    "payoff": Figure(
        payoff,
        tracelab.run,
        Handle("Reward of the trick", PAYOFFS, start=PAYOFFS.index(1.0), words=tuple(f"{each:g}" for each in PAYOFFS)),
        paid,
    ),
    "kl": Figure(
        read_at, tracelab.kl, Handle("KL after step", READ, start=READ.index(80), words=tuple(map(str, READ))), ranges
    ),
}
