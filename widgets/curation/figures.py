"""The small figures of lesson 18a: what a prompt is worth, what asking costs, when to choose, and what stages leave."""

from functools import cache, partial

import numpy as np

from sim.estimators import group_baselines
from sim.experiments import curation, data_stages
from sim.worlds import prompt_pool
from widgets.frame.drawing.marks import bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

# ── what a prompt is worth ──
GROUPS = (2, 4, 8, 16, 32, 64)
P = np.linspace(0, 1, 81)
RARE = 0.02


def over_deviation(rewards):
    """Advantages over the deviation of the group, all of it."""
    return group_baselines.z_score(rewards, ddof=0)


def worth(K):
    alive = group_baselines.live_probability(P, K)
    plain = group_baselines.estimate_moments(P, K, group_baselines.leave_one_out)[0]
    divided = group_baselines.estimate_moments(P, K, over_deviation)[0]
    return [
        panel(
            "Worth of a prompt, by its pass rate",
            f"K = {GROUPS[0]} to {GROUPS[-1]}; dot: solved once in fifty",
            line(P, alive, "live", 2),
            line(P, divided, "push over deviation", 3),
            line(P, plain, "push", 1),
            dots([RARE], [float(group_baselines.live_probability(RARE, K))], "solved once in fifty", 2),
            label(0.5, float(alive[40]) + 0.01, "probability of a live group", 2, "center"),
            label(0.5, float(divided[40]) + 0.01, "push divided by deviation", 3, "center"),
            label(0.5, 0.26, "push, p (1 − p)", 1, "center"),
            x="pass rate, p",
            x_range=(0, 1),
            y_range=(0, 1.12),
        )
    ]


def rare(K):
    live = float(group_baselines.live_probability(RARE, K))
    each = float(group_baselines.completions_per_live_group(RARE, K))
    return (
        f"If a prompt is solved once in fifty, {100 * live:.0f} % of its groups are live. A live group costs "
        f"{each:.0f} completions."
    )


# ── what asking costs ──
TRIES, BUDGET = (2, 4, 8, 16, 32), 60_000


def pool():
    return curation.pool(np.random.default_rng(5))


@cache
def trained(way, budget):
    return curation.train(pool(), way, budget, np.random.default_rng(0))


@cache
def listed(tries):
    return curation.train(pool(), partial(curation.a_list, tries=tries), BUDGET, np.random.default_rng(0))


def in_percent(run, by="completions"):
    """Curve of what is solved, by thousands of completions or by the first optimizer steps."""
    every = max(1, len(run.solved) // 60)
    at = np.union1d(np.arange(0, len(run.solved), every), [len(run.solved) - 1])
    if by == "completions":
        return run.completions[at] / 1000, 100 * run.solved[at]
    return np.arange(STEPS + 1), 100 * run.solved[: STEPS + 1]


def asking(tries):
    p = np.linspace(0, 1, 61)
    plain, own = trained(curation.every_prompt, BUDGET), listed(tries)
    return [
        panel(
            "Prompts that look never solved",
            "probability that all tries fail",
            line(p, group_baselines.dead_probability(p, tries)[0], "never solved", 1),
            x="pass rate, p",
            x_range=(0, 1),
            y_range=(0, 1.04),
        ),
        panel(
            "Pool solved, with the tries paid for",
            "% of the pool; [s8] prompts at random",
            line(*in_percent(plain), "at random", 8, "reference"),
            line(*in_percent(own), "from the list", 1),
            x="rollouts paid for, thousands",
            x_range=(0, BUDGET / 1000),
            y_range=(0, 52),
        ),
    ]


def price(tries):
    run = listed(tries)
    spent = run.asked
    plain = trained(curation.every_prompt, BUDGET).at(BUDGET)
    return (
        f"{tries} tries take {spent:,} of {BUDGET:,} rollouts. In the end, {100 * run.at(BUDGET):.0f} % is solved, "
        f"compared with {100 * plain:.0f} % at random."
    )


# ── when to choose ──
WHEN = {"throw away": curation.live_groups, "predict": curation.predicted, "know": curation.known}
LONG, STEPS = 120_000, 60


def when(way):
    plain, run = trained(curation.every_prompt, LONG), trained(WHEN[way], LONG)
    panels = []
    for by, title, x, end in (
        ("steps", "Counted in optimizer steps", "optimizer step", STEPS),
        ("completions", "Counted in rollouts", "rollouts paid for, thousands", LONG / 1000),
    ):
        panels.append(
            panel(
                title,
                "% of the pool solved; [s8] at random",
                line(*in_percent(plain, by), "at random", 8, "reference"),
                line(*in_percent(run, by), "chosen", 1),
                x=x,
                x_range=(0, end),
                y_range=(0, 104),
            )
        )
    return panels


def both_counts(way):
    plain, run = trained(curation.every_prompt, LONG), trained(WHEN[way], LONG)
    return (
        f"After {STEPS} steps, {100 * run.solved[STEPS]:.0f} % is solved ({100 * plain.solved[STEPS]:.0f} % at "
        f"random). After {LONG:,} rollouts, {100 * run.at(LONG):.0f} % is solved ({100 * plain.at(LONG):.0f} % at "
        "random)."
    )


# ── the stages ──
@cache
def stages():
    collected = prompt_pool.collected(np.random.default_rng(0))
    return data_stages.curated(collected, np.random.default_rng(1)).stages


def after_stage(i):
    curated = stages()
    thousands = [stage.n / 1000 if n <= i else 0 for n, stage in enumerate(curated)]
    return [
        panel(
            "Prompts that are left",
            "thousands, stage by stage",
            bars(list(range(len(curated))), thousands, "prompts", 1, text=[f"{n:.1f}" if n else "" for n in thousands]),
            x_range=(-0.5, len(curated) - 0.5),
            y_range=(0, 46),
            ticks=dict(tickvals=list(range(len(curated))), ticktext=[str(n + 1) for n in range(len(curated))]),
            x="stage",
        ),
        panel(
            "Kinds of prompts left",
            "% of the remaining prompts",
            bars(
                ["live groups", "wrong keys", "in an evaluation"],
                [100 * curated[i].live, 100 * curated[i].wrong_key, 100 * curated[i].contaminated],
                "share",
                1,
                text=[f"{100 * v:.1f}" for v in (curated[i].live, curated[i].wrong_key, curated[i].contaminated)],
            ),
            y_range=(0, 104),
        ),
    ]


def remains(i):
    stage = stages()[i]
    return (
        f"After stage {i + 1} ({stage.name}), {stage.n:,} prompts are left, and {100 * stage.wrong_key:.1f} % of their "
        "keys are wrong."
    )


FIGURES = {
    "worth": Figure(
        worth, group_baselines.estimate_moments, Handle("Completions per prompt", GROUPS, start=2, symbol="K"), rare
    ),
    "tries": Figure(asking, curation.train, Handle("Tries per prompt", TRIES, start=2), price),
    "when": Figure(
        when, curation.train, Handle("When to choose", tuple(WHEN), start=0, words=tuple(WHEN)), both_counts
    ),
    "stages": Figure(
        after_stage,
        data_stages.curated,
        Handle("Stage", tuple(range(len(data_stages.STAGES))), start=4, words=data_stages.STAGES),
        remains,
    ),
}
