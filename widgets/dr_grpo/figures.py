"""The small figures of lesson 14: the weight of a prompt, four completions under three divisors, the push on a stop by
length, and ties that jitter.
"""

import numpy as np

from sim.algorithms import dapo, dr_grpo, grpo
from sim.estimators import group_baselines, length_bias, std_weight
from widgets.frame.drawing.marks import bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle


def push(value):
    return f"{value:+.3g}".replace("-", "−")


# ── the weight of a prompt ──
SIZES = (2, 3, 4, 8, 16)
P = np.linspace(0.01, 0.99, 99)
HARD, MEDIUM = 0.02, 0.5


def relative(p, K):
    return std_weight.std_weight(p, K) / std_weight.std_weight(MEDIUM, K)


def weight(K):
    curve = relative(P, K)
    return [
        panel(
            "Weight of a prompt",
            "1 at a pass rate of one half, exact",
            *(line(P, relative(P, other), f"K = {other}", 8, "other") for other in SIZES if other != K),
            line(P, curve, f"K = {K}"),
            dots([HARD], [relative(HARD, K)], "1 in 50", 1, "here"),
            x="pass rate p",
            x_range=(0, 1),
            y_range=(0, 2.6),
        ),
        panel(
            "Mean push on a prompt",
            "1 at a pass rate of one half; dotted: true gradient",
            line(P, 4 * P * (1 - P), "true gradient", 1, "exact"),
            line(P, 4 * P * (1 - P) * curve, f"K = {K}"),
            x="pass rate p",
            x_range=(0, 1),
            y_range=(0, 1.1),
        ),
    ]


def weighed(K):
    return (
        f"A prompt solved one time in 50 weighs {relative(HARD, K):.2f} times as much as one solved every other time."
    )


# ── four completions ──
TOKENS = (5, 5, 10, 40)
REWARDS = np.array([[1.0, 0.0, 0.0, 0.0]])
FILES = {"own length": grpo, "batch's tokens": dapo, "constant": dr_grpo}
SAID = {
    "own length": "All wrong completions count the same, so a token of the longest counts an eighth as much.",
    "batch's tokens": "Every token of the batch counts the same, but every batch has a different divisor.",
    "constant": "Every token counts the same in every batch, so the cost of a mistake grows with its length.",
}


def token_push(divisor):
    """(4,) push on a token of each, over that on one of the short wrong completion."""
    mask = (np.arange(max(TOKENS)) < np.array(TOKENS)[:, None]).astype(float)
    file = FILES[divisor]
    each = grpo.advantage(REWARDS, grpo.HP, None)[0] * file.weights(mask, file.HP, None)[:, 0]
    return each / -each[1]


def rows(divisor):
    each = token_push(divisor)
    return [
        completions("Push on a token", "−1 on a token of the first wrong completion", each, (-1.9, 3.9)),
        completions("Push on the whole completion", "summed over its tokens", each * TOKENS / TOKENS[1], (-9.6, 4.6)),
    ]


def completions(title, note, each, span):
    x = np.arange(4)
    return panel(
        title,
        note,
        bars(x[:1], each[:1], "correct", 1, text=[push(each[0])]),
        bars(x[1:], each[1:], "wrong", 2, text=[push(value) for value in each[1:]]),
        x="tokens of the completion",
        x_range=(-0.6, 3.6),
        y_range=span,
        ticks=dict(tickvals=x.tolist(), ticktext=["correct, 5", *(f"wrong, {n}" for n in TOKENS[1:])]),
    )


# ── the push on a stop, by length ──
STOP, MEAN = 0.1, 10.0
DIVISORS = {"constant": lambda n: MEAN, "own length": lambda n: n}


def stop(divisor):
    probability, score = length_bias.distribution(STOP)
    n = np.arange(1, length_bias.T + 1)
    pushes = {name: score / by(n) for name, by in DIVISORS.items()}
    totals = {name: (probability * push).cumsum() for name, push in pushes.items()}
    (other,) = DIVISORS.keys() - {divisor}
    total = totals[divisor][-1]
    return [
        panel(
            "Push on the stop, by one completion",
            "if it is correct; above 0: stop sooner",
            line(n, pushes[other], other, 8, "other"),
            line(n, pushes[divisor], divisor),
            x="length in tokens",
            x_range=(0, length_bias.T),
            y_range=(-0.7, 1.0),
        ),
        panel(
            "Sum, weighted by frequency of each length",
            "over all lengths up to this one",
            line(n, totals[other], other, 8, "other"),
            line(n, totals[divisor], divisor),
            dots([length_bias.T], [total], "what is left", 1),
            label(
                length_bias.T - 1, total + 0.01, f"left: {abs(total):.3f}" if total > 1e-9 else "left: 0", 1, "right"
            ),
            x="length in tokens",
            x_range=(0, length_bias.T + 1.5),
            y_range=(-0.02, 0.22),
        ),
    ]


def stopped(divisor):
    probability, score = length_bias.distribution(STOP)
    n = np.arange(1, length_bias.T + 1)
    total = (probability * score / DIVISORS[divisor](n)).sum()
    if total < 1e-9:
        return "Divided by ten, the mean length, the pushes of short and long completions cancel."
    return f"Divided by their own length, long completions push back too little, and {total:.3f} is left."


# ── ties that jitter ──
SIGMAS = (1e-4, 1e-3, 1e-2, 1e-1)
ADVANTAGES = {"Divided by standard deviation": group_baselines.z_score, "Not divided": group_baselines.less_mean}


def sizes(advantage, sigma):
    """Root mean square advantage of groups half right and of groups whose rewards are noise alone."""
    noise = sigma * np.random.default_rng(0).normal(size=(500, 8))
    return [np.sqrt((advantage(R) ** 2).mean()) for R in (np.tile([1.0, 0.0], (1, 4)), noise)]


def ties(sigma):
    return [
        panel(
            title,
            "size of an advantage, root mean square",
            bars(["half correct", "ties"], size := sizes(advantage, sigma), title, 1, text=[f"{s:.2g}" for s in size]),
            y_range=(0, 1.15),
        )
        for title, advantage in ADVANTAGES.items()
    ]


def tied(sigma):
    shares = [noise / live for live, noise in (sizes(advantage, sigma) for advantage in ADVANTAGES.values())]
    return (
        f"A tie pushes {shares[0]:.2f} times as hard as a group that is half correct. "
        f"Without the division, it pushes {shares[1]:.1g} times as hard."
    )


FIGURES = {
    "weight": Figure(
        weight,
        std_weight.std_weight,
        Handle("Completions per prompt", SIZES, start=len(SIZES) - 1, symbol="K"),
        weighed,
    ),
    "rows": Figure(rows, grpo.weights, Handle("Divided by", tuple(FILES), start=0, words=tuple(FILES)), SAID.get),
    "stop": Figure(
        stop, length_bias.distribution, Handle("Divided by", tuple(DIVISORS), start=1, words=tuple(DIVISORS)), stopped
    ),
    "ties": Figure(
        ties,
        group_baselines.z_score,
        Handle("Noise of the reward", SIGMAS, start=1, words=tuple(f"{s:g}" for s in SIGMAS), symbol="σ"),
        tied,
    ),
}
