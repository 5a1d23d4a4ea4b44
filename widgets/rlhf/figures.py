"""The small figures of lesson 15: a reward from forty comparisons, what more comparisons buy, and what a price buys."""

from functools import cache

import numpy as np

from sim.estimators import bradley_terry, overoptimization
from sim.worlds import preferences
from widgets.frame.drawing.marks import dots, each_run, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

WORLD = preferences.GridWorld()

# ── a reward from forty comparisons ──
OF, GAPS = 40, np.linspace(-2, 8, 81)


def loss_at(wins, gap):
    """The mean loss of forty comparisons at a gap of rewards, nats."""
    return (wins * bradley_terry.loss(gap) + (OF - wins) * bradley_terry.loss(-gap)) / OF


def forty(wins):
    best, most = bradley_terry.odds(wins, OF - wins), 39
    least = [loss_at(w, bradley_terry.odds(w, OF - w)) for w in range(20, most + 1)]
    finite = np.isfinite(best)
    return [
        panel(
            f"Loss of {OF} comparisons",
            f"mean, nats; A won {wins}, B {OF - wins}",
            line([bradley_terry.odds(w, OF - w) for w in range(20, most + 1)], least, "other counts", 8, "other"),
            label(0.9, 0.68, "lowest loss at 20 to 39 wins", 8),
            line(GAPS, loss_at(wins, GAPS), "loss", 1),
            *([dots([best], [loss_at(wins, best)], "lowest loss", 1, "here")] if finite else []),
            *([] if finite else [label(7.8, 0.1, "keeps falling", 1, "right")]),
            x="reward of A minus reward of B, nats",
            x_range=(-2, 8),
            y_range=(0, 2.2),
        )
    ]


def least(wins):
    if wins == OF:
        win, lose = np.zeros(OF, dtype=np.int64), np.ones(OF, dtype=np.int64)
        gap = -np.diff(bradley_terry.fit(np.eye(2), win, lose, lam=0.1))[0]
        return f"A won all {OF}, so no gap is large enough. A ridge of 0.1 on both rewards stops it at {gap:.2f} nats."
    gap = bradley_terry.odds(wins, OF - wins)
    where = f"where A wins with probability {wins / OF:.3f}"
    return f"The loss is lowest at log({wins}/{OF - wins}) = {gap:.2f} nats, {where}."


# ── what more comparisons buy ──
PAIRS, SEEDS = (20, 50, 100, 200, 500, 1000, 2000, 3000), 8


@cache
def held_out():
    """Accuracy by seed and number of pairs, (seeds, 8), and that of gold, %."""
    win, lose = preferences.sample_prefs(WORLD, 20_000, np.random.default_rng(12345))
    accuracies = [
        [preferences.accuracy(WORLD.phi @ bradley_terry.fit(WORLD.phi, *pairs(n, seed)), win, lose) for n in PAIRS]
        for seed in range(SEEDS)
    ]
    return 100 * np.array(accuracies), 100 * preferences.accuracy(WORLD.gold, win, lose)


def pairs(n, seed):
    return preferences.sample_prefs(WORLD, n, np.random.default_rng(seed))


def judged(n):
    by_seed, ceiling = held_out()
    at = PAIRS.index(n)
    return [
        panel(
            "Accuracy of the reward model on held-out pairs",
            f"% of 20,000 pairs; thick: mean of {SEEDS} seeds",
            line(PAIRS, by_seed.mean(axis=0), "mean", 1),
            each_run(PAIRS, by_seed),
            dots([n], [by_seed[:, at].mean()], "this many", 1, "here"),
            line([PAIRS[0], PAIRS[-1]], [ceiling] * 2, "people’s own reward", 8, "exact"),
            label(20, ceiling, "the gold reward itself", 8),
            x="pairs compared",
            x_range=(18, 3300),
            y_range=(62, 82),
            log="x",
        )
    ]


def bought(n):
    by_seed, ceiling = held_out()
    right = by_seed[:, PAIRS.index(n)]
    return (
        f"With {n:,} pairs, accuracy ranges from {right.min():.1f} to {right.max():.1f} % over {SEEDS} seeds. The gold "
        f"reward reaches {ceiling:.1f} %."
    )


# ── what a price buys ──
FINE = tuple(np.linspace(1.0, 0.2, 41))
PRICES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.55, 0.5, 0.45, 0.4, 0.3, 0.25, 0.2)


@cache
def reward():
    return WORLD.phi @ bradley_terry.fit(WORLD.phi, *pairs(200, 0))


@cache
def paid(prices=PRICES):
    """KL and score of the best policy at each price, one array each."""
    outcomes = overoptimization.curve(WORLD, reward(), prices)
    return np.array([o.kl for o in outcomes]), np.array([o.proxy for o in outcomes])


def price(beta):
    (kl, score), curves, at = paid(), paid(FINE), PRICES.index(beta)
    shared = dict(x="KL coefficient β", x_range=(1.05, 0.15))
    return [
        panel(
            "Distance from the start",
            "KL, nats",
            line(FINE, curves[0], "KL", 1),
            dots([beta], [kl[at]], "here", 1, "here"),
            y_range=(0, 18),
            **shared,
        ),
        panel(
            "Score on the reward model",
            "nats; 0 is the start",
            line(FINE, curves[1], "score", 2),
            dots([beta], [score[at]], "here", 2, "here"),
            y_range=(0, 8),
            **shared,
        ),
    ]


def at_price(beta):
    kl, score = (values[PRICES.index(beta)] for values in paid())
    return f"At a coefficient of {beta:g}, the best policy is {kl:.2f} nats from the start and scores {score:.2f} nats."


FIGURES = {
    "forty": Figure(
        forty, bradley_terry.fit, Handle("Comparisons that A won", tuple(range(20, OF + 1)), start=20), least
    ),
    "pairs": Figure(
        judged,
        preferences.accuracy,
        Handle("Pairs compared", PAIRS, start=3, words=tuple(f"{n:,}" for n in PAIRS)),
        bought,
    ),
    "price": Figure(price, overoptimization.curve, Handle("KL coefficient", PRICES, start=8, symbol="β"), at_price),
}
