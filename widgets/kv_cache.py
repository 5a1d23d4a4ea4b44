"""How many sequences an accelerator's memory holds, what reading their caches costs, and what happens when they ask for
more.
"""

from dataclasses import dataclass, replace
from math import ceil, inf

import numpy as np

from sim.cluster import kv_cache
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS, Model
from widgets.frame.contract import Break, Readout, choice, ladder, slider, toggle
from widgets.frame.marks import bars, dots, heat, label, line, panel, region, threshold

TITLE = "Decoding speed and memory of one engine, by batch and context"

BYTES = {"bf16": 2, "fp8": 1}
WHOLE = "max length"  # no blocks: every sequence reserves the longest it may become
# assumed: of such a reservation a fifth is used, lengths lognormal
FILLED = kv_cache.expected_utilization(1200, 0.8, 8192)
SIGMA = 0.8
FOLLOWED = 16  # live sequences followed one by one; each stands for an equal part of the batch
CELLS = (16, 32)
BATCHES = 2.0 ** np.linspace(0, 12, 37)
CONTEXTS = 2.0 ** np.linspace(7, 17, 21)


@dataclass(frozen=True)
class Knobs:
    context: int = ladder("Context, on average", 4096, [2**n for n in range(7, 18)], symbol="S", unit="tokens")
    batch: int = ladder("Sequences at once", 64, [2**n for n in range(13)], symbol="B")
    kv_precision: str = choice("Keys and values in", "bf16", list(BYTES))
    block: str = choice("Memory handed out by", "16", ["1", "16", "64", "256", WHOLE])
    sharing: bool = toggle("Share the prompt within a group", False)
    model: str = choice("Model", "llama3.1-8b", list(MODELS))
    accelerator: str = choice("Accelerator", "h100", list(ACCELERATORS))
    tensor_parallel: int = ladder("GPUs that share the model", 1, [1, 2, 4, 8], symbol="TP")
    hbm_share: float = slider("Part of the memory the engine may fill", 0.9, low=0.3, high=0.95, step=0.05, symbol="u")
    weights: str = choice("Weights in", "bf16", list(BYTES))
    attention: str = choice("KV heads, what if", "as shipped", ["as shipped", "MHA", "GQA 8", "MQA"])
    prompt_share: float = slider("Prompt, part of the context", 0.25, low=0.05, high=0.95, step=0.05)
    group: int = ladder("Completions of one prompt", 8, [1, 2, 4, 8, 16], symbol="K")


LLAMA_2 = Knobs(model="llama2-7b", accelerator="a100_80", context=1024, block=WHOLE)
PRESETS = {
    "8B on H100": Knobs(),
    "Groups of 8": Knobs(context=8192, sharing=True, prompt_share=0.75),
    "70B on 8 H100": Knobs(model="llama3.1-70b", tensor_parallel=8, batch=256),
    "DeepSeek-V3": Knobs(model="deepseek-v3", accelerator="h200", tensor_parallel=8, weights="fp8", batch=128),
    "Llama-2, no paging": LLAMA_2,
    "Qwen3-30B-A3B": Knobs(model="qwen3-30b-a3b"),
}


@dataclass(frozen=True)
class Result:
    model: Model  # with the KV heads of the what-if
    capacity: int  # tokens
    tokens: float  # a sequence keeps, a shared prompt divided by those who share it
    slots: float  # a sequence takes
    fits: int  # sequences
    trace: kv_cache.Trace | None  # None where not even one fits
    reread: float  # tokens read again, part of all
    tokens_per_second: float
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


