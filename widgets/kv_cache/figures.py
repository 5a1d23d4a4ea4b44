"""The small figures of lesson 20: what a cache is for, what a token leaves behind, why no batch helps a long context,
and how blocks hand the room out.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from sim.cluster import kv_cache, memory, pool_states, scheduling, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import lognormal
from sim.cluster.models import MODELS
from sim.cluster.throughput import ASSUMED, PEAK
from sim.words import plural
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import bars, cell, dots, grid, label, line, panel, region
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.kv_cache import wall

LLAMA, H100 = MODELS["llama3.1-8b"], ACCELERATORS["h100"]
CONTEXT = 4096  # tokens of a sequence, where a figure needs one

# ── what a cache is for ──
WORDS = ("The", "cat", "sat", "on", "it")


def triangle(cached):
    """A row a step: which tokens run through the model, and which are there already."""
    rows = [
        [
            f"step {step}",
            [
                cell(word, "kept" if cached and t < step - 1 else "runs", 0.15 if cached and t < step - 1 else 1.0)
                for t, word in enumerate(WORDS[:step])
            ],
            f"{1 if cached else step}",
        ]
        for step in range(1, len(WORDS) + 1)
    ]
    return [
        grid(
            rows, "Five tokens, written one by one", "on the right: how many tokens run through the model in that step"
        )
    ]


def passes(cached):
    few, many = (kv_cache.token_passes(n, cached) for n in (len(WORDS), CONTEXT))
    sentence = "Keys and values are kept and only read" if cached else "Every step starts over"
    return f"{sentence}, so {len(WORDS)} tokens take {few} token passes, and {CONTEXT:,} tokens take {many:,}."


# ── twelve completions in forty blocks ──
SMALL_POOL, SLOTS = 40, 16  # blocks, slots of one
LONGEST_ASKED = 160  # tokens, prompt included: what a reservation is for
JOB = scheduling.requests_of(lognormal(24, 0.8, 144), 12, 1, 16, np.random.default_rng(1))
WAYS = ("16 tokens at a time", "room for the longest")  # blocks as they are needed; room for the longest
TICK, LAST = 4, 96  # steps from one moment to the next, and the last


@cache
def played(way):
    reserve = LONGEST_ASKED if way == WAYS[1] else None
    policy = scheduling.Policy(batch=16, chunk=0, reserve=reserve, prefix=False)
    return pool_states.recorded(JOB, a_step, SMALL_POOL, SLOTS, policy)


def a_step(n, kv_tokens, prefill_tokens=0, prefill_context=0):
    """The clock counts passes through the model."""
    return 1.0


def small_pool(way, step):
    state = pool_states.at(played(way)[1], step)
    taken, filled = wall.taken_and_filled(state, SMALL_POOL, SLOTS)
    waiting, writing = len(state.waiting), len(state.running)
    full = waiting > 0 and taken == SMALL_POOL
    empty = f"{100 * (1 - filled):.0f}"
    are = plural(state.finished, "is", "are")
    return [
        scene.scene(
            "The memory of one engine",
            "a wide cell is a block with its owner below; [held] tokens; hatched: reserved but empty",
            scene.view(
                "w",
                20.2,
                11.0,
                f"Step {step}: {taken} of {SMALL_POOL} blocks are taken, {empty} % of their slots are empty.",
                scene.word("forty blocks", (0, 0.55), "strong"),
                scene.word("tokens", (12.6, 0.55), "followed", "end"),
                scene.word("reserved, empty", (20.0, 0.55), "", "end"),
                scene.blocks("b", wall.cells(state, SMALL_POOL, SLOTS, {}), 10, (0.1, 1.0)),
                scene.ring(
                    "r", (0.0, 0.95), f"all taken, {empty} % empty" if full else "", full, (20.0, 6.95), anchor="middle"
                ),
                scene.word(f"{writing}", (1.2, 10.4), "count yes", "end", key="wn"),
                scene.word("write", (1.6, 10.4), "strong"),
                scene.word(f"{waiting}", (6.2, 10.4), "count against", "end", key="wm"),
                scene.word("wait for room", (6.6, 10.4), "strong"),
            ),
            scene.view(
                "o",
                15.4,
                11.2,
                f"{state.finished} of {len(JOB)} {are} done, {writing} write, {waiting} wait.",
                scene.word("twelve completions", (0, 0.55), "strong"),
                scene.word("prompt", (8.1, 0.55), "", "end"),
                scene.word("written", (10.6, 0.55), "followed", "end"),
                scene.word("to come", (13.2, 0.55), "", "end"),
                *wall.roster("q", state, JOB, (0, 0.95), 12.0, 0.86, "writes waits"),
            ),
        )
    ]


def done_by(way):
    """Share of the completions that are done at each moment."""
    return [pool_states.at(played(way)[1], step).finished / len(JOB) for step in range(0, LAST + 1, TICK)]


def who_writes(way, step):
    trace, states = played(way)
    state = pool_states.at(states, step)
    if state.finished == len(JOB):
        return f"All twelve are done after {trace.makespan:.0f} steps. At most {most_at_once(way)} wrote at once."
    _, filled = wall.taken_and_filled(state, SMALL_POOL, SLOTS)
    empty = f"{100 * (1 - filled):.0f} % of the taken slots are empty"
    return f"{empty[0].upper()}{empty[1:]}."


def most_at_once(way):
    return max(len(state.running) for state in played(way)[1])


OPENING = Figure(
    small_pool,
    scheduling.stream,
    Handle("Run", WAYS, start=1),
    who_writes,
    Time(
        "Step",
        tuple(range(0, LAST + 1, TICK)),
        tuple(f"step {step}" for step in range(0, LAST + 1, TICK)),
        start=4,
        ticks={i: str(TICK * i) for i in range(0, 25, 4)},
        strip=Strip(
            "Completions done, of twelve",
            lambda: [done_by(way) for way in WAYS],
            lambda way, step: f"{pool_states.at(played(way)[1], step).finished}",
        ),
        milliseconds=350,
        holds={0: 1200},
    ),
    stills=((0, 4),),
)


# ── a real pool: every way to hand out its blocks, on one clock ──
LARGE, COLUMNS = 200, 20  # blocks beside 32 billion weights on one H100, with 5.6 GB for activations: assumed
BIG, ASKED = MODELS["qwen2.5-32b"], 512  # tokens that a reservation is for
GROUPS = scheduling.requests_of(lognormal(160, 0.7, ASKED - 150), 6, 4, 112, np.random.default_rng(8))
HANDED = {  # words: (tokens reserved, whether blocks are found by what they hold)
    "room for the longest": (ASKED, False),
    "blocks": (None, False),
    "blocks, prompt shared": (None, True),
}
SECONDS = tuple(range(25))


@cache
def filled_up(way):
    reserve, prefix = HANDED[way]
    policy = scheduling.Policy(batch=16, chunk=0, reserve=reserve, prefix=prefix)
    return pool_states.recorded(GROUPS, scheduling.rates(BIG, H100), LARGE, SLOTS, policy)


def large_pool(way, second):
    states = filled_up(way)[1]
    state, lost = pool_states.at(states, second), pool_states.lost(states, max(second - 1, 0), second)
    taken, filled = wall.taken_and_filled(state, LARGE, SLOTS)
    waits = [s for s in state.waiting if s not in state.evicted]
    return [
        scene.scene(
            "A pool of 200 blocks, 24 completions of six prompts",
            "Qwen2.5-32B on one H100, 5.6 GB kept for activations; below a block its owner, ×4: four share it",
            scene.view(
                "w",
                20.2,
                18.2,
                f"After {second} s {taken} of {LARGE} blocks are taken, {100 * filled:.0f} % of it tokens.",
                scene.blocks("b", wall.cells(state, LARGE, SLOTS, lost), COLUMNS, (0.1, 0.1), (0.9, 0.75), (1.0, 1.5)),
                scene.word(f"{len(state.running)}", (1.2, 16.2), "count yes", "end", key="wn"),
                scene.word("write", (1.6, 16.2), "strong"),
                scene.word(f"wait: {names(waits)}", (5, 16.2), "strong", key="ww"),
                scene.word(f"evicted: {names(state.evicted)}", (5, 17.4), "strong", key="we"),
            ),
        )
    ]


def names(sequences):
    return " ".join(wall.NAMES[s] for s in sorted(sequences)) or "nobody"


def how_full(way, second):
    trace, states = filled_up(way)
    state = pool_states.at(states, second)
    if state.finished == len(GROUPS):
        at_once = scheduling.live_on_average(trace)
        return f"All 24 are done after {trace.makespan:.1f} s. On average, {at_once:.1f} wrote at once."
    lost = pool_states.lost(states, max(second - 1, 0), second)
    if lost:
        who, many = " and ".join(wall.NAMES[s] for s in sorted(lost)), len(lost) > 1
        framed = any(role == "lost" for role, *_ in wall.cells(state, LARGE, SLOTS, lost))
        free = ", of which the framed ones are still free" if framed else ""
        return (
            f"The pool was full, and {who} lost {'their' if many else 'its'} blocks{free}. Their tokens are computed "
            "again later."
        )
    _, filled = wall.taken_and_filled(state, LARGE, SLOTS)
    empty = f"{100 * (1 - filled):.0f} % of the taken slots are empty"
    many = len(state.running)
    return f"{many} {plural(many, 'completion writes', 'completions write')}, and {len(state.waiting)} wait. {empty}."


# ── what a token leaves behind ──
HEADS = (32, 16, 8, 4, 2, 1)
CALLED = {32: "32, one each", 8: "8, as shipped", 1: "1 for all"}


def with_heads(heads):
    return replace(LLAMA, cached_heads=heads)


def fitting(heads):
    return kv_cache.max_sequences(memory.capacity(with_heads(heads), H100), CONTEXT)


def token(heads):
    return [
        by_heads(
            heads,
            "One token in all layers",
            "kB of keys and values",
            lambda h: with_heads(h).kv_bytes_per_token() / 1000,
            "{:,.0f} kB",
            600,
        ),
        by_heads(heads, "Sequences that fit", f"of {CONTEXT:,} tokens, on one H100", fitting, "{:,}", 950),
    ]


def by_heads(heads, title, note, value, spelled, top):
    values = {h: value(h) for h in HEADS}
    at = HEADS.index(heads)
    return panel(
        title,
        note,
        bars(list(range(len(HEADS))), [0 if h == heads else v for h, v in values.items()], "other", 1, "free"),
        bars([at], [values[heads]], "chosen", 1),
        label(at, values[heads], spelled.format(values[heads]), 1, "center"),
        x="KV heads",
        x_range=(-0.6, len(HEADS) - 0.4),
        y_range=(0, top),
        ticks=dict(tickvals=list(range(len(HEADS))), ticktext=[str(h) for h in HEADS]),
        stacked=True,
    )


def room(heads):
    kilobytes = with_heads(heads).kv_bytes_per_token() / 1000
    return (
        f"A sequence of {CONTEXT:,} tokens takes {kilobytes * CONTEXT / 1e6:.2f} GB, and {fitting(heads):,} of them "
        "fit beside the weights."
    )


# ── why no batch helps a long context ──
CONTEXTS = (0, 128, 256, 384, 512, 1024, 2048, 4096, 16384)
BATCHES = 2.0 ** np.linspace(0, 13, 53)


@cache
def step(context):
    return throughput.iteration(LLAMA, H100, BATCHES, BATCHES * context, efficiency=PEAK)


def two_times(context):
    """What reading and what multiplying takes, and how much of the arithmetic is in use."""
    chosen = step(context)
    read, worked = 1000 * chosen.memory, 1000 * chosen.compute
    others = [c for c in CONTEXTS if c != context]
    return [
        panel(
            "Time of one step",
            "milliseconds at peak rates, log scales",
            line(BATCHES, read, "reading", 1),
            line(BATCHES, worked, "work", 2),
            label(1.3, float(read[0]) * 1.3, "reading", 1),
            label(30, 0.35, "work", 2, below=True),
            x="sequences at once",
            x_range=(1, 8192),
            y_range=(0.01, 10000),
            log="xy",
        ),
        panel(
            "Time in which the chip computes",
            "% of a step, at peak rates",
            *(line(BATCHES, computing(step(c)), f"{c:,} tokens", 8, "other") for c in others),
            line(BATCHES, computing(chosen), f"{context:,} tokens", 1),
            dots([BATCHES[-1]], [computing(chosen)[-1]], "largest batch", 1),
            x="sequences at once",
            x_range=(1, 8192),
            y_range=(0, 104),
            log="x",
        ),
    ]


def computing(iteration):
    """% of an iteration in which the chip computes."""
    return 100 * iteration.compute / iteration.seconds


def busy(context):
    ends = throughput.crossover(LLAMA, H100, efficiency=PEAK)
    if context == 0:
        met = BATCHES[np.argmax(step(0).compute >= step(0).memory)]
        return f"Without a cache, work takes longer than reading from about {round(met, -1):.0f} sequences on."
    limit = endless(LLAMA, context) / throughput.effective_ridge(H100, PEAK)
    if context < ends:
        return f"With {context:,} tokens each, a large enough batch keeps the chip busy."
    longer = f"With {context:,} tokens each, reading takes longer at every batch"
    return f"{longer}. The chip computes at most {100 * limit:.0f} % of the time."


# ── who gets which slot ──
MEDIAN, SIGMA, LONGEST, SHOWN = 1200, 0.8, 8192, 12
BLOCKS = (1, 16, 256, 1024, LONGEST)


@cache
def lengths():
    sampled = np.random.default_rng(33).lognormal(np.log(MEDIAN), SIGMA, SHOWN)
    return np.ceil(np.minimum(sampled, LONGEST))


def reserved(block):
    """Twelve completions as they end: slots with a token, and slots that nobody else may use."""
    slots = np.ceil(lengths() / block) * block
    names = list(range(1, SHOWN + 1))
    return [
        panel(
            "Twelve completions when they are done",
            f"slots with a token; hatched: reserved but empty; limit {LONGEST:,}",
            bars(names, lengths(), "with a token", 1),
            bars(names, slots - lengths(), "reserved and empty", 2, "waste"),
            x="completion",
            x_range=(0.4, SHOWN + 0.6),
            y_range=(0, 8600),
            ticks=dict(tickvals=names, ticktext=[str(n) for n in names]),
            stacked=True,
        )
    ]


def live(block):
    """Sequences that an H100 holds when each is as long as one of these lengths on average, and their filled share."""
    filled = kv_cache.fragmentation(lengths(), LONGEST, block)
    return filled, kv_cache.max_sequences(memory.capacity(LLAMA, H100), lengths().mean() / filled)


def handed_out(block):
    filled, fits = live(block)
    return (
        f"{100 * filled:.1f} % of the reserved slots hold a token, and an H100 has room for {fits:,} such completions."
    )


# ── one prompt, four completions ──
BLOCK, PROMPT, GROUP = 4, 10, "ABCD"
EVENTS = ("A reads the prompt", "B, C, D join", "B writes", "C and D write", "A writes", "all continue", "B is done")


@cache
def pool_after(events):
    """The allocator after the first so many events: (tables, references, free blocks, lengths)."""
    pool = kv_cache.BlockAllocator(16, BLOCK)
    done = [
        lambda: pool.append("A", PROMPT),
        lambda: [pool.fork("A", name, PROMPT) for name in "BCD"],
        lambda: pool.append("B", 1),
        lambda: [pool.append(name, 1) for name in "CD"],
        lambda: pool.append("A", 1),
        lambda: [pool.append(name, 3) for name in GROUP],
        lambda: pool.free("B"),
    ]
    for event in done[: events + 1]:
        event()
    return {name: tuple(table) for name, table in pool.tables.items()}, tuple(pool.references), pool.used, pool.tokens


def sharing(event):
    """Each sequence's table: the numbers of its blocks in the order of its tokens."""
    tables, references, _, _ = pool_after(event)
    rows = [
        [
            f"table of {name}",
            [
                cell(f"#{b}", "own" if references[b] == 1 else f"of {references[b]}", references[b] / len(GROUP))
                for b in tables.get(name, ())
            ]
            or [cell("–", "none", None)],
            "",
        ]
        for name in GROUP
    ]
    return [
        grid(
            rows,
            "One prompt of ten tokens, four completions",
            "blocks of four slots; “of 4”: the block is in four tables",
        )
    ]


