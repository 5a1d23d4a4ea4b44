"""The small figures of lesson 05: a loss of zero with a slope, what an optimizer makes of a gradient, how far one step
goes, four ways to average, a batch in slices.
"""

from fractions import Fraction
from functools import cache

import numpy as np

from sim.estimators import aggregation, microbatch
from sim.experiments import first_step, three_completions
from sim.worlds.optimizer import SGD, AdamW
from widgets.frame.drawing.marks import bars, cell, dots, grid, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle
from widgets.frame.drawing.written import signed

THREE = ("first<br>correct", "second<br>wrong", "third<br>wrong")


def moved_by(value, digits):
    """With a sign, and "0" for what rounds to zero."""
    return "0" if abs(value) < 0.5 * 10**-digits else signed(value, digits)


# ── why the loss is zero ──
RATIOS = tuple(np.round(np.arange(0.5, 2.01, 0.1), 1).tolist())
MOVED = np.linspace(0.4, 2.1, 35)


def zero(ratio):
    parts = three_completions.shares(ratio=ratio).sum(axis=1)
    losses = np.array([three_completions.loss(ratio=at) for at in MOVED])
    return [
        panel(
            "Share of each completion in the loss",
            "each completion counts a third",
            bars(THREE, parts, "share", 1, text=[moved_by(part, 2) for part in parts]),
            y_range=(-0.62, 0.4),
        ),
        panel(
            "Loss, the sum of the three",
            "by the ratio of one token in the first",
            line([MOVED[0], MOVED[-1]], [0, 0], "zero", 8, "reference"),
            line(MOVED, losses, "loss"),
            dots([1.0], [0.0], "when sampled", 8),
            dots([ratio], [three_completions.loss(ratio=ratio)], "now", 1, "here"),
            label(1.05, 0.015, "at first: 0", 8),
            x="ratio ρ of that token",
            x_range=(MOVED[0], MOVED[-1]),
            y_range=(-0.22, 0.14),
        ),
    ]


def zero_told(ratio):
    if ratio == 1.0:
        return (
            "With the token as likely as when it was sampled, the three shares cancel. The loss is 0, but its slope is "
            "not."
        )
    loss = moved_by(three_completions.loss(ratio=ratio), 3)
    return f"With the token {ratio:.1f} times as likely, the loss is {loss}. It falls as the token becomes more likely."


# ── the optimizer ──
SCALES = (1, 2, 5, 10)
PLACES = (0.5, 0.7, 0.8, 0.92, 0.985)  # among the weights that have a gradient, by its size
FIVE = ("a", "b", "c", "d", "e")
SGD_RATE, ADAMW_RATE = 0.3, 0.02


@cache
def five():
    return first_step.at_quantiles(first_step.gradient(), PLACES)


def steps(scale):
    return [
        single("SGD", f"change of five weights, rate {SGD_RATE}", SGD(SGD_RATE), scale, 0.075),
        single("AdamW", f"the same five, rate {ADAMW_RATE}", AdamW(ADAMW_RATE, clip=None), scale, 0.03),
    ]


def single(title, note, optimizer, scale, top):
    moved = first_step.change(optimizer, scale * five())
    return panel(
        title,
        note,
        bars(FIVE, moved, "change", 1, text=[moved_by(v, 3 if abs(v) >= 5e-4 else 5) for v in moved]),
        y_range=(-top, top),
    )


def steps_told(scale):
    sgd, adamw = (np.abs(first_step.change(o, scale * five())) for o in (SGD(SGD_RATE), AdamW(ADAMW_RATE, clip=None)))
    return (
        f"At {scale} times the gradient, the largest of the five changes is {sgd.max():.4f} for SGD and "
        f"{adamw.max():.4f} for AdamW."
    )


# ── one step, by its length ──
RATES = (0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3)
SEEDS = 3


@cache
def stepped():
    """(seeds, rates, 2)."""
    return np.array([[first_step.stepped(rate, seed) for rate in RATES] for seed in range(SEEDS)])


@cache
def start():
    return first_step.tasks.exact_pass(first_step.batch()[0]).mean()


def one_step(rate):
    at = RATES.index(rate)
    right, far = stepped()[..., 0], stepped()[..., 1]
    axis = dict(x="learning rate, logarithmic", x_range=(0.0025, 0.36), log="x")
    ticks = dict(tickvals=[0.003, 0.01, 0.03, 0.1, 0.3], ticktext=["0.003", "0.01", "0.03", "0.1", "0.3"])
    return [
        panel(
            "Pass rate after one step",
            f"exact; {SEEDS} first batches",
            line([0.0025, 0.36], [start()] * 2, "before", 8, "reference"),
            *(line(RATES, each, "seed", 1, "seed") for each in right[1:]),
            line(RATES, right[0], "pass rate"),
            dots([rate], [right[0, at]], "here", 1, "here"),
            label(0.0027, start() - 0.075, "before the step", 8),
            **axis,
            y_range=(0, 0.6),
            ticks=ticks,
        ),
        panel(
            "How far that step moves a token",
            "mean |log ratio|, nats, both axes log",
            *(line(RATES, each, "seed", 1, "seed") for each in far[1:]),
            line(RATES, far[0], "far"),
            dots([rate], [far[0, at]], "here", 1, "here"),
            x="learning rate, logarithmic",
            x_range=(0.0025, 0.36),
            y_range=(0.02, 20),
            log="xy",
            ticks=ticks,
        ),
    ]


