"""How many sequences an accelerator's memory holds, what reading their caches costs, and what happens when more are
asked for than it holds, or more is reserved than they use.
"""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from sim.cluster import kv_cache
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS, Model
from widgets.frame.contract import Break, Gauge, Guess, Opening, Readout, choice, ladder, slider, toggle
from widgets.frame.marks import bars, dots, heat, label, line, panel, threshold

TITLE = "Decoding speed and memory of one engine, by batch and context"

BYTES = {"bf16": 2, "fp8": 1}
WHOLE = "max length"  # no blocks: every sequence reserves the longest it may become
# assumed: of such a reservation a fifth is used, lengths lognormal
FILLED = kv_cache.expected_utilization(1200, 0.8, 8192)
SIGMA = 0.8
FOLLOWED = 16  # live sequences followed one by one; each stands for an equal part of the batch
DRAWS = 8  # of their lengths, where sequences are evicted; the pictures show the first
LOST = 0.1  # of the speed that this memory gives in blocks of 16, to as many sequences as fit
CELLS = (16, 32)
BATCHES = 2.0 ** np.linspace(0, 12, 37)
TOP = 200.0  # per cent of a GPU's memory, the end of the axis


@dataclass(frozen=True)
class Knobs:
    context: int = ladder("Context, tokens", 4096, [2**n for n in range(7, 18)], symbol="S")
    batch: int = ladder("Sequences at once", 64, [2**n for n in range(13)], symbol="B")
    kv_precision: str = choice("Keys and values in", "bf16", list(BYTES))
    block: str = choice("Tokens reserved at a time", "16", ["1", "16", "64", "256", WHOLE])
    sharing: bool = toggle("Share the prompt within a group", False)
    model: str = choice("Model", "llama3.1-8b", list(MODELS))
    accelerator: str = choice("Accelerator", "h100", list(ACCELERATORS))
    tensor_parallel: int = ladder("GPUs that share the model", 1, [1, 2, 4, 8], symbol="TP")
    hbm_share: float = slider("Part of the memory the engine may fill", 0.9, low=0.3, high=0.95, step=0.05, symbol="u")
    weights: str = choice("Weights in", "bf16", list(BYTES))
    attention: str = choice("KV heads, what if", "as shipped", ["as shipped", "MHA", "GQA 8", "MQA"])
    prompt_share: float = slider("Prompt, part of the context", 0.25, low=0.05, high=0.95, step=0.05)
    group: int = ladder("Completions of one prompt", 8, [1, 2, 4, 8, 16], symbol="K")


PRESETS = {
    "8B on H100": Knobs(),
    "Short contexts": Knobs(context=256, batch=1024),
    "Groups of 8": Knobs(context=8192, sharing=True, prompt_share=0.75),
    "Room for the longest": Knobs(block=WHOLE),
    "1.5B in 30 % of a GPU": Knobs(model="qwen2.5-1.5b", context=256, batch=4096, hbm_share=0.3),
    "131k tokens in 30 %": Knobs(context=131072, batch=1, hbm_share=0.3),
}
GUESS = Guess(
    "256 sequences of 1,024 tokens, and the weights are read once for all of them. How much of its arithmetic does "
    "the chip use?",
    ("nearly all", "about half", "less than a third"),
    Knobs(context=1024, batch=256),
    2,
    lambda k, r: (
        f"It is {100 * used(k, r):.0f} %, and a batch without end would reach {100 * reachable(k, r):.0f} %: every "
        "further sequence brings its own cache to be read."
    ),
)


@dataclass(frozen=True)
class Result:
    model: Model  # with the KV heads of the what-if
    capacity: int  # tokens
    tokens: float  # a sequence keeps, a shared prompt divided by those who share it
    slots: float  # a sequence takes
    fits: int  # sequences; 0 where the engine refuses to start
    trace: kv_cache.Trace | None  # None where not even one fits
    written: np.ndarray  # (events of the trace,) tokens, all sequences together
    reread: float  # tokens read again, part of all, mean of the draws
    tokens_per_second: float
    in_blocks: float  # tokens a second of this memory in blocks of 16, and no more sequences than fit
    kv_share: float


def engine(k):
    return dict(tensor_parallel=k.tensor_parallel, weight_bytes=BYTES[k.weights], kv_bytes=BYTES[k.kv_precision])


def room(k, model):
    """Tokens whose keys and values fit beside the weights."""
    return kv_cache.capacity(model, ACCELERATORS[k.accelerator], hbm_share=k.hbm_share, **engine(k))


