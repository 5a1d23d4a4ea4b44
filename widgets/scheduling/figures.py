"""The small figures of lesson 21: who has which slot, what a pass of guesses yields, how few are at work in the tail,
how long a sequence is silent, and what a small pool costs.
"""

from functools import cache

import numpy as np

from sim.cluster import memory, scheduling
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.kv_cache import BlockAllocator
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS
from sim.cluster.scheduling import Policy, Speculation
from sim.words import counted
from widgets.frame.drawing.marks import bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

# The job that the simulator begins with: 32 prompts of some 600 tokens, 8 completions of each
QWEN, H100 = MODELS["qwen2.5-7b"], ACCELERATORS["h100"]
LAW = Law(800, 2230, 5145, 8192)
ROOM = memory.capacity(QWEN, H100, memory.Engine(hbm_share=0.5))
ALPHA, COST = 0.7, 0.05  # assumed: the chance that a guess is right, and what it costs
BLOCK = 16


@cache
def ran(drafts=0, tokens=ROOM, **policy):
    """The trace of the job under another scheduler."""
    requests = scheduling.requests_of(LAW, 32, 8, 600, np.random.default_rng(0))
    guess = Speculation(ALPHA, drafts, COST) if drafts else None
    pool = BlockAllocator(tokens // BLOCK, BLOCK)
    return scheduling.run(requests, scheduling.rates(QWEN, H100, guess), pool, Policy(speculation=guess, **policy))


# ── who has which place ──
LENGTHS = (4, 9, 3, 5, 3, 3, 7, 3, 4)
NAMES = "ABCDEFGHI"
WAYS = ((3, True), (3, False), (9, False))


def places(way):
    """Nine completions in their slots, iteration by iteration; hatched: a slot that nobody has."""
    n, static = WAYS[way]
    table = scheduling.timetable(LENGTHS, n, static)
    end = 1 + max(last for *_, last in table)
    marks, filled, height = [], [], np.zeros(9)
    for place, number, first, last in table:
        idle, length = np.zeros(9), np.zeros(9)
        idle[place], length[place] = first - height[place], last + 1 - first
        marks += [bars(at(), idle, "empty", 1, "waste"), bars(at(), length, NAMES[number], 1 + number % 2)]
        filled.append(label(place + 1, first + length[place] / 2 - 1.35, f"{NAMES[number]}", 0, "center"))
        height[place] = last + 1
    rest = np.where(np.arange(9) < n, end - height, 0.0)
    marks.append(bars(at(), rest, "empty", 1, "waste"))
    return [
        panel(
            "Nine completions, A to I",
            "iterations, upwards; hatched: the slot is empty",
            *[mark for mark in marks if np.any(mark["y"])],
            *filled,
            x="slot",
            x_range=(0.4, 9.6),
            y_range=(0, 22),
            ticks=dict(tickvals=at(), ticktext=[str(i) for i in at()]),
            stacked=True,
        )
    ]


def at():
    return list(range(1, 10))


def ends(way):
    n, static = WAYS[way]
    took = 1 + max(last for *_, last in scheduling.timetable(LENGTHS, n, static))
    used = 100 * sum(LENGTHS) / (n * took)
    return f"The nine completions take {took} iterations, and the slots are in use {used:.0f} % of the time."


# ── what a pass of guesses yields ──
DRAFTS = (0, 1, 2, 3, 4, 5, 6, 7, 8)


def guess(drafts):
    """The chance that each token of a pass is kept, and the speed of the whole job."""
    kept = np.where(np.arange(9) <= drafts, ALPHA ** np.arange(9.0), 0.0)
    speeds = [ran(drafts=n).tokens_per_second for n in DRAFTS]
    return [
        panel(
            "One pass",
            "chance that a token is kept; hatched: thrown away",
            bars(DRAFTS, kept, "kept", 1),
            bars(DRAFTS, np.where(np.arange(9) <= drafts, 1 - kept, 0.0), "thrown away", 1, "waste"),
            label(0, 1.02, "the model’s own", 1, "left"),
            x="token of the pass",
            x_range=(-0.6, 8.6),
            y_range=(0, 1.2),
            ticks=dict(tickvals=list(DRAFTS), ticktext=["own", *[str(n) for n in DRAFTS[1:]]]),
            stacked=True,
        ),
        panel(
            "Tokens per second",
            "256 completions, the whole rollout",
            line(DRAFTS, speeds, "tokens per second", 1),
            dots([drafts], [speeds[drafts]], "here", role="here"),
            x="tokens guessed ahead",
            x_range=(-0.3, 8.3),
            y_range=(0, 9500),
        ),
    ]


def yields(drafts):
    tokens = Speculation(ALPHA, drafts, COST).tokens
    if not drafts:
        return f"Without guesses, a pass yields one token: {ran(drafts=0).tokens_per_second:,.0f} tokens per second."
    trace = ran(drafts=drafts)
    return (
        f"A pass with {counted(drafts, 'guess', 'guesses')} yields a mean of {tokens:.2f} tokens. The engine writes "
        f"{trace.tokens_per_second:,.0f} tokens per second, and the rollout takes {trace.makespan:.0f} s."
    )


# ── how few are at work ──
PLACES = (1, 4, 16, 32, 48, 64, 96, 128, 256)


def tail(n):
    """Slots in use over the time of the step, and what guessing three tokens gains with so many slots."""
    trace = ran(batch=n)
    share = np.linspace(0, 1, 121)[1:]
    live = 100 * trace.live[np.searchsorted(trace.seconds, share * trace.seconds[-1] * (1 - 1e-12))] / n
    gains = [ran(batch=b, drafts=3).tokens_per_second / ran(batch=b).tokens_per_second for b in PLACES]
    return [
        panel(
            "Slots in use",
            "% of the slots, without guesses",
            line(100 * share, live, "slots in use", 1),
            x="% of the rollout’s time",
            x_range=(0, 100),
            y_range=(0, 108),
        ),
        panel(
            "What guessing gains",
            "speed with three guesses over speed without",
            line(PLACES, gains, "gain", 2),
            dots([n], [gains[PLACES.index(n)]], "here", role="here"),
            x="slots, log scale",
            x_range=(0.9, 300),
            y_range=(0, 2.5),
            log="x",
            ticks=dict(tickvals=[1, 4, 16, 64, 256], ticktext=["1", "4", "16", "64", "256"]),
        ),
    ]


def at_work(n):
    trace = ran(batch=n)
    working = scheduling.live_on_average(trace)
    gain = ran(batch=n, drafts=3).tokens_per_second / trace.tokens_per_second
    use = "One slot is always in use" if n == 1 else f"On average, {working:.0f} of {n} slots are in use"
    return f"{use}. The rollout takes {trace.makespan:,.0f} s, and guessing makes it {gain:.2f} times as fast."


# ── how long a sequence is silent ──
CHUNKS = (0, 128, 256, 512, 1024, 2048, 4096, 8192)
CALLED = ("whole", *(f"{c:,}" for c in CHUNKS[1:]))


def chunk(size):
    """The longest silence and the speed, by the tokens of a mixed iteration."""
    i, x = CHUNKS.index(size), list(range(len(CHUNKS)))
    gaps = [1e3 * ran(chunk=c).longest_gap for c in CHUNKS]
    speeds = [ran(chunk=c).tokens_per_second for c in CHUNKS]
    ticks = dict(tickvals=x, ticktext=["all", "128", "256", "512", "1k", "2k", "4k", "8k"])
    frame = dict(x="chunk, tokens", x_range=(-0.4, 7.4), ticks=ticks)
    return [
        panel(
            "The longest silence",
            "ms, log scale",
            line(x[1:], gaps[1:], "in chunks", 1),
            dots([0], gaps[:1], "whole prompts", 1),
            dots([i], [gaps[i]], "here", role="here"),
            y_range=(5, 1000),
            log="y",
            **frame,
        ),
        panel(
            "Tokens per second",
            "256 completions, the whole rollout",
            line(x[1:], speeds[1:], "in chunks", 1),
            dots([0], speeds[:1], "whole prompts", 1),
            dots([i], [speeds[i]], "here", role="here"),
            y_range=(0, 5000),
            **frame,
        ),
    ]


def silent(size):
    trace = ran(chunk=size)
    of = f"chunks of {size:,}" if size else "whole prompts"
    longest, speed = 1e3 * trace.longest_gap, trace.tokens_per_second
    return (
        f"With {of}, no sequence waits longer than {longest:.0f} ms. The engine writes {speed:,.0f} tokens per second."
    )


# ── what a small pool costs ──
POOLS = (12_000, 20_000, 40_000, 60_000, 100_000, 150_000, ROOM)


def pool(size):
    """Sequences at work over time, and the speed, by the tokens of the pool."""
    trace, x = ran(tokens=size), list(range(len(POOLS)))
    at_seconds = np.linspace(0, trace.seconds[-1], 121)[1:]
    live = trace.live[np.searchsorted(trace.seconds, at_seconds * (1 - 1e-12))]
    speeds = [ran(tokens=p).tokens_per_second for p in POOLS]
    i = POOLS.index(size)
    return [
        panel(
            "Slots in use",
            "sequences at once, of 256",
            line(at_seconds, live, "slots in use", 1),
            x="seconds",
            x_range=(0, 290),
            y_range=(0, 275),
        ),
        panel(
            "Tokens per second",
            "256 completions, the whole rollout",
            line(x, speeds, "tokens per second", 1),
            dots([i], [speeds[i]], "here", role="here"),
            x="pool size, tokens",
            x_range=(-0.4, 6.4),
            y_range=(0, 5000),
            ticks=dict(tickvals=x, ticktext=["12k", "20k", "40k", "60k", "100k", "150k", "432k"]),
        ),
    ]


def evicted(size):
    trace = ran(tokens=size)
    count = f"{trace.preemptions:,}" if trace.preemptions else "no"
    again = f", so {100 * trace.read_again:.0f} % of the tokens are read again" if trace.preemptions else ""
    return (
        f"There are {count} evictions{again}. On average {scheduling.live_on_average(trace):.0f} "
        f"sequences are at work, and the engine writes {trace.tokens_per_second:,.0f} tokens per second."
    )


FIGURES = {
    "places": Figure(
        places,
        scheduling.timetable,
        Handle("Slots", (0, 1, 2), start=0, words=("3, batch by batch", "3, refilled", "9")),
        ends,
    ),
    "guess": Figure(guess, scheduling.stream, Handle("Tokens guessed", DRAFTS, start=3, symbol="γ"), yields),
    "tail": Figure(tail, scheduling.stream, Handle("Slots", PLACES, start=8, symbol="B"), at_work),
    "chunk": Figure(chunk, scheduling.stream, Handle("Chunk", CHUNKS, start=5, words=CALLED), silent),
    "pool": Figure(
        pool,
        scheduling.stream,
        Handle("Pool size, tokens", POOLS, start=2, words=tuple(f"{p:,}" for p in POOLS)),
        evicted,
    ),
}
