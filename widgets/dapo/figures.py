"""The small figures of lesson 13: what a live group costs, the room above a token, the price before the limit, one pair
of curves on three axes, and entropy under coin flips.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np

from sim.algorithms import dapo, grpo
from sim.estimators import clip_entropy, group_baselines, surrogate
from sim.experiments.standard_runs import modsum_run
from sim.worlds import modsum
from sim.worlds.optimizer import SGD
from widgets.frame.marks import by_update, dots, label, line, panel
from widgets.frame.small_figures import Figure, Handle

K = 8


# ── what a live group costs ──
@cache
def hard():
    """Pass rates of the four prompts at the start, from hard to easy."""
    return tuple(np.sort(modsum.exact(modsum.Policy(modsum.HARD).params["theta"])["pass_rate"]).tolist())


def odds(p):
    return np.log(p / (1 - p))


TICKS = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)


def price(p):
    grid = 1 / (1 + np.exp(-np.linspace(odds(0.001), odds(0.999), 61)))
    axis = dict(
        x="pass rate p",
        x_range=(odds(0.001) - 0.2, odds(0.999) + 0.2),
        ticks=dict(tickvals=odds(np.array(TICKS)).tolist(), ticktext=[f"{t:g}" for t in TICKS]),
    )
    return [
        panel(
            f"A group of {K} is live",
            "probability, exact",
            line(odds(grid), group_baselines.live_probability(grid, K), "live", 3),
            dots([odds(p)], [float(group_baselines.live_probability(p, K))], "this prompt", 1),
            y_range=(0, 1.05),
            **axis,
        ),
        panel(
            "Completions for a live one",
            "in the mean, logarithmic",
            line(odds(grid), group_baselines.completions_per_live_group(grid, K), "completions", 3),
            dots([odds(p)], [float(group_baselines.completions_per_live_group(p, K))], "this prompt", 1),
            y_range=(5, 2000),
            log="y",
            **axis,
        ),
    ]


# ── the room above ──
RARE, COMMON = 0.01, 0.9


def room(eps_high):
    return [
        above(RARE, eps_high, 0.03, "A token at 0.01, wanted"),
        above(COMMON, eps_high, 1.0, "A token at 0.9, wanted"),
    ]


def above(p, eps_high, far, title):
    """What the objective pays a token of advantage 1 for its probability now."""
    edge = p * (1 + eps_high)
    now = np.unique([*np.linspace(0.02, 1, 50) * far, p, min(edge, far)])
    paid = surrogate.clipped(np.log(now), np.log(p), 1.0, 0.2, eps_high)[0]
    pushed, silent = now <= edge + 1e-12, now >= edge - 1e-12
    ends = f"let go at {edge:.4g}" if edge < far else "never let go"
    return panel(
        title,
        "what the objective pays, by probability now",
        line(now[pushed], paid[pushed], "pushed up", 1),
        *([line(now[silent], paid[silent], "no push left", 8, "dead")] if silent.sum() > 1 else []),
        dots([p], [1.0], "when drawn", 1),
        label(0.03 * far, 2.1, ends, 1),
        x="probability of the token",
        x_range=(0, 1.03 * far),
        y_range=(0, 2.4),
    )


# ── the price before the limit ──
def paid(reward, lengths):
    batch = SimpleNamespace(length=np.asarray(lengths), T=modsum.T)
    return dapo.shape_reward(np.full(len(lengths), float(reward)), dapo.HP, batch)


def limit(length):
    x = np.arange(1, modsum.T + 1)
    return [
        panel(
            "Reward after the price on length",
            f"limit {modsum.T} tokens, the last {dapo.HP['L_cache']} cost",
            line(x, paid(1, x), "right", 1),
            line(x, paid(0, x), "wrong", 2),
            dots([length], paid(1, [length]), "right", 1),
            dots([length], paid(0, [length]), "wrong", 2),
            label(1.2, 1.04, "right", 1),
            label(1.2, 0.04, "wrong", 2),
            x="tokens of the completion",
            x_range=(0.5, modsum.T + 0.5),
            y_range=(-1.2, 1.4),
            ticks=dict(tickvals=list(range(2, modsum.T + 1, 2))),
        )
    ]


def is_paid(length):
    right, wrong = (float(paid(reward, [length])[0]) for reward in (1, 0))
    tokens = "token" if length == 1 else "tokens"
    return f"With {length} {tokens}, a right completion is paid {right:g} and a wrong one {wrong:g}.".replace("-", "−")


# ── one pair of curves, three axes ──
RUNS, UPDATES, RIVAL, BATCH, RATE = 8, 30, 96, 64, 4.0
UPDATE, DRAWN, TRAINED = "updates", "completions drawn", "completions trained on"


@cache
def curves(file, updates):
    """[(batches drawn, pass rate), each (updates + 1,)], one a seed."""
    start = modsum.exact(modsum.Policy(modsum.HARD).params["theta"])["pass_rate"].mean()
    found = []
    for seed in range(RUNS):
        run = modsum_run(file, seed=seed, c=modsum.HARD, learning_rate=RATE, hyper=dict(beta=0.0))
        seen = [(0, start), *((frame.completions, frame.exact["pass_rate"].mean()) for frame in run.frames(updates))]
        drawn, rate = np.array(seen).T
        found.append((drawn / BATCH, rate))
    return found


def mean_curve(file, updates, drawn):
    """The mean of the seeds by batches drawn, as far as every seed goes, or by updates."""
    found = curves(file, updates)
    x = np.linspace(0, min(spent[-1] for spent, _ in found), 61) if drawn else np.arange(updates + 1)
    return x, np.mean([np.interp(x, spent if drawn else np.arange(updates + 1), rate) for spent, rate in found], axis=0)


def axes(count):
    ours, theirs = mean_curve(dapo, UPDATES, count == DRAWN), mean_curve(grpo, RIVAL, False)  # a batch is an update
    return [
        panel(
            "Right completions",
            f"probability, exact, mean of {RUNS} seeds, SGD",
            line(*theirs, "GRPO", 2),
            line(*ours, "DAPO", 1),
            dots([ours[0][-1]], [ours[1][-1]], f"DAPO after {UPDATES} updates", 1),
            label(ours[0][-1], ours[1][-1] + 0.02, "DAPO", 1, "right"),
            label(RIVAL, 0.8, "GRPO", 2, "right"),
            x=f"the chosen count, in batches of {BATCH} completions",
            x_range=(0, RIVAL),
            y_range=(0, 1.12),
        )
    ]


def compared(count):
    (x, ours), theirs = mean_curve(dapo, UPDATES, count == DRAWN), mean_curve(grpo, RIVAL, False)[1]
    end = f"DAPO {ours[-1]:.2f}, GRPO {np.interp(x[-1], np.arange(RIVAL + 1), theirs):.2f}"
    return {
        UPDATE: f"After {UPDATES} updates each: {end}.",
        DRAWN: f"After {BATCH * x[-1]:,.0f} completions drawn by each: {end}.",
        TRAINED: f"After {BATCH * UPDATES:,} completions trained on by each: {end}.",
    }[count]


# ── coin flips ──
BOUNDS = (0.2, 0.28, 0.5, 1.0, 5.0)


@cache
def coins(eps_high):
    """Mean entropy by update, from uniform; as in the instrument's tab."""
    made = clip_entropy.coin_entropy(0.2, eps_high, 4, SGD(RATE), 150, 24, np.random.default_rng(0))
    return made.mean(axis=0)


