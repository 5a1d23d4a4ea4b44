"""What a job keeps on each GPU while it generates and while it trains, what longer sequences add, and the fewest GPUs
that hold it.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.cluster import envelope, memory, throughput
from sim.cluster.envelope import Job, Peak
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import LEDGERS, Engine, Training
from sim.cluster.models import MODELS
from sim.words import counted
from widgets.frame.contract import impossible_job, machine_knobs, recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import bars, dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "Memory that a training job needs on each GPU"

ALGORITHMS = ("GRPO", "PPO", "GRPO with LoRA", "DPO")
RANK = 32  # assumed: of the adapters
WEIGHTS = {"bf16": 2, "fp8": 1, "fp4": 0.53}  # bytes a weight; fp4 with the scales of MXFP4, 4.25 bits
CACHES = {"bf16": 2, "fp8": 1}
RULES = {"off u (vLLM)": "vllm", "outside u (SGLang)": "sglang"}
PLACED = {"in turn, state offloaded": 0, "in turn, state stays": 1, "two pools": 2}
GPUS = sorted({2**n for n in range(14)} | {3 * 2**n for n in range(12)} | {5, 10, 20, 40, 80})
# completions that make powers of two with a prompt of 512, and powers of two
LENGTHS = sorted({2**n for n in range(9, 18)} | {2**n - 512 for n in range(11, 18)} | {720, 1200, 2000, 3000, 4600})
LENGTHS = sorted({*LENGTHS, 6000, 12000, 24000, 60000})
CURVE = 2.0 ** np.linspace(10, 17, 29)  # tokens of a sequence
CHIPS = ("a100_80", "h100", "h200", "h20", "b200", "mi300x", "mi355x")
SPILL = 1.7  # of a GPU's memory, the end of the axis
TIGHT = 0.95


@dataclass(frozen=True)
class Own:
    model: str = choice("Model", "llama3.1-8b", list(MODELS))
    accelerator: str = choice("Accelerator", "h100", list(ACCELERATORS))
    gpus: int = ladder("GPUs", 8, GPUS)
    longest: int = ladder("Longest completion", 7680, LENGTHS, unit="tokens")
    recompute: str = choice("Recomputation of activations", "selective", list(memory.RECOMPUTE))
    algorithm: str = choice("Algorithm", "GRPO", list(ALGORITHMS))
    placement: str = choice("Who has the GPUs", "in turn, state offloaded", list(PLACED))
    share: float = slider("Fraction of GPUs that generate", 0.5, low=0.05, high=0.95, step=0.05)
    prompts: int = ladder("Prompts per step", 512, [2**n for n in range(14)], symbol="B")
    samples: int = ladder("Completions per prompt", 16, [1, 2, 4, 8, 12, 16, 24, 32, 64, 128], symbol="K")
    prompt: int = ladder(
        "Prompt length", 512, [128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536], unit="tokens"
    )
    p50: int = ladder("Median completion", 720, LENGTHS, unit="tokens")
    p90: int = ladder("Ninetieth percentile", 2000, LENGTHS, unit="tokens")
    p99: int = ladder("Ninety-ninth percentile", 4600, LENGTHS, unit="tokens")
    micro_batch: int = ladder("Smallest micro-batch", 1024, [2**n for n in range(10, 18)], unit="tokens")
    logits_chunk: int = ladder("Logits at a time (0 is all)", 1024, [0, 256, 1024, 4096, 16384], unit="tokens")
    zero: int = ladder("ZeRO stage", 3, [0, 1, 2, 3])
    ledger: str = choice("Bytes of weight, gradient, optimizer", "2 + 2 + 12", list(LEDGERS))
    reference: str = choice("Place of the reference", "on the GPUs", ["on the GPUs", "offloaded", "none"])
    train_tp: int = ladder("GPUs that share a sequence", 1, [1, 2, 4, 8])
    tensor_parallel: int = ladder("GPUs that share an engine (0 chooses)", 0, [0, 1, 2, 4, 8, 16, 32, 64], symbol="TP")
    weights: str = choice("Precision of engine’s weights", "bf16", list(WEIGHTS))
    kv_precision: str = choice("Precision of keys and values", "bf16", list(CACHES))
    hbm_share: float = slider("Memory fraction for the engine", 0.9, low=0.2, high=0.98, step=0.01, symbol="u")
    extra: float = slider("Engine’s activations and graphs", 0.0, low=0, high=20, step=0.5, unit="GB")
    rule: str = choice("Accounting of graphs", "off u (vLLM)", list(RULES))


@dataclass(frozen=True)
class Knobs(machine_knobs.Brought, machine_knobs.AssumedOfTraining, Own):
    pass


SPLIT = Knobs(
    model="qwen2.5-32b",
    gpus=128,
    longest=8192,
    recompute="full",
    placement="two pools",
    reference="none",
    p50=3000,
    p90=8192,
    p99=16384,
)
LEAD = ("longest", "gpus")
KNOB_GROUPS = {
    "Model and machine": ("model", "accelerator", "placement", "share"),
    "The batch": ("algorithm", "prompts", "samples", "prompt", "p50", "p90", "p99"),
    "The trainer": ("recompute", "micro_batch", "logits_chunk", "zero", "ledger", "reference", "train_tp"),
    "The engine": ("tensor_parallel", "weights", "kv_precision", "hbm_share", "extra", "rule"),
    "Assumed": ("bandwidth", "flops", "overhead", "mfu"),
}
PRESETS = {
    "8B on 8 H100": Knobs(),
    "32B on 64 + 64": SPLIT,
    "70B on 16": Knobs(model="llama3.1-70b", gpus=16, recompute="full"),
    "8B, 16k tokens": Knobs(longest=15872),
    "8B, 64k, all logits": Knobs(longest=65024, recompute="full", logits_chunk=0),
    "V3 on 256 H100": Knobs(model="deepseek-v3", gpus=256, recompute="full"),
}
GUESS = Guess(
    "How many GPUs of 80 GB does it take to train an 8B model on 8,192 tokens, with only the scores recomputed?",
    ("1", "2", "more than 4"),
    Knobs(),
    2,
    lambda k, r: f"It takes {r.fewest}. Weights, gradients and optimizer alone take 128 GB, and a sequence adds 37 GB.",
)


@dataclass(frozen=True)
class Result:
    misfits: list
    moments: dict  # {moment: {component: bytes}}
    peak: Peak
    fewest: int | None  # GPUs
    tensor_parallel: int = 0
    engines: int = 0
    asked: float = 0.0  # sequences of an engine
    fit: float = 0.0
    tokens_per_second: float = 0.0
    update_seconds: float = 0.0


def run(k):
    if impossible_job.out_of_order(k):
        yield Result(misfits(k), {}, Peak("update", 0, 1), None)
        return
    model, accelerator, sized = machine_knobs.model(k), machine_knobs.accelerator(k), job(k)
    impossible = misfits(k)
    moments = envelope.envelope(model, accelerator, sized)
    fullest, fewest = envelope.peak(model, accelerator, sized), envelope.fewest_gpus(model, accelerator, sized)
    if impossible:
        yield Result(impossible, moments, fullest, fewest)
        return
    engine, training = envelope.parts(model, accelerator, sized)
    law = machine_knobs.law(k)
    completions = k.prompts * k.samples
    tokens = completions * (k.prompt + law.mean) * (2 if k.algorithm == "DPO" else 1)
    seconds = throughput.update_seconds(model, accelerator, training.gpus, tokens, k.mfu)
    if not engine:
        yield Result([], moments, fullest, fewest, update_seconds=seconds)
        return
    context, engines = law.context(k.prompt), engine.gpus // engine.tensor_parallel
    fit, asked = memory.sequences(model, accelerator, context, engine), completions / engines
    live = min(asked, fit)
    iteration = throughput.iteration_seconds(
        model, accelerator, live, live * context, efficiency=machine_knobs.efficiency(k, engine), **engine.split
    )
    speed = engines * live / float(iteration)
    yield Result([], moments, fullest, fewest, engine.tensor_parallel, engines, asked, fit, speed, seconds)


def length(k):
    """Tokens of the longest sequence, its prompt included."""
    return k.prompt + round(machine_knobs.law(k).longest)


def job(k):
    longest, pair = length(k), 2 if k.algorithm == "DPO" else 1
    training = Training(
        k.gpus,
        k.zero,
        LEDGERS[k.ledger],
        adapters=RANK if k.algorithm == "GRPO with LoRA" else 0,
        # adapters that are switched off leave the reference
        reference=k.reference == "on the GPUs" and k.algorithm != "GRPO with LoRA",
        critic=k.algorithm == "PPO",
        tokens=max(k.micro_batch, pair * longest),  # a sequence is not cut, and a pair stays together
        length=longest,
        recompute=k.recompute,
        logits_chunk=k.logits_chunk or None,
        tensor_parallel=k.train_tp,
    )
    engine = Engine(
        k.gpus,
        k.tensor_parallel,
        longest,
        hbm_share=k.hbm_share,
        weight_bytes=WEIGHTS[k.weights],
        kv_bytes=CACHES[k.kv_precision],
        extra_bytes=1e9 * k.extra,
        rule=RULES[k.rule],
    )
    placement = envelope.PLACEMENTS[PLACED[k.placement]]
    return Job(k.gpus, training, None if k.algorithm == "DPO" else engine, placement, k.share)


def misfits(k):
    """What of the setting is impossible."""
    if out_of_order := impossible_job.out_of_order(k):
        return out_of_order
    model, accelerator = machine_knobs.model(k), machine_knobs.accelerator(k)
    widths = Engine(weight_bytes=WEIGHTS[k.weights], kv_bytes=CACHES[k.kv_precision])
    measured = memory.fits(model, accelerator, efficiency=machine_knobs.efficiency(k, widths))
    return envelope.misfits(model, accelerator, job(k)) or [m._replace(part="input") for m in measured]


# What is drawn

COLORS = dict(weights=6, extra=8, cache=2, state=1, reference=5, critic=7, activations=3, logits=4)
CALLED = dict(extra="graphs")


def figure(k, r):
    if not r.moments:
        tabs = ["One GPU", "One GPU", "Copies and chips", "Copies and chips"]
        return impossible_job.unfit(k, misfits(k), tabs, "gpus", misfits)
    return [one_gpu(k, r), longer(k, r), all_copies(k), by_chip(k, r)]


def one_gpu(k, r):
    """The engine's moment and the trainer's, each component with its gigabytes."""
    hbm = machine_knobs.accelerator(k).hbm_bytes / 1e9
    beside = "" if RULES[k.rule] == "vllm" else " without graphs"
    second = second_moment(r)
    moments = [("generate", 0.0), (second, 2.3)] if r.moments["generate"] else [(second, 2.3)]
    marks, words = [], []
    for moment, x in moments:
        sizes = {name: size / 1e9 for name, size in r.moments[moment].items() if size > 0}
        foot, places = 0.0, []
        for name, size in sizes.items():
            height = max(min(size, SPILL * hbm - foot), 0.0)
            # the bars between the two are empty: they keep the drawn ones narrow
            marks.append(bars([x, x + 1], [height, 0.0], f"{name}, {moment}", COLORS[name]))
            more = "↑ " if size > height + 1e-9 else ""
            called = CALLED.get(name, name)
            places.append((foot + height / 2, f"{more}{called} {gigabytes(size)}", COLORS[name], size > 0.015 * hbm))
            foot += height
        named = [place[:3] for place in places if place[3]]
        heights = apart([y - 0.04 * hbm for y, _, _ in named], 0.2 * hbm, SPILL * hbm)
        words += [label(x + 0.46, y, text, series) for y, (_, text, series) in zip(heights, named)]
    return panel(
        "Memory of one GPU",
        f"GB; {machine_knobs.accelerator(k).name} has {hbm:,.0f}",
        *marks,
        *words,
        threshold((1 - memory.RESERVE) * hbm, "full", SPILL * hbm),
        x=f"engine{beside}: {k.hbm_share * hbm:,.1f}, trainer: {(1 - memory.RESERVE) * hbm:,.1f} (assumed)",
        x_range=[-0.5, 4.6],
        y_range=[0, SPILL * hbm],
        tab="One GPU",
        front=True,
        stacked=True,
        ticks=dict(tickvals=[0, 2.3], ticktext=["generating" if len(moments) > 1 else "", MOMENT[second]]),
    )


def second_moment(r):
    return r.peak.moment if r.misfits and r.peak.moment in ("score", "sync") else "update"


MOMENT = dict(generate="generating", score="scoring", update="training", sync="taking weights")


def gigabytes(size):
    return f"{size:,.0f}" if size >= 10 else f"{size:.1f}"


def apart(heights, gap, top):
    """Heights of words from the ground up, moved so that each has room below the top."""
    placed, y = [], -gap
    for height in heights:
        y = max(height, y + gap)
        placed.append(y)
    highest = top - gap * np.arange(len(placed), 0, -1)
    return np.minimum(placed, highest).tolist()


def longer(k, r):
    """What one sequence adds, by its length, and the room that is left for it."""
    model, accelerator = machine_knobs.model(k), machine_knobs.accelerator(k)
    activations = {
        mode: [memory.activation_bytes(model, L, L, mode, k.train_tp) / 1e9 for L in CURVE] for mode in memory.RECOMPUTE
    }
    logits = [memory.logits_bytes(model, L) / 1e9 / k.train_tp for L in CURVE]
    update = {name: size / 1e9 for name, size in r.moments["update"].items()}
    room = (1 - memory.RESERVE) * accelerator.hbm_gb - update["state"] - update["reference"] - update["critic"]
    names = dict(none="none recomputed", selective="selective", full="full recompute")
    marks = [
        line(CURVE, activations[mode], names[mode], 3, "" if mode == k.recompute else "reference")
        for mode in activations
    ]
    for mode, n in dict(none=14, selective=28, full=28).items():
        series = 3 if mode == k.recompute else 8
        y = activations[mode][n] * (0.3 if mode == "full" else 1)
        marks.append(label(CURVE[n], y, names[mode], series, "right", below=mode == "full"))
    marks += [
        line(CURVE, logits, "all logits at once", 4),
        label(1100, 1.3 * logits[0], "logits", 4),
        dots([min(max(length(k), CURVE[0]), CURVE[-1])], [update["activations"]], "here", role="here"),
    ]
    if room > 0.2:
        marks.append(threshold(room, "", 1e5))
    return panel(
        "What one sequence takes, by its length",
        "GB, log scales; dashed: room left for them",
        *marks,
        x="tokens of a sequence, S",
        log="xy",
        x_range=[1024, 2**17],
        y_range=[0.1, 1e5],
        tab="One GPU",
    )


COPIES = ("policy", "engine", "reference", "critic", "reward model")


def all_copies(k):
    """Bytes a weight of every copy of the model, and what it comes to."""
    model, sized = machine_knobs.model(k), job(k)
    copies = envelope.copies(model, sized.training, sized.engine)
    a_weight = [copies.get(copy, 0.0) / model.params() for copy in COPIES]
    frozen = [a if copy not in ("policy", "critic") else 0.0 for copy, a in zip(COPIES, a_weight)]
    trained = [a if copy in ("policy", "critic") else 0.0 for copy, a in zip(COPIES, a_weight)]
    places = list(range(len(COPIES)))
    marks = [bars(places, trained, "trained", 1), bars(places, frozen, "frozen or generating", 6)]
    for x, copy in zip(places, COPIES):
        if copy in copies:
            marks.append(label(x, a_weight[x], f"{copies[copy] / 1e9:,.0f} GB", 0, "center"))
    return panel(
        "Copies of the model",
        f"bytes per weight; each copy once, together {sum(copies.values()) / 1e9:,.0f} GB",
        *marks,
        x_range=[-0.6, 4.6],
        y_range=[0, 20],
        tab="Copies and chips",
        stacked=True,
        ticks=dict(tickvals=places, ticktext=["policy", "engine", "refer.", "critic", "reward"], tickangle=0),
    )


def by_chip(k, r):
    """The fewest GPUs of each chip that hold the job, by search."""
    model, sized = machine_knobs.model(k), job(k)
    fewest = [envelope.fewest_gpus(model, ACCELERATORS[chip], sized) for chip in CHIPS]
    rows = list(range(len(CHIPS), 0, -1))
    chart = panel(
        "Fewest GPUs that hold this job",
        "by chip; log scale",
        dots([n for n in fewest if n], [y for y, n in zip(rows, fewest) if n], "fewest GPUs", 1),
        *(
            label(
                n * 1.25 if n else 9000,
                y - 0.25,
                f"{n:,}" if n else "more GPUs do not help",
                1,
                "left" if n else "right",
            )
            for y, n in zip(rows, fewest)
        ),
        x="GPUs",
        log="x",
        x_range=[1, 1e4],
        y_range=[0.4, len(CHIPS) + 0.6],
        tab="Copies and chips",
        ticks=dict(tickvals=[1, 10, 100, 1000, 10000], ticktext=["1", "10", "100", "1,000", "10,000"]),
    )
    chart["layout"]["yaxis"] |= dict(
        tickvals=rows[::-1], ticktext=[ACCELERATORS[chip].name.split(" ")[0] for chip in CHIPS[::-1]]
    )
    return chart


# What is said


def readouts(k, r):
    alone = bool(r.misfits) or not r.engines
    return [
        Readout(
            "Fullest moment of the trainer",
            f"{r.peak.needs / 1e9:,.1f} of {r.peak.has / 1e9:,.1f}" if r.moments else "–",
            "GB",
            envelope.peak,
            "violated" if r.misfits else "",
        ),
        Readout("Fewest GPUs for this job", r.fewest or "more GPUs do not help", "", envelope.fewest_gpus),
        Readout(
            "Sequences at once per engine",
            "–" if alone else f"{min(r.asked, r.fit):,.0f} of {r.asked:,.0f}, TP {r.tensor_parallel}",
            "",
            memory.sequences,
        ),
        Readout(
            "Tokens per second, all engines",
            "–" if alone else r.tokens_per_second,
            "",
            throughput.iteration_seconds,
            "" if alone else "assumed",
        ),
        Readout(
            "Duration of an update",
            "–" if r.misfits else r.update_seconds,
            "s",
            throughput.update_seconds,
            "" if r.misfits else "assumed",
        ),
    ]


def export(k, r):
    """The setting as quantities of options.TABLE."""
    if r.misfits or not r.engines:
        return None
    return dict(
        tensor_parallel=r.tensor_parallel,
        engines=r.engines,
        memory_fraction=k.hbm_share,
        context=length(k),
        concurrency=max(int(min(r.asked, r.fit)), 1),
        kv_dtype=k.kv_precision,
        weights_dtype=k.weights,
        placement="split" if k.placement == "two pools" else "colocated",
        prompts=k.prompts,
        samples=k.samples,
        prompt=k.prompt,
        completion=round(machine_knobs.law(k).longest),
        micro_batch_tokens=max(k.micro_batch, length(k)),
    )


def watched(k, r):
    share = r.misfits[0].needs / r.misfits[0].has if r.misfits else r.peak.share
    return Gauge(
        "Memory needed, % of what there is",
        100 * min(max(share, 1e-3), 1e6),
        100.0,
        "%",
        expression="envelope.misfits(model, accelerator, job)",
    )


STATE = "training state fills the GPU"
CAUSES = {
    "state": STATE,
    "reference": STATE,
    "critic": STATE,
    "activations": "activations fill the GPU",
    "logits": "logits fill the GPU",
    "weights": "weights too large for an engine",
    "cache": "weights too large for an engine",
    "sequence": "one sequence too large",
    "engine": "engine and trainer collide",
    "layout": "GPUs that do not divide",
    "input": "the inputs contradict",
}
# what an engineer would turn first, by what there is too much of
FIRST = {
    "state": ("gpus", "zero", "ledger", "algorithm"),
    "activations": ("recompute", "train_tp", "longest", "micro_batch"),
    "logits": ("logits_chunk", "train_tp", "longest"),
    "weights": ("tensor_parallel", "weights", "gpus", "accelerator"),
    "sequence": ("gpus", "tensor_parallel", "kv_precision", "longest", "hbm_share"),
    "engine": ("placement", "hbm_share"),
    "layout": ("tensor_parallel", "train_tp", "gpus"),
}
TURNED = ("recompute", "logits_chunk", "train_tp", "gpus", "zero", "tensor_parallel", "weights", "hbm_share", "extra")
TURNED += ("placement", "longest", "prompt", "accelerator", "algorithm", "model")
# a setting that surely fits; `fix` takes as little of it as is enough, and spares what comes first
SURELY = dict(model="llama3.1-8b", accelerator="h200", longest=7680, prompt=512, micro_batch=1024, gpus=256)
SURELY |= dict(algorithm="GRPO", ledger="2 + 2 + 12", weights="fp8", kv_precision="fp8", hbm_share=0.9, extra=0.0)
SURELY |= dict(placement="in turn, state offloaded", train_tp=1, tensor_parallel=0, zero=3, logits_chunk=1024)
SURELY |= dict(recompute="full")


def seen_at(k, r, cause):
    first = r.misfits[0]
    if not r.moments:
        return impossible_job.unfit_at(k, r.misfits)
    of_engine = first.part in ("weights", "cache", "sequence") and r.moments["generate"]
    moment, x = ("generate", 0.0) if of_engine else (second_moment(r), 2.3)
    height = sum(r.moments[moment].values()) / 1e9
    top = SPILL * machine_knobs.accelerator(k).hbm_bytes / 1e9
    return At("Memory of one GPU", x, min(height, top), impossible_job.beyond(first))


def broken(k, r):
    if not r.misfits:
        return None
    first = r.misfits[0]
    return Break(impossible_job.why(r.misfits), fix(k, first), CAUSES[first.part])


def fix(k, first):
    """Knobs to be turned until nothing is impossible: one where one is enough."""
    if impossible_job.out_of_order(k):
        rising = recovery.different(k, impossible_job.in_order(k))
        in_order = replace(k, **rising)
        impossible = misfits(in_order)
        rest = fix(in_order, impossible[0]) if impossible else {}
        return None if rest is None else rising | rest
    if first.part == "input":
        return None
    order = (*FIRST.get(first.part, FIRST["state"]), *TURNED)
    return recovery.one_knob(k, order, fits) or recovery.fewest(k, SURELY, fits)


def fits(k):
    return not misfits(k)


def worse(k, r):
    if r.peak.share <= TIGHT:
        return None
    moment, percent_left = MOMENT[r.peak.moment], 100 * (1 - r.peak.share)
    spare = f"{percent_left:.0f} %" if percent_left >= 0.5 else "less than 1 %"
    more = " Sequences that are a quarter longer do not fit." if misfits(longer_by(k, 1.25)) else ""
    return Said(
        f"It fits, with {spare} to spare while {moment}.{more}",
        fitting(k, r) | {"a quarter more does not": lambda: not more or misfits(longer_by(k, 1.25))},
    )


def longer_by(k, times):
    """The setting with all sequences so many times as long."""
    stretched = dict(prompt=k.prompt, longest=k.longest, p50=k.p50, p90=k.p90, p99=k.p99, micro_batch=k.micro_batch)
    return replace(k, **{name: round(times * tokens) for name, tokens in stretched.items()})


def fitting(k, r):
    """What is asserted of a job that fits: its moments summed up once more."""

    def sums():
        return {moment: sum(parts.values()) for moment, parts in r.moments.items()}

    return {
        "nothing is impossible": lambda: not misfits(k),
        "no moment needs more than the fullest": lambda: all(
            total <= machine_knobs.accelerator(k).hbm_bytes for total in sums().values()
        ),
        "the fullest needs so much": lambda: abs(sums()[r.peak.moment] - r.peak.needs) < 1e-3 * r.peak.needs,
    }


def holds(k, r):
    pool = counted(k.gpus, "GPU")
    return Said(
        f"It fits on {pool}. The trainer is fullest while {MOMENT[r.peak.moment]}, with {100 * r.peak.share:.0f} % of "
        "what it may fill." + (f" {counted(r.fewest, 'GPU')} would be enough." if r.fewest else ""),
        fitting(k, r) | {"no more than there are": lambda: not r.fewest or 1 <= r.fewest <= k.gpus},
    )


# The first screen


TWO_RUNS = "7,680 tokens", "32,256 tokens"


def two_jobs(plain, other):
    """The bytes of a GPU while it trains, and how full it is at each moment."""
    hbm, top = 80.0, 190.0
    marks, foot = [], np.zeros(2)
    for name in plain.moments["update"]:
        sizes = np.array([r.moments["update"][name] for r in (plain, other)]) / 1e9
        if sizes.max() > 0:
            marks.append(bars([0, 1], sizes, name, COLORS[name]))
            if sizes[1] > 8:
                marks.append(label(1.45, foot[1] + 0.7 * sizes[1] - 6, f"{name} {sizes[1]:.0f} GB", COLORS[name]))
        foot = foot + sizes
    moments = [m for m in envelope.MOMENTS if m != "generate"]

    def full(r):
        return [100 * envelope.total(r.moments[m]) / 1e9 / hbm for m in moments]

    return [
        panel(
            "One GPU while it trains",
            "GB; a model of 8 billion weights on 8 GPUs of 80 GB",
            *marks,
            threshold(hbm, "more than there is", top),
            x_range=[-0.5, 2.6],
            y_range=[0, top],
            stacked=True,
            ticks=dict(tickvals=[0, 1], ticktext=[TWO_RUNS[0], TWO_RUNS[1]]),
        ),
        panel(
            "How full the GPU is, moment by moment",
            "% of its memory",
            bars(list(range(3)), full(plain), TWO_RUNS[0], 8),
            bars(list(range(3)), full(other), TWO_RUNS[1], 1),
            label(0.75, full(plain)[1] + 12, TWO_RUNS[0], 8, "right"),
            label(1.45, full(other)[1] - 20, TWO_RUNS[1], 1),
            threshold(100, "full", 240),
            x_range=[-0.6, 2.6],
            y_range=[0, 240],
            ticks=dict(tickvals=[0, 1, 2], ticktext=[MOMENT[m] for m in moments]),
        ),
    ]


OPENING = Opening(Knobs(), Knobs(longest=32256), two_jobs, envelope.envelope, TWO_RUNS)
