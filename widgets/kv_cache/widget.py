"""How many sequences an accelerator's memory holds, what reading their caches costs, and what happens when more are
asked for than it holds, or more is reserved than they use.
"""

from dataclasses import dataclass, field, replace
from math import ceil, exp

import numpy as np

from sim.cluster import kv_cache, memory, scheduling, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import Engine, Misfit
from sim.cluster.models import MODELS, Model
from sim.cluster.throughput import PEAK
from sim.words import plural
from widgets.frame.contract import impossible_job, machine_knobs, recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import bars, dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "Decoding speed and memory of one engine, by batch and context"

BYTES = {"bf16": 2, "fp8": 1}
WHOLE = "max length"  # no blocks: every sequence reserves the longest it may become
# assumed: of such a reservation a fifth is used, lengths lognormal
FILLED = kv_cache.expected_utilization(1200, 0.8, 8192)
SIGMA = 0.8
FOLLOWED = 16  # live sequences followed one by one; each stands for an equal part of the batch
DRAWS = 2  # of their lengths, where sequences are evicted; the pictures show the first
ROUNDS = 3  # completions of the job, as a multiple of those asked for at once
FEW_END = 0.2  # sequences that end in one step: with more, the sixteen followed over-count evictions
LOST = 0.1  # of the speed that this memory gives in blocks of 16, to as many sequences as fit
CELLS = (8, 25)  # rows and columns of the wall
WASTED = 50  # per cent of what is taken, empty while somebody waits: the picture says so
BATCHES = 2.0 ** np.linspace(0, 12, 37)
TOP = 200.0  # per cent of a GPU's memory, the end of the axis
HEADS = ["as shipped", "MHA", "GQA 8", "MQA"]
RULES = {"vLLM": "vllm", "SGLang": "sglang"}


@dataclass(frozen=True)
class Own:
    context: int = ladder("Context, tokens", 4096, [2**n for n in range(7, 18)], symbol="S")
    batch: int = ladder("Sequences at once", 64, [2**n for n in range(13)], symbol="B")
    kv_precision: str = choice("Precision of keys and values", "bf16", list(BYTES))
    block: str = choice("Tokens reserved at a time", "16", ["1", "16", "64", "256", WHOLE])
    sharing: bool = toggle("Share prompts within a group", False)
    model: str = choice("Model", "llama3.1-8b", list(MODELS))
    accelerator: str = choice("Accelerator", "h100", list(ACCELERATORS))
    tensor_parallel: int = ladder("GPUs that share the model", 1, [2**n for n in range(7)], symbol="TP")
    dcp: int = ladder("Parts of each sequence", 1, [1, 2, 4, 8, 16], symbol="DCP")
    hbm_share: float = slider("Memory fraction for the engine", 0.9, low=0.3, high=0.98, step=0.01, symbol="u")
    extra: float = slider("Memory for activations and graphs", 0.0, low=0, high=20, step=0.5, unit="GB")
    rule: str = choice("Engine whose memory rule applies", "vLLM", list(RULES))
    weights: str = choice("Precision of weights", "bf16", list(BYTES))
    attention: str = choice("Design of KV heads", "as shipped", HEADS)
    prompt_share: float = slider("Prompt as fraction of context", 0.25, low=0.05, high=0.95, step=0.05)
    group: int = ladder("Completions per prompt", 8, [1, 2, 4, 8, 16], symbol="K")


@dataclass(frozen=True)
class Knobs(machine_knobs.Assumed, Own):
    config: str = machine_knobs.config()
    chip: str = machine_knobs.chip()
    timed: str = machine_knobs.timed()


