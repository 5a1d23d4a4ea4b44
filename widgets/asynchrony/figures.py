"""The small figures of lesson 22c: how old completions become, steering by an old sight, what old samples weigh, and
which weights change in a step.
"""

from functools import cache
from statistics import NormalDist

import numpy as np

from sim.cluster import pipeline, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS
from sim.estimators import weight_delta
from sim.experiments import delayed_gradient
from widgets.frame.marks import bars, by_update, dots, heat, label, line, panel
from widgets.frame.small_figures import Figure, Handle

# ── how old ──
HEADS = (0, 1, 2, 4, 8, 16)
# the job of the widget's default
MODEL, CHIP, LAW, PROMPT = MODELS["qwen2.5-7b"], ACCELERATORS["h100"], Law(1500, 4182, 9646, 8192), 512
B, UPDATES, SLOTS, TRAIN, SYNC = 128, 40, 256, 30.0, 2.0
SHOWN, LANES, COLUMNS, GAP = 6, 8, 36, 2  # steps, slots, moments and empty rows that are drawn


@cache
def ahead(head):
    drawn = np.ceil(LAW.at(np.random.default_rng(0).standard_normal(B * (UPDATES + head + 2) + SLOTS)))
    seconds = lambda n, kv_tokens: throughput.iteration_seconds(MODEL, CHIP, n, kv_tokens)
    return pipeline.stream(drawn.tolist(), UPDATES, B, PROMPT, seconds, TRAIN, SYNC, head, SLOTS)


def lanes(head):
    ran = ahead(head)
    slots, training = pipeline.board(ran, LANES, COLUMNS, SHOWN)
    versions = np.array([*slots, *np.full((GAP, COLUMNS), np.nan), training])
    lag = ran.lag[ran.settled]
    return [
        panel(
            "Eight slots and the trainer",
            "gray to blue: older to newer weights",
            heat(list(range(COLUMNS)), list(range(len(versions))), np.clip(versions, -8, SHOWN), low=-8, high=SHOWN),
            label(-0.5, LANES - 0.3, f"{LANES} slots: the version that began it"),
            label(-0.5, LANES + GAP + 0.7, f"the trainer, in {SHOWN} steps: its own version"),
            x_range=(-0.5, COLUMNS - 0.5),
            y_range=(-0.5, LANES + 2 * GAP + 1),
            bare=True,
        ),
        panel(
            "Lag when trained on",
            "% of completions",
            bars(list(range(19)), [100 * float((lag == n).mean()) for n in range(19)], "completions", 1),
            x="lag, updates",
            x_range=(-0.6, 18.6),
            y_range=(0, 104),
            ticks=dict(tickvals=[0, 4, 8, 12, 16]),
        ),
    ]


def seconds(head):
    ran = ahead(head)
    batches = "batch" if head == 1 else "batches"
    return (
        f"{head or 'No'} {batches} ahead: a step takes {ran.step_seconds:.1f} s, the mean lag is "
        f"{ran.lag[ran.settled].mean():.1f}, the oldest {ran.lag.max()}."
    )


# ── late steering ──
DELAYS = tuple(range(17))
STEERED = 200  # updates
STEP = 3.0 * 0.2 * delayed_gradient.curvature(0.2)  # of the widget's default


def late(delay):
    x = np.arange(STEERED + 1)
    return [
        by_update(
            "A distance, steered towards 0",
            f"each step: −{STEP:.2f} of an older distance; gray: no lag",
            line(x, delayed_gradient.steering(0, STEP, STEERED), "no lag", 8, "other"),
            line(x, np.clip(delayed_gradient.steering(delay, STEP, STEERED), -9, 9), f"lag {delay}", 1),
            updates=STEERED,
            y_range=(-2.5, 2.5),
        )
    ]


def rests(delay):
    limit = delayed_gradient.step_limit(delay)
    return (
        f"Lag {delay}: steps below {limit:.3f} come to rest, and this one of {STEP:.3f} "
        f"{'does' if limit > STEP else 'never does'}."
    )


# ── old samples ──
SPREADS = tuple(round(0.2 * n, 1) for n in range(11))
SIDE = 8
NORMAL = NormalDist()


def weights(spread):
    """64 even quantiles of the weight exp(s z − s²/2), dealt out over a square."""
    z = np.array([NORMAL.inv_cdf((i + 0.5) / SIDE**2) for i in range(SIDE**2)])
    scattered = np.argsort(np.arange(SIDE**2) * 0.618034 % 1.0)
    return np.exp(spread * z - spread**2 / 2)[scattered].reshape(SIDE, SIDE)


def old_samples(spread):
    square = list(range(SIDE))
    ticks = dict(tickvals=[])
    return [
        panel(
            "64 samples",
            "full color: four times the mean, or more",
            heat(square, square, np.minimum(weights(spread), 4), low=0, high=4),
            x_range=(-0.5, SIDE - 0.5),
            y_range=(-0.5, SIDE - 0.5),
            ticks=ticks,
            bare=True,
        ),
        panel(
            "How many are left",
            "effective share of many such samples",
            line(np.array(SPREADS), [delayed_gradient.effective_share(s) for s in SPREADS], "share", 1),
            dots([spread], [delayed_gradient.effective_share(spread)], "here", 1),
            x="spread of log-ratios, nats",
            x_range=(-0.05, 2.05),
            y_range=(0, 1.04),
        ),
    ]


def left(spread):
    share = delayed_gradient.effective_share(spread)
    return f"Spread {spread:.1f} nats, a KL of {spread**2 / 2:.2f}: {100 * share:.0f} % of the batch is left."


# ── what changes ──
RATES = (1e-7, 1e-6, 1e-5)
SPREAD = 0.02  # assumed: of the weights
ROWS, ACROSS = 20, 40


@cache
def moved(rate):
    rng = np.random.default_rng(0)
    return weight_delta.changed(rng.normal(0, SPREAD, (ROWS, ACROSS)), rate, rng)


def block(rate):
    return [
        panel(
            f"{ROWS * ACROSS} weights of an engine's copy",
            "full color: other bits after a step of Adam",
            heat(list(range(ACROSS)), list(range(ROWS)), moved(rate).astype(float), low=0, high=1),
            x_range=(-0.5, ACROSS - 0.5),
            y_range=(-0.5, ROWS - 0.5),
            bare=True,
        )
    ]


def lit(rate):
    return (
        f"{int(moved(rate).sum())} of these {ROWS * ACROSS} change; of many such weights "
        f"{100 * weight_delta.changed_share(rate, SPREAD):.2g} %."
    )


FIGURES = {
    "lanes": Figure(
        lanes, pipeline.stream, Handle("Batches ahead, at most", HEADS, start=3, words=tuple(map(str, HEADS))), seconds
    ),
    "late": Figure(
        late,
        delayed_gradient.steering,
        Handle("Lag", DELAYS, start=7, words=tuple(map(str, DELAYS)), symbol="Δ"),
        rests,
    ),
    "weights": Figure(
        old_samples,
        delayed_gradient.effective_share,
        Handle("Spread of the log-ratios", SPREADS, start=5, words=tuple(f"{s:.1f}" for s in SPREADS)),
        left,
    ),
    "changed": Figure(
        block, weight_delta.changed, Handle("Learning rate", RATES, start=1, words=("1e-7", "1e-6", "1e-5")), lit
    ),
}
