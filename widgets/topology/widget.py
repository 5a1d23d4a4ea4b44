"""Which GPUs generate and which train, who waits for whom, and what that is worth in tokens a second."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sim.cluster import fabric, memory, topology
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import lognormal
from sim.cluster.memory import Engine, Misfit, Training
from sim.cluster.models import MODELS
from sim.cluster.topology import ASYNC, CARRY, COLOCATED, ONE_OFF, SPLIT, WAYS
from sim.words import counted
from widgets.frame.contract import impossible_job, machine_knobs, recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import band, dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "Who waits for whom in a training loop on a given number of GPUs"

STEPS = 6
SEED = 0
SWEPT = 12  # splits of the curve
MANY = 2**11  # completions of a step from which fewer steps are drawn, and fewer splits
SERIES = dict(zip(WAYS, (4, 3, 5, 2, 1)))
RUNGS = [*range(1, 33), *range(36, 65, 4), *range(80, 257, 16), *range(320, 1025, 64), *range(1280, 8193, 256)]
SIZES = [2**n for n in range(1, 14)]
LENGTHS = [2**n for n in range(7, 18)]
LOWEST, HIGHEST = 0.1, 30.0  # of the speeds that are drawn, over that of the first way
FAR_BEHIND = 0.8  # of the best split of the same way: slower is worse


@dataclass(frozen=True)
class Own:
    way: str = choice("Who works when", COLOCATED, list(WAYS))
    generating: int = ladder("GPUs that generate (split only)", 7, RUNGS)
    sigma: float = slider("Spread of the lengths", 0.8, low=0, high=1.2, step=0.1, symbol="σ")
    gpus: int = ladder("GPUs", 32, SIZES, symbol="G")
    tensor_parallel: int = ladder("GPUs that share an engine", 1, [1, 2, 4, 8, 16, 32, 64], symbol="TP")
    sync: float = ladder(
        "New weights arrive at", 25.0, [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 400.0], unit="GB/s"
    )
    prompts: int = ladder("Prompts per step", 128, [2**n for n in range(11)], symbol="B")
    samples: int = ladder("Completions per prompt", 16, [1, 2, 4, 8, 16, 32], symbol="K")
    prompt: int = ladder("Prompt length, tokens", 512, LENGTHS)
    p50: int = ladder("Median completion", 1200, sorted({*LENGTHS, 1200}), unit="tokens")
    longest: int = ladder("Longest completion", 8192, LENGTHS, unit="tokens")
    model: str = choice("Model", "qwen2.5-7b", list(MODELS))
    accelerator: str = choice("Accelerator", "h100", list(ACCELERATORS))


@dataclass(frozen=True)
class Knobs(machine_knobs.Brought, machine_knobs.AssumedOfTraining, Own):
    pass


KNOB_GROUPS = {
    "The machine": ("gpus", "tensor_parallel", "sync", "model", "accelerator"),
    "The batch": ("prompts", "samples", "prompt", "p50", "longest", "sigma"),
    "Assumed": ("bandwidth", "flops", "overhead", "mfu"),
}
PRESETS = {
    "32 H100, one pool": Knobs(),
    "Split 7 and 25, async": Knobs(way=ASYNC),
    "28 generate": Knobs(way=ASYNC, generating=28),
    "2 generate": Knobs(way=ASYNC, generating=2),
    "Weights by a slow wire": Knobs(way=ASYNC, sync=0.1),
    "70B on single GPUs": Knobs(model="llama3.1-70b"),
}
GUESS = Guess(
    "128 GPUs generate instead of 32, so four times as many. What fraction of the generation time remains?",
    ("a quarter", "half", "nine tenths"),
    Knobs(gpus=128),
    2,
    lambda k, r: (
        f"It takes {generation(k, 128):.0f} s instead of {generation(k, 32):.0f}, because it waits for the longest "
        "completion."
    ),
)


@dataclass(frozen=True)
class Result:
    misfits: list  # what of the setting is impossible; then there is nothing else
    runs: dict = None  # way -> Run at the split that is set
    swept: tuple = ()  # GPUs that generate, of the curves
    curves: dict = None  # way -> tokens a second at each of them

    @property
    def colocated(self):
        return self.runs[COLOCATED]


def law(k):
    return machine_knobs.law(k) if k.log else lognormal(k.p50, max(k.sigma, 1e-9), k.longest)


def job(k):
    return topology.Job(
        machine_knobs.model(k),
        machine_knobs.accelerator(k),
        k.gpus,
        k.prompts,
        k.samples,
        k.prompt,
        law(k),
        k.tensor_parallel,
        1e9 * k.sync,
        machine_knobs.efficiency(k),
        k.mfu,
    )


def lengths(k):
    return batches(law(k), k.prompts, k.samples)


@lru_cache(maxsize=2)
def batches(law, prompts, samples):
    """Lengths of the completions of some steps."""
    steps = max(1, STEPS * MANY // max(MANY, prompts * samples))
    shape = topology.Job(None, None, 0, prompts, samples, 0, law)
    return topology.drawn_lengths(shape, steps, SEED)


def is_split(k):
    return k.way in (SPLIT, ONE_OFF, ASYNC)


def misfits(k):
    model, accelerator = machine_knobs.model(k), machine_knobs.accelerator(k)
    if is_split(k) and k.generating >= k.gpus:
        what = f"{k.generating:,} GPUs generate and there are only {k.gpus:,}, so none is left to train"
        return [Misfit(what, k.generating + 1, k.gpus, "Use more GPUs.")]
    generating, training = (k.generating, k.gpus - k.generating) if is_split(k) else (k.gpus, k.gpus)
    engine = Engine(generating, k.tensor_parallel, k.prompt + law(k).longest)
    # assumed: while all GPUs generate and train in turn, the trainer's state is on the host during the rollout
    return memory.fits(
        model, accelerator, engine, Training(training, reference=True), efficiency=machine_knobs.efficiency(k)
    )


def run(k):
    if impossible := misfits(k):
        yield Result(impossible)
        return
    j, drawn = job(k), lengths(k)
    at = min(k.generating, k.gpus - 1)
    possible = WAYS if at >= k.tensor_parallel and k.gpus > 1 else (COLOCATED, CARRY)
    runs = {way: topology.simulate(j, way, at, drawn) for way in possible}
    swept = splits(k)
    cut = [way for way in possible if way not in (COLOCATED, CARRY)]
    curves = topology.sweep(j, cut, swept, drawn) if cut and swept else {}
    yield Result([], runs, swept, curves)


def splits(k):
    """Some of the rungs at which both pools hold what they need, that of the setting among them."""

    def fits_at(cut):
        return k.tensor_parallel <= cut < k.gpus and not misfits(replace(k, way=ONE_OFF, generating=cut))

    rungs = [rung for rung in RUNGS if fits_at(rung)]
    n = SWEPT if k.prompts * k.samples <= MANY else SWEPT // 2
    few = [rungs[round(i * (len(rungs) - 1) / (n - 1))] for i in range(n)] if rungs else []
    # the best of a stream lies where few GPUs generate: there the rungs are close
    close = rungs[:9:2] if k.prompts * k.samples <= MANY else []
    return tuple(sorted({*few, *close, *([k.generating] if fits_at(k.generating) else [])}))


def generation(k, gpus):
    """Mean seconds of a rollout on so many GPUs, all of them generating."""
    j = job(replace(k, gpus=gpus))
    return float(topology.finish_seconds(j, lengths(k), gpus)[:, -1].mean())


def figure(k, r):
    if r.misfits:
        return impossible_job.unfit(k, r.misfits, ["Timeline", "Timeline"], "gpus", misfits)
    return [timeline(k, r.runs[k.way], r), where_to_cut(k, r)]


LANES = {"generate": (1.15, 1.85), "train": (0.15, 0.85)}


def places(*heights):
    """Ticks of an axis whose height is only a place: lines between the lanes."""
    return dict(tickvals=list(heights), ticktext=[""] * len(heights))


def window(r):
    """Seconds of the picture: some three steps of the first way."""
    return above(3 * r.colocated.seconds / len(r.colocated.updates))


def timeline(k, run, r):
    end = window(r)
    marks = [*spans(run, end), label(0, 1.86, "generate", 0), label(0, 0.86, "train", 0)]
    new = updates(run, end)
    marks.append(dots(new, [0.06] * len(new), "a new policy", 1))
    who = f"{k.generating:,} and {k.gpus - k.generating:,} GPUs" if is_split(k) else f"all {k.gpus:,} GPUs do both"
    return panel(
        "Two pools" if is_split(k) else "One pool, two jobs",
        f"{who}; height: share still being written" if r.runs[k.way].finish is not None else who,
        *marks,
        x="seconds",
        x_range=[0, end],
        y_range=[0, 2.1],
        y_ticks=places(1.0),
        tab="Timeline",
        front=True,
    )


def spans(run, end, low=0.0):
    """Each span as a block in its lane; a batch keeps its color from one to the other. Where a step waits for all of
    its completions, the block is as high as the share that is still being written.
    """
    blocks = []
    for span in run.until(end):
        bottom, top = (edge + low for edge in LANES[span.pool])
        series = 1 + span.step % 3 if span.what in LANES else 8
        if span.seconds > 2e-3 * end:
            seconds, share = run.still_written(span)
            height = bottom + (top - bottom) * share
            blocks.append(band(span.start + seconds, np.full(len(seconds), bottom), height, series))
    return blocks


def updates(run, end):
    """Seconds at which a new policy stands."""
    ends = [span.start + span.seconds for span in run.until(end) if span.what == "train"]
    return [second for second in ends if second < end]


def where_to_cut(k, r):
    colocated = r.colocated.tokens_per_second
    times = {way: run.tokens_per_second / colocated for way, run in r.runs.items()}
    marks, ends = [], (1, max(k.gpus - 1, 2))
    for way in (COLOCATED, CARRY):
        marks.append(line(ends, [times[way]] * 2, way, SERIES[way], "" if way == k.way else "reference"))
    for way, curve in r.curves.items():
        role = "" if way == k.way else "reference"
        marks.append(line(r.swept, [rate / colocated for rate in curve], way, SERIES[way], role))
    chosen = k.generating if is_split(k) else ends[1]
    marks += [
        dots([chosen], [min(max(times[k.way], LOWEST), HIGHEST)], "here", role="here"),
        *named(k, r, times[CARRY]),
        threshold(1, "", LOWEST),
        label(ends[1] ** 0.5, 1.15 * LOWEST, "slower than colocated, wait", 0, "center"),
    ]
    return panel(
        "Where to cut",
        f"speed relative to colocated, wait; {counted(len(lengths(k)), 'step')}",
        *marks,
        x="GPUs that generate",
        log="xy",
        x_range=ends,
        y_range=[LOWEST, HIGHEST],
        tab="Timeline",
        ticks=dict(tickvals=[2**n for n in range(14) if 2**n <= ends[1]]),
    )


def named(k, r, carried):
    """The name of each curve at its highest point, lower ones below their curves."""
    out = [label(1, 1.05 * min(carried, HIGHEST / 1.1), "partial rollout", SERIES[CARRY] if k.way == CARRY else 8)]
    for way, curve in r.curves.items():
        if curve:
            best, at = max(zip(curve, r.swept))
            color = SERIES[way] if way == k.way else 8
            height = min(max(best / r.colocated.tokens_per_second, 1.5 * LOWEST), HIGHEST / 1.1)
            out.append(label(at, height * (0.95 if way == SPLIT else 1.03), NAMES[way], color, "center", way == SPLIT))
    return out


NAMES = {ONE_OFF: "one-step off-policy", ASYNC: "async", SPLIT: "split, wait"}


def above(value):
    """The next round number, so that the axis stays while the cut moves."""
    unit = 10.0 ** (len(f"{value:.0f}") - 1)
    return next(unit * m for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if unit * m >= value)


def rate(r, k):
    return r.runs[k.way].tokens_per_second


def against_colocated(k, r):
    """Per cent of what the colocated loop would reach with the same GPUs."""
    return 100 * (rate(r, k) / r.colocated.tokens_per_second)  # in this order: 100 % of itself, to the last bit


READOUTS = {
    "Tokens per second, with prompts": ("tokens/s", topology.simulate),
    "Duration of a step": ("s", topology.finish_seconds),
    "Idle time, generators and trainers": ("", topology.Run.idle),
    "Lag, mean number of updates": ("", topology.lag),
    "Longest completion alone": ("s", topology.floor_seconds),
}


def readouts(k, r):
    if r.misfits:
        units, sources = ({name: pair[i] for name, pair in READOUTS.items()} for i in (0, 1))
        return impossible_job.dashes(sources, "Tokens per second, with prompts", units)
    run = r.runs[k.way]
    idle = [max(100 * run.idle(pool), 0.0) for pool in LANES]  # no less by the last bit of a sum
    waits = f"{idle[0]:.0f} %, {idle[1]:.0f} %" if is_split(k) else "one pool"
    values = (rate(r, k), run.seconds / len(run.updates), waits, run.lag, topology.floor_seconds(job(k), lengths(k)))
    states = ["violated" if broken(k, r) else "", "", "", "", ""]
    return [
        Readout(name, value, unit, source, state)
        for (name, (unit, source)), value, state in zip(READOUTS.items(), values, states)
    ]


def export(k, r):
    """The setting as quantities of options.TABLE."""
    if r.misfits:
        return None
    generating = k.generating if is_split(k) else k.gpus
    return dict(
        tensor_parallel=k.tensor_parallel,
        engines=generating // k.tensor_parallel,
        context=int(k.prompt + law(k).longest),
        placement="split" if is_split(k) else "colocated",
        prompts=k.prompts,
        samples=k.samples,
        prompt=k.prompt,
        completion=int(law(k).longest),
        overlap=OVERLAPS[k.way],
    )


OVERLAPS = {COLOCATED: "sync", CARRY: "carry-over", SPLIT: "sync", ONE_OFF: "one-off", ASYNC: "async"}


def watched(k, r):
    if r.misfits:
        return impossible_job.needed(r.misfits)
    label, speed = "Speed, % of the colocated loop", against_colocated(k, r)
    if k.way not in (COLOCATED, ONE_OFF, ASYNC):  # may be slower, and no break
        return Readout(label, speed, "%", topology.simulate)
    return Gauge(
        label,
        speed,
        100.0,
        "%",
        below=True,
        expression="overlapped and tokens_per_second < colocated.tokens_per_second",
    )


def seen_at(k, r, cause):
    if r.misfits:
        return impossible_job.unfit_at(k, r.misfits)
    return At("Where to cut", None, None, "{y:.2f} of the colocated speed", "here")


def broken(k, r):
    if r.misfits:
        return Break(impossible_job.why(r.misfits), made_to_run(k), "the job does not fit")
    if k.way not in (ONE_OFF, ASYNC) or against_colocated(k, r) >= 100:
        return None
    behind = 100 - against_colocated(k, r)
    much = f"{behind:.0f} %" if behind < 99.5 else "over 99 %"
    slower = f"It is {much} slower than the colocated loop" if behind >= 0.5 else "It is slower than the colocated loop"
    at, training = k.generating, k.gpus - k.generating
    instant = topology.simulate(replace(job(k), sync_bytes_per_second=1e15), k.way, at, lengths(k))
    if instant.tokens_per_second >= r.colocated.tokens_per_second:
        seconds = fabric.weight_sync(machine_knobs.model(k), 1e9 * k.sync)
        why = f"{slower}. At {k.sync:g} GB/s new weights take {seconds:,.0f} s, and meanwhile no engine generates."
        claims = behind_one_pool(k, r) | {
            "so long do they take": lambda: (
                abs(2 * machine_knobs.model(k).params() / (1e9 * k.sync) / seconds - 1) < 1e-6
            ),
            "a faster link mends it": lambda: arrives(replace(k, sync=1e6), r),
        }
        return Break(
            Said(why, claims),
            recovery.one_knob(k, ("sync",), lambda other: arrives(other, r)) or dict(way=COLOCATED),
            "both pools wait for new weights",
        )
    best, cut = max(zip(r.curves[k.way], r.swept))
    if best < r.colocated.tokens_per_second or cut == at:
        claims = behind_one_pool(k, r) | {
            "no cut is as fast": lambda: max(r.curves[k.way]) < r.colocated.tokens_per_second
        }
        why = f"{slower}, and no other cut that was tried is as fast."
        return Break(Said(why, claims), dict(way=COLOCATED), "no cut is as fast")
    few, number, working, waiting = ("generators", at, "generate", "train")
    if cut < at:
        few, number, working, waiting = ("trainers", training, "train", "generate")
    run = r.runs[k.way]
    named = counted(number, f"GPU that {working}s sets", f"GPUs that {working} set")
    why = f"{slower}. {named} the pace, and the other pool is idle for {100 * run.idle(waiting):.0f} % of the time."
    claims = behind_one_pool(k, r) | {
        "the other pool is idle for so long": lambda: run.idle(waiting) >= run.idle(working),
        "another cut mends it": lambda: (
            topology.simulate(job(k), k.way, cut, lengths(k)).tokens_per_second >= r.colocated.tokens_per_second
        ),
    }
    return Break(Said(why, claims), dict(generating=cut), f"too few {few}")


def behind_one_pool(k, r):
    """What is asserted of a split that is slower: seconds for the tokens of either."""
    pool, split = r.colocated, r.runs[k.way]
    return {"one pool is faster": lambda: pool.seconds / pool.tokens < split.seconds / split.tokens}


def made_to_run(k):
    """As `made_to_fit`, in one pool where the split that then fits would be slower than that."""
    change = made_to_fit(k)
    if change is None:
        return None
    return change | dict(way=COLOCATED) if slower_than_one_pool(replace(k, **change)) else change


def slower_than_one_pool(k):
    if k.way not in (ONE_OFF, ASYNC):
        return False
    at = min(k.generating, k.gpus - 1)
    if at < k.tensor_parallel:
        return True
    split, pool = (topology.simulate(job(k), way, at, lengths(k)).tokens_per_second for way in (k.way, COLOCATED))
    return split < pool


def made_to_fit(k):
    """The least that makes room: one knob, or several at once; None where nothing here does."""
    turn = ("tensor_parallel", "generating", "gpus", "longest", "accelerator", "model")
    changes = [
        dict(way=COLOCATED, tensor_parallel=n, gpus=max(k.gpus, m)) for m in (1, 8, 32, 128, 1024) for n in ENGINES
    ]
    changes += [{**change, "prompt": 512, "longest": 8192} for change in changes]
    changes.append(dict(way=COLOCATED, tensor_parallel=1, model="qwen2.5-7b", accelerator="h100", prompt=512, gpus=32))
    return recovery.one_knob(k, turn, fits) or recovery.first_of(k, changes, fits)


def fits(k):
    return not misfits(k)


ENGINES = (1, 2, 4, 8)


def arrives(k, r):
    """Whether a faster link is enough; it changes nothing of what one pool reaches."""
    run = topology.simulate(job(k), k.way, k.generating, lengths(k), r.runs[k.way].finish)
    return run.tokens_per_second >= r.colocated.tokens_per_second


def worse(k, r):
    slower = 100 - against_colocated(k, r)
    if slower > 0.5:
        idle = ", because one half is always idle" if k.way == SPLIT else ""
        return Said(
            f"It reaches {rate(r, k):,.0f} tokens per second, {slower:.0f} % fewer than the colocated loop{idle}.",
            behind_one_pool(k, r)
            | {"each half idles": lambda: not idle or min(r.runs[k.way].idle(pool) for pool in LANES) > 0},
        )
    best = max(r.curves.get(k.way, [0.0]))
    if is_split(k) and rate(r, k) < FAR_BEHIND * best:
        cut = max(zip(r.curves[k.way], r.swept))[1]
        return Said(
            f"It reaches {rate(r, k):,.0f} tokens per second, while another cut of the same GPUs reaches {best:,.0f}.",
            {
                "another cut is faster": lambda: (
                    topology.simulate(job(k), k.way, cut, lengths(k)).tokens_per_second > rate(r, k) / FAR_BEHIND - 1
                )
            },
        )
    return None


def holds(k, r):
    run = r.runs[k.way]
    step = run.seconds / len(run.updates)
    took = {"a step takes so long": lambda: abs(run.tokens / (len(run.updates) * rate(r, k)) / step - 1) < 1e-6}
    if k.way == COLOCATED:
        rollout, alone = run.finish[:, -1].mean(), topology.floor_seconds(job(k), lengths(k))
        return Said(
            f"A step takes {step:,.0f} s, of which generation takes {rollout:,.0f} s. The longest completion alone "
            f"takes {alone:,.0f} s.",
            took
            | {"generating is a part of it": lambda: rollout <= step * (1 + 1e-9)}
            | {"no batch is done before its longest": lambda: alone <= rollout * (1 + 1e-9)},
        )
    times = against_colocated(k, r) / 100
    return Said(
        f"It reaches {rate(r, k):,.0f} tokens per second, {times:.2f} times as many as the colocated loop. A step "
        f"takes {step:,.0f} s.",
        took | {"so many times": lambda: abs(run.tokens / run.seconds / rate(r, k) - 1) < 1e-9 and times > 0.994},
    )


TWO_RUNS = "7 GPUs generate", "28 GPUs generate"


def two_cuts(plain, other):
    """Both runs in one time, lane below lane, and what each has trained on by then."""
    end = 300.0
    lanes, tokens = [], []
    for row, (name, r) in enumerate([(TWO_RUNS[0], plain), (TWO_RUNS[1], other)]):
        run, low = r.runs[ASYNC], 2.3 * (1 - row)
        lanes += [*spans(run, end, low), label(0, 1.2 + low, f"{name}: generate", 0), label(0, 0.2 + low, "train", 0)]
        new = [0.0, *updates(run, end), end]
        millions = [n * run.tokens / len(run.updates) / 1e6 for n in range(len(new) - 1)]
        series, role = ((8, "reference"), (1, "step"))[row]
        tokens.append(line(new, [*millions, millions[-1]], name, series, role))
        tokens.append(label(end, millions[-1], name, series, "right"))
    return [
        panel(
            "What 32 GPUs do",
            "each color is a batch; empty: idle",
            *lanes,
            x="seconds",
            x_range=[0, end],
            y_range=[0, 4.6],
            y_ticks=places(1.0, 2.3, 3.3),
        ),
        panel("Tokens trained on so far", "millions", *tokens, x="seconds", x_range=[0, end], y_range=[0, 50]),
    ]


OPENING = Opening(Knobs(way=ASYNC), Knobs(way=ASYNC, generating=28), two_cuts, topology.simulate, TWO_RUNS)
