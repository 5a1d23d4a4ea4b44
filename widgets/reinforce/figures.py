"""The small figures of lesson 09: three weights for one batch, the noise of a sample by how often it is right, the best
constant, and what a model that learns makes of it.
"""

from functools import cache

import numpy as np

from sim.estimators import gradient_noise, group_baselines
from sim.experiments import running_batch, sampled_noise
from sim.worlds import modsum
from widgets.frame.drawing.marks import bars, by_update, cell, dots, grid, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle
from widgets.frame.drawing.written import signed

NAMES = ("1", "2", "3", "stop")


# ── the batch ──
GROUP = running_batch.RIGHT[None]
WEIGHTS = {
    "R": running_batch.RIGHT,
    "minus the group's mean": group_baselines.less_mean(GROUP)[0],
    "minus the others'": group_baselines.leave_one_out(GROUP)[0],
}


def batch(quantity):
    """The grid's cells hold the weight of every token's push."""
    rows = []
    for row, reward, total, weight in zip(
        running_batch.ROWS, running_batch.RIGHT, running_batch.sums(), WEIGHTS[quantity]
    ):
        plain = (f"{weight:.0f}", float(weight)) if weight else ("0", None)
        text_and_value = plain if quantity == "R" else (signed(weight), float(weight))
        words = "right" if reward else "wrong"
        rows.append([words, [cell(NAMES[token], *text_and_value) for token in row], f"sum {total} · R = {reward:.0f}"])
    return [grid(rows, diverging=quantity != "R")]


@cache
def after(added):
    """The policy after one step with R and a constant as weight."""
    return running_batch.after_one_step(running_batch.RIGHT + added)


def one_step(quantity):
    start, end = modsum.Policy(), running_batch.after_one_step(WEIGHTS[quantity])
    return (
        f"One step with these weights takes the pass rate from {running_batch.pass_rate(start):.2f} to "
        f"{running_batch.pass_rate(end):.2f}."
    )


# ── two answers ──
P = np.linspace(0, 1, 81)
TWO = ("a right answer", "a wrong answer")


def estimates(p, b):
    """What a right and what a wrong answer says of the gradient: (R - b) times the score."""
    return [(1 - b) * (1 - p), b * p]


def noise(p):
    truth = p * (1 - p)
    none, mean = gradient_noise.two_answer_noise(p, 0.0), gradient_noise.two_answer_noise(p, p)
    written = [[f"{value:.3f}" for value in estimates(p, b)] for b in (0.0, p)]
    return [
        panel(
            "What one sample says",
            "estimate of the gradient; dots: the truth",
            bars(TWO, estimates(p, 0.0), "R", 2, text=written[0]),
            bars(TWO, estimates(p, p), "R − p", 1, text=written[1]),
            dots(TWO, [truth, truth], "the truth", 3),
            label(TWO[0], 0.985, "1st bars: R", 2, "center"),
            label(TWO[1], 0.985, "2nd bars: R − p", 1, "center"),
            y_range=(0, 1.1),
        ),
        panel(
            "Noise of one sample",
            "variance of the estimate",
            line(P, gradient_noise.two_answer_noise(P, 0.0), "R", 2),
            line(P, gradient_noise.two_answer_noise(P, P), "R − p", 1),
            dots([p], [none], "R", 2),
            dots([p], [mean], "R − p", 1),
            label(0.36, 0.094, "R", 2),
            label(0.74, 0.068, "R − p", 1),
            x="probability p of a right answer",
            x_range=(0, 1),
            y_range=(-0.003, 0.125),
        ),
    ]


def times(p):
    none, mean = gradient_noise.two_answer_noise(p, 0.0), gradient_noise.two_answer_noise(p, p)
    return f"At p = {p:.2f}, the noise is {none:.4f} with R and {mean:.4f} with R − p."


# ── the best constant ──
B = np.linspace(0, 1, 81)


def needed(p, b):
    """Samples until signal equals noise."""
    return gradient_noise.two_answer_noise(p, b) / (p * (1 - p)) ** 2


