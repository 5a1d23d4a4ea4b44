"""The small figures of lesson 12: one group with three baselines, twins under two optimizers, a pair, and the noise of
a completion by the size of its group.
"""

from functools import cache

import numpy as np

from sim.algorithms import rloo
from sim.estimators import gradient_noise, group_baselines
from sim.experiments.standard_runs import modsum_run
from sim.worlds import modsum
from sim.worlds.optimizer import SGD, AdamW
from widgets.frame.drawing.marks import bars, by_update, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle
from widgets.frame.drawing.written import signed

# ── one group ──
SIZES = (2, 3, 4, 6, 8, 12, 16)
WHO = ("the correct one", "each wrong one")
BASELINES = {
    "others' mean": group_baselines.leave_one_out,
    "group's mean": group_baselines.less_mean,
    "over the deviation": group_baselines.z_score,
}


def of_group(K):
    """{name: advantages of the right completion and of a wrong one} in a group of K with one right."""
    rewards = (np.arange(K) < 1.0).astype(float)[None]
    return {name: advantage(rewards)[0][[0, -1]] for name, advantage in BASELINES.items()}


def group(K):
    return [
        panel(
            "Advantages in a group with one correct completion",
            "reward minus the baseline; from left to right: others' mean, group's mean, over the deviation",
            *(
                bars(WHO, advantage, name, series, text=[signed(v) for v in advantage])
                for series, (name, advantage) in enumerate(of_group(K).items(), 1)
            ),
            label(WHO[1], 3.3, "others' mean", 1, "center"),
            label(WHO[1], 2.6, "group's mean", 2, "center"),
            label(WHO[1], 1.9, "over the deviation", 3, "center"),
            y_range=(-1.4, 4.2),
        )
    ]


def factor(K):
    ours, mean, _ = (advantage[0] for advantage in of_group(K).values())
    return f"With the others' mean, every advantage is {ours / mean:.3g} times as large as with the group's mean."


# ── twins ──
UPDATES, SEEDS = 60, 3
OPTIMIZERS = {"SGD": lambda: SGD(2.0), "Adam": lambda: AdamW(0.05, clip=None)}


@cache
def right(optimizer, baseline):
    """Right completions by update, mean of the prompts, (seeds, updates)."""
    hooks = dict(advantage=lambda R, hp, batch: BASELINES[baseline](R))
    return np.array(
        [
            [
                frame.exact["pass_rate"].mean()
                for frame in modsum_run(
                    rloo, seed=seed, groups=4, K=4, optimizer=OPTIMIZERS[optimizer](), hooks=hooks
                ).frames(UPDATES)
            ]
            for seed in range(SEEDS)
        ]
    )


def twins(optimizer):
    x = np.arange(1, UPDATES + 1)
    ours, mean = (right(optimizer, baseline) for baseline in ("others' mean", "group's mean"))
    return [
        by_update(
            "Correct completions",
            "exact probability, mean of 3 runs",
            line(x, ours.mean(axis=0), "others' mean", 1),
            line(x, mean.mean(axis=0), "group's mean", 2),
            label(UPDATES, 0.12, "solid: others' mean", 1, "right"),
            label(UPDATES, 0.02, "dashed: group's mean", 2, "right"),
            updates=UPDATES,
        ),
        by_update(
            "Distance between the two runs",
            "between their pass rates, largest of 3 seeds",
            line(x, np.abs(ours - mean).max(axis=0), "apart", 3),
            updates=UPDATES,
            y_range=(-0.005, 0.2),
        ),
    ]


def apart(optimizer):
    ours, mean = (right(optimizer, baseline) for baseline in ("others' mean", "group's mean"))
    return f"Under {optimizer}, the two pass rates of a seed differ by at most {np.abs(ours - mean).max():.6f}."


# ── a pair ──
PAIRS = {"1 and 0": (1.0, 0.0), "0.8 and 0.3": (0.8, 0.3), "0 and 1": (0.0, 1.0), "1 and 1": (1.0, 1.0)}
BOTH = ("the first", "the second")


def pair(words):
    rewards = np.array(PAIRS[words])
    pushes = group_baselines.leave_one_out(rewards[None])[0]
    return [
        panel(
            "Advantages of a pair",
            "reward minus the other reward; dots: rewards",
            bars(BOTH, pushes, "advantage", 1, text=[signed(v) if v else "0" for v in pushes]),
            dots(BOTH, rewards, "reward", 8),
            y_range=(-1.3, 1.3),
        )
    ]


def contrast(words):
    first, second = PAIRS[words]
    if first == second:
        return "The rewards are equal, so nothing moves, however good both completions are."
    better, worse = ("first", "second") if first > second else ("second", "first")
    return f"The {better} completion is pushed up and the {worse} one down, each by {abs(first - second):.1f}."


# ── noise ──
P = np.linspace(0.02, 0.98, 97)


@cache
def noise_of(K):
    return 1 / group_baselines.signal_to_noise_per_completion(P, K, group_baselines.leave_one_out)


def noise(K):
    none, exact = (gradient_noise.two_answer_noise(P, b) / (P * (1 - P)) ** 2 for b in (0.0, P))
    return [
        panel(
            "Noise of a completion",
            "variance over squared gradient, exact, logarithmic; two answers",
            *(line(P, noise_of(other), f"{other}", 8, "other") for other in NOISY if other != K),
            line(P, np.maximum(none, 1e-3), "no baseline", 2),
            line(P, np.maximum(exact, 1e-3), "exact mean", 3),
            line(P, noise_of(K), f"K = {K}", 1),
            label(0.16, 18, f"others' mean, K = {K}", 1),
            label(0.88, 0.02, "no baseline", 2, "right"),
            label(0.44, 0.012, "exact mean", 3, "right"),
            x="probability p of a correct completion",
            x_range=(0, 1),
            y_range=(0.005, 100),
            log="y",
        )
    ]


def at_a_tenth(K):
    at = group_baselines.signal_to_noise_per_completion(0.1, K, group_baselines.leave_one_out)
    none = gradient_noise.two_answer_noise(0.1, 0.0) / 0.09**2
    return f"At p = 0.1, the noise is {1 / at:.2f} with K = {K}, and {none:.2f} without a baseline."


NOISY = (2, 3, 4, 8, 16)
FIGURES = {
    "group": Figure(
        group,
        group_baselines.leave_one_out,
        Handle("Completions in the group", SIZES, start=2, words=tuple(f"{K}" for K in SIZES), symbol="K"),
        factor,
    ),
    "twins": Figure(
        twins, modsum.exact, Handle("Optimizer", tuple(OPTIMIZERS), start=1, words=tuple(OPTIMIZERS)), apart
    ),
    "pair": Figure(
        pair,
        group_baselines.leave_one_out,
        Handle("Rewards of the pair", tuple(PAIRS), start=0, words=tuple(PAIRS)),
        contrast,
    ),
    "noise": Figure(
        noise,
        group_baselines.signal_to_noise_per_completion,
        Handle("Completions in the group", NOISY, start=0, words=tuple(f"{K}" for K in NOISY), symbol="K"),
        at_a_tenth,
    ),
}