def saved(event):
    _, _, used, tokens = pool_after(event)
    return f"{EVENTS[event]}. The sequences see {tokens} tokens, and {used} slots are taken."


# ── what moves the line ──
CHIPS = ("a100_80", "h100", "h200", "b200", "h20")
LENGTHS = 2.0 ** np.linspace(7, 17, 21)


def endless(model, context):
    """FLOP for each byte as the batch grows without end: the weights are read for all, a cache for one."""
    return throughput.decode_intensity(model, 1e12, 1e12 * context)


def intensity(key):
    """FLOP for each byte as the batch grows without limit, and the ridge of a chip."""
    chip = ACCELERATORS[key]
    ridge = throughput.effective_ridge(chip, PEAK)
    shapes = (
        ("MQA", with_heads(1), 3),
        ("GQA, 8 heads", LLAMA, 1),
        ("MHA", with_heads(32), 2),
        ("MLA", MODELS["deepseek-v3"], 4),
    )
    marks = [region(ridge, 1e5, axis="y")]
    for name, model, series in shapes:
        curve = endless(model, LENGTHS)
        marks += [
            line(LENGTHS, curve, name, series),
            label(LENGTHS[-1], float(curve[-1]), name, series, "right", below=name == "MHA"),
        ]
    marks.append(label(LENGTHS[-1], 3e4, "shaded: bound by compute, if the batch is large enough", 0, "right"))
    return [
        panel(
            "Work per byte if the batch has no limit",
            "FLOP per byte, log scales; Llama-3.1-8B by KV heads, MLA with the shapes of DeepSeek-V3",
            *marks,
            x="context, tokens",
            x_range=(128, 131072),
            y_range=(0.3, 1e5),
            log="xy",
        )
    ]


