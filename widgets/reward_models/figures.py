"""The small figures of lesson 15a: two policies on the map, arrows of five reward models, what a mean keeps of errors,
and what a head picks by its noise.
"""

from functools import cache

import numpy as np

from sim.estimators import overoptimization, pooled_score, reward_ensemble
from sim.experiments import many_reward_models
from sim.experiments.many_reward_models import OUT, STRAIGHT
from sim.words import counted
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.reward_models import completion_map

BIAS, PAIRS, MODELS, CHARGE = 1.0, 200, 5, 0.5
DRAWN = 1  # the draw whose wins are nearest to the mean of sixteen

# ── the opening: one reward, followed farther and farther ──
SETTINGS = ("length taken out", "lowest of five")
HOW = {SETTINGS[0]: OUT, SETTINGS[1]: "lowest"}
MOMENTS = tuple(range(13))  # nats from the start


@cache
def models(setting):
    theta = many_reward_models.fitted(HOW[setting], STRAIGHT, PAIRS, BIAS, MODELS, DRAWN)
    paid = many_reward_models.rewards(theta)
    return theta, paid, many_reward_models.made_into_one(paid, HOW[setting], CHARGE)


@cache
def went(setting, nats):
    """(outcome, mean quality and log-length) of the best policy at this distance."""
    world, reward = many_reward_models.world(), models(setting)[2]
    policy = overoptimization.at_distance(world.ref, reward, nats) if nats else world.ref
    return overoptimization.outcome(world, reward, policy), policy @ world.phi


def opening(setting, nats):
    outcome, (quality, length) = went(setting, nats)
    theta, _, _ = models(setting)
    arrows = [(l, q) for q, l in theta]
    arrows += arrows[-1:] * (MODELS - len(arrows))
    wins = outcome.wins
    away = counted(nats, "nat")
    alt = f"A policy {away} from the start, on a map of completions, and what it is trained for as arrows."
    return [
        scene.scene(
            "A policy on its way from the start",
            completion_map.LEGEND,
            completion_map.view("m", alt, arrows, clouds=[(length, quality)], named="policy" if nats else ""),
            scene.view(
                "t",
                completion_map.BESIDE,
                10.4,
                f"A typical completion has {40 * 2 ** (length / 2):.0f} tokens, and one of the start has 40. People "
                f"prefer the policy in {100 * wins:.0f} of 100 comparisons with the start.",
                *completion_map.typical("t", 40 * 2 ** (length / 2), wins < 0.495, "all five models like this"),
                scene.word("people prefer the policy, of 100", (0, 5.6), "head"),
                scene.hundred("wd", [("followed", wins), ("rest", 1 - wins)], (0, 5.95), 20),
                scene.word(f"{100 * wins:.0f}", (9.9, 7.6), "count", key="wn"),
                scene.word("reward:", (0, 9.5), "head"),
                scene.word(f"{outcome.proxy:+.1f} nats".replace("-", "−"), (2.5, 9.5), "strong", key="wr"),
            ),
        )
    ]


OPENING = Figure(
    opening,
    many_reward_models.run,
    Handle("Run", SETTINGS, start=1),
    None,
    Time(
        "Distance",
        MOMENTS,
        tuple(f"{counted(nats, 'nat')} from the start" for nats in MOMENTS),
        start=len(MOMENTS) - 1,
        ticks={i: str(i) for i in MOMENTS if i % 2 == 0},
        strip=Strip(
            "Preferred, of 100",
            lambda: [[went(setting, nats)[0].wins for nats in MOMENTS] for setting in SETTINGS],
            lambda setting, nats: f"{100 * went(setting, nats)[0].wins:.0f}",
        ),
    ),
    stills=((1, 0), (1, len(MOMENTS) - 1), (0, len(MOMENTS) - 1)),
)

# ── arrows of five models ──
FEW_TO_MANY = (20, 50, 200, 1000, 3000)


def arrows_of(pairs):
    """(length, quality) of five models' slopes."""
    return [(l, q) for q, l in many_reward_models.fitted("mean", STRAIGHT, pairs, BIAS, MODELS, DRAWN)]


