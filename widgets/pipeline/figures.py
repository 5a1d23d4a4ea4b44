"""The small figures of lesson 16a: slips that add up, what the shipped policies write, groups without a gradient, and
what a thought is paid once length has a price.
"""

from functools import cache

import numpy as np

from sim.algorithms import dapo
from sim.estimators import attempts, compounding
from sim.pipeline import path, report, stages
from sim.worlds import tinylm
from sim.worlds.tasks import HELD
from sim.worlds.tinylm import PAD
from widgets.frame.drawing.marks import cell, dots, grid, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Figure, Handle

# ── slips that add up ──
SLIPS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.9)
LONGEST = 12


def chain(e):
    steps = np.arange(1, LONGEST + 1)
    right = [compounding.chain_accuracy(e, n) for n in steps]
    others = [
        line(steps, [compounding.chain_accuracy(other, n) for n in steps], "other rates", 8, "other")
        for other in SLIPS
        if other != e
    ]
    return [
        panel(
            "Probability that the last digit is correct",
            "closed form; ring: a thought of three steps",
            *others,
            line(steps, right, "correct at the end", 1),
            line([1, LONGEST], [0.1, 0.1], "a guess", 8, "reference"),
            dots([3], [right[2]], "three steps", 1, "here"),
            label(1, 0.0, "a guess: 0.1", 8),
            x="steps of the thought",
            x_range=(0.5, LONGEST + 0.5),
            y_range=(-0.04, 1.06),
        )
    ]


def three_steps(e):
    return (
        f"If {100 * e:.0f} % of the steps slip, a thought of three steps ends correctly with probability "
        f"{compounding.chain_accuracy(e, 3):.2f}."
    )


# ── what the shipped policies write ──
WRITERS = ("base-0", "sft", "cot", "dpo")
CALLED = ("base", "SFT", "CoT", "DPO")
SEED, ROWS = 0, 5


@cache
def completions(name):
    return stages.sampled(path.checkpoint(name), HELD[3:4], ROWS, np.random.default_rng(SEED))


@cache
def measured(name):
    return report.measure(path.checkpoint(name), None, HELD[:100], 64)


def written(name):
    batch = completions(name)
    rows = [
        [
            "correct" if right else "wrong",
            [cell(tinylm.brief(token), "", 0.35 if right else 0.0) for token in row if token != PAD],
            report.MODES[mode].partition(",")[0],
        ]
        for row, right, mode in zip(batch.tokens.tolist(), batch.accuracy > 0, report.modes(batch))
    ]
    return [grid(rows, "Five completions of 5 3 8 8", "the sum ends in 4")]


def said(name):
    outcome = measured(name)
    return (
        f"On 100 held-out prompts, {100 * outcome.pass1:.0f} % of the completions are correct, and "
        f"{100 * outcome.thinks:.0f} % think first."
    )


# ── groups without a gradient ──
RATES = (0.0001, 0.0003, 0.001, 0.003, 0.005, 0.01, 0.03, 0.1, 0.24, 0.5)
K, ROLLOUTS = 8, 25_600
CURVE = np.append(np.geomspace(1e-6, 0.5, 48), np.linspace(0.55, 1, 12))


def silent(p):
    return [
        panel(
            "Probability that there is nothing to learn from",
            "closed form, by the start's pass rate, logarithmic",
            line(CURVE, 1 - attempts.informative(CURVE, K), "a group of 8 has no gradient", 1),
            line(CURVE, (1 - CURVE) ** ROLLOUTS, "no hit in 25,600 completions", 2),
            dots([p], [1 - attempts.informative(p, K)], "a group", 1, "here"),
            dots([p], [(1 - p) ** ROLLOUTS], "the whole run", 2, "here"),
            label(0.0022, 1.03, "a group of 8", 1),
            label(1.6e-6, 0.45, "a whole run", 2),
            x="pass rate p, logarithmic",
            x_range=(1e-6, 1),
            y_range=(0, 1.16),
            log="x",
        )
    ]


def hits(p):
    dead = 1 - attempts.informative(p, K)
    return (
        f"At p = {p:g}, {100 * dead:.1f} % of the groups are dead, and {ROLLOUTS * p:,.0f} of {ROLLOUTS:,} completions "
        "are correct."
    )


# ── what a thought is paid ──
CHARGES = (2, 3, 4, 5)
ACCURACY = np.linspace(0, 1, 41)
THOUGHT, GUESS, LIMIT = 6, 3, 8  # tokens of either, and of the longest completion


class Lengths:
    T, length = LIMIT, np.array([THOUGHT, GUESS])


def paid(L_cache):
    thought, guess = dapo.shape_reward(np.array([0.0, 0.1]), dict(L_cache=L_cache), Lengths)
    even = guess - thought
    return [
        panel(
            "Mean reward of a completion",
            "by how often thoughts are correct",
            line(ACCURACY, ACCURACY + thought, "a thought", 1),
            line([0, 1], [guess, guess], "a guess", 2),
            threshold(even, f"pays above {even:.2f}", 0.0, axis="x"),
            dots([0.36, 0.66], [0.36 + thought, 0.66 + thought], "after DPO, and after RL", 1),
            label(0.36, 0.36 + thought - 0.36, "after DPO", 1, "center"),
            label(0.7, 0.66 + thought - 0.36, "after RL", 1, "center"),
            label(1, guess + 0.02, "a guess", 2, "right"),
            x="fraction of thoughts that are correct",
            x_range=(0, 1),
            y_range=(-0.9, 1.1),
        )
    ]


def even(L_cache):
    thought, guess = dapo.shape_reward(np.array([0.0, 0.1]), dict(L_cache=L_cache), Lengths)
    return (
        f"Six tokens of eight cost {abs(thought):.2f}, so a thought earns more than a guess if it is correct more than "
        f"{guess - thought:.2f} of the time."
    )


FIGURES = {
    "chain": Figure(
        chain,
        compounding.chain_accuracy,
        Handle("Slip rate per step", SLIPS, start=3, words=tuple(f"{100 * e:.0f} %" for e in SLIPS)),
        three_steps,
    ),
    "written": Figure(written, stages.sampled, Handle("Stage", WRITERS, start=2, words=CALLED), said),
    "silent": Figure(
        silent,
        attempts.informative,
        Handle("Pass rate of the start", RATES, start=4, words=tuple(f"{p:g}" for p in RATES), symbol="p"),
        hits,
    ),
    "paid": Figure(paid, dapo.shape_reward, Handle("Last tokens charged", CHARGES, start=2), even),
}
