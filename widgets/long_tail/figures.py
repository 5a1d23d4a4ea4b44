"""The small figures of lesson 22b: eight completions and their slots, the longest of n, an engine that empties, and who
is left in the batch under four rules.
"""

from functools import cache

import numpy as np

from sim.cluster import straggler
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.throughput import iteration_seconds
from widgets.frame.marks import band, dots, label, line, panel, region
from widgets.frame.small_figures import Figure, Handle

SIGMA, MEDIAN, SEED = 0.8, 1200, 3
EIGHT = straggler.sampled_lengths(8, MEDIAN, SIGMA, 10**6, np.random.default_rng(SEED))
MOMENTS = tuple(range(1, 25))  # of 24, up to the end of the step


# ── eight completions ──
def eight(moment):
    now = EIGHT.max() * moment / len(MOMENTS)
    marks = []
    for row, length in enumerate(EIGHT[::-1]):
        low, high = [row + 0.15] * 2, [row + 0.85] * 2
        marks.append(band([0, min(length, now)], low, high, 1))
        if now > length:
            marks.append(band([length, now], low, high, 8))
    return [
        panel(
            "Eight completions of one prompt",
            "gray: a slot that waits",
            *marks,
            x="tokens decoded in a slot",
            x_range=(0, 1.03 * EIGHT.max()),
            y_range=(0, 8),
            y_ticks=dict(tickvals=[4.0], ticktext=[""]),
        )
    ]


def kept_busy(moment):
    now = EIGHT.max() * moment / len(MOMENTS)
    written, done = np.minimum(EIGHT, now).sum(), int((now + 1e-6 >= EIGHT).sum())
    held = 100 * written / (8 * now)
    return f"After {now:,.0f} tokens {done} of 8 are done, and {held:.0f} % of the slots so far held one."


# ── the longest of n ──
COUNTS = (1, 8, 64, 256, 512, 1024, 2048, 8192)
SPREADS = (0.4, 0.8, 1.0)


@cache
def tax(n, sigma):
    return straggler.straggler_tax(n, sigma)


def longest(n):
    marks = []
    for series, sigma in enumerate(SPREADS, 1):
        marks += [
            line(COUNTS, [tax(m, sigma) for m in COUNTS], f"σ {sigma}", series),
            dots([n], [tax(n, sigma)], "here", series),
            label(5800, tax(5800, sigma) + 0.5, f"σ {sigma}", series, "right"),
        ]
    return [
        panel(
            "Straggler tax",
            "longest over mean; closed form",
            *marks,
            x="completions a step",
            x_range=(0.8, 10000),
            y_range=(0, 32),
            log="x",
        )
    ]


def says(n):
    return (
        f"The longest of {n:,} is {tax(n, 0.8):.1f} times the mean at a spread of 0.8, {tax(n, 1.0):.1f} times at 1.0."
    )


# ── an engine that empties ──
@cache
def drained():
    lengths = straggler.sampled_lengths(64, MEDIAN, SIGMA, 8192, np.random.default_rng(0))
    decode = lambda running, kv_tokens: iteration_seconds(
        MODELS["qwen2.5-7b"], ACCELERATORS["h100"], running, kv_tokens
    )
    return straggler.drain(lengths, 512, decode)


def left(share):
    """Sequences that still run after this share of the time."""
    finish, _ = drained()
    return int((finish > share * finish[-1] + 1e-9).sum())


def emptying(moment):
    finish, _ = drained()
    n, now = len(finish), moment / len(MOMENTS)
    steps = [0.0, *(100 * finish / finish[-1])]
    return [
        panel(
            "One engine draining",
            f"of {n} sequences; a 7B model, one H100",
            line(steps, [*range(n, -1, -1)], "running", 1, "step"),
            region(0, 100 * now, ""),
            dots([100 * now], [left(now)], "now", role="here"),
            x="% of the time that the step takes",
            x_range=(0, 100),
            y_range=(0, 1.1 * n),
        )
    ]


def running(moment):
    finish, _ = drained()
    share = moment / len(MOMENTS)
    return f"After {share * finish[-1]:.0f} of {finish[-1]:.0f} seconds {left(share)} of {len(finish)} still write."


# ── four rules ──
RULES = ("wait for all", "drop completions", "drop prompts", "resume prompts")
NAMES = ("wait", "completions", "prompts", "resume")
PROMPTS, LAUNCHED = 64, 12
SHOWN = slice(334, 935, 8)  # of the grid: z from −4 to 5


def chance(rule):
    """P(trained on | z)."""
    races = {
        "drop completions": lambda: straggler.race_in_prompts(8, LAUNCHED),
        "drop prompts": lambda: straggler.race_of_prompts(8, PROMPTS, PROMPTS * LAUNCHED // 8),
    }
    return races[rule]() if rule in races else np.ones_like(straggler.Z)


def four(rule):
    z, shown = straggler.Z[SHOWN], SHOWN
    lengths = MEDIAN * np.exp(SIGMA * z)
    right = straggler.p_right(-1.0)[shown]
    return [
        panel(
            "Who is trained on, who is right",
            "chances; 12 for 8; dotted: another rule",
            *(line(lengths, chance(other)[shown], other, 8, "other") for other in RULES[1:3] if other != rule),
            line(lengths, right, "right", 2),
            line(lengths, chance(rule)[shown], "trained on", 1),
            label(60, 0.86, "right", 2),
            label(60, 1.01, "trained on", 1),
            x="completion length (tokens)",
            x_range=(50, 30000),
            y_range=(0, 1.12),
            log="x",
        )
    ]


def reads(rule):
    accuracy = straggler.trained_accuracy(-1.0, chance(rule))
    waits = {
        RULES[0]: lambda: straggler.wait_in_prompts(PROMPTS, 8, 8, SIGMA),
        RULES[1]: lambda: straggler.wait_in_prompts(PROMPTS, 8, 12, SIGMA),
        RULES[2]: lambda: straggler.wait_for_prompts(8, PROMPTS, 96, SIGMA),
        RULES[3]: lambda: (
            straggler.resumed(8, PROMPTS, 96, SIGMA, np.inf, 0.0, 60, np.random.default_rng(0)).time[20:].mean()
        ),
    }
    return f"The batch reads {accuracy:.2f}, all completions 0.50; a step takes {waits[rule]():.1f} medians."


FIGURES = {
    "eight": Figure(
        eight,
        straggler.sampled_lengths,
        Handle("Moment", MOMENTS, len(MOMENTS) - 1, tuple(f"{m} of 24" for m in MOMENTS)),
        kept_busy,
    ),
    "longest": Figure(longest, straggler.straggler_tax, Handle("Completions a step", COUNTS, 4, symbol="n"), says),
    "emptying": Figure(
        emptying, straggler.drain, Handle("Time", MOMENTS, 11, tuple(f"{m} of 24" for m in MOMENTS)), running
    ),
    "four": Figure(four, straggler.trained_accuracy, Handle("When enough have finished", RULES, 1, NAMES), reads),
}