def fan_of(pairs):
    """Degrees from the quality axis of the five arrows."""
    return np.array([np.degrees(np.arctan2(l, q)) for l, q in arrows_of(pairs)])


def fan(pairs):
    return [
        scene.scene(
            "Five reward models, each fitted to resampled pairs",
            "one seed; labelers overvalue length; arrows: the direction in which each model rises",
            completion_map.view(
                "m", "Five arrows and the direction in which people's liking rises.", arrows_of(pairs), own=True
            ),
        )
    ]


def fan_said(pairs):
    turns = fan_of(pairs)
    return (
        f"With {pairs:,} pairs, the five arrows lie within {np.ptp(turns):.0f} degrees of each other, and their mean "
        f"is {turns.mean() - 45:.0f} degrees from people’s own direction."
    )


# ── what a mean keeps ──
SIZES, ALIKE = (1, 2, 5, 10, 20, 40, 64), (0.2, 0.5, 0.8)


def kept(E):
    fine = np.arange(1, 65)
    marks = []
    for series, rho in enumerate(ALIKE, 1):
        curve = reward_ensemble.variance_share(fine, rho)
        marks += [
            line(fine, curve, f"correlation {rho:g}", series),
            dots([E], [reward_ensemble.variance_share(E, rho)], "here", series, "here"),
            label(64, curve[-1] + 0.01, f"correlation {rho:g}", series, "right"),
        ]
    return [
        panel(
            "Fraction of one model’s variance that the mean keeps",
            "by the correlation between two models’ errors",
            *marks,
            x="number of models",
            x_range=(0, 65),
            y_range=(0, 1.05),
        )
    ]


def kept_said(E):
    shares = [f"{reward_ensemble.variance_share(E, rho):.2f}" for rho in ALIKE]
    many = "One model keeps" if E == 1 else f"The mean of {E} models keeps"
    return (
        f"{many} {shares[0]}, {shares[1]} and {shares[2]} of one model’s variance, at correlations of 0.2, 0.5 and 0.8."
    )


# ── what a head picks ──
DRAWS, TRIALS = (1, 4, 16, 64, 256), 4000
TITLES = dict(last="the last token’s score", mean="mean of all scores", sum="sum of all scores")


@cache
def picks(head, N):
    return pooled_score.picked(head, N, np.random.default_rng(0), TRIALS)


def heads(N):
    marks = []
    for series, head in enumerate(pooled_score.HEADS, 1):
        tokens = [picks(head, n)[1] for n in DRAWS]
        marks += [
            line(DRAWS, tokens, TITLES[head], series),
            dots([N], [picks(head, N)[1]], "here", series, "here"),
            label(1, 82 - 9.5 * series, TITLES[head], series),
        ]
    return [
        panel(
            "Length of the best-scored of N completions",
            f"tokens, mean of {TRIALS:,} trials; length is worth nothing",
            *marks,
            x="completions sampled, N",
            x_range=(0.9, 300),
            y_range=(0, 80),
            log="x",
        )
    ]


def heads_said(N):
    last, mean, total = (picks(head, N)[1] for head in pooled_score.HEADS)
    return (
        f"From {counted(N, 'completion')}, the last token picks one with {last:.0f} tokens on average, the mean "
        f"one with {mean:.0f}, and the sum one with {total:.0f}."
    )


FIGURES = {
    "opening": OPENING,
    "fan": Figure(
        fan,
        many_reward_models.fitted,
        Handle("Pairs compared", FEW_TO_MANY, start=2, words=tuple(f"{n:,}" for n in FEW_TO_MANY)),
        fan_said,
    ),
    "kept": Figure(
        kept,
        reward_ensemble.variance_share,
        Handle("Number of models", SIZES, start=2, words=tuple(map(str, SIZES))),
        kept_said,
    ),
    "heads": Figure(
        heads,
        pooled_score.picked,
        Handle("Completions sampled", DRAWS, start=4, words=tuple(map(str, DRAWS))),
        heads_said,
    ),
}