def one_step_told(rate):
    right, far = stepped()[0, RATES.index(rate)]
    return (
        f"At a rate of {rate:g}, one step takes the pass rate from {start():.2f} to {right:.2f} and changes a token's "
        f"probability by a factor of {np.exp(far):,.{0 if far > 5 else 1}f}."
    )


# ── four ways to average ──
SHORT = {
    "token-mean": "tokens",
    "seq-mean-token-mean": "means",
    "seq-mean-token-sum": "sums",
    "seq-mean-token-sum-norm": "sums over T",
}


def averages(mode):
    weights = aggregation.MODES[mode](three_completions.MASK)
    rows = [
        [
            THREE[i].replace("<br>", ", "),
            [cell(f"{i + 1}.{t + 1}", fraction(weights[i, t]), float(weights[i, t] * 3)) for t in range(n)],
            f"{fraction(weights[i].sum() / weights.sum())} of the weight",
        ]
        for i, n in enumerate(three_completions.LENGTHS)
    ]
    return [grid(rows)]


def fraction(value):
    return str(Fraction(float(value)).limit_denominator(100))


def averages_told(mode):
    return f"With {mode}, the loss of the three completions is {three_completions.loss(mode):.3f}."


# ── slices ──
COUNTS = (1, 2, 4, 8, 16)


@cache
def cut(count, by_length):
    return first_step.sliced(count, by_length)


def slices(count):
    errors = {by_length: [100 * cut(n, by_length)[1] for n in COUNTS] for by_length in (True, False)}
    places = np.arange(1, max(COUNTS) + 1)
    return [
        panel(
            "Weight of a token in each slice",
            "over the right weight; shortest first",
            line([0.4, 16.6], [1, 1], "right", 8, "reference"),
            bars(places[:count], cut(count, True)[0], "weight"),
            x="slice",
            x_range=(0.4, 16.6),
            y_range=(0, 3.2),
            ticks=dict(tickvals=[1, 4, 8, 12, 16], ticktext=["1", "4", "8", "12", "16"]),
        ),
        panel(
            "Error of the gradient",
            "% of its length; first batch",
            line(COUNTS, errors[False], "as they come", 2),
            line(COUNTS, errors[True], "sorted by length", 1),
            dots([count], [100 * cut(count, True)[1]], "here", 1, "here"),
            label(16.5, errors[True][-1] + 2, "sorted by length", 1, "right"),
            label(16.5, errors[False][-1] + 2, "as they come", 2, "right"),
            x="slices, logarithmic",
            x_range=(0.9, 18),
            y_range=(0, 60),
            log="x",
            ticks=dict(tickvals=list(COUNTS), ticktext=[str(n) for n in COUNTS]),
        ),
    ]


def slices_told(count):
    if count == 1:
        return "One slice is the whole batch, so there is no error."
    times, error = cut(count, True)
    return (
        f"With {count} slices, a token in the shortest slice weighs {times[0]:.2f} times what it should, and the "
        f"gradient is {100 * error:.0f} % off."
    )


FIGURES = {
    "zero": Figure(
        zero,
        three_completions.shares,
        Handle(
            "Ratio of the first token",
            RATIOS,
            start=RATIOS.index(1.0),
            words=tuple(f"{ratio:.1f}" for ratio in RATIOS),
            symbol="ρ",
        ),
        zero_told,
    ),
    "steps": Figure(
        steps,
        first_step.change,
        Handle("Scale of the gradient", SCALES, start=3, words=tuple(map(str, SCALES))),
        steps_told,
    ),
    "one_step": Figure(
        one_step,
        first_step.stepped,
        Handle("Learning rate", RATES, start=RATES.index(0.1), words=tuple(f"{rate:g}" for rate in RATES), symbol="η"),
        one_step_told,
    ),
    "averages": Figure(
        averages,
        aggregation.seq_mean_token_mean,
        Handle("Average", tuple(SHORT), start=0, words=tuple(SHORT.values())),
        averages_told,
    ),
    "slices": Figure(
        slices,
        microbatch.local_weights,
        Handle("Number of slices", COUNTS, start=2, words=tuple(map(str, COUNTS))),
        slices_told,
    ),
}