def ridge_of(key):
    chip = ACCELERATORS[key]
    peak, assumed = (throughput.crossover(LLAMA, chip, efficiency=e) for e in (PEAK, ASSUMED))
    return (
        f"{chip.name} does {throughput.effective_ridge(chip, PEAK):.0f} FLOP in the time of a byte. Llama-3.1-8B keeps "
        f"it busy up to {peak:,.0f} tokens, and at the assumed rates up to {assumed:,.0f}."
    )


FIGURES = {
    "opening": OPENING,
    "triangle": Figure(
        triangle,
        kv_cache.token_passes,
        Handle("Keys and values", (False, True), start=1, words=("thrown away", "kept")),
        passes,
    ),
    "token": Figure(
        token,
        memory.capacity,
        Handle("KV heads", HEADS, start=2, words=tuple(CALLED.get(h, str(h)) for h in HEADS)),
        room,
    ),
    "step": Figure(
        two_times,
        throughput.iteration,
        Handle("Tokens of each sequence", CONTEXTS, start=7, words=tuple(f"{c:,}" for c in CONTEXTS)),
        busy,
    ),
    "pool": Figure(
        large_pool,
        scheduling.stream,
        Handle("Way to hand out slots", tuple(HANDED), start=1, words=tuple(HANDED)),
        how_full,
        Time(
            "Time",
            SECONDS,
            tuple(f"{second} s" for second in SECONDS),
            start=4,
            ticks={second: str(second) for second in SECONDS[::4]},
            strip=Strip(
                "Completions done, of 24",
                lambda: [
                    [pool_states.at(filled_up(way)[1], second).finished / len(GROUPS) for second in SECONDS]
                    for way in HANDED
                ],
                lambda way, second: f"{pool_states.at(filled_up(way)[1], second).finished}",
            ),
            milliseconds=350,
        ),
        stills=((0, 4), (2, 4)),
    ),
    "reserved": Figure(
        reserved,
        kv_cache.fragmentation,
        Handle("Slots handed out at a time", BLOCKS, start=4, words=("1", "16", "256", "1,024", "the limit")),
        handed_out,
    ),
    "sharing": Figure(
        sharing,
        kv_cache.BlockAllocator.fork,
        Handle("After", tuple(range(len(EVENTS))), start=len(EVENTS) - 2, words=EVENTS),
        saved,
    ),
    "intensity": Figure(
        intensity,
        throughput.decode_intensity,
        Handle("Chip", CHIPS, start=1, words=tuple(ACCELERATORS[key].name.split(" ")[0] for key in CHIPS)),
        ridge_of,
    ),
}