LEAD = ("batch", "block")
KNOB_GROUPS = {
    "The cache": ("context", "kv_precision", "sharing", "group", "prompt_share"),
    "Model and chip": ("model", "accelerator", "weights", "attention"),
    "Split over GPUs": ("tensor_parallel", "dcp"),
    "Memory of the engine": ("hbm_share", "extra", "rule"),
    "Assumed": ("bandwidth", "flops", "overhead"),
}
PRESETS = {
    "8B on H100": Knobs(),
    "Short contexts": Knobs(context=256, batch=1024),
    "Groups of 8": Knobs(context=8192, sharing=True, prompt_share=0.75, extra=2.0),
    "Room for the longest": Knobs(block=WHOLE),
    "Twice what an H20 holds": Knobs(accelerator="h20", context=2048, batch=512),
    "131k tokens in 30 %": Knobs(context=131072, batch=1, hbm_share=0.3),
}
GUESS = Guess(
    "256 sequences of 1,024 tokens share one reading of the weights. How much of the time does the chip compute?",
    ("nearly all", "two thirds", "a third"),
    Knobs(context=1024, batch=256),
    2,
    lambda k, r: (
        f"It is {100 * used(k, r):.0f} %, and no batch reaches more than {100 * reachable(k, r):.0f} %, because each "
        "sequence has its own cache."
    ),
)


@dataclass(frozen=True)
class Result:
    model: Model  # with the KV heads of the what-if
    misfits: list  # what of the setting is impossible; then nothing runs
    tokens: float = 0.0  # slots of a sequence that hold one, a shared prompt divided by those who share it
    slots: float = 0.0  # that a sequence takes
    fits: int = 0  # sequences
    trace: scheduling.Trace | None = None
    written: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (events,) tokens, all sequences together
    pool: int = 0  # slots of the engine that is followed
    cells: tuple | None = None  # (references, fill) of its blocks when they held most
    reread: float | None = 0.0  # tokens read again, part of all, mean of the draws; None: not followed
    tokens_per_second: float = 0.0
    in_blocks: float = 0.0  # tokens a second of this memory in blocks of 16, and no more sequences than fit


def engine(k):
    return Engine(
        tensor_parallel=k.tensor_parallel,
        context_parallel=k.dcp,
        hbm_share=k.hbm_share,
        weight_bytes=BYTES[k.weights],
        kv_bytes=BYTES[k.kv_precision],
        extra_bytes=1e9 * k.extra,
        rule=RULES[k.rule],
    )


def with_heads(k):
    """The model with as many cached heads as the what-if says, its weights unchanged."""
    model = machine_knobs.model(k)
    heads = {"as shipped": None, "MHA": model.heads, "GQA 8": 8, "MQA": 1}[k.attention]
    return replace(model, cached_heads=heads)


def no_such_heads(k, model):
    """Whether the model cannot have the heads of the what-if."""
    shipped = machine_knobs.model(k)
    return k.attention != "as shipped" and bool(shipped.mla or shipped.heads % model.cached_heads)


def misfits(k, model):
    if no_such_heads(k, model):
        shipped = machine_knobs.model(k)
        has = "caches one latent, and no heads" if shipped.mla else f"has {shipped.heads} heads, not a multiple of 8"
        return [Misfit(f"{k.attention} in {shipped.name}, which {has}", 1, 0.1, "Use the heads as shipped.", "layout")]
    alone = replace(engine(k), longest=reservation(k) if k.block == WHOLE else k.context)
    chip = machine_knobs.accelerator(k)
    impossible = memory.fits(model, chip, alone)  # a timing is asked only of an engine that can exist
    return impossible or memory.fits(model, chip, alone, efficiency=machine_knobs.efficiency(k, engine(k)))


def prompt_of(k):
    return round(k.prompt_share * k.context)


def reservation(k):
    return ceil(k.context / FILLED)


def slots_alone(k, block):
    """Slots of a sequence that shares with nobody."""
    return reservation(k) if block == WHOLE else kv_cache.slots_per_sequence(k.context, int(block))


