"""The small figures of lesson 10: one batch, the clip, five ways to weigh a token, one rare token's story, and several
passes with a ratio that is always 1.
"""

from functools import cache

import numpy as np

from sim.estimators import surrogate, token_weight
from sim.experiments import batch_reuse, rare_token, running_batch
from sim.worlds import modsum
from widgets.frame.marks import by_update, cell, dots, each_run, grid, label, line, panel, region
from widgets.frame.small_figures import Figure, Handle
from widgets.frame.values import signed

NAMES = ("1", "2", "3", "stop")
FAR = 3.0
RATIO = np.linspace(0.0, FAR, 121)


@cache
def start():
    return modsum.Policy()


@cache
def passes(n):
    return tuple(running_batch.passes(n))


# ── the batch ──
def written(quantity):
    """The grid's cells hold the chosen quantity of every token."""
    last = passes(4)[-1]
    logp, A = running_batch.drawn_logp(start()), running_batch.advantage(start())
    shown = {
        "log-prob": lambda at: (signed(logp[at]), float(np.exp(logp[at]))),
        "advantage": lambda at: (signed(A[at]), float(A[at])),
        "ratio": lambda at: (f"×{last.ratio[at]:.2f}", float(np.clip(np.log(last.ratio[at]) / np.log(4), -1, 1))),
        "push left": lambda at: ("none", None) if last.dead[at] else push(A[at]),
    }[quantity]
    right = ("wrong", "right")
    rows = [
        [
            right[int(reward)],
            [cell(NAMES[token], *shown((i, t))) for t, token in enumerate(row)],
            f"sum {total} · reward {reward:.0f}",
        ]
        for i, (row, reward, total) in enumerate(zip(running_batch.ROWS, running_batch.RIGHT, running_batch.sums()))
    ]
    return [grid(rows, diverging=quantity != "log-prob")]


def push(advantage):
    return ("↑ up" if advantage > 0 else "↓ down", float(advantage) / 2)


SAID = {
    "log-prob": "Log-probability when it was drawn: 0 is certain, −1.78 is one in six.",
    "advantage": "Advantage: the reward less what was to be expected at that token.",
    "ratio": "Ratio after four passes: how many times as likely as when it was drawn.",
    "push left": "Push that the clip leaves in the fifth pass: up, down or none.",
}


# ── the clip ──
def clip(eps):
    return [side(eps, 1.0, 1, "A = +1, wanted", "pushed up"), side(eps, -1.0, 2, "A = −1, unwanted", "pushed down")]


def side(eps, A, series, title, words):
    """Loss of one token against its ratio: alive, dead, and what it would be without a clip."""
    ratio = np.unique([*RATIO, 1 - eps, 1 + eps])
    loss = lambda at: -np.minimum(at * A, np.clip(at, 1 - eps, 1 + eps) * A)
    dead = surrogate.removed(ratio, A, eps, eps)
    edge = 1 + eps if A > 0 else 1 - eps
    alive = ratio[~dead]
    silent = np.array([edge, FAR]) if A > 0 else np.array([0.0, edge])
    low, high = (-3.3, 0.6) if A > 0 else (-0.6, 3.3)
    return panel(
        title,
        "loss of one token",
        region(1 - eps, 1 + eps),
        line(ratio, -ratio * A, "without a clip", 8, "other"),
        line(alive, loss(alive), words, series),
        line(silent, loss(silent), "no push left", 8, "dead"),
        dots([1.0], [-A], "when drawn", series),
        label(*((0.12, 0.22) if A > 0 else (1.75, 2.2)), words, series, "left" if A > 0 else "right"),
        label(
            *((FAR, float(loss(FAR)) + 0.08, "no push left", 8, "right") if A > 0 else (0.06, -0.42, "no push left", 8))
        ),
        label(FAR, -2.75 if A > 0 else 0.1, "without a clip" if A > 0 else "", 8, "right"),
        x="ratio ρ",
        x_range=(0, FAR),
        y_range=(low, high),
    )


# ── five weights ──
WEIGHTS = {
    "REINFORCE": "Every token is pushed by its advantage, however far it has moved.",
    "ratio": "A token counts as often as it has become likely, without end.",
    "PPO": "The push ends at 1 + ε if wanted, at 1 − ε if unwanted, and the token is silent from there.",
    "CISPO": "The weight ends at 1 + ε, the push does not: no token falls silent.",
    "GSPO": "One ratio for the completion: here the seventh root, the other six tokens have not moved.",
}
TOKENS, EPS, SEEN = 7, 0.2, 4.0


def weigh(name, ratio, A):
    return token_weight.WEIGHTS[name](ratio, A, EPS, TOKENS)


def weights(name):
    return [
        weight(name, 1.0, 1, "A = +1, wanted", "weight of the token's gradient, ε = 0.2"),
        weight(name, -1.0, 2, "A = −1, unwanted", "weight of the token's gradient, downward"),
    ]


def weight(name, A, series, title, note):
    ratio = np.unique([*np.linspace(0.001, SEEN, 161), 0.8, 0.8 - 1e-6, 1.2, 1.2 + 1e-6, 1.2**7, 1.2**7 + 1e-6])
    return panel(
        title,
        note,
        region(1 - EPS, 1 + EPS),
        *(line(ratio, weigh(other, ratio, A), other, 8, "other") for other in WEIGHTS if other != name),
        line(ratio, weigh(name, ratio, A), name, series),
        dots([1.0], [1.0], "when drawn", series),
        label(3.0, float(weigh(name, np.array([3.0]), A)[0]), name, series, "center"),
        x="ratio ρ of the token",
        x_range=(0, SEEN),
        y_range=(-0.2, 4.2),
    )


