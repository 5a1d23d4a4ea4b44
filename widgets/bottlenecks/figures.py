"""The small figures of lesson 28: a role removed, what items still save, a fixed number of GPUs divided, and what a
test tells for its minutes.
"""

from functools import cache
from math import inf

import numpy as np

from sim.cluster import step
from sim.synthesis import budget, diagnosis
from sim.synthesis.budget import ASYNC, FIX, ROLES, SHARES
from sim.words import capital
from widgets.frame.drawing.marks import bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

UPRIGHT = dict(tickangle=0)

# ── a role removed ──
OF = {"rollout with its tail": SHARES[0] + SHARES[1]} | {
    role: share for role, share in zip(ROLES, SHARES) if role not in ("tail", "other")
}
CURVE = np.linspace(0, 0.75, 61)


def removed(role):
    return [
        panel(
            "If a role took no time",
            "speed of the step; 1 = now",
            line(CURVE, [step.amdahl(share, inf) for share in CURVE], "removed", 1),
            dots(list(OF.values()), [step.amdahl(share, inf) for share in OF.values()], "roles", 1),
            dots([OF[role]], [step.amdahl(OF[role], inf)], "here", role="here"),
            *[label(OF[name] - 0.01, step.amdahl(OF[name], inf), name, 0, "right") for name in list(OF)[:3]],
            x="share of the step",
            x_range=(0, 0.75),
            y_range=(0.9, 4.2),
        )
    ]


def gains(role):
    times = step.amdahl(OF[role], inf)
    return f"{capital(role)} takes {100 * OF[role]:.0f} % of the step. Without it, a step is {times:.3g} times as fast."


# ── what is left to be saved ──
SHOWN = {
    "rollout in fp8": "rollout<br>in fp8",
    "partial rollouts": "partial<br>rollouts",
    "drafted tokens": "drafted<br>tokens",
    "batch tuning": "batch<br>tuning",
    "packing": "packing",
    "fast weight sync": "fast<br>sync",
}
OWNED = {"nothing": (), "asynchrony": (FIX, ASYNC)}


@cache
def saved(owned):
    return budget.marginal(OWNED[owned])


def left(owned):
    values = {name: 100 * saved(owned)[item] for item, name in SHOWN.items()}
    return [
        panel(
            "What each item would save",
            "% of the first step",
            bars(list(values), list(values.values()), "saves", 1),
            *[label(name, value, f"{value:.1f}", anchor="center") for name, value in values.items()],
            y_range=(0, 24),
            ticks=UPRIGHT,
        )
    ]


def worth(owned):
    partial, packing = (100 * saved(owned)[name] for name in ("partial rollouts", "packing"))
    return f"With {owned} bought, partial rollouts would save {partial:.1f} % and packing {packing:.1f} %."


# ── GPUs divided ──
A, B = SHARES[0] + SHARES[5], SHARES[2] + SHARES[3]  # generating and checking, training and the reference
X = np.arange(8, 61)
CUTS = (20, 24, 28, 32, 34, 36, 38, 40, 41, 42, 43, 44, 45, 46, 48, 50, 52, 54, 56, 58)


def split(x):
    generate, train = budget.sides(A, B, X)
    both = budget.sides(A, B, x)
    return [
        panel(
            "64 GPUs, two pools side by side",
            "time, first step = 1; the longer side counts",
            line(X, generate, "generation", 1),
            line(X, train, "training", 2),
            line([X[0], X[-1]], [A + B] * 2, "one after the other", 8, "exact"),
            dots([x, x], both, "here", role="here"),
            label(15.5, 1.9, "generation", 1),
            label(52, 1.4, "training", 2, "right"),
            label(8.5, A + B, "one after the other, no tail", 0),
            x="GPUs that generate",
            x_range=(8, 60),
            y_range=(0, 2.6),
        )
    ]


def longer(x):
    side = max(budget.sides(A, B, x))
    return f"If {x} of 64 GPUs generate, the longer side takes {side:.3f}. One after the other, both take {A + B:.2f}."


# ── what a test tells ──
TOLD = {name: (test.minutes, diagnosis.expected_left(name)) for name, test in diagnosis.TESTS.items()}


def told(test):
    return [
        panel(
            "Causes left after one test",
            "average number, of eight",
            dots([m for m, _ in TOLD.values()], [n for _, n in TOLD.values()], "tests", 1),
            *[
                label(minutes + (1.5 if minutes < 90 else -1.5), n, name, 1, "left" if minutes < 90 else "right", low)
                for (name, (minutes, n)), low in zip(TOLD.items(), (True, False, False, True, False, False))
            ],
            dots([TOLD[test][0]], [TOLD[test][1]], "here", role="here"),
            x="minutes",
            x_range=(0, 100),
            y_range=(0, 8.5),
        )
    ]


def tells(test):
    minutes, n = TOLD[test]
    return f"{capital(test)} takes {minutes} minutes and leaves {n:.1f} of eight causes on average."


FIGURES = {
    "removed": Figure(removed, step.amdahl, Handle("Role that is removed", tuple(OF)), gains),
    "left": Figure(left, budget.marginal, Handle("Bought before", tuple(OWNED)), worth),
    "split": Figure(split, budget.sides, Handle("GPUs that generate", CUTS, CUTS.index(43)), longer),
    "told": Figure(told, diagnosis.expected_left, Handle("Test", tuple(diagnosis.TESTS)), tells),
}