def shared_slots(k, block):
    """(slots of the prompt that a group shares, completions of the group that run)."""
    K = min(k.group, k.batch) if k.sharing else 1
    return (0 if block == WHOLE or K == 1 else prompt_of(k) // int(block) * int(block)), K


def holds_at_once(k, model, block):
    """Sequences that fit if memory is handed out by `block`, counted in bytes: a layer with a window keeps no more than
    that, a state has one size.
    """
    shared, K = shared_slots(k, block)
    sequence_bytes = memory.cache_bytes(model, slots_alone(k, block), engine(k))
    # assumed: only layers that keep every token share a prompt
    part = shared * model.kv_bytes_per_token(BYTES[k.kv_precision]) / model.kv_shards(k.tensor_parallel, k.dcp)
    room = memory.engine_room(model, machine_knobs.accelerator(k), engine(k))
    return kv_cache.max_in_groups(room, sequence_bytes - part, part, K)


def idle(k):
    return {} if k.sharing else dict(group="no prompt is shared")


def run(k):
    model = with_heads(k)
    if impossible := misfits(k, model):
        yield Result(model, impossible)
        return
    shared, K = shared_slots(k, k.block)
    apart_by = shared - shared / K  # slots that sharing saves each
    fits = max(holds_at_once(k, model, k.block), 1)  # one fits, if not with half a block more
    ending = fits / mean_completion(k)
    draws = [followed(k, model, fits, seed) for seed in range(DRAWS if fits < k.batch and ending <= FEW_END else 1)]
    counted = k.batch <= fits or ending <= FEW_END
    lost = float(np.mean([draw.lost for draw in draws])) if counted else 0.0
    yield Result(
        model,
        [],
        k.context - apart_by,
        slots_alone(k, k.block) - apart_by,
        fits,
        draws[0].trace,
        draws[0].trace.written * draws[0].stands_for,
        draws[0].pool,
        draws[0].cells,
        float(np.mean([draw.trace.read_again for draw in draws])) if counted else None,
        speed_of(k, model, fits) * (1 - lost),
        speed_of(k, model, max(holds_at_once(k, model, "16"), 1)),
    )


def decode(k, model, batch, context=None, efficiency=None):
    """An iteration in which each of `batch` sequences gets a token; numbers or arrays."""
    context = k.context if context is None else context
    return throughput.iteration(
        model,
        machine_knobs.accelerator(k),
        batch,
        batch * float(context),
        efficiency=efficiency or machine_knobs.efficiency(k, engine(k)),
        **engine(k).split,
    )


def speed_of(k, model, fits):
    """Tokens a second while min(B, fits) sequences run and none is read again."""
    batch = min(k.batch, fits)
    return float(batch / decode(k, model, batch).seconds)


def mean_completion(k):
    """Tokens, of lognormal lengths whose live completions have what the context leaves: long ones live longer, and are
    half done on average, E[l²] / 2 E[l] = mean · exp(σ²) / 2.
    """
    return 2 * (k.context - prompt_of(k)) / exp(SIGMA**2)


@dataclass(frozen=True)
class Followed:
    """A slice of the engine in which a dozen or so sequences live: same pressure, same blocks, same seconds."""

    trace: scheduling.Trace
    stands_for: float  # sequences, each of those that are followed
    lost: float  # part of the time in which tokens are read again
    pool: int  # slots
    cells: tuple


def followed(k, model, fits, seed):
    stands_for = max(1, min(k.batch, fits) / FOLLOWED, fits / (4 * FOLLOWED))
    batch = max(1, min(round(k.batch / stands_for), 3 * FOLLOWED))
    prompt, longest = prompt_of(k), reservation(k)
    block = longest if k.block == WHOLE else max(int(k.block), k.context // 32)
    slots = slots_alone(k, k.block) if k.block == WHOLE else kv_cache.slots_per_sequence(k.context, block)
    # the slice has coarser blocks than the engine, and room for what they waste
    blocks = max(int(fits / stands_for * slots / block), -(-(prompt + 1) // block) + 1)
    completion = np.random.default_rng(seed).lognormal(0, SIGMA, ROUNDS * batch)
    live = (completion**2).mean() / completion.mean() / 2  # of one that is being written, on average
    longest = min(longest, blocks * block)
    lengths = np.minimum(prompt + np.maximum(np.ceil(completion * (k.context - prompt) / live), 1), longest)
    groups = np.arange(len(lengths)) // (k.group if k.sharing else 1)
    requests = [scheduling.Request(prompt, int(n) - prompt, int(group)) for n, group in zip(lengths, groups)]
    pool, fullest, cells = kv_cache.BlockAllocator(blocks, block), -1, None

    def watch(engine, _):
        nonlocal fullest, cells
        tokens = engine.known[engine.running].sum() - pool.saved
        if tokens > fullest:
            fullest, cells = tokens, filled_blocks(engine)

    def seconds(n, kv_tokens, prefill=0, prefill_context=0):
        many = (stands_for * n, stands_for * kv_tokens, stands_for * prefill, prefill_context)
        return throughput.iteration_seconds(
            model,
            machine_knobs.accelerator(k),
            *many,
            efficiency=machine_knobs.efficiency(k, engine(k)),
            **engine(k).split,
        )

    # prompts in iterations of their own: reading again then costs all its seconds, and hides behind no decoding
    policy = scheduling.Policy(batch=batch, chunk=0)
    *_, trace = scheduling.stream(requests, seconds, pool, policy, every=np.inf, watch=watch)
    read = stands_for * trace.read_again * lengths.sum()
    return Followed(trace, stands_for, float(read * reading_seconds(k, model) / trace.makespan), blocks * block, cells)


def filled_blocks(engine):
    """(references, fill), a number for each block: how many tables hold it, the share of its slots with a token."""
    pool, fill = engine.pool, np.zeros(engine.pool.n_blocks)
    for s in engine.running:
        for place, number in enumerate(pool.tables[s]):
            fill[number] = max(fill[number], np.clip(engine.known[s] / pool.block - place, 0, 1))
    return np.array(pool.references, float), fill


def reading_seconds(k, model):
    """Arithmetic of one token of a known text, with half of the context behind it."""
    return float(
        throughput.iteration(
            model,
            machine_knobs.accelerator(k),
            0,
            0,
            1,
            k.context / 2,
            efficiency=machine_knobs.efficiency(k, engine(k)),
            **engine(k).split,
        ).compute
    )


def used(k, r):
    """Share of the time in which the chip computes."""
    at = decode(k, r.model, runs(k, r))
    return float(at.compute / at.seconds)


def reachable(k, r):
    """The same for an endless batch in endless memory."""
    at = decode(k, r.model, 1e12)
    return float(at.compute / max(at.compute, at.memory))


def cache_share(k, r):
    """Part of the bytes of an iteration that is cache."""
    n, e = runs(k, r), engine(k)
    read = throughput.bytes_read(r.model, n, n * float(k.context), n, **e.split)
    return 1 - r.model.read_params(n) * e.weight_bytes / e.tensor_parallel / read


def runs(k, r):
    return min(k.batch, r.fits)


def lost(k, r):
    """Part of the speed that this memory would give in blocks of 16, and no more sequences asked for than fit."""
    return max(0.0, 1 - r.tokens_per_second / r.in_blocks) if r.in_blocks else 1.0


def figure(k, r):
    if not r.misfits:
        return [pool_map(k, r), speed(k, r), memory_bars(k, r), pool_over_time(r)]
    tabs = [POOL, POOL, GPU, GPU]
    return impossible_job.unfit(k, r.misfits, tabs, "tensor_parallel", lambda knobs: misfits(knobs, with_heads(knobs)))


POOL, GPU = "The pool and its speed", "The GPU over the run"
SPEED, MEMORY = "Tokens per second of all sequences", "Memory of one GPU"
OVER_TIME, MAP = "The pool while completions are written", "The pool when it held most tokens"


def speed(k, r):
    def curve(context, efficiency=None):
        return BATCHES / decode(k, r.model, BATCHES, context, efficiency).seconds

    cached, bare, fit = curve(k.context), curve(0), r.fits >= BATCHES
    beyond = slice(max(int(fit.sum()) - 1, 0), None)
    marks = [
        line(BATCHES[fit], cached[fit], f"{k.context:,} tokens each"),
        line(BATCHES[fit], curve(k.context, PEAK)[fit], "at peak rates", role="exact"),
        line(BATCHES[beyond], cached[beyond], "if all fitted", role="reference"),
        line(BATCHES, bare, "no cache to read", 2),
    ]
    if lost(k, r) > LOST:
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
        SPEED,
        "solid: as assumed; dotted: at peak; log scales",
        *marks,
        x="sequences at once, B",
        log="xy",
        x_range=[1, 4096],
        y_range=[10, 1e6],
        tab=POOL,
    )


def memory_bars(k, r):
    """What the engine holds beside what was asked of it; a bar that passes the axis says by how much."""
    gpu, e = machine_knobs.accelerator(k).hbm_gb, engine(k)
    percent = 100 / gpu
    # of a sequence, the prompt counted once for all that share it; what windows cut off is not kept
    sequence_gb = memory.cache_bytes(r.model, slots_alone(k, k.block), e) / 1e9
    sequences = np.array([runs(k, r), k.batch])
    shared = (slots_alone(k, k.block) - r.slots) if r.fits else 0.0
    sequence_gb -= shared * r.model.kv_bytes_per_token(e.kv_bytes) / r.model.kv_shards(k.tensor_parallel, k.dcp) / 1e9
    filled = r.tokens / r.slots if r.fits else 1.0
    weights, budget = r.model.params() * e.weight_bytes / k.tensor_parallel / 1e9, k.hbm_share * gpu
    extra = k.extra if e.rule == "vllm" else 0.0
    keys, empty = sequences * sequence_gb * filled, sequences * sequence_gb * (1 - filled)
    free = np.array([max(budget - weights - extra - keys[0] - empty[0], 0), 0])
    parts = [
        ("weights", np.array([weights, weights]), 1, ""),
        ("activations", np.array([extra, extra]), 3, ""),
        ("cache", keys, 2, ""),
        ("empty", empty, 2, "waste"),
        ("free", free, 1, "free"),
    ]
    marks, foot, named = [], np.zeros(2), []
    for name, size, series, role in parts:
        heights = np.clip(percent * size, 0, TOP - foot)
        marks.append(bars([0, 1], heights, name, series, role))
        if percent * size[1] > (3 if role else 0.3):
            cut = "↑ " if percent * size[1] > heights[1] + 1e-9 else ""
            named.append((foot[1] + heights[1] / 2 - 8, f"{cut}{name} {size[1]:,.0f} GB", series))
        foot = foot + heights
    for y, (_, words, series) in zip(apart([y for y, _, _ in named]), named):
        marks.append(label(1.45, y, words, series))
    return panel(
        MEMORY,
        f"% of {gpu:.0f} GB; the engine may fill {budget:.0f}",
        *marks,
        threshold(percent * budget, "", TOP),
        x="dashed: limit of the engine",
        x_range=[-0.5, 3.1],
        y_range=[0, TOP],
        tab=GPU,
        stacked=True,
        ticks=dict(tickvals=[0, 1], ticktext=["in use", "requested"]),
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
    t = r.trace
    percent, out, n = 100 / r.pool, t.evictions > 0, len(t.seconds)
    keep = np.append(np.arange(0, n - 1, max(1, n // 100)), n - 1)
    part = 100 * t.seconds / t.seconds[-1]
    return panel(
        OVER_TIME,
        "% of its slots; diamonds: evicted sequences",
        line(part[keep], percent * t.used[keep], "handed out"),
        line(part[keep], percent * t.filled[keep], "with a token in it", 2),
        dots(part[out], np.full(out.sum(), 122.0), "evictions", 3),
        threshold(100, "full", 130),
        label(62, float(np.interp(62, part, percent * t.used)), "handed out", 1),
        label(30, float(np.interp(30, part, percent * t.filled)), "with a token in it", 2, below=True),
        x="% of the run",
        x_range=[0, 100],
        y_range=[0, 130],
        tab=GPU,
    )


def pool_map(k, r):
    """The pool as a wall: a cell is one of 200 equal parts, with the share of it that holds tokens."""
    taken, empty = r.cells[0] > 0, 100 * (1 - np.mean(r.cells[1][r.cells[0] > 0]))
    many, waiting = runs(k, r), k.batch - runs(k, r)
    wasted = waiting > 0 and empty > WASTED
    return scene.scene(
        MAP,
        "each cell is 0.5 %; [held] tokens; hatched: reserved but empty",
        scene.view(
            "w",
            25.2,
            10.4,
            f"{100 * np.mean(taken):.0f} % of the pool is taken, and {empty:.0f} % of that is empty.",
            scene.blocks("b", wall_cells(*r.cells), CELLS[1], (0.1, 0.2), (0.9, 0.85), (1.0, 1.0)),
            scene.ring(
                "r",
                (4.1, 0.1),
                f"{100 * np.mean(taken):.0f} % taken, {empty:.0f} % empty" if wasted else "",
                wasted,
                (20, 8),
                anchor="middle",
            ),
            scene.word(f"{many:,}", (2.2, 10.1), "count yes", "end", key="wn"),
            scene.word("run", (2.6, 10.1), "strong"),
            scene.word(f"{waiting:,}", (6.6, 10.1), "count against" if waiting else "count", "end", key="wm"),
            scene.word("wait", (7.0, 10.1), "strong"),
        ),
        tab=POOL,
        front=True,
        data=[bars(["taken", "of it with a token"], [100 * np.mean(taken), 100 - empty], "% of the pool")],
    )


def wall_cells(references, fill):
    """[(role, share with a token, owner)] of equal parts of the pool, each sampled at eight places."""
    n = CELLS[0] * CELLS[1]
    places = (np.arange(8 * n) + 0.5) * len(references) / (8 * n)  # in blocks
    owners, part = references[places.astype(np.int64)], fill[places.astype(np.int64)]
    token = (owners > 0) & (places % 1 < part)
    cells = zip(owners.reshape(n, 8), token.reshape(n, 8))
    return [(role(holders > 0, holders > 1, full), float(full.mean()), "") for holders, full in cells]


def role(taken, shared, full):
    """Role of a cell from its eight sampled places, (8,): “held” if more of its empty slots are taken than free."""
    if np.mean(taken) < 0.5:
        return "free"
    if np.mean(shared) > 0.5:
        return "shared"
    return "open" if np.mean(~taken) > np.mean(taken & ~full) else "held"


READOUTS = {
    "Memory per token": Model.kv_bytes_per_token,
    "Sequences that run at once": kv_cache.max_in_groups,
    "Speed of all sequences": throughput.iteration,
    "Speed of each sequence": throughput.iteration,
    "Longest compute-bound context": throughput.crossover,
}


def readouts(k, r):
    if r.misfits:
        return impossible_job.dashes(READOUTS, "Sequences that run at once")
    verdict, chip = broken(k, r), machine_knobs.accelerator(k)

    def state(*causes):
        return "violated" if verdict and verdict.cause in causes else ""

    limit = throughput.crossover(r.model, chip, efficiency=machine_knobs.efficiency(k, engine(k)), **engine(k).split)
    values = [
        (r.model.kv_bytes_per_token(BYTES[k.kv_precision]) / 1000, "kB", ""),
        (f"{runs(k, r):,} of {k.batch:,}", "", state(RESERVED)),
        (r.tokens_per_second, "tokens/s", state(RESERVED, REREAD)),
        (r.tokens_per_second / runs(k, r), "tokens/s", ""),
        (limit, "tokens", ""),
    ]
    return [
        Readout(name, value, unit, source, state)
        for (name, source), (value, unit, state) in zip(READOUTS.items(), values)
    ]


def watched(k, r):
    if r.misfits:
        return impossible_job.needed(r.misfits)
    return Gauge(
        "Speed lost", 100 * lost(k, r), 100 * LOST, "%", expression="1 - tokens_per_second / in_blocks_of_16 > 0.1"
    )


RESERVED = "room reserved and never used"
REREAD = "evicted sequences are computed again"
REFUSED = "the engine cannot start"


def seen_at(k, r, cause):
    if r.misfits:
        return impossible_job.unfit_at(k, r.misfits)
    words = "room reserved, not used" if cause == RESERVED else "evicted, then computed again"
    return At(SPEED, k.batch, max(r.tokens_per_second, 10), words, "lost")


def broken(k, r):
    if r.misfits:
        back = fix(k) or (dict(attention="as shipped") if no_such_heads(k, r.model) else None)
        return Break(impossible_job.why(r.misfits, "This"), back, REFUSED)
    if lost(k, r) <= LOST:
        return None
    slower = f"{100 * lost(k, r):.0f} % slower than this memory allows"
    claims = running(k, r) | {"more could be written": lambda: r.tokens_per_second < (1 - LOST) * in_small_blocks(k, r)}
    if speed_of(k, r.model, r.fits) < (1 - LOST) * r.in_blocks:
        why = (
            f"{runs(k, r):,} of {k.batch:,} sequences run, {slower}, because {100 * (1 - r.tokens / r.slots):.0f} % of "
            "the reserved slots are empty."
        )
        claims |= {
            "in blocks of 16 more fit": lambda: holds_at_once(replace(k, block="16"), r.model, "16") > r.fits,
            "so much is empty": lambda: 0 < r.tokens < r.slots,
        }
        return Break(Said(why, claims), dict(block="16") | fix(replace(k, block="16")), RESERVED)
    why = (
        f"{runs(k, r):,} of {k.batch:,} sequences run, {slower}. For every 100 tokens, {100 * r.reread:.0f} are "
        "computed again after evictions."
    )
    claims |= {
        "some are evicted": lambda: r.reread > 0,
        "as many as fit are not slower": lambda: speed_of(k, r.model, r.fits) >= (1 - LOST) * r.in_blocks,
    }
    return Break(Said(why, claims), fix(k), REREAD)


def in_small_blocks(k, r):
    """Tokens a second of as many sequences as fit in blocks of 16: n of them, one token each an iteration."""
    n = min(k.batch, max(holds_at_once(k, r.model, "16"), 1))
    return n / float(decode(k, r.model, n).seconds)


def running(k, r):
    """What is asserted of how many run: as many are asked for, or as the memory holds."""
    return {
        "so many run": lambda: runs(k, r) == k.batch or runs(k, r) == max(holds_at_once(k, r.model, k.block), 1),
        "not all of them": lambda: runs(k, r) < k.batch or r.fits >= k.batch,
    }


def worse(k, r):
    """More is asked for than fits, and little speed is lost: a known text is read many tokens at once."""
    if r.misfits or k.batch <= r.fits:
        return None
    few = f"{runs(k, r):,} of {k.batch:,} sequences run, because the memory is full"
    full = running(k, r) | {"no more fit": lambda: runs(k, r) < k.batch}
    if r.reread is None:
        return Said(f"{few}. The cost of evictions is not counted if so many sequences end in each step.", full)
    read = f"{100 * (r.reread or 0):.0f}"
    again = f". For every 100 tokens, {read} {plural(read, 'is', 'are')} computed again" if r.reread else ""
    cost = max(0.0, 1 - r.tokens_per_second / in_small_blocks(k, r))
    return Said(
        f"{few}{again}, and {percent(lost(k, r))} of the speed is lost.",
        full | {"so much is lost": lambda: abs(cost - lost(k, r)) < 1e-6 and cost <= LOST},
    )


def percent(share):
    return "nothing" if share < 5e-5 else "less than 1 %" if share < 0.005 else f"{100 * share:.0f} %"


def holds(k, r):
    busy, all_fit = used(k, r), f"All {k.batch:,} sequences fit" if k.batch > 1 else "The sequence fits"
    chip = machine_knobs.accelerator(k)
    at = decode(k, r.model, k.batch)
    return Said(
        f"{all_fit}. The chip computes {percent(busy)} of the time, and {percent(cache_share(k, r))} of what it "
        "reads is cache.",
        {
            "all fit": lambda: holds_at_once(k, r.model, k.block) >= k.batch or r.fits >= k.batch,
            "so long it computes": lambda: abs(busy * float(at.seconds) - float(at.compute)) < 1e-9 and 0 < busy <= 1,
            "the cache is a part of what it reads": lambda: 0 <= cache_share(k, r) < 1 and chip.hbm_bytes > 0,
        },
    )


# what an engineer would try, in this order, where not even one sequence fits
TRIED = [
    dict(attention="as shipped"),
    dict(dcp=1),
    dict(block="16"),
    dict(hbm_share=0.9),
    dict(extra=0.0),
    dict(kv_precision="fp8"),
    *(dict(tensor_parallel=n, dcp=1) for n in (1, 2, 4, 8, 16, 32)),
    dict(weights="fp8", tensor_parallel=8, dcp=1),
    dict(weights="fp8", tensor_parallel=8, dcp=1, hbm_share=0.95),
    dict(weights="fp8", tensor_parallel=8, dcp=1, hbm_share=0.95, extra=0.0),
    dict(context=4096),
    dict(context=4096, block="16", hbm_share=0.9, extra=0.0),
    dict(context=4096, block="16", hbm_share=0.9, extra=0.0, tensor_parallel=1, dcp=1, attention="as shipped"),
    dict(
        model="llama3.1-8b",
        context=4096,
        block="16",
        hbm_share=0.9,
        extra=0.0,
        tensor_parallel=1,
        dcp=1,
        attention="as shipped",
    ),
]


def fix(k):
    """As many sequences at once as fit; where none does, first the least of TRIED that makes room for all, or for
    some; {} if nothing of it does.
    """
    unchanged = fitting(k)
    tried = [({}, unchanged)] if unchanged else [(change, fitting(replace(k, **change))) for change in TRIED]
    for_all = [(change, fits) for change, fits in tried if fits >= k.batch]
    for_some = [(change, fits) for change, fits in tried if fits]
    if not for_some:
        return {}
    change, fits = (for_all or for_some)[0]
    fewer = dict(batch=2 ** (fits.bit_length() - 1)) if fits < k.batch else {}
    return recovery.different(k, change) | fewer


def fitting(k):
    """Sequences that fit at once; 0 where the engine cannot start."""
    model = with_heads(k)
    return 0 if misfits(k, model) else max(holds_at_once(k, model, k.block), 1)


def export(k, r):
    """The setting as quantities of options.SERVING."""
    if r.misfits:
        return None
    setting = dict(
        tensor_parallel=k.tensor_parallel,
        memory_fraction=k.hbm_share,
        context=reservation(k),
        concurrency=runs(k, r),
        prefix_cache=k.sharing,
        kv_dtype=k.kv_precision,
        weights_dtype=k.weights,
    )
    if k.dcp > 1:
        setting["dcp"] = k.dcp
    if k.block != WHOLE:
        setting["block"] = int(k.block)
    return setting


DARE = "Can you make the engine lose a tenth of its speed?"
OPENING = Played(Knobs(), Knobs(block=WHOLE), "opening")