def run(k):
    model, accelerator = with_heads(k, k.attention), ACCELERATORS[k.accelerator]
    capacity = room(k, model)
    reservation = ceil(k.context / FILLED)
    block = reservation if k.block == WHOLE else int(k.block)
    K, prompt = k.group if k.sharing else 1, round(k.prompt_share * k.context)
    tokens = kv_cache.slots_per_sequence(k.context, 1, prompt // block * block, K)
    slots = reservation if k.block == WHOLE else kv_cache.slots_per_sequence(k.context, block, prompt, K)
    fits = kv_cache.max_sequences(capacity, slots)
    if not fits:
        yield Result(model, capacity, tokens, slots, 0, None, 0.0, 0.0, 0.0)
        return
    decode = kv_cache.decode_roofline(model, accelerator, min(k.batch, fits), k.context, **engine(k))
    trace, reread = followed(k, model, accelerator, capacity, slots, prompt, block, reservation)
    yield Result(
        model,
        capacity,
        tokens,
        slots,
        fits,
        trace,
        reread,
        float(decode.tokens_per_second) * (1 - trace.recompute_share),
        decode.kv_share,
    )


def followed(k, model, accelerator, capacity, slots, prompt, block, reservation):
    """A slice of the engine in which a dozen or so sequences live: same pressure, same blocks, same seconds."""
    stands_for = max(1, min(k.batch, capacity / slots) / FOLLOWED, capacity / slots / (4 * FOLLOWED))
    batch = max(1, round(k.batch / stands_for))
    completion = np.random.default_rng(0).lognormal(0, SIGMA, 3 * min(batch, FOLLOWED))
    # of a live completion on average: long ones live longer, and are half done
    live = (completion**2).mean() / completion.mean() / 2
    lengths = np.minimum(prompt + np.maximum(completion * (k.context - prompt) / live, 1), reservation)
    decode_seconds = lambda n, tokens: (
        kv_cache.decode_roofline(model, accelerator, n * stands_for, tokens / n, **engine(k)).seconds
    )
    prefill_seconds = kv_cache.decode_roofline(
        model, accelerator, stands_for, k.context / 2, **engine(k)
    ).compute_seconds
    trace = kv_cache.serve_trace(
        lengths,
        prompt,
        k.group,
        int(capacity / stands_for),
        max(block, k.context // 128),
        batch,
        decode_seconds,
        prefill_seconds,
        k.sharing,
        stride=max(1, k.context // 32 - 1),
    )
    return trace, trace.recomputed / lengths.sum()


def figure(k, r):
    return [speed(k, r), memory(k, r), pool_over_time(r), pool_map(r), unlimited_batch(k, r)]


def speed(k, r):
    accelerator = ACCELERATORS[k.accelerator]
    at = lambda context: kv_cache.decode_roofline(r.model, accelerator, BATCHES, context, **engine(k)).tokens_per_second
    cached, bare = at(k.context), at(0)
    held = max(r.fits, 1) >= BATCHES
    marks = [
        line(BATCHES[held], cached[held], f"{k.context:,} tokens each"),
        line(BATCHES, cached, "if it all fitted", role="exact"),
        line(BATCHES, bare, "no cache to read", 2),
        dots([k.batch], [max(r.tokens_per_second, 10)], "here", role="here"),
        label(4096, bare[-1], "no cache to read", 2, "right"),
        label(4096, cached[-1], f"{k.context:,} tokens each", 1, "right"),
    ]
    if r.fits < 4096:
        marks.append(threshold(max(r.fits, 1), f"full at {r.fits:,}", 4096, axis="x"))
    return panel(
        "Tokens a second, all sequences",
        "at peak rates, without launch overhead or communication; log–log",
        *marks,
        x="batch B",
        log="xy",
        x_range=[1, 4096],
        y_range=[10, 1e6],
        tab="Speed and memory",
        front=True,
    )


def memory(k, r):
    accelerator = ACCELERATORS[k.accelerator]
    a_gpu = r.model.kv_bytes_per_token(BYTES[k.kv_precision]) / r.model.kv_shards(k.tensor_parallel) / 1e9
    top, budget = 1.25 * accelerator.hbm_gb, k.hbm_share * accelerator.hbm_gb
    weights = r.model.params() * BYTES[k.weights] / k.tensor_parallel / 1e9
    keys, empty = k.batch * r.tokens * a_gpu, k.batch * (r.slots - r.tokens) * a_gpu
    parts = [
        ("weights", weights, 1, ""),
        ("cache", keys, 2, ""),
        ("empty", empty, 2, "waste"),
        ("free", max(budget - weights - keys - empty, 0), 1, "free"),
    ]
    marks, height = [], 0.0
    for name, size, series, role in parts:
        drawn = max(min(size, top - height), 0)  # what a batch asks for may be many times what there is
        words = f"{name} {size:,.1f} GB" if drawn > 0.06 * top else ""
        # the empty place is for the words at the line
        marks.append(bars(["asked for", ""], [drawn, 0], name, series, role, text=[words, ""]))
        height += drawn
    return panel(
        "Memory of one GPU",
        f"GB of {accelerator.hbm_gb:.0f}; dashed: what the engine may fill",
        *marks,
        threshold(budget, f"over {budget:.0f} GB", top),
        y_range=[0, top],
        tab="Speed and memory",
        stacked=True,
    )


def pool_over_time(r):
    if r.trace is None:
        return panel(
            "The pool while completions are generated",
            "no sequence fits",
            x="seconds",
            x_range=[0, 1],
            y_range=[0, 130],
            tab="Inside the pool",
        )
    t = r.trace
    percent, out, keep = 100 / t.slots, t.evictions > 0, slice(None, None, max(1, len(t.seconds) // 100))
    end = t.seconds[-1]
    marks = [
        line(t.seconds[keep], percent * t.used[keep], "handed out"),
        line(t.seconds[keep], percent * (t.used - t.wasted)[keep], "with a token in it", 2),
        dots(t.seconds[out], np.full(out.sum(), 122.0), "evictions", 3),
        threshold(100, "full: the newest is evicted", 130),
    ]
    return panel(
        "The pool while completions are generated",
        "per cent of its slots; diamonds: a moment at which sequences were evicted",
        *marks,
        label(end, 100, "handed out", 1, "right", below=True),
        label(end, 84, "with a token in it", 2, "right", below=True),
        x="seconds",
        x_range=[0, end],
        y_range=[0, 130],
        tab="Inside the pool",
    )


def pool_map(r):
    rows, columns = CELLS
    title = "The pool when it held most tokens"
    note = "a cell is a run of slots; from pale to dark: free, reserved and empty, filled, filled and shared"
    x, y = list(range(columns)), list(range(rows))
    if r.trace is None:
        return panel(
            title, note, heat(x, y, np.zeros(CELLS), low=0, high=3), x="slots, row by row", tab="Inside the pool"
        )
    references, fill = r.trace.references, r.trace.fill
    n = rows * columns
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


def unlimited_batch(k, r):
    accelerator, kv_bytes = ACCELERATORS[k.accelerator], BYTES[k.kv_precision]
    intensity = lambda model, context: kv_cache.unlimited_batch_intensity(model, context, k.tensor_parallel, kv_bytes)
    ridge, marks = kv_cache.engine_ridge(accelerator, BYTES[k.weights]), []
    others = {"MHA": (with_heads(k, "MHA"), 2), "MQA": (with_heads(k, "MQA"), 3), "MLA": (MODELS["deepseek-v3"], 4)}
    shown = {
        r.model.attention_kind.upper(): (r.model, 1),
        **{name: m for name, m in others.items() if m[0].attention_kind != r.model.attention_kind},
    }
    for name, (model, series) in shown.items():
        curve = intensity(model, CONTEXTS)
        marks += [
            line(CONTEXTS, curve, name, series),
            label(CONTEXTS[-1], curve[-1], name, series, "right", below=name == "MHA"),
        ]
    marks += [
        region(ridge, 1e5, axis="y"),
        label(CONTEXTS[-1], 3e4, f"above {ridge:.0f} a large enough batch is bound by compute", anchor="right"),
        dots([k.context], [intensity(r.model, float(k.context))], "here", role="here"),
    ]
    return panel(
        "Work done for each byte read, as the batch grows without limit",
        "FLOP per byte; log–log; MLA has the shapes of DeepSeek-V3",
        *marks,
        x="context S, tokens",
        log="xy",
        x_range=[128, 131072],
        y_range=[0.3, 1e5],
        tab="Unlimited batch",
    )


def readouts(k, r):
    over = "violated" if breaks(k, r) else ""
    crossover = kv_cache.crossover_with_attention(r.model, ACCELERATORS[k.accelerator], **engine(k))
    return [
        Readout(
            "Keys and values of one token",
            r.model.kv_bytes_per_token(BYTES[k.kv_precision]) / 1000,
            "kB",
            Model.kv_bytes_per_token,
        ),
        Readout("Sequences that fit", r.fits, "", kv_cache.max_sequences, over),
        Readout("Tokens a second, all of them together", r.tokens_per_second, "tokens/s", kv_cache.decode_roofline),
        Readout("Part of each read that is cache", 100 * r.kv_share, "%", kv_cache.decode_roofline),
        Readout("No batch is compute-bound above", crossover, "tokens", kv_cache.crossover_with_attention),
    ]


def watched(k, r):
    return Readout("slots_asked_for / slots_in_pool > 1", k.batch * r.slots / r.capacity if r.capacity > 0 else inf)


def breaks(k, r):
    return k.batch * r.slots > r.capacity


def broken(k, r):
    if not breaks(k, r):
        return None
    accelerator = ACCELERATORS[k.accelerator]
    if r.capacity <= 0:
        weights = r.model.params() * BYTES[k.weights] / k.tensor_parallel / 1e9
        budget = k.hbm_share * accelerator.hbm_gb
        by_gpus = {gpus: room(replace(k, tensor_parallel=gpus), r.model) for gpus in (2, 4, 8)}
        enough = [n for n, tokens in by_gpus.items() if tokens >= k.batch * r.slots]
        enough = enough or [n for n, tokens in by_gpus.items() if tokens > 0]
        return Break(
            f"The weights take {weights:.0f} GB of each GPU and the engine may fill {budget:.0f} GB: there is no "
            "room for a single key.",
            f"GPUs that share the model: {enough[0]}." if enough else "A smaller model, or weights in fp8.",
            "the weights fill the memory",
        )
    if not r.fits:
        return Break(
            f"One sequence takes {r.slots:,.0f} slots and the pool has {r.capacity:,}: the engine refuses to start.",
            "A smaller context S, or keys and values in fp8.",
            "one sequence exceeds the memory",
        )
    asked = (
        f"{k.batch * r.slots:,.0f} slots are asked of a pool of {r.capacity:,}, so about {r.fits:,} of "
        f"{k.batch:,} sequences run"
    )
    if k.block == WHOLE:
        return Break(
            f"{asked}, though {100 * (1 - r.tokens / r.slots):.0f} % of what is reserved holds nothing.",
            "Memory handed out by: 16.",
            "reserved memory holds nothing",
        )
    again = (
        f"; {100 * r.reread:.0f} % of all tokens are read a second time, after an eviction"
        if r.trace.evictions.any()
        else ""
    )
    return Break(
        f"Nothing crashed, but {asked}{again}.",
        f"Sequences at once: {2 ** (r.fits.bit_length() - 1):,}.",
        "more sequences than the memory holds",
    )