# ── the story of the 3 ──
@cache
def story(eps):
    return rare_token.passes(eps)


def by_pass(i):
    return [
        ending(story(0.2), i, "With the clip", "probability after 1 3 1, by pass"),
        ending(story(np.inf), i, "Without", "probability after 1 3 1, by pass"),
    ]


def ending(told, i, title, note):
    x = np.arange(rare_token.PASSES + 1)
    return panel(
        title,
        note,
        line(x, told.rare, "3", 1),
        line(x, told.stop, "stop", 2),
        line([i, i], [0, 1], "pass", 8, "other"),
        dots([i], [told.rare[i]], "3", 1),
        dots([i], [told.stop[i]], "stop", 2),
        label(11, float(told.rare[11]) + (0.02 if told.rare[11] < 0.5 else -0.12), "3", 1, "center"),
        label(13, float(told.stop[13]) + (0.02 if told.stop[13] < 0.5 else -0.12), "stop", 2, "center"),
        x="pass",
        x_range=(-0.3, rare_token.PASSES + 0.3),
        y_range=(-0.03, 1.04),
        ticks=dict(tickvals=list(range(0, rare_token.PASSES + 1, 4))),
    )


def told(i):
    held, free = story(0.2), story(np.inf)
    return (
        f"With the clip the 3 is at {held.rare[i]:.3f} and the prompt is right {held.pass_rate[i]:.2f} of the time; "
        f"without, {free.rare[i]:.3f} and {free.pass_rate[i]:.2f}."
    )


def growth():
    """How many times as likely the 3 has become; it moves on with the clip too, carried by other tokens."""
    held, free = (story(eps).rare / story(eps).rare[0] for eps in (0.2, np.inf))
    x = np.arange(rare_token.PASSES + 1)
    return [
        panel(
            "Ratio of the rare 3",
            "by pass, logarithmic",
            line(x, free, "without a clip", 1),
            line(x, held, "with the clip", 8, "reference"),
            label(rare_token.PASSES, 45, f"without: ×{free[-1]:.0f}", 1, "right"),
            label(rare_token.PASSES, 2.6, f"with: ×{held[-1]:.1f}", 8, "right"),
            x="pass",
            x_range=(0, rare_token.PASSES),
            y_range=(0.5, 300),
            log="y",
        )
    ]


# ── the ratio forgotten ──
SEEDS = range(5)
SEES = {
    batch_reuse.CLIP: "With the clip",
    batch_reuse.FREE: "Without it",
    batch_reuse.FORGOTTEN: "With old log-probs computed anew in every pass, every ratio is 1 and no token falls "
    "silent:",
}


@cache
def reused(way):
    """(updates, pass rates (seeds, updates))."""
    runs = [batch_reuse.pass_rates(way, seed) for seed in SEEDS]
    return [step for step, _ in runs[0]], np.array([[rate for _, rate in run] for run in runs])


def passes_on_sums(way):
    steps, rates = reused(way)
    means = {other: 100 * reused(other)[1].mean(axis=0) for other in SEES if other != way}
    late = 100 * rates[:, [step >= 40 for step in steps]]
    low = late.max() < 40  # the name stands above all five runs, or below them where there is no room
    return [
        by_update(
            "Right answers of the language model",
            f"of 100 sums; {len(SEEDS)} seeds, four passes, AdamW at 0.02",
            *(line(steps, mean, other, 8, "other") for other, mean in means.items()),
            each_run(steps, 100 * rates),
            line(steps, 100 * rates.mean(axis=0), way),
            *(label(steps[-1], mean[-1], other, 8, "right", below=mean[-1] > 20) for other, mean in means.items()),
            label(steps[-1], late.max() + 2 if low else late.min() - 2, way, 1, "right", below=not low),
            updates=steps[-1],
            y_range=(0, 104),
        )
    ]


def ended(way):
    low, high = 100 * reused(way)[1][:, -1].min(), 100 * reused(way)[1][:, -1].max()
    return f"{SEES[way]} the runs end with {low:.0f} to {high:.0f} right."


EPSILONS = tuple(np.round(np.arange(0.05, 1.0001, 0.05), 2).tolist())
FIGURES = {
    "batch": Figure(
        written, running_batch.passes, Handle("In each cell", tuple(SAID), start=0, words=tuple(SAID)), SAID.get
    ),
    "clip": Figure(
        clip,
        surrogate.clipped,
        Handle("Clip range", EPSILONS, start=3, words=tuple(f"{eps:.2f}" for eps in EPSILONS), symbol="ε"),
        lambda eps: f"A wanted token is let go at ρ = {1 + eps:.2f}, an unwanted one at {1 - eps:.2f}.",
    ),
    "weights": Figure(
        weights, token_weight.ppo, Handle("Weight", tuple(WEIGHTS), start=2, words=tuple(WEIGHTS)), WEIGHTS.get
    ),
    "story": Figure(
        by_pass,
        rare_token.passes,
        Handle(
            "Pass",
            tuple(range(rare_token.PASSES + 1)),
            start=rare_token.PASSES,
            words=tuple(f"{i} of {rare_token.PASSES}" for i in range(rare_token.PASSES + 1)),
        ),
        told,
    ),
    "growth": Figure(growth, rare_token.passes),
    "forgotten": Figure(
        passes_on_sums,
        batch_reuse.pass_rates,
        Handle("The loss has", batch_reuse.WAYS, start=2, words=batch_reuse.WAYS),
        ended,
    ),
}