def flips(eps_high):
    x = np.arange(151)
    return [
        by_update(
            "Entropy when coins are rewarded",
            "nats, 20 actions, mean of 24 runs, SGD at 4",
            *(line(x[::5], coins(other)[::5], f"{other:g}", 8, "other") for other in BOUNDS if other != eps_high),
            line(x[::2], coins(eps_high)[::2], f"{eps_high:g}", 1),
            label(150, coins(eps_high)[-1] - 0.6, f"upper bound {1 + eps_high:g}", 1, "right"),
            updates=150,
            y_range=(0, 3.2),
        )
    ]


RATES = (*hard(), 0.9, 0.99)
EPSILONS = (0.1, 0.2, 0.28, 0.4, 0.5, 1.0)
LENGTHS = tuple(range(1, modsum.T + 1))
COUNTS = (UPDATE, DRAWN, TRAINED)
FIGURES = {
    "price": Figure(
        price,
        group_baselines.completions_per_live_group,
        Handle("Pass rate", RATES, start=1, words=tuple(f"{100 * p:.2g} %" for p in RATES), symbol="p"),
        lambda p: (
            f"Right {100 * p:.2g} % of the time, a prompt takes "
            f"{group_baselines.completions_per_live_group(p, K):.3g} completions for one live group."
        ),
    ),
    "room": Figure(
        room,
        surrogate.clipped,
        Handle("Clip above", EPSILONS, start=2, words=tuple(f"{eps:g}" for eps in EPSILONS), symbol="ε"),
        lambda eps: f"The upper bound is {1 + eps:g}: the rare token may rise to {RARE * (1 + eps):.4g}.",
    ),
    "limit": Figure(limit, dapo.shape_reward, Handle("Tokens", LENGTHS, start=len(LENGTHS) - 1), is_paid),
    "axes": Figure(
        axes, modsum.exact, Handle("Count", COUNTS, start=1, words=("updates", "drawn", "trained on")), compared
    ),
    "coins": Figure(
        flips,
        clip_entropy.coin_entropy,
        Handle("Clip above", BOUNDS, start=1, words=tuple(f"{eps:g}" for eps in BOUNDS), symbol="ε"),
        lambda eps: f"Nothing can be learned, and after 150 updates the entropy is {coins(eps)[-1]:.2f} of 3.00 nats.",
    ),
}