def with_heads(k, attention):
    model = MODELS[k.model]
    return replace(
        model, cached_heads={"as shipped": None, "MHA": model.heads, "GQA 8": min(8, model.heads), "MQA": 1}[attention]
    )


def divides(k, model):
    """Query heads are dealt out evenly; an engine refuses a number of GPUs by which they cannot be."""
    return model.heads % k.tensor_parallel == 0


def prompt_of(k):
    return round(k.prompt_share * k.context)


def holds_at_once(k, model, block):
    """(sequences that fit, slots that one takes on average) if memory is handed out by `block`."""
    reservation, K = ceil(k.context / FILLED), min(k.group, k.batch) if k.sharing else 1
    if block == WHOLE:
        own, shared = reservation, 0  # a prompt is no block of its own
    else:
        shared = prompt_of(k) // int(block) * int(block) if K > 1 else 0
        own = kv_cache.slots_per_sequence(k.context, int(block), prompt_of(k), K) - shared / K
    fits = kv_cache.max_in_groups(room(k, model), own, shared, K) if divides(k, model) else 0
    return fits, own + shared / K


def run(k):
    model, accelerator = with_heads(k, k.attention), ACCELERATORS[k.accelerator]
    capacity = room(k, model)
    reservation = ceil(k.context / FILLED)
    block = reservation if k.block == WHOLE else int(k.block)
    K, prompt = min(k.group, k.batch) if k.sharing else 1, prompt_of(k)
    tokens = kv_cache.slots_per_sequence(k.context, 1, prompt // block * block, K)
    fits, slots = holds_at_once(k, model, k.block)
    in_blocks = speed_of(k, model, accelerator, holds_at_once(k, model, "16")[0])
    if not fits:
        yield Result(model, capacity, tokens, slots, 0, None, np.zeros(0), 0.0, 0.0, in_blocks, 0.0)
        return
    decode = kv_cache.decode_roofline(model, accelerator, min(k.batch, fits), k.context, **engine(k))
    draws = [
        followed(k, model, accelerator, capacity, slots, prompt, block, reservation, seed)
        for seed in range(DRAWS if k.batch > fits else 1)
    ]
    yield Result(
        model,
        capacity,
        tokens,
        slots,
        fits,
        draws[0][0],
        draws[0][1],
        float(np.mean([reread for _, _, reread in draws])),
        float(decode.tokens_per_second) * (1 - float(np.mean([trace.recompute_share for trace, _, _ in draws]))),
        in_blocks,
        decode.kv_share,
    )


def speed_of(k, model, accelerator, fits):
    """Tokens a second while min(B, fits) sequences run and none is read again."""
    if not fits:
        return 0.0
    return float(
        kv_cache.decode_roofline(model, accelerator, min(k.batch, fits), k.context, **engine(k)).tokens_per_second
    )


def followed(k, model, accelerator, capacity, slots, prompt, block, reservation, seed):
    """A slice of the engine in which a dozen or so sequences live: same pressure, same blocks, same seconds."""
    stands_for = max(1, min(k.batch, capacity / slots) / FOLLOWED, capacity / slots / (4 * FOLLOWED))
    batch = max(1, round(k.batch / stands_for))
    completion = np.random.default_rng(seed).lognormal(0, SIGMA, 3 * min(batch, FOLLOWED))
    # of a live completion on average: long ones live longer, and are half done
    live = (completion**2).mean() / completion.mean() / 2
    lengths = np.minimum(prompt + np.maximum(completion * (k.context - prompt) / live, 1), reservation)
    decode_seconds = lambda n, tokens: (
        kv_cache.decode_roofline(model, accelerator, n * stands_for, tokens / n, **engine(k)).seconds
    )
    prefill_seconds = kv_cache.decode_roofline(
        model, accelerator, stands_for, k.context / 2, **engine(k)
    ).compute_seconds
    stride = max(1, k.context // 32 - 1)
    trace = kv_cache.serve_trace(
        lengths,
        prompt,
        k.group,
        max(int(capacity / stands_for), (prompt // block + 2) * block),  # a slice holds a whole prompt too
        max(block, k.context // 128),
        batch,
        decode_seconds,
        prefill_seconds,
        k.sharing,
        stride=stride,
    )
    written = np.cumsum(trace.live) * stride * stands_for
    return trace, written, trace.recomputed / lengths.sum()


def decode(k, r, batch, context):
    return kv_cache.decode_roofline(r.model, ACCELERATORS[k.accelerator], batch, context, **engine(k))


def used(k, r):
    """Share of the chip's arithmetic that this batch keeps busy."""
    at = decode(k, r, min(k.batch, r.fits), k.context)
    return float(at.compute_seconds / at.seconds)


def reachable(k, r):
    """The same of a batch without end, if memory had no end either."""
    intensity = kv_cache.unlimited_batch_intensity(r.model, k.context, k.tensor_parallel, BYTES[k.kv_precision])
    return min(1.0, intensity / kv_cache.engine_ridge(ACCELERATORS[k.accelerator], BYTES[k.weights]))


def runs(k, r):
    return min(k.batch, r.fits)


def lost(k, r):
    """Part of the speed that this memory would give in blocks of 16, and no more sequences asked for than fit."""
    if not r.fits:
        return 1.0
    return max(0.0, 1 - r.tokens_per_second / r.in_blocks) if r.in_blocks else 0.0


def figure(k, r):
    return [speed(k, r), memory(k, r), pool_over_time(r), pool_map(r)]


def speed(k, r):
    cached, bare = (decode(k, r, BATCHES, context).tokens_per_second for context in (k.context, 0))
    held = max(r.fits, 1) >= BATCHES
    marks = [
        line(BATCHES[held], cached[held], f"{k.context:,} tokens each"),
        line(BATCHES, cached, "if it all fitted", role="exact"),
        line(BATCHES, bare, "no cache to read", 2),
    ]
    if r.fits and lost(k, r) > LOST:
        marks += [
            line([k.batch, k.batch], [r.in_blocks, r.tokens_per_second], "lost", 1),
            label(k.batch, 1.6 * r.in_blocks, f"−{100 * lost(k, r):.0f} %", 0, "right" if k.batch > 999 else "center"),
        ]
    marks += [
        dots([k.batch], [max(r.tokens_per_second, 10)], "here", role="here"),
        label(32, bare[15], "no cache to read", 2, "right"),
        label(6, cached[9], f"{k.context:,} tokens each", 1, below=True),
    ]
    if r.fits < 4096:
        words = f"full at {r.fits:,}"
        marks.append(threshold(max(r.fits, 1), words, 4096, axis="x", outside=r.fits >= 400))
    return panel(
        "Tokens a second, all sequences",
        "at peak rates, without overhead; log scales",
        *marks,
        x="sequences at once, B",
        log="xy",
        x_range=[1, 4096],
        y_range=[10, 1e6],
        tab="Speed and memory",
        front=True,
    )


def memory(k, r):
    """What the engine holds beside what was asked of it; a bar that passes the axis says by how much."""
    gpu = ACCELERATORS[k.accelerator].hbm_gb
    percent = 100 / gpu
    a_gpu = r.model.kv_bytes_per_token(BYTES[k.kv_precision]) / r.model.kv_shards(k.tensor_parallel) / 1e9
    weights, budget = r.model.params() * BYTES[k.weights] / k.tensor_parallel / 1e9, k.hbm_share * gpu
    keys, empty = (np.array([runs(k, r), k.batch]) * n * a_gpu for n in (r.tokens, r.slots - r.tokens))
    free = np.array([max(budget - weights - keys[0] - empty[0], 0), 0])
    parts = [
        ("weights", np.array([weights, weights]), 1, ""),
        ("cache", keys, 2, ""),
        ("empty", empty, 2, "waste"),
        ("free", free, 1, "free"),
    ]
    marks, foot, named = [], np.zeros(2), []
    for name, size, series, role in parts:
        drawn = np.clip(percent * size, 0, TOP - foot)
        marks.append(bars([0, 1], drawn, name, series, role))
        if percent * size[1] > (3 if role else 0.3):
            cut = "↑ " if percent * size[1] > drawn[1] + 1e-9 else ""
            named.append((foot[1] + drawn[1] / 2 - 8, f"{cut}{name} {size[1]:,.0f} GB", series))
        foot = foot + drawn
    for y, (_, words, series) in zip(apart([y for y, _, _ in named]), named):
        marks.append(label(1.45, y, words, series))
    return panel(
        "Memory of one GPU",
        f"% of {gpu:.0f} GB; the engine may fill {budget:.0f}",
        *marks,
        threshold(percent * budget, "", TOP),
        x="dashed: all that it may fill",
        x_range=[-0.5, 3.1],
        y_range=[0, TOP],
        tab="Speed and memory",
        stacked=True,
        ticks=dict(tickvals=[0, 1], ticktext=["in use", "asked for"]),
    )


def apart(heights, gap=20.0):
    """Heights of words from the ground up, moved so that each has room within the axis."""
    placed, y = [], -gap
    for height in heights:
        y = max(height, y + gap)
        placed.append(y)
    highest = TOP - gap * np.arange(len(placed), 0, -1)
    return np.minimum(placed, highest).tolist()


def pool_over_time(r):
    marks = [threshold(100, "full", 130)]
    if r.trace is not None:
        t = r.trace
        percent, out, keep = 100 / t.slots, t.evictions > 0, slice(None, None, max(1, len(t.seconds) // 100))
        part = 100 * t.seconds / t.seconds[-1]
        marks = [
            line(part[keep], percent * t.used[keep], "handed out"),
            line(part[keep], percent * (t.used - t.wasted)[keep], "with a token in it", 2),
            dots(part[out], np.full(out.sum(), 122.0), "evictions", 3),
            *marks,
            label(62, float(np.interp(62, part, percent * t.used)), "handed out", 1),
            label(30, float(np.interp(30, part, percent * (t.used - t.wasted))), "with a token in it", 2, below=True),
        ]
    return panel(
        "The pool while completions are written",
        "% of its slots; diamonds: sequences evicted" if r.trace else "no sequence fits",
        *marks,
        x="% of the run",
        x_range=[0, 100],
        y_range=[0, 130],
        tab="Inside the pool",
    )


def pool_map(r):
    rows, columns = CELLS
    title = "The pool when it held most tokens"
    note = "pale to dark: free, empty, filled, shared"
    x, y, n = list(range(columns)), list(range(rows)), rows * columns
    cells = np.zeros(n)
    if r.trace is not None:
        references, fill = r.trace.references, r.trace.fill
        inside = (np.arange(n) + 0.5) * len(references) / n  # the middle of each cell, in blocks
        held, part = references[inside.astype(np.int64)], fill[inside.astype(np.int64)]
        token = inside % 1 < part if len(references) < n else part > 0.5
        cells = np.where(held == 0, 0, np.where(~token, 1, np.where(held == 1, 2, 3)))
    return panel(
        title,
        note,
        heat(x, y, cells.reshape(CELLS).astype(float), low=0, high=3),
        x="slots, row by row",
        tab="Inside the pool",
    )


def readouts(k, r):
    found = broken(k, r)
    state = lambda cause: "violated" if found and found.cause in cause else ""
    crossover = kv_cache.crossover_with_attention(r.model, ACCELERATORS[k.accelerator], **engine(k))
    return [
        Readout(
            "Keys and values of one token",
            r.model.kv_bytes_per_token(BYTES[k.kv_precision]) / 1000,
            "kB",
            Model.kv_bytes_per_token,
        ),
        Readout(
            "Run at once, of those asked for",
            f"{runs(k, r):,} of {k.batch:,}",
            "",
            kv_cache.max_in_groups,
            state((REFUSED, RESERVED)),
        ),
        Readout(
            "Tokens a second, all of them together",
            r.tokens_per_second,
            "tokens/s",
            kv_cache.decode_roofline,
            state((RESERVED, REREAD)),
        ),
        Readout("Part of each read that is cache", 100 * r.kv_share, "%", kv_cache.decode_roofline),
        Readout("Compute-bound at most up to", crossover, "tokens", kv_cache.crossover_with_attention),
    ]


def watched(k, r):
    return Gauge(
        "Speed lost",
        100 * lost(k, r),
        100 * LOST,
        "%",
        high=50.0,
        expression="1 - tokens_per_second / in_blocks_of_16 > 0.1",
    )


RESERVED = "room reserved and never used"
REREAD = "evicted sequences are computed again"
REFUSED = "the engine cannot start"


def broken(k, r):
    if not r.fits:
        return Break(refusal(k, r), way_back(k), REFUSED)
    if lost(k, r) <= LOST:
        return None
    slower = f"{100 * lost(k, r):.0f} % slower than this memory allows"
    if speed_of(k, r.model, ACCELERATORS[k.accelerator], r.fits) < (1 - LOST) * r.in_blocks:
        return Break(
            f"{runs(k, r):,} of {k.batch:,} run, {slower}: {100 * (1 - r.tokens / r.slots):.0f} % of what is reserved "
            "holds nothing.",
            way_back(replace(k, block="16"), "Tokens reserved at a time: 16"),
            RESERVED,
        )
    return Break(
        f"{runs(k, r):,} of {k.batch:,} run, {slower}: for 100 tokens {100 * r.reread:.0f} are computed again after an "
        "eviction.",
        way_back(k),
        REREAD,
    )


def worse(k, r):
    """More is asked for than fits, and little speed is lost: a known text is read many tokens at once."""
    if not r.fits or k.batch <= r.fits:
        return None
    again = f"; for 100 tokens {100 * r.reread:.0f} are computed again after an eviction" if r.reread else ""
    return (
        f"{runs(k, r):,} of {k.batch:,} run: the memory holds no more at this context{again}. That costs "
        f"{100 * lost(k, r):.0f} % of the speed."
    )


def holds(k, r):
    busy, all_fit = used(k, r), f"All {k.batch:,} fit" if k.batch > 1 else "It fits"
    if busy > 0.999:
        return f"{all_fit}, and the chip computes without a pause: it reads while it works."
    return f"{all_fit}. The chip uses {100 * busy:.0f} % of its arithmetic and waits for memory the rest."


def refusal(k, r):
    if not divides(k, r.model):
        return (
            f"{r.model.heads} query heads cannot be dealt out to {k.tensor_parallel} GPUs: the engine refuses to start."
        )
    if r.capacity <= 0:
        weights = r.model.params() * BYTES[k.weights] / k.tensor_parallel / 1e9
        budget = k.hbm_share * ACCELERATORS[k.accelerator].hbm_gb
        return (
            f"The weights take {weights:.0f} GB of each GPU and the engine may fill {budget:.0f} GB: there is no room "
            "for a single key."
        )
    _, whole = holds_at_once(replace(k, batch=1), r.model, k.block)
    return f"One sequence takes {whole:,.0f} slots and the pool has {r.capacity:,}: the engine refuses to start."


# what an engineer would try, in this order, where not even one sequence fits
TRIED = [
    dict(block="16"),
    dict(hbm_share=0.9),
    dict(kv_precision="fp8"),
    *(dict(tensor_parallel=n) for n in (1, 2, 4, 8)),
    dict(weights="fp8", tensor_parallel=8),
    dict(weights="fp8", tensor_parallel=8, hbm_share=0.95),
    dict(context=4096),
    dict(context=4096, block="16", hbm_share=0.9),
    dict(model="llama3.1-8b", context=4096, block="16", hbm_share=0.9, tensor_parallel=1),
]


def way_back(k, *done):
    """As many sequences at once as fit; where none does, first the least of TRIED that makes room for all, or for
    some.
    """
    tried = [(change, fitting(replace(k, **change))) for change in ([{}] if fitting(k) else TRIED)]
    change, fits = next((found for found in tried if found[1] >= k.batch), None) or next(
        found for found in tried if found[1]
    )
    turned = {name: value for name, value in change.items() if value != getattr(k, name)}
    if fits < k.batch:
        turned["batch"] = 2 ** (fits.bit_length() - 1)
    written = lambda value: f"{value:,}" if isinstance(value, int) else value
    steps = [
        f"{Knobs.__dataclass_fields__[name].metadata['label']}: {written(value)}" for name, value in turned.items()
    ]
    return ", ".join([*done, *steps]) + "."


def fitting(k):
    return holds_at_once(k, with_heads(k, k.attention), k.block)[0]


def two_engines(plain, other):
    """Tokens written while both have requests waiting, and how much of the memory is handed out and in use."""
    end = min(r.trace.seconds[r.trace.live == r.trace.live.max()][-1] for r in (plain, other))
    left, right, at = [], [threshold(100, "full", 120)], 0.9 * end
    for r, name, series, role in ((plain, "one setting", 8, "reference"), (other, "the other", 1, "")):
        t, seen = r.trace, r.trace.seconds <= end
        written = np.append(0, r.written) / 1000
        seconds, handed_out = np.append(0, t.seconds), 100 * t.used / t.slots
        left += [
            line(seconds[: seen.sum() + 1], written[: seen.sum() + 1], name, series, role),
            label(at, float(np.interp(at, seconds, written)), name, series, "right", below=r is other),
        ]
        right.append(line(t.seconds[seen], handed_out[seen], name, series, role))
    t, seen = other.trace, other.trace.seconds <= end
    filled = 100 * (t.used - t.wasted) / t.slots
    right += [
        line(t.seconds[seen], filled[seen], "of it with a token", 2),
        label(at, float(np.interp(at, t.seconds, filled)), "of it with a token in it", 2, "right"),
        label(at, 97, "the other: handed out", 1, "right", below=True),
    ]
    return [
        panel(
            "Tokens written",
            "thousands, all sequences, one model on one GPU",
            *left,
            x="seconds",
            x_range=[0, end],
            y_range=[0, 1.05 * written_most(plain, end)],
        ),
        panel(
            "Memory for the sequences", "% of what there is", *right, x="seconds", x_range=[0, end], y_range=[0, 120]
        ),
    ]


def written_most(r, end):
    return float(np.interp(end, r.trace.seconds, r.written)) / 1000


OPENING = Opening(Knobs(), Knobs(block=WHOLE), two_engines, kv_cache.serve_trace)
