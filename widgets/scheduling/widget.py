"""One engine writes a step's completions, and what each trick of its scheduler is worth: the same job again with one
trick turned the other way.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from sim.cluster import memory, scheduling
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.kv_cache import BlockAllocator
from sim.cluster.memory import Engine, Misfit
from sim.cluster.models import MODELS
from sim.cluster.scheduling import Policy, Speculation
from sim.words import counted
from widgets.frame.contract import impossible_job, machine_knobs, recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import bars, dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "How much each scheduling trick speeds up one engine"

BLOCK = 16  # slots; more where sequences are long, or the blocks of a run are too many to be counted in a page
BLOCKS = 512  # of the longest sequence, about
EVERY = 60  # events between two frames of the setting itself
SELDOM = 600  # of the others, of which only the speed at the end is shown: less than a second of work
LOST = 0.25  # of the speed that the same job has with one trick turned the other way
WORSE = 0.05
TOP = 3.0  # of the axis of speeds, in those of the setting
NO_CAP = 4_000_000
LENGTHS = [128, 230, 256, 512, 641, 720, 800, 1024, 1200, 1479, 2000, 2230, 3000, 4600, 5145, 6000, 8192, 12000]
LENGTHS += [16384, 24000, 32768, 60000, 131072]


@dataclass(frozen=True)
class Own:
    refill: bool = toggle("Refill free slots at once", True)
    blocks: bool = toggle("Hand out memory in blocks", True)
    prefix: bool = toggle("Read shared prompts once", True)
    chunk: int = ladder("Chunk size, tokens", 2048, [0, 128, 256, 512, 1024, 2048, 4096, 8192])
    drafts: int = slider("Tokens guessed ahead", 0, 0, 8, 1, symbol="γ")
    acceptance: float = slider("Chance of a right guess", 0.7, 0.1, 0.95, 0.05, symbol="α")
    cost: float = slider("Cost of a guess, weight readings", 0.05, 0.01, 0.3, 0.01, symbol="c")
    batch: int = ladder(
        "Slots for sequences", 256, [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512], symbol="B"
    )
    cap: int = ladder(
        "Largest pool for caches",
        NO_CAP,
        [12_000, 16_000, 20_000, 30_000, 40_000, 60_000, 100_000, 150_000, 200_000, 400_000, 1_000_000, NO_CAP],
        unit="tokens",
    )
    watermark: float = slider("Pool fraction kept free (watermark)", 0.0, 0.0, 0.15, 0.01)
    prompts: int = ladder("Prompts", 32, [1, 2, 4, 8, 16, 32])
    samples: int = ladder("Completions per prompt", 8, [1, 2, 4, 8, 16], symbol="K")
    prompt: int = ladder("Mean prompt length, tokens", 600, [128, 256, 512, 600, 1024, 2048, 4096, 7000, 16384, 32768])
    p50: int = ladder("Median completion", 800, LENGTHS, unit="tokens")
    p90: int = ladder("Ninetieth percentile", 2230, LENGTHS, unit="tokens")
    p99: int = ladder("Ninety-ninth percentile", 5145, LENGTHS, unit="tokens")
    longest: int = ladder("Longest completion", 8192, LENGTHS, unit="tokens")
    model: str = choice("Model", "qwen2.5-7b", list(MODELS))
    accelerator: str = choice("Accelerator", "h100", list(ACCELERATORS))
    tensor_parallel: int = ladder("GPUs that share the model", 1, [1, 2, 4, 8, 16], symbol="TP")
    hbm_share: float = slider("Memory fraction for the engine", 0.5, 0.2, 0.98, 0.01, symbol="u")


@dataclass(frozen=True)
class Knobs(machine_knobs.Brought, machine_knobs.Assumed, Own):
    pass


LEAD = ("refill", "batch")
KNOB_GROUPS = {
    "The scheduler": ("blocks", "prefix", "chunk", "cap", "watermark"),
    "Guessed tokens": ("drafts", "acceptance", "cost"),
    "The batch": ("prompts", "samples", "prompt", "p50", "p90", "p99", "longest"),
    "Machine": ("model", "accelerator", "tensor_parallel", "hbm_share"),
    "Assumed": ("bandwidth", "flops", "overhead"),
}
PRESETS = {
    "Nothing guessed": Knobs(),
    "Three guessed": Knobs(drafts=3),
    "48 slots, not refilled": Knobs(batch=48, refill=False),
    "Room for the longest": Knobs(blocks=False),
    "A pool of 40,000": Knobs(cap=40_000),
    "Eight guessed, seldom right": Knobs(drafts=8, acceptance=0.4),
}
GUESS = Guess(
    "Eight completions share a prompt of about 600 tokens. How much faster is the rollout if it is read once?",
    ("2 times as fast", "1.3 times as fast", "1.05 times as fast"),
    Knobs(prefix=False),
    2,
    lambda k, r: (
        f"It is {r.speeds['prompts shared'] / r.trace.tokens_per_second:.2f} times as fast, because a prompt’s tokens "
        "are all read together."
    ),
)

# what turns a trick the other way: (value, name) where it is on, and where it is off; guesses are only taken away, so
# that what they are worth is for the reader to find
TRICKS = {
    "refill": ((False, "not refilled"), (True, "refilled")),
    "blocks": ((False, "room reserved"), (True, "in blocks")),
    "prefix": ((False, "prompts reread"), (True, "prompts shared")),
    "chunk": ((0, "whole prompts"), (2048, "chunks")),
    "drafts": ((0, "no guessing"), (0, "")),
}
AMPLE = "enough memory"


@dataclass(frozen=True)
class Result:
    misfits: list  # what of the setting is impossible; then there is nothing else
    pool: int = 0  # tokens
    trace: scheduling.Trace | None = None  # so far
    speeds: dict = field(default_factory=dict)  # name of what is turned: tokens a second
    ample: int = 0  # tokens that would be enough for all
    back: int = 0  # the number of guesses that pays
    way: dict | None = None  # {knob: value} after which nothing is broken, where something is
    progress: tuple = (1, 1)  # completions written, of all runs
    settled: bool = True


def run(k):
    for result in outcome(k, turned):
        if result.settled and not broken_parts(k, result):
            yield result
        elif result.settled:
            if result.misfits:  # seen before the way back is tried out
                yield replace(result, way=room_made(k), progress=(0, 1))
            way = yield from way_back(k, result)
            yield replace(result, way=way)
        else:
            yield result


def broken_parts(k, r):
    """What is broken, in any words: what does not fit, or the tricks that lose a quarter."""
    return r.misfits or causes(k, r)


def way_back(k, r):
    """{knob: value} that mends the setting at once: `step_back` repeated until nothing is broken; None if that fails.

    It yields the present result meanwhile, so that a page that waits hears something.
    """
    values, mended, result = {}, k, r
    for _ in range(ROUNDS):
        step = step_back(mended, result)
        if not step:
            return None
        values |= step
        mended = replace(k, **values)
        for result in outcome(mended, helpful):
            if not result.settled:
                yield replace(r, settled=False)
        if not broken_parts(mended, result):
            return recovery.different(k, values)
    return None


ROUNDS = 6


def outcome(k, others_of):
    """Results as they come; at the end with the speeds of the settings that `others_of` names."""
    if impossible := misfits(k):
        yield Result(impossible)
        return
    requests, others = job(k), dict(others_of(k))
    runs = len(others) + 2
    for trace in simulate(k, requests):
        done = (trace.finished, runs * len(requests))
        yield Result([], room(k), trace, progress=done, settled=False)
    speeds = {}
    for others_done, (name, other) in enumerate(others.items(), 1):
        for turned_trace in simulate(other, requests, every=SELDOM):
            if turned_trace.finished == len(requests):
                speeds[name] = turned_trace.tokens_per_second
            done = (others_done * len(requests) + turned_trace.finished, runs * len(requests))
            yield Result([], room(k), trace, dict(speeds), progress=done, settled=False)
    ample = 0
    if not k.blocks or trace.preemptions or trace.live.max() < min(k.batch, len(requests)):
        everything = sum(r.prompt + r.output for r in requests) + len(requests) * block_of(k)
        in_blocks = k if k.blocks else replace(k, blocks=True, refill=True, prefix=True)
        enough = last(simulate(in_blocks, requests, pool=2 * everything))
        ample = int(enough.used.max())
        if k.blocks:
            speeds[AMPLE] = enough.tokens_per_second
    result = Result([], room(k), trace, speeds, ample, progress=(done[1], done[1]))
    yield replace(result, back=fewer_guesses(k, requests, result))


def last(stream):
    *_, trace = stream
    return trace


def simulate(k, requests, pool=None, every=EVERY):
    """The engine of a setting writes `requests`: -> traces as they grow."""
    guess = Speculation(k.acceptance, k.drafts, k.cost) if k.drafts else None
    policy = Policy(
        batch=k.batch,
        static=not k.refill,
        reserve=None if k.blocks else most(k),
        prefix=k.prefix,
        chunk=k.chunk,
        watermark=k.watermark,
        speculation=guess,
    )
    block = block_of(k)
    allocator = BlockAllocator((pool or room(k)) // block, block)
    return scheduling.stream(requests, rates(k, guess), allocator, policy, every=every)


def engine(k):
    return Engine(tensor_parallel=k.tensor_parallel, longest=most(k), hbm_share=k.hbm_share)


def rates(k, guess):
    split = dict(efficiency=machine_knobs.efficiency(k), **engine(k).split)
    return scheduling.rates(machine_knobs.model(k), machine_knobs.accelerator(k), guess, **split)


def job(k):
    return scheduling.requests_of(machine_knobs.law(k), k.prompts, k.samples, k.prompt, np.random.default_rng(0))


def most(k):
    """Tokens of the longest sequence that there may be."""
    return 4 * k.prompt // 3 + int(machine_knobs.law(k).longest)


def block_of(k):
    return max(BLOCK, most(k) // BLOCKS // BLOCK * BLOCK)


def room(k):
    """Tokens of the pool: what the memory leaves beside the weights, up to the cap."""
    context = machine_knobs.law(k).context(k.prompt)
    sequences = memory.sequences(machine_knobs.model(k), machine_knobs.accelerator(k), context, engine(k))
    return int(min(sequences * context, k.cap if k.cap < NO_CAP else math.inf))


def turned(k):
    """(name, setting) of every trick turned the other way, but that of guesses where there are none."""
    for knob, ((off, without), (on, with_it)) in TRICKS.items():
        value, name = (off, without) if getattr(k, knob) else (on, with_it)
        if name:
            yield name, replace(k, **{knob: value})


def helpful(k):
    """Of `turned` those that are a trick more, or no chunks or guesses where there are some."""
    return [(name, setting) for name, setting in turned(k) if name in helps(k)]


def fewer_guesses(k, requests, r):
    """γ that pays, where the present one does not."""
    if not k.drafts or r.speeds["no guessing"] <= r.trace.tokens_per_second:
        return 0
    drafts = scheduling.best_drafts(k.acceptance, k.cost, most=k.drafts - 1)
    if drafts and last(simulate(replace(k, drafts=drafts), requests)).tokens_per_second >= r.speeds["no guessing"]:
        return drafts
    return 0


def misfits(k):
    """What of the setting is impossible."""
    if out_of_order := impossible_job.out_of_order(k):
        return out_of_order
    model, accelerator, one = machine_knobs.model(k), machine_knobs.accelerator(k), engine(k)
    one = replace(one, gpus=k.tensor_parallel)
    if too_large := memory.fits(model, accelerator, one, efficiency=machine_knobs.efficiency(k)):
        return too_large
    in_blocks = room(k) // block_of(k) * block_of(k)
    if in_blocks < most(k):
        what = f"one sequence of {most(k):,} tokens in a pool of {room(k):,}"
        return [Misfit(what, most(k), max(in_blocks, 1), "Use a larger pool, or shorter sequences.")]
    return []


def progress(k, r):
    return ["completion", *r.progress]


def figure(k, r):
    if r.misfits:
        tabs = ["Slots and tricks"] * 2 + ["Silence and room"] * 2 + ["Guessing"] * 2
        return impossible_job.unfit(k, r.misfits, tabs, "tensor_parallel", misfits)
    end = axis_end(k)
    return [places(k, r, end), tricks(k, r), silences(r, end), pool(r, end), guesses(k, r), pays(k, r)]


def axis_end(k):
    """Seconds that a run of this job may take on the axis, whatever the scheduler does: some three times what writing
    the longest alone and all others together would take.
    """
    law, plain = machine_knobs.law(k), rates(k, None)
    n, context = k.prompts * k.samples, law.context(k.prompt)
    together = max(min(n, 256, room_of_all(k) / context), 1.0)
    tail = law.expected_max(n) * float(plain(1, k.prompt + law.expected_max(n) / 2))
    bulk = n * law.mean / together * float(plain(together, together * context))
    return nice(3.2 * (tail + bulk))


def room_of_all(k):
    return room(replace(k, cap=NO_CAP))


def nice(value):
    """The next round number, so that the axis stays while knobs move."""
    unit = 10.0 ** math.floor(math.log10(value))
    return next(unit * m for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if unit * m >= value)


def staircase(trace):
    """(seconds, sequences in their slots), every event where there are few, and no event without its neighbor."""
    every = max(1, len(trace.seconds) // 300)
    began = np.append(0.0, trace.seconds[:-1])  # what an event counts holds from the end of the one before
    return np.append(began[::every], trace.seconds[-1]), np.append(trace.live[::every], 0.0 * trace.live[-1:])


def places(k, r, end):
    at, live = staircase(r.trace)
    n, took = k.prompts * k.samples, r.trace.makespan
    marks = [line(at, live, "sequences at once", 1, "step")]
    if took > end:
        marks.append(label(end, 0.93 * n, f"runs until {took:,.0f} s →", 1, "right"))
    elif r.settled or r.trace.finished == n:
        marks.append(
            label(max(took, 0.12 * end), 0.02 * n, f" {took:,.0f} s", 1, "left" if took < 0.8 * end else "right")
        )
    return panel(
        "Slots in use",
        f"sequences at once, of {counted(n, 'completion')}",
        *marks,
        x="seconds",
        x_range=[0, end],
        y_range=[0, 1.08 * n],
        tab="Slots and tricks",
    )


def names_of(k, r):
    return [*(name for name, _ in turned(k)), *([AMPLE] if k.blocks else [])]


def tricks(k, r):
    """Speeds with one trick turned, in those of the setting."""
    names = names_of(k, r)
    speed = r.trace.tokens_per_second
    times = [r.speeds.get(name, speed if r.settled else 0.0) / speed if speed else 0.0 for name in names]
    heights = [min(t, TOP) for t in times]
    texts = [f"{t:.2f}×" if 0 < t < 10 else f"{t:.0f}×" if t else "" for t in times]
    at = list(range(len(names)))
    return panel(
        "Speed with one trick switched",
        "divided by the speed of this setting" + ("; no guessing: over 1 is broken" if k.drafts else ""),
        bars(at, heights, "turned", 1, text=texts),
        threshold(1 / (1 - LOST), "", TOP),
        label(len(names) - 0.55, 0.98 * TOP, "here this setting loses a quarter", 0, "right", below=True),
        x_range=[-0.5, len(names) - 0.5],
        y_range=[0, TOP],
        tab="Slots and tricks",
        front=True,
        ticks=dict(tickvals=at, ticktext=[name.replace(" ", "<br>", 1) for name in names], tickangle=0),
    )


def silences(r, end):
    t = r.trace
    silent = (t.gaps > 0) & (t.seconds <= end)
    every = max(1, int(silent.sum()) // 400)
    loudest = int(np.argmax(t.gaps))
    keep = np.union1d(np.flatnonzero(silent)[::every], [loudest] if t.gaps[loudest] > 0 else []).astype(np.int64)
    return panel(
        "The longest silence",
        "ms between two tokens of a sequence, log scale",
        dots(t.seconds[keep], np.clip(1e3 * t.gaps[keep], 1.0, 1e5), "silence", 1),
        x="seconds",
        x_range=[0, end],
        y_range=[1, 1e5],
        log="y",
        tab="Silence and room",
    )


def pool(r, end):
    t = r.trace
    every = max(1, len(t.seconds) // 300)
    out = np.flatnonzero(t.evictions)
    out = out[:: max(1, len(out) // 150)]
    return panel(
        "The pool",
        f"% of its {r.pool:,} tokens; diamonds: evictions",
        line(t.seconds[::every], 100 * t.used[::every] / r.pool, "handed out", 1),
        dots(t.seconds[out], np.full(len(out), 112.0), "evictions", 3),
        threshold(100, "full", 125),
        x="seconds",
        x_range=[0, end],
        y_range=[0, 125],
        tab="Silence and room",
    )


def worth(k, drafts, n, context):
    """Tokens a second with so many guesses, over those without, of n sequences."""
    if not drafts:
        return np.ones_like(n * 1.0)
    guess = Speculation(k.acceptance, drafts, k.cost)
    return guess.tokens * rates(k, None)(n, n * context) / rates(k, guess)(n, n * context)


def guesses(k, r):
    context, gammas = machine_knobs.law(k).context(k.prompt), list(range(9))
    n = np.array([1.0, min(k.batch, k.prompts * k.samples)])
    alone, all_of_them = np.array([worth(k, drafts, n, context) for drafts in gammas]).T
    return panel(
        "What guessing gains",
        "speed divided by the speed without guessing",
        line(gammas, alone, "one sequence alone", 1),
        line(gammas, all_of_them, "all slots taken", 2),
        dots([k.drafts], [all_of_them[k.drafts]], "here", role="here"),
        label(8, float(alone.max()) + 0.05, "one sequence alone", 1, "right"),
        label(8, float(all_of_them[8]) - 0.1, "all slots taken", 2, "right", below=True),
        threshold(1, "slower than without", 0),
        x="tokens guessed ahead, γ",
        x_range=[0, 8],
        y_range=[0, 5],
        tab="Guessing",
    )


CONTEXTS = (1024, 4096, 16384)
SEQUENCES = 2.0 ** np.linspace(0, 11, 45)


def pays(k, r):
    drafts = k.drafts or 3
    curves = [worth(k, drafts, SEQUENCES, context) for context in CONTEXTS]
    marks = [line(SEQUENCES, y, f"{c:,} tokens", s) for s, (c, y) in enumerate(zip(CONTEXTS, curves), 1)]
    ends = [float(y[-1]) for y in curves]
    marks += [
        label(2048, max(map(np.max, curves)) + 0.05, f"{CONTEXTS[2]:,} tokens", 3, "right"),
        label(2048, ends[1] - 0.1, f"{CONTEXTS[1]:,} tokens", 2, "right", below=True),
        label(2048, ends[0] - 0.05, f"{CONTEXTS[0]:,} tokens", 1, "right", below=True),
    ]
    return panel(
        "Up to how many sequences guessing pays",
        f"speed over that without guessing, γ = {drafts}",
        *marks,
        threshold(1, "", 0),
        x="sequences at once",
        x_range=[1, 2048],
        y_range=[0, 5],
        log="x",
        tab="Guessing",
    )


READOUTS = {
    "Tokens per second": scheduling.stream,
    "Duration of the rollout": scheduling.stream,
    "Sequences at work, mean": scheduling.live_on_average,
    "Longest silence of a sequence": scheduling.stream,
    "Evictions": scheduling.stream,
}


def readouts(k, r):
    if r.misfits:
        return impossible_job.dashes(READOUTS, "Tokens per second")
    t = r.trace
    rows = [
        (t.tokens_per_second, "", "violated" if causes(k, r) else ""),
        (t.makespan, "s", ""),
        (scheduling.live_on_average(t), "sequences", ""),
        (1e3 * t.longest_gap, "ms", ""),
        (float(t.preemptions), "", ""),
    ]
    return [
        Readout(name, value, unit, source, state)
        for (name, source), (value, unit, state) in zip(READOUTS.items(), rows)
    ]


def export(k, r):
    """The setting as quantities of options.TABLE."""
    if r.misfits:
        return None
    setting = dict(
        tensor_parallel=k.tensor_parallel,
        memory_fraction=k.hbm_share,
        context=most(k),
        concurrency=k.batch,
        prefix_cache=k.prefix,
        prompts=k.prompts,
        samples=k.samples,
        prompt=4 * k.prompt // 3,
        completion=int(machine_knobs.law(k).longest),
    )
    return setting | ({"chunk": k.chunk} if k.chunk else {}) | ({"drafts": k.drafts} if k.drafts else {})


def gains(k, r):
    """{name: times as fast} of what may help: one trick more, whole prompts, no guessing, an ample pool."""
    speed = r.trace.tokens_per_second
    return {name: r.speeds[name] / speed for name in [*helps(k), AMPLE] if name in r.speeds and speed}


def helps(k):
    """Names of what may be faster than the setting."""
    more = [on for knob, (_, (_, on)) in TRICKS.items() if not getattr(k, knob) and knob not in ("drafts", "chunk")]
    less = [without for knob, ((_, without), _) in TRICKS.items() if getattr(k, knob) and knob in ("drafts", "chunk")]
    return more + less


def causes(k, r):
    """What of the setting loses a quarter, or guesses in vain, the worst first."""
    if not r.settled:
        return []
    limits = {name: 1.0 if name == "no guessing" else 1 / (1 - LOST) for name in gains(k, r)}
    losing = {name: gain / limits[name] for name, gain in gains(k, r).items() if gain > limits[name]}
    return sorted(losing, key=losing.get, reverse=True)


def watched(k, r):
    if r.misfits:
        return impossible_job.needed(r.misfits)
    guessing = causes(k, r)[:1] == ["no guessing"]
    best = gains(k, r)["no guessing"] if guessing else max(gains(k, r).values(), default=1.0)
    return Gauge(
        "Speed, % of that without guessing" if guessing else "Speed, % of the best with one switch",
        100 / max(best, 1e-9) if guessing else min(100.0, 100 / max(best, 1e-9)),
        100.0 if guessing else 100 * (1 - LOST),
        "%",
        below=True,
        expression="speed < speed_without_guessing" if guessing else "speed < 0.75 * best_with_one_trick_turned",
    )


def seen_at(k, r, cause):
    if r.misfits:
        return impossible_job.unfit_at(k, r.misfits)
    at = names_of(k, r).index(causes(k, r)[0])
    return At("Speed with one trick switched", at, None, "this much faster if switched", "turned")


def broken(k, r):
    if r.misfits:
        return Break(impossible_job.why(r.misfits), r.way, "the job does not fit")
    if not (names := causes(k, r)):
        return None
    why, cause = why_and_cause(k, r, names[0])
    return Break(Said(why, outdone(k, r, names[0])), r.way, cause)


def outdone(k, r, name):
    """What is asserted of what loses: the same job, turned, is faster, and the setting has what is blamed."""
    own = most(k) - (k.prompt if k.prefix else 0)  # siblings share the rest
    blamed = {
        "refilled": lambda: not k.refill and scheduling.live_on_average(r.trace) <= k.batch,
        "in blocks": lambda: not k.blocks and r.trace.live.max() * own <= r.pool + most(k),
        "prompts shared": lambda: not k.prefix and k.samples > 1,
        "whole prompts": lambda: k.chunk > 0,
        "no guessing": lambda: 0 <= kept(k) <= k.drafts,
        AMPLE: lambda: k.blocks and r.ample > r.pool * (1 - k.watermark) - 2 * block_of(k),
    }[name]
    return {
        "the same tokens take less": lambda: last(simulate(*without_loss(k, r, name))).makespan < r.trace.makespan,
        "the setting has what is blamed": blamed,
    }


def without_loss(k, r, name):
    """The setting with this trick turned, or in an ample pool, as arguments of `simulate`."""
    if name == AMPLE:
        return k, job(k), 2 * (sum(request.prompt + request.output for request in job(k)) + len(job(k)) * block_of(k))
    return dict(turned(k))[name], job(k)


# what an engineer would try, in this order, where no single knob makes room
TRIED = [
    *(dict(tensor_parallel=n, hbm_share=0.9) for n in (1, 2, 4, 8, 16)),
    *(dict(tensor_parallel=n, hbm_share=0.9, cap=NO_CAP) for n in (1, 2, 4, 8, 16)),
    *(dict(tensor_parallel=n, hbm_share=0.9, cap=NO_CAP, prompt=600, longest=8192) for n in (1, 2, 4, 8)),
    dict(tensor_parallel=1, hbm_share=0.9, cap=NO_CAP, prompt=600, longest=8192, model="qwen2.5-7b"),
]


def room_made(k):
    """A way back from what does not fit: quantiles that rise, one knob, or the first of TRIED; None if none does."""
    rising = recovery.different(k, {} if k.log else impossible_job.in_order(k))
    in_order = replace(k, **rising)
    if fits(in_order):
        return rising
    several = recovery.first_of(in_order, TRIED, fits)
    turn = ("cap", "tensor_parallel", "hbm_share", "accelerator", "longest", "prompt", "model")
    one = recovery.one_knob(in_order, turn, fits) if several and not rising else None
    return one or (rising | several if several else None)


def fits(k):
    return not misfits(k)


def why_and_cause(k, r, name):
    now, other = (f"{speed:,.0f}" for speed in (r.trace.tokens_per_second, r.speeds[name]))
    working = scheduling.live_on_average(r.trace)
    return {
        "refilled": (
            f"The engine writes {now} tokens per second, not {other} as with refilling. On average "
            f"{working:,.1f} of {k.batch} slots are in use, because free ones wait for the rest.",
            "slots that wait for the longest",
        ),
        "in blocks": (
            f"The engine writes {now} tokens per second, not {other} as with blocks. Each sequence reserves "
            f"{most(k):,} tokens, so {r.trace.live.max():,.0f} run at once.",
            "reserved room that stays empty",
        ),
        "prompts shared": (
            f"The engine writes {now} tokens per second, not {other}, because it reads each prompt {k.samples} times "
            "instead of once.",
            "prompts that are read again",
        ),
        "whole prompts": (
            f"The engine writes {now} tokens per second, not {other} as with whole prompts. Chunks of {k.chunk:,} "
            "tokens leave prompts little room.",
            "chunks that leave prompts no room",
        ),
        "no guessing": (
            f"The engine writes {now} tokens per second, not {other} as without guessing. A pass pays for {k.drafts} "
            f"guesses and keeps {kept(k):.2f}.",
            "guesses that cost time and fail",
        ),
        AMPLE: (
            f"The engine writes {now} tokens per second, not {other} as with enough memory. On average {working:,.0f} "
            f"sequences find room, and {r.trace.preemptions:,} were evicted.",
            "a pool that is too small",
        ),
    }[name]


def kept(k):
    """Guessed tokens that a pass keeps on average."""
    return Speculation(k.acceptance, k.drafts, k.cost).tokens - 1


def step_back(k, r):
    """A way back from what is broken first: from what does not fit, or from tricks that lose.

    Of refilling, blocks and prefixes one hides what another loses: all that are off go on together.
    """
    if r.misfits:
        return room_made(k)
    losing, values = causes(k, r), {}
    off = [knob for knob, (_, (_, on)) in TRICKS.items() if on in r.speeds and knob not in ("chunk", "drafts")]
    if any(TRICKS[knob][1][1] in losing for knob in off):
        values |= {knob: True for knob in off}
        if not k.blocks and room(k) < needed(k, r):
            values |= larger_pool(k, r)
    if "whole prompts" in losing:
        values["chunk"] = 0
    if "no guessing" in losing:
        values["drafts"] = r.back
    if AMPLE in losing:
        values |= larger_pool(k, r)
    return values


def needed(k, r):
    """Tokens of a pool in which everything has room that was there at once in an ample one."""
    return r.ample / (1 - k.watermark) + 2 * block_of(k)


def larger_pool(k, r):
    """{knob: value} of such a pool; where there is none, of fewer slots."""
    if room_of_all(k) >= needed(k, r):
        caps = Knobs.__dataclass_fields__["cap"].metadata["rungs"]
        return dict(cap=next(cap for cap in caps if cap >= needed(k, r)))
    for share in (0.6, 0.7, 0.8, 0.9, 0.95):
        if share > k.hbm_share and room(replace(k, hbm_share=share)) >= needed(k, r):
            return dict(hbm_share=share)
    alone = room(k) * (1 - k.watermark) / (most(k) + 2 * block_of(k))
    batches = Knobs.__dataclass_fields__["batch"].metadata["rungs"]
    return dict(batch=max((n for n in batches if n <= alone), default=1))


def worse(k, r):
    if not r.settled:
        return None
    name, gain = max(gains(k, r).items(), key=lambda pair: pair[1], default=("", 1.0))
    if gain < 1 / (1 - WORSE):
        return None
    return Said(
        f"The rollout takes {r.trace.makespan:,.0f} s, and {100 * (1 - 1 / gain):.0f} % of the speed is lost. With "
        f"{PHRASES[name]}, the engine writes {r.speeds[name]:,.0f} tokens per second.",
        outdone(k, r, name),
    )


PHRASES = {
    "refilled": "slots refilled at once",
    "in blocks": "memory in blocks",
    "prompts shared": "each prompt read once",
    "whole prompts": "prompts read whole",
    "no guessing": "no guessing",
    AMPLE: "enough memory for all",
}


def holds(k, r):
    speed = r.trace.tokens_per_second
    took = f"The rollout takes {r.trace.makespan:,.0f} s at {speed:,.0f} tokens per second."
    written = {"so many a second": lambda: abs(r.trace.written[-1] / r.trace.makespan / speed - 1) < 1e-6}
    if not r.settled:
        return Said(took, written)
    most_of_all = max(r.speeds, key=lambda name: abs(math.log(r.speeds[name] / speed)))
    other = r.speeds[most_of_all]

    def times(other):
        return max(other / speed, speed / other)

    return Said(
        f"{took} Of all switches, “{most_of_all}” would change the speed most, to {other:,.0f}.",
        written
        | {
            "so many it would write": lambda: (
                abs(last(simulate(*without_loss(k, r, most_of_all))).tokens_per_second / other - 1) < 1e-6
            ),
            "nothing would change more": lambda: times(other) >= max(map(times, r.speeds.values())) - 1e-12,
        },
    )


TWO_RUNS = "slots refilled", "slots wait"


def two_engines(plain, other):
    """Tokens written, and the slots in use."""
    end = 1.06 * other.trace.makespan
    written, live = [], []
    for r, name, series, role in ((plain, TWO_RUNS[0], 8, "reference"), (other, TWO_RUNS[1], 1, "")):
        t = r.trace
        at, places = staircase(t)
        seconds, tokens = np.append(0, t.seconds), np.append(0, t.written) / 1000
        written += [
            line(seconds, tokens, name, series, role),
            label(0.55 * t.makespan, float(np.interp(0.55 * t.makespan, seconds, tokens)), name, series, "right"),
        ]
        live.append(line(at, places, name, series, "step" if r is other else role))
    top = float(plain.trace.live.max())
    live += [label(0, 1.03 * top, TWO_RUNS[0], 8), label(other.trace.makespan, 1.03 * top, TWO_RUNS[1], 1, "right")]
    return [
        panel(
            "Tokens written",
            "thousands, the same 256 completions",
            *written,
            x="seconds",
            x_range=[0, end],
            y_range=[0, 1.05 * float(plain.trace.written[-1]) / 1000],
        ),
        panel(
            "Slots in use",
            f"sequences at once, of {top:.0f} slots",
            *live,
            x="seconds",
            x_range=[0, end],
            y_range=[0, 1.2 * top],
        ),
    ]


OPENING = Opening(Knobs(batch=48), Knobs(batch=48, refill=False), two_engines, scheduling.stream, TWO_RUNS)
