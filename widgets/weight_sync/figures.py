"""The small figures of lesson 06: tokens weighed by their ratio, one delivery, two versions as stairs, and what an old
batch is worth in the first updates.
"""

from functools import cache

import numpy as np

from sim.experiments import off_policy_tokens, stale_policy
from sim.framework.weight_sync import transfer_seconds
from widgets.frame.drawing.marks import band, bars, by_update, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

# ── three tokens ──
TOKENS = ("first", "second", "third<br>reward 1")
MOVED = tuple(np.arange(0, 2.01, 0.25).tolist())


def tokens(moved):
    read = off_policy_tokens.read(moved)
    return [
        panel(
            "Probability now",
            "of three tokens; dots: when sampled",
            bars(TOKENS, read.policy, "now", 1, text=[f"{p:.2f}" for p in read.policy]),
            dots(TOKENS, off_policy_tokens.OLD, "when sampled", 8),
            y_range=(0, 1),
        ),
        panel(
            "Weight of each token",
            "its ratio: probability now over when it was sampled",
            line([-0.5, 2.5], [1, 1], "unweighted", 8, "reference"),
            bars(TOKENS, read.ratio, "ratio", 1, text=[f"×{ratio:.2f}" for ratio in read.ratio]),
            y_range=(0, 4.4),
        ),
    ]


def tokens_told(moved):
    read = off_policy_tokens.read(moved)
    return (
        f"The expected reward is now {read.earns:.2f}. The plain mean says {read.plain:.2f}, and the weighted mean "
        f"says {read.weighted:.2f}, with {100 * read.effective:.0f} % of the batch left."
    )


# ── one delivery ──
SIZES = (0.5, 1.5, 8.0, 32.0, 70.0, 235.0, 671.0, 1000.0)  # billion parameters
LINKS = (5.0, 50.0)  # GB/s
BYTES = 2


def delivery(size):
    sizes = np.geomspace(0.4, 1200, 25)
    curves = [
        line(sizes, transfer_seconds(sizes * 1e9, BYTES, link), f"{link:g} GB/s", series)
        for series, link in enumerate(LINKS, 1)
    ]
    chosen = [
        dots([size], [transfer_seconds(size * 1e9, BYTES, link)], "this model", series, "here")
        for series, link in enumerate(LINKS, 1)
    ]
    return [
        panel(
            "Minimum time of one delivery",
            "seconds, 16 bits per weight; both axes logarithmic",
            *curves,
            *chosen,
            label(0.45, 1.5, "5 GB/s", 1),
            label(1100, 5, "50 GB/s", 2, "right", below=True),
            x="billion parameters",
            x_range=(0.4, 1200),
            y_range=(3e-3, 1000),
            log="xy",
        )
    ]


def delivery_told(size):
    seconds = [transfer_seconds(size * 1e9, BYTES, link) for link in (50.0, 5.0)]
    return (
        f"{size:,g} billion weights are {BYTES * size:,g} GB. Sending them takes at least {seconds[0]:.2g} s at 50 "
        f"GB/s and {seconds[1]:,.3g} s at 5 GB/s."
    )


# ── two versions ──
UPDATES = 32
EVERY = tuple(range(1, 9))


def stairs(n):
    return [
        versions("Always this many updates late", stale_policy.versions(UPDATES, lag=n)),
        versions("New weights after this many updates", stale_policy.versions(UPDATES, every=n)),
    ]


def versions(title, trainer_and_rollout):
    x, (trainer, rollout) = np.arange(1, UPDATES + 1), trainer_and_rollout.T
    return by_update(
        title,
        "optimizer steps made; shaded: the lag",
        band(x, rollout, trainer, 2),
        line(x, trainer, "trainer", 1, "step"),
        line(x, rollout, "rollout", 2, "step"),
        label(1.5, 29, "trainer", 1),
        label(1.5, 25, "rollout", 2),
        updates=UPDATES + 1,
        y_range=(0, 34),
    )


def stairs_told(n):
    late = behind(stale_policy.versions(UPDATES, lag=n))[-1]
    rare = behind(stale_policy.versions(2 * n, every=n))
    return (
        f"The first engine has a lag of {late:g}. The second has a lag of at most {rare.max():g}, and {rare.mean():g} "
        "on average."
    )


def behind(trainer_and_rollout):
    return trainer_and_rollout[:, 0] - trainer_and_rollout[:, 1]


# ── the first updates ──
LAGS = (0, 1, 2, 4, 8)
FIRST, SEEDS = 17, 3


WEIGHED, PLAIN = "ratio", "none"  # corrections, the second of which takes old samples for new


@cache
def early(correction, lag):
    """A list of Drifts by seed."""
    return [list(stale_policy.updates(correction, FIRST, lag=lag, seed=seed)) for seed in range(SEEDS)]


def right(run):
    """Updates at which the pass rate is known, and the pass rate after them."""
    exact = [(at, d.frame.exact["pass_rate"].mean()) for at, d in enumerate(run, 1) if d.frame.exact]
    return tuple(zip(*exact))


def first(lag):
    x, edge = np.arange(1, FIRST + 1), dict(x="update", x_range=(0.5, FIRST + 0.5))
    weighed, plain = early(WEIGHED, lag), early(PLAIN, lag)
    return [
        panel(
            "Correct completions",
            f"exact probability after the update; {SEEDS} seeds",
            *(
                line(*right(run), "seed", series, "seed")
                for series, runs in ((1, plain), (2, weighed))
                for run in runs[1:]
            ),
            line(*right(plain[0]), "not weighted", 1),
            line(*right(weighed[0]), "weighted", 2),
            label(FIRST, 0.84, "weighted by the ratio", 2, "right"),
            label(FIRST, 0.04, "not weighted", 1, "right"),
            **edge,
            y_range=(0, 0.9),
        ),
        panel(
            "Effective share of the batch",
            "before the update; the same runs",
            *(
                line(x, share(run), "seed", series, "seed")
                for series, runs in ((1, plain), (2, weighed))
                for run in runs[1:]
            ),
            line(x, share(plain[0]), "not weighted", 1),
            line(x, share(weighed[0]), "weighted", 2),
            **edge,
            y_range=(0, 1.05),
        ),
    ]


def share(run):
    return [d.effective for d in run]


def first_told(lag):
    weighed, plain = (early(correction, lag)[0] for correction in (WEIGHED, PLAIN))
    fifth, ninth = ([f(run) for run in (weighed, plain)] for f in (lambda run: share(run)[4], after_nine))
    return (
        f"With the ratio, the effective share in update 5 is {fifth[0]:.2f} and the pass rate after update 9 is "
        f"{ninth[0]:.2f}, and without it, {fifth[1]:.2f} and {ninth[1]:.2f}."
    )


def after_nine(run):
    at, rates = right(run)
    return rates[at.index(9)]


FIGURES = {
    "tokens": Figure(
        tokens,
        off_policy_tokens.read,
        Handle("Movement of the policy", MOVED, start=4, words=tuple(f"{100 * moved:.0f} %" for moved in MOVED)),
        tokens_told,
    ),
    "delivery": Figure(
        delivery,
        transfer_seconds,
        Handle("Billion parameters", SIZES, start=2, words=tuple(f"{size:,g}" for size in SIZES)),
        delivery_told,
    ),
    "stairs": Figure(
        stairs,
        stale_policy.versions,
        Handle("Number of updates", EVERY, start=7, words=tuple(map(str, EVERY))),
        stairs_told,
    ),
    "first": Figure(
        first, stale_policy.updates, Handle("Lag, in updates", LAGS, start=4, words=tuple(map(str, LAGS))), first_told
    ),
}