def best(p):
    return [
        panel(
            "Samples until signal equals noise",
            "noise over the squared gradient, by baseline",
            line(B, needed(p, B), "noise", 8, "reference"),
            dots([0.0], [needed(p, 0.0)], "nothing subtracted", 2),
            dots([p], [needed(p, p)], "the mean, p", 1),
            dots([1 - p], [0.0], "best, 1 − p", 3),
            label(0.015, needed(p, 0.0) + 0.25, "none", 2),
            label(p, needed(p, p) + 0.25, "mean", 1, "center"),
            label(1 - p, -0.25, "best", 3, "center", below=True),
            x="baseline b",
            x_range=(-0.03, 1.03),
            y_range=(-1.3, 10.5),
            y_ticks=dict(tickvals=[0, 2, 4, 6, 8, 10]),
        )
    ]


def named(p):
    return (
        f"At p = {p:.2f}, it takes {needed(p, 0.0):.2f} samples with no baseline and {needed(p, p):.2f} with the mean. "
        f"At b = {1 - p:.2f}, there is no noise."
    )


# ── one step, by what is added ──
ADDED = np.linspace(-2, 10, 49)
STOPS = (-2, -1, 0, 1, 2, 4, 6, 8, 10)
SHORT = ("2 3 stop<br>right", "1 1 stop<br>wrong", "3 2 3 1 3<br>right", "3 stop<br>wrong")


@cache
def by_added():
    return np.array([running_batch.pass_rate(after(added)) for added in ADDED])


def probability(policy):
    """Of each of the four completions, (4,)."""
    return np.exp(running_batch.drawn_logp(policy).sum(axis=1))


def step(added):
    end = after(added)
    return [
        panel(
            "Pass rate of the prompt after one step",
            "exact",
            line(ADDED, by_added(), "after the step"),
            line([-2, 10], [running_batch.pass_rate(modsum.Policy())] * 2, "before", 8, "reference"),
            dots([added], [running_batch.pass_rate(end)], "after the step", 1),
            label(4, 0.22, "before", 8, "center", below=True),
            x="constant added to every reward",
            x_range=(-2.2, 10.2),
            y_range=(0, 1),
        ),
        panel(
            "The four sampled completions",
            "probability after the step; dots: before",
            bars(SHORT, probability(end), "after", 1, text=[f"{p:.2f}" if p > 0.06 else "" for p in probability(end)]),
            dots(SHORT, probability(modsum.Policy()), "before", 8),
            y_range=(0, 1),
        ),
    ]


def after_it(added):
    rate, four = running_batch.pass_rate(after(added)), probability(after(added)).sum()
    return f"The pass rate is {rate:.3f}. The four sampled completions together have a probability of {four:.2f}."


# ── the language model ──
UPDATES, PICTURE = 150, 30


@cache
def learning():
    return tuple(sampled_noise.while_it_learns(UPDATES, PICTURE))


def measured():
    x = [measurement.update for measurement in learning()]
    return [
        by_update(
            "Noise on the language model",
            "variance of one sample, measured, logarithmic",
            line(x, [measurement.mean for measurement in learning()], "R − p", 1),
            line(x, [measurement.none for measurement in learning()], "R", 2),
            label(UPDATES, learning()[-1].mean * 2.6, "R − p", 1, "right"),
            label(UPDATES, learning()[-1].none * 2.2, "R", 2, "right"),
            updates=UPDATES,
            y_range=(0.01, 100),
            log="y",
        )
    ]


RATES = tuple(np.round(np.arange(0.1, 0.901, 0.05), 2).tolist())
SPOKEN = tuple(f"{p:.2f}" for p in RATES)
FIGURES = {
    "batch": Figure(
        batch,
        running_batch.after_one_step,
        Handle("Weight in each cell", tuple(WEIGHTS), start=0, words=tuple(WEIGHTS)),
        one_step,
    ),
    "noise": Figure(
        noise,
        gradient_noise.two_answer_noise,
        Handle("Probability of the right answer", RATES, start=len(RATES) - 1, words=SPOKEN, symbol="p"),
        times,
    ),
    "best": Figure(
        best,
        gradient_noise.two_answer_noise,
        Handle("Probability of the right answer", RATES, start=len(RATES) - 1, words=SPOKEN, symbol="p"),
        named,
    ),
    "step": Figure(
        step,
        running_batch.after_one_step,
        Handle("Constant added", STOPS, start=len(STOPS) - 1, words=tuple(f"{c:g}".replace("-", "−") for c in STOPS)),
        after_it,
    ),
    "measured": Figure(measured, sampled_noise.while_it_learns),
}
