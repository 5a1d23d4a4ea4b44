"""What a run takes before it is begun: whether it fits, how long a step takes, GPU-hours, and what would shorten it."""

import math
import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from rlpt.planning import changes, far_off, options, planner, refusals, user_inputs
from sim.cluster import envelope, fabric, memory, step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.turns import HOLD, OFFLOAD, REUSES
from sim.words import capital, counted, duration
from widgets.frame.contract import impossible_job, machine_knobs, recovery
from widgets.frame.contract.knobs import choice, number, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing import answer_table
from widgets.frame.drawing.marks import band, bars, dots, line, panel, threshold
from widgets.plan import cluster

TITLE = "A run on paper: whether it fits, how long a step takes, and what would shorten it"

GPUS = [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192]
LENGTHS = [128, 256, 512, 720, 1024, 1200, 2000, 3000, 4600, 6000, 8192, 8363, 12000, 16384, 19289, 24000, 32768]
LENGTHS += [60000, 65536, 131072]
PREFILL = 8192  # tokens of an iteration that reads prompts, vLLM's own default on these chips
AUTO = "the fewest that hold it"
POWERS = [2**n for n in range(9)]
ANSWERS, CHANGES, SECONDS_MEMORY = "All answers", "Changes", "Seconds and memory"  # tabs
SERVER = 8  # GPUs, as options.servers counts them
WIDTHS, WEIGHTS = user_inputs.WIDTHS, user_inputs.WEIGHTS
SECONDS = [0.0, 0.1, 1.0, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0, 1800.0, 3600.0]
SHARES = [0.01, *(n / 20 for n in range(1, 20)), 0.99]
ALL_WEIGHTS = "all weights"
LORA, QLORA = "LoRA", "QLoRA"
ANY = "any"
BY_PROGRAM = "by the program, or what fits"
SHARING = dict(
    zip(("in turn, state on the host", "in turn, state stays", "both stay", "one copy of the weights"), planner.SHARING)
)
TWO_POOLS = ("one-off", "async")
FOLLOWING = ("p90", "p99", "longest")  # lengths that follow the median until they are set
TIMED_EXAMPLE = "64 sequences, 2048 tokens, 30 ms"  # of the engine that the default job has


@dataclass(frozen=True)
class Own:
    model: str = choice("Model", "qwen2.5-32b", list(MODELS))
    accelerator: str = choice("Chip", "h100", list(ACCELERATORS))
    gpus: int = number("GPUs", 128, GPUS)
    overlap: str = choice("What overlaps", "async", list(step.OVERLAPS))
    reuse: bool = toggle("Reuse the rollout's log-probs", False)
    prompts: int = number("Prompts per step", 512, [1, *(2**n for n in range(3, 17))], symbol="B")
    samples: int = number("Completions per prompt", 16, [2**n for n in range(11)], symbol="K")
    prompt: int = number("Prompt length", 512, [2**n for n in range(5, 17)], unit="tokens")
    p50: int = number("Median completion", 3000, LENGTHS, unit="tokens")
    p90: int = number("Ninetieth percentile", 8363, LENGTHS, unit="tokens")
    p99: int = number("Ninety-ninth percentile", 19289, LENGTHS, unit="tokens")
    longest: int = number("Longest completion", 8192, LENGTHS, unit="tokens")
    turns: int = number("Turns per completion", 1, [1, 2, 3, 5, 10, 20, 50, 100])
    returned: int = number("Length of a tool's answer", 1000, [0, 100, 256, 500, 1000, 2000, 4096], unit="tokens")
    tool_seconds: float = number(
        "Mean time per tool call", 20.0, [0.0, 0.1, 1.0, 5.0, 20.0, 60.0, 300.0, 1800.0], unit="s"
    )
    kept: str = choice("Cache while a tool runs", HOLD, list(REUSES))
    shared_cache: bool = toggle("Store a group's prompt once", False)
    batches: float = number("Batches in flight", 1.0, [1.0, 1.1, 1.3, 1.5, 2.0, 3.0, 4.0, 8.0])
    updates: int = number("Updates per step", 1, [2**n for n in range(7)])
    grouped: bool = toggle("Train on shared prompts once", False)
    share: float = number("Fraction of GPUs that generate", 0.5, SHARES)
    tensor_parallel: str = choice("GPUs per engine", AUTO, [AUTO, "1", "2", "4", "8", "16", "32"])
    data_parallel: int = number("Groups of GPUs per engine", 1, POWERS)
    pipeline: int = number("Stages per engine", 1, POWERS[:6])
    cut_copies: bool = toggle("Divide cache copies by tokens", False)
    weights: str = choice("Precision of engine weights", user_inputs.STORED, list(WEIGHTS))
    cache: str = choice("Precision of keys and values", "bf16", list(WIDTHS))
    util: float = slider("Memory fraction for the engine", memory.HBM_SHARE, low=0.02, high=0.98, step=0.02, symbol="u")
    recompute: str = choice("Recompute activations", "full", list(memory.RECOMPUTE))
    training_parallel: int = number("Training GPUs per sequence", 1, list(changes.SHARED))
    expert_parallel: str = choice("Training GPUs that share experts", "1", [str(n) for n in changes.DEALT])
    zero: str = choice("ZeRO stage", "3", ["3", "2", "1"])
    training_tensor: str = choice("Training GPUs per layer", "1", [str(n) for n in POWERS[:4]])
    training_stages: str = choice("Stages of the trainer", "1", ["1", "2", "4", "8", "12", "16"])
    host_memory: float = number(
        "Host memory per server", 2000.0, [50.0, 100.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0], unit="GB"
    )
    reference: bool = toggle("Reference model", False)
    test_seconds: float = number("Mean time per test", 0.0, SECONDS, unit="s")
    workers: int = number("Workers that run tests", 64, [2**n for n in range(17)], symbol="w")
    steps: int = number("Steps of the run", 500, [1, 10, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100000, 1000000])
    price: float = number("Price per GPU-hour (assumed)", 2.0, [0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 10000.0])
    currency: str = choice("Currency", "$", list(planner.CURRENCIES))
    trained: str = choice("What is trained", ALL_WEIGHTS, [ALL_WEIGHTS, LORA, QLORA])
    rank: int = number("Rank of the adapters", 32, [1, 2, 4, 8, 16, 32, 64, 128, 256])
    program: str = choice("Program", ANY, list(planner.PROGRAMS))
    sharing: str = choice("Engine and trainer on one pool", BY_PROGRAM, [BY_PROGRAM, *SHARING])
    on_host: str = choice("Training state kept on the host", memory.KEPT_ON_HOST[0], list(memory.KEPT_ON_HOST))
    adam: str = choice("Bits of Adam's moments", "32", ["32", "8"])
    whole_logits: bool = toggle("Logits of a micro-batch all at once", False)
    unpacked: bool = toggle("One sequence per micro-batch", False)
    transfer: str = choice("Weights to the engines by", "broadcast", list(fabric.TRANSFERS))
    host: float = number(
        "Host's time per sequence (assumed)",
        1e6 * throughput.SEQUENCE_SECONDS,
        [0.0, 5.0, 10.0, 20.0, 40.0, 60.0, 100.0, 200.0, 1000.0],
        unit="µs",
    )


@dataclass(frozen=True)
class Knobs(machine_knobs.Brought, machine_knobs.Assumed, Own):
    timed: str = machine_knobs.timed(TIMED_EXAMPLE)
    seconds: str = machine_knobs.measured()


SMALL = Knobs(model="qwen2.5-7b", gpus=8, overlap="sync", prompts=128, samples=8, p50=720, p90=2000, p99=4600)
FIELDS = {
    "Model": ("model",),
    "Chip × number": ("accelerator", "gpus"),
    "Train": ("trained",),
    "Prompts × completions × tokens": ("prompts", "samples", "p50"),
    "Program": ("program",),
}
KNOB_GROUPS = {
    "The step": ("overlap", "share", "batches", "updates", "reuse", "transfer"),
    "Lengths": ("prompt", "p90", "p99", "longest"),
    "The run": ("steps", "price", "currency"),
    "The engine": (
        "tensor_parallel",
        "data_parallel",
        "pipeline",
        "cut_copies",
        "shared_cache",
        "weights",
        "cache",
        "util",
    ),
    "The trainer": ("recompute", "training_parallel", "expert_parallel", "grouped", "host_memory", "reference"),
    "More of the trainer": ("zero", "training_tensor", "training_stages", "unpacked", "whole_logits"),
    "Less memory": ("rank", "sharing", "on_host", "adam"),
    "Turns": ("turns", "returned", "tool_seconds", "kept"),
    "Tests": ("test_seconds", "workers"),
    "Assumed": ("bandwidth", "flops", "overhead", "host"),
}
PRESETS = {
    "32B on 64 + 64 H100": Knobs(),
    "DeepSeek-V3 on 128 + 128 H200": replace(
        Knobs(model="deepseek-v3", accelerator="h200", gpus=256, weights="fp8"),
        tensor_parallel="2",
        data_parallel=4,
        expert_parallel="16",
        zero="1",
        training_stages="8",
    ),
    "7B, ten turns with tools": replace(
        SMALL, gpus=16, overlap="one-off", turns=10, returned=500, test_seconds=30.0, workers=256, reference=True
    ),
    "8B with QLoRA on one RTX 4090": replace(
        Knobs(model="qwen3-8b", accelerator="rtx4090", gpus=1, trained=QLORA, program="Unsloth"), prompts=8, samples=8
    ),
    "Selective recomputation": replace(Knobs(), recompute="selective"),
    "DeepSeek-V3 on 64 H100": replace(Knobs(), model="deepseek-v3", gpus=64),
}


class Near(NamedTuple):
    """A job that fits, as it is set on this page."""

    words: str  # what is different
    costs: str
    scenario: planner.Scenario
    seconds: float  # predicted, of a step
    turned: dict  # {knob: value}


@dataclass(frozen=True)
class Result:
    misfits: list  # what of the setting is impossible; then there is nothing but what would hold it
    scenario: planner.Scenario | None = None
    found: planner.Plan | None = None
    path: tuple = ()  # changes one after the other
    alone: tuple = ()  # changes of one thing
    sizes: tuple = ()  # (GPUs, fast step, slow step)
    nearest: tuple = ()  # of a job that does not fit: a Near for each of up to three that do


def idle(k):
    out = {} if k.test_seconds else dict(workers="nothing is tested")
    if k.turns == 1:
        out |= dict.fromkeys(("returned", "tool_seconds", "kept"), "one turn uses no tool")
    if k.trained == ALL_WEIGHTS:
        out["rank"] = "all weights are trained"
    if followed(k).overlap in TWO_POOLS:
        out["sharing"] = "two pools share nothing"
    if k.program in ("TRL", "Unsloth"):
        out["unpacked"] = "this program packs nothing"
    if k.overlap != "one-off":
        out["batches"] = "for one-step off-policy only"
    if k.samples == 1:
        out |= dict.fromkeys(("shared_cache", "grouped"), "a group has one completion")
    if followed(k).overlap in TWO_POOLS and (k.turns == 1 or k.kept != OFFLOAD):
        out["host_memory"] = "two pools keep their state"
    if followed(k).overlap != k.overlap:
        out["overlap"] = "sync: one GPU is one pool"
    for name in FOLLOWING:
        if getattr(followed(k), name) != getattr(k, name):
            out[name] = f"{getattr(followed(k), name):,} with the median"
    none = "this model has no experts"
    return out if machine_knobs.model(k).moe else out | dict(expert_parallel=none, data_parallel=none)


def followed(k):
    """The knobs as they are meant: one GPU is one pool, and lengths that nobody has set are in proportion to the
    median.
    """
    default = Knobs()
    if k.gpus == 1 and k.overlap in TWO_POOLS:
        k = replace(k, overlap="sync")
    if any(getattr(k, name) != getattr(default, name) for name in FOLLOWING):
        return k
    return replace(k, **{name: round(k.p50 * getattr(default, name) / default.p50) for name in FOLLOWING})


def run(k):
    if out_of_order := impossible_job.out_of_order(followed(k)):
        yield Result(out_of_order)
        return
    s, contradictions = scenario(k)
    if impossible := contradictions or planner.misfits(s):
        yield Result(impossible, s, nearest=tuple(islice(near(k, s), refusals.NEAREST)))
        return
    path = changes.best_changes(s)
    yield Result([], s, planner.plan(s), tuple(path), tuple(changes.worth_trying(s)), tuple(sizes(s)))


def near(k, s):
    """Jobs that fit once the knobs are set to them, nearest first."""
    for one in refusals.nearest(s, 2 * refusals.NEAREST):
        turned = recovery.different(k, turned_to(s, one.scenario))
        there, _ = scenario(replace(k, **turned))
        if there.placement == one.scenario.placement == "one pool" and there.sharing != one.scenario.sharing:
            turned["sharing"] = next(name for name, way in SHARING.items() if way == one.scenario.sharing)
        if turned and fits(replace(k, **turned)):
            there, _ = scenario(replace(k, **turned))
            yield Near(one.words, one.costs, there, planner.seconds(there), turned)


# {field of planner.Scenario: knob} of what refusals.py proposes
TURNS = {name: name for name in ("gpus", "prompts", "overlap", "kept", "recompute", "training_parallel", "on_host")}
TURNS |= dict(zero="zero", training_tensor="training_tensor", training_stages="training_stages")
TURNS |= dict(expert_parallel="expert_parallel", adapters="rank")


def turned_to(s, there):
    """{knob: value} that turn the knobs of one scenario into another's."""
    turned = {
        knob: getattr(there, field) for field, knob in TURNS.items() if getattr(there, field) != getattr(s, field)
    }
    turned = {knob: str(value) if knob in WRITTEN else value for knob, value in turned.items()}
    if there.gpus != s.gpus:
        turned["overlap"] = there.overlap  # with one GPU it may be set to something else
    if (there.adapters > 0, there.four_bits) != (s.adapters > 0, s.four_bits):
        turned["trained"] = QLORA if there.four_bits else LORA if there.adapters else ALL_WEIGHTS
    if there.law.longest != s.law.longest:
        turned |= dict(p90=round(s.law.p90), p99=round(s.law.p99), longest=round(there.law.longest))
    if there.accelerator != s.accelerator:
        turned |= dict(accelerator=there.accelerator.key, chip="")
    if there.logits_chunk != s.logits_chunk:
        turned["whole_logits"] = there.logits_chunk is None
    return turned


WRITTEN = ("zero", "training_tensor", "training_stages", "expert_parallel")  # knobs with words for numbers


def scenario(k):
    """(The job as the model of costs has it, what of the reader's timings contradicts)."""
    k = followed(k)
    job = planner.Scenario(
        machine_knobs.model(k),
        machine_knobs.accelerator(k),
        machine_knobs.law(k),
        gpus=k.gpus,
        prompts=k.prompts,
        samples=k.samples,
        prompt=k.prompt,
        turns=k.turns,
        returned=k.returned,
        tool_seconds=k.tool_seconds,
        kept=k.kept,
        shared_cache=k.shared_cache,
        batches=k.batches,
        updates=k.updates,
        grouped=k.grouped,
        overlap=k.overlap,
        share=k.share,
        tensor_parallel=0 if k.tensor_parallel == AUTO else int(k.tensor_parallel),
        data_parallel=k.data_parallel,
        pipeline=k.pipeline,
        context_parallel=0 if k.cut_copies else 1,
        weight_bytes=WEIGHTS[k.weights],
        kv_bytes=WIDTHS[k.cache],
        hbm_share=k.util,
        recompute=k.recompute,
        training_parallel=k.training_parallel,
        expert_parallel=int(k.expert_parallel),
        training_tensor=int(k.training_tensor),
        training_stages=int(k.training_stages),
        zero=int(k.zero),
        host_gb=k.host_memory,
        reference=k.reference,
        reuse=k.reuse,
        test_seconds=k.test_seconds,
        longest_test=k.test_seconds,
        workers=k.workers,
        steps=k.steps,
        price=k.price,
        currency=k.currency,
        adapters=0 if k.trained == ALL_WEIGHTS else k.rank,
        four_bits=k.trained == QLORA,
        moment_bits=int(k.adam),
        on_host=k.on_host,
        logits_chunk=None if k.whole_logits else planner.LOGITS_CHUNK,
        transfer=k.transfer,
        efficiency=throughput.Efficiency(k.bandwidth, k.flops, 1e-3 * k.overhead, k.host / 1e6),
    )
    job = planner.by_program(job, k.program, None if k.sharing == BY_PROGRAM else SHARING[k.sharing])
    job = replace(job, packed=job.packed and not k.unpacked)
    read = machine_knobs.understood
    timed = read(user_inputs.timed, k.timed)[0] if k.timed else None
    try:
        return planner.known(job, timed, read(user_inputs.measured, k.seconds)[0] if k.seconds else None), []
    except ValueError as refusal:
        return job, [memory.Misfit(str(refusal), 1.001, 1.0, "Other seconds.", "input")]


def sizes(s):
    """(GPUs, fast step, slow step) of an eighth to eight times as many, where that fits."""
    for gpus in sorted({round(s.gpus * 2.0**n) for n in range(-3, 4)} - {0}):
        resized = replace(s, gpus=gpus)
        if not planner.misfits(resized):
            yield (gpus, *planner.step_range(resized))


def misfits(k):
    k = followed(k)
    if out_of_order := impossible_job.out_of_order(k):
        return out_of_order
    s, contradictions = scenario(k)
    return contradictions or planner.misfits(s)


def figure(k, r):
    if r.misfits:
        tabs = ["", ANSWERS, CHANGES, CHANGES, SECONDS_MEMORY, SECONDS_MEMORY]
        unfit = impossible_job.unfit(followed(k), r.misfits, tabs, "gpus", misfits, held_by(r))
        if not r.scenario:
            return unfit
        return [cluster.picture(r.scenario, None, r.misfits), would_fit(r), *unfit[2:]]
    return [cluster.picture(r.scenario, r.found, []), answers(r), pays(r), by_gpus(r), roles(r), moments(r)]


def held_by(r):
    """What would hold a job that does not fit."""
    return f"would fit: {r.nearest[0].words}" if r.nearest else ""


HIDDEN = ("rollout", "tests", "log-probs", "update", "weight sync", "whole step", "GPU-hours")  # stand elsewhere


def would_fit(r):
    rows = [(one.words, duration(one.seconds, short=True), one.costs) for one in r.nearest]
    rows = rows or [("none of the changes that were tried", "", "")]
    return answer_table.table("What would fit", "nearest first", ("", "step", "trade-off"), rows, ANSWERS)


def answers(r):
    rows = [tuple(answer) for answer in planner.answers(r.found) if answer.question not in HIDDEN]
    note = "each with the lesson that computes it"
    return answer_table.table("The answers", note, ("", "answer", "lesson"), rows, ANSWERS)


def roles(r):
    s, both_ends = r.scenario, (r.found.least, r.found.most)

    def seconds_of(role):
        return [step.seconds(roles, role, s.overlap) for roles in both_ends]

    ranges = {
        "rollout": seconds_of("rollout"),
        "tests": seconds_of("verify"),
        "log-probs": seconds_of("log_probs"),
        "update": seconds_of("train"),
        "weight sync": [roles.sync + roles.switch for roles in both_ends],
        "whole step": list(r.found.step_range),
    }
    rows = [
        (name, planner.seconds_range(*ends), tuple(map(place, ends)) if any(ends) else "")
        for name, ends in ranges.items()
    ]
    numbers = [bars(list(ranges), list(seconds), end) for end, seconds in zip(("from", "to"), zip(*ranges.values()))]
    head = ("", "from, to", "0.01 s to 100,000 s, logarithmic")
    words = planner.spread(s).words
    return answer_table.table("Seconds of a step", words, head, rows, SECONDS_MEMORY, numbers)


def place(seconds):
    """From 0 to 1 on a logarithmic scale from a hundredth of a second to 100,000."""
    return min(max((math.log10(max(seconds, 1e-9)) + 2) / 7, 0.0), 1.0)


def pays(r):
    before = planner.seconds(r.scenario)

    def worth(change):
        costs = "none" if change.free else change.costs
        return f"{change.seconds:,.0f}", f"{before / change.seconds:.2f}", costs

    path = [(f"{'then' if i else 'first'} {change.words}", *worth(change)) for i, change in enumerate(r.path)]
    path = path or [("no change makes the step 1 % shorter", "", "", "")]
    alone = [(change.words, *worth(change)) for change in r.alone[: 7 - len(path)]]
    return answer_table.table(
        "What would shorten the step",
        f"now the step takes {before:,.0f} s, as predicted",
        ("change", "step, s", "times as fast", "trade-off"),
        [*path, *([("each change by itself",)] if alone else []), *alone],
        CHANGES,
    )


def by_gpus(r):
    gpus, fast, slow = (list(column) for column in zip(*r.sizes))
    marks = [line(gpus, fast, "short end", 1), line(gpus, slow, "long end", 2)]
    if len(gpus) > 1:
        marks.insert(0, band(np.array(gpus), np.array(fast), np.array(slow)))
    return panel(
        "Step time by number of GPUs",
        f"seconds, {r.scenario.overlap}; log axes; where the job fits",
        *marks,
        dots([r.scenario.gpus], [r.found.step_range[0]], "this setting", 1, "here"),
        x="GPUs",
        log="xy",
        x_range=[1, 65536],
        y_range=[0.1, 1e5],
        tab=CHANGES,
    )


NAMED = 6  # % of the memory above which a part's name has room in its bar
PARTS = ("weights", "extra", "cache", "state", "reference", "critic", "activations", "logits")


def moments(r):
    s = r.scenario
    by_moment = envelope.envelope(s.held, s.accelerator, s.job)
    whole = s.accelerator.hbm_bytes / 100
    stacks = {part: [by_moment[moment].get(part, 0) / whole for moment in by_moment] for part in PARTS}
    present = {part: shares for part, shares in stacks.items() if sum(shares)}
    return panel(
        "Memory of one GPU",
        "% of its memory, at four moments of a step",
        *(
            bars(list(by_moment), shares, part, i, text=[part if share > NAMED else "" for share in shares])
            for i, (part, shares) in enumerate(present.items(), 1)
        ),
        threshold(100 * (1 - memory.RESERVE), "breaks above", 115),
        y_range=[0, 115],
        tab=SECONDS_MEMORY,
        stacked=True,
        ticks=dict(tickangle=0),
    )


READOUTS = {"GPU-hours": planner.plan, "Cost": planner.plan, "Best change": changes.best_changes}


def readouts(k, r):
    if r.misfits:
        return would_fit_instead(r)
    s, (first, *_) = r.scenario, (*r.path, None)
    change = shortened(planner.seconds(s), first.seconds) if first else "none"
    values = [
        (planner.number_range(*map(rounded, r.found.gpu_hours)), f"for {counted(s.steps, 'step')}"),
        (
            planner.money(s, planner.number_range(*map(rounded, r.found.money))),
            f"at {planner.money(s, f'{s.price:g}')} per GPU-hour",
        ),
        (change, without_amounts(first.words) if first else "nothing saves 1 % of a step"),
    ]
    return [Readout(name, value, unit, source) for (name, source), (value, unit) in zip(READOUTS.items(), values)]


def would_fit_instead(r):
    """In place of the numbers of a job that does not fit, up to three jobs that do."""
    said = [
        (without_amounts(one.words), f"a step in {duration(one.seconds, short=True)}; {one.costs}") for one in r.nearest
    ]
    said += [("–", "")] * (len(READOUTS) - len(said))
    labels = ("What would fit", "or", "or ")
    sources = (refusals.nearest, *READOUTS.values())
    return [
        Readout(label, capital(words), unit, source, "violated" if label == labels[0] else "")
        for label, (words, unit), source in zip(labels, said, sources)
    ]


def without_amounts(words):
    return re.sub(r" \(.*?\)", "", words)


def shortened(now, then):
    """5.1 → 3.9 min, or by how much where that is the same number."""
    said = duration(now, then, "→", short=True)
    return said if "→" in said else f"−{1 - then / now:.0%}"


def rounded(amount):
    """To two digits, as exact as a range of this width is."""
    return float(f"{amount:.2g}")


def watched(k, r):
    needs = max(r.misfits[0].needs / max(r.misfits[0].has, 1e-9), 1.001) if r.misfits else r.found.peak.share
    return Gauge("Need, as a share of what there is", 100 * min(needs, 1e6), 100.0, "%", expression="misfits")


CAUSES = {
    "state": "training state fills the memory",
    "reference": "training state fills the memory",
    "activations": "activations fill the memory",
    "logits": "logits fill the memory",
    "weights": "weights leave the engine no room",
    "sequence": "one sequence is too long",
    "positions": "one sequence is too long",
    "batch": "more engines than completions",
    "updates": "more updates than prompts",
    "host": "training state fills the hosts",
    "critic": "training state fills the memory",
    "layout": "no such layout can be built",
    "input": "the inputs contradict",
    "": "the inputs contradict",
}


TURNED = (
    "recompute",
    "training_parallel",
    "expert_parallel",
    "zero",
    "training_tensor",
    "training_stages",
    "on_host",
    "gpus",
    "trained",
    "longest",
    "util",
    "tensor_parallel",
)
TURNED += (
    "turns",
    "kept",
    "updates",
    "returned",
    "host_memory",
    "data_parallel",
    "pipeline",
    "accelerator",
    "model",
    "prompt",
    "samples",
    "prompts",
)
# a setting that surely fits; `fix` takes as little of it as is enough, and spares what comes first
SURELY = dict(config="", chip="", log="", timed="", seconds="")
SURELY |= dict(turns=1, updates=1)
SURELY |= dict(model="llama3.1-8b", accelerator="h200", longest=8192, prompt=512, gpus=256, overlap="sync", share=0.5)
SURELY |= dict(
    reference=False, weights="fp8", cache="fp8", training_parallel=1, expert_parallel="1", tensor_parallel=AUTO
)
SURELY |= dict(zero="3", training_tensor="1", training_stages="1")
SURELY |= dict(trained=ALL_WEIGHTS, sharing=BY_PROGRAM, program=ANY, on_host="nothing", adam="32", whole_logits=False)
SURELY |= dict(host_memory=2000.0, data_parallel=1, pipeline=1, cut_copies=False)
SURELY |= dict(util=memory.HBM_SHARE, recompute="full", prompts=512, samples=16, p50=3000, p90=8363, p99=19289)


def seen_at(k, r, cause):
    if not r.scenario:
        return impossible_job.unfit_at(k, r.misfits)
    return At(cluster.TITLE, None, None, impossible_job.beyond(r.misfits[0]))


def answer(k, r):
    """The headline."""
    if not r.misfits:
        each = "The step takes" if k.steps == 1 else "A step takes"
        return "It fits.", f"{each} {duration(*r.found.step_range)}."
    if r.misfits[0].part in impossible_job.NO_GIGABYTES:
        return f"{capital(CAUSES[r.misfits[0].part])}.", ""
    return "It does not fit.", f"It would with {shortly(r.nearest[0].words)}." if r.nearest else ""


def shortly(words):
    """A change without its amounts and without what else is different."""
    words = without_amounts(words)
    return words if words.startswith("another layout") else words.partition(", ")[0]


def broken(k, r):
    if not r.misfits:
        return None
    first = r.misfits[0]
    why = Said(
        f"{capital(first.what)}.",
        {
            "it needs more than there is": lambda: first.needs > first.has,
            "the others fit": lambda: not any(planner.misfits(one.scenario) for one in r.nearest),
        },
    )
    return Break(why, r.nearest[0].turned if r.nearest else fix(k), CAUSES[first.part])


def fix(k):
    if impossible_job.out_of_order(followed(k)):
        rising = recovery.different(k, impossible_job.in_order(k))
        in_order = replace(k, **rising)
        return rising if fits(in_order) else rising | (fix(in_order) or {})
    if (k.seconds or k.timed) and misfits(k)[0].part in ("", "input"):  # what was timed contradicts the job
        untimed = recovery.first_of(k, ({"seconds": ""}, {"timed": ""}), fits)
        without = recovery.different(k, dict(seconds="", timed=""))
        return untimed or without | (fix(replace(k, **without)) or {})
    return recovery.one_knob(k, TURNED, fits) or recovery.fewest(k, SURELY, fits)


def fits(k):
    return not misfits(k)


def worse(k, r):
    if r.found.idle <= 0.5:
        return None
    waited, idle_share = cluster.waited_for(r.scenario, r.found), r.found.idle
    return Said(
        f"The {waited} set the pace, and one of the two pools waits for {idle_share:.0%} of the step.",
        {
            "there are two pools": lambda: r.scenario.placement != "one pool",
            "one works for less than half of it": lambda: (
                min(step.seconds(r.found.fast, "rollout", r.scenario.overlap), lanes_of(r)["trainers"])
                < 0.5 * r.found.step_range[0] + 1e-6
            ),
        },
    )


def holds(k, r):
    """Who sets the pace; of trainers whose memory stays empty, why; and where to look if a timing is far off."""
    said = sets_the_pace(r)
    far = far_off.sentences(r.scenario)
    return Said(" ".join([said, *far]), said.claims)


def sets_the_pace(r):
    s = r.scenario
    if s.placement == "one pool":
        who = (
            f"All {s.gpus:,} GPUs generate first and then train"
            if s.gpus > 1
            else "The GPU generates first and then trains"
        )
        return Said(f"{who}.", {"there is one pool": lambda: not planner.plan(s).idle})
    waited, empty = cluster.waited_for(s, r.found), cluster.empty(s)
    pace = f"The {waited} set the pace."
    claims = {"what is named takes the longest": lambda: lanes_of(r)[waited] >= longest_of(r) - 1e-6}
    purposes = dict(trainers="they are there for speed", engines="some of them could generate")
    if empty <= cluster.EMPTY or waited not in purposes or envelope.pools(s.job)[1] == 1:
        return Said(pace, claims)
    return Said(
        f"{pace} {envelope.pools(s.job)[1]:,} GPUs share the training state, so {empty:.0%} of each one's memory stays "
        f"empty: {purposes[waited]}.",
        claims | {"so much stays empty": lambda: abs(1 - r.found.peak.share - empty) < 1e-9},
    )


def lanes_of(r):
    """Seconds of who may set the pace; what shares a lane with others does if it is more than half of it."""
    roles, stream = r.found.fast, r.scenario.overlap == "async"
    engines = roles.rollout - roles.tail + roles.sync if stream else roles.rollout + roles.verify
    shared = {"tests": roles.verify if stream else 2 * roles.verify, "weight transfers": 2 * roles.sync * stream}
    return dict(engines=engines, trainers=roles.log_probs + roles.train) | shared


def longest_of(r):
    roles, stream = r.found.fast, r.scenario.overlap == "async"
    lanes = lanes_of(r)
    return max(lanes["engines"], lanes["trainers"], roles.verify * stream)


def offloaded_gib(s):
    return math.ceil(planner.offloaded_bytes(s) / 2**30)


def weights_dtype(s):
    """The engine's weights in the words of options.py; a file that is stored in this width needs no option."""
    stored = s.model.quantized
    if s.weight_bytes is None or (stored and round(stored.bytes, 1) == s.weight_bytes):
        return "stored"
    if stored:
        return options.REQUANTIZED if s.weight_bytes == 1 else options.CONVERTED
    return "fp8" if s.weight_bytes == 1 else "bf16"


def export(k, r):
    """The setting as quantities of options.TABLE."""
    if r.misfits:
        return None
    s, engine = r.scenario, r.found.engine
    generating, training = envelope.pools(s.job)
    two, at_once = s.placement == "two pools", planner.concurrency(r.found)
    return dict(
        program=k.program,
        plan=f"plan: {planner.summary(r.found)}",
        on=(s.model, s.accelerator),
        tensor_parallel=engine.group,
        **(dict(data_parallel=engine.data_parallel) if engine.data_parallel > 1 else {}),
        **(dict(pipeline=engine.pipeline) if engine.pipeline > 1 else {}),
        **(dict(dcp=engine.context_parallel) if engine.context_parallel > 1 else {}),
        **(dict(servers=math.ceil(engine.size / SERVER)) if engine.size > SERVER else {}),
        engines=s.engines(engine.gpus),
        memory_fraction=round(s.job.engine.hbm_share - 0.005, 2) if s.job.engine.hbm_share < k.util else k.util,
        concurrency=at_once,
        chunk=max(PREFILL, at_once),  # vLLM wants a token at least for each sequence
        weights_dtype=weights_dtype(s),
        kv_dtype=k.cache,
        prompts=k.prompts,
        samples=k.samples,
        micro_batch_tokens=math.ceil(s.parts[1].tokens / s.training_parallel),
        context=s.longest,
        placement="colocated" if s.placement == "one pool" else "split",
        prompt=k.prompt,
        completion=int(s.law.longest) + s.answered,  # trainers count what tools return
        **(dict(turns=s.turns) if s.turns > 1 else {}),
        **(dict(updates=s.updates) if s.updates > 1 else {}),
        **(dict(batches=s.batches) if s.ahead > 1 else {}),
        **(dict(grouped=True) if s.grouped else {}),
        **(dict(prefix_cache=True) if s.shared_cache else {}),
        **(dict(offload_gib=offloaded_gib(s)) if s.turns > 1 and s.kept == OFFLOAD else {}),
        overlap=s.overlap,
        reuse_log_probs=k.reuse,
        estimator="grpo",
        reference=k.reference,
        training_gpus=training,
        **(dict(generating_gpus=generating) if two else {}),
        offload=not two and s.sharing == planner.SHARING[0],
        **(dict(adapters=s.adapters) if s.adapters else {}),
        **(dict(base_bits=4) if s.adapters and s.four_bits else {}),
        **(dict(optimizer_bits=8) if s.moment_bits == 8 else {}),
        **(dict(offload_state=s.on_host) if s.on_host != memory.KEPT_ON_HOST[0] and not s.adapters else {}),
        **(dict(shared_weights=True) if s.one_copy else {}),
        zero=s.zero,
        **(dict(training_tensor=s.training_tensor) if s.training_tensor > 1 else {}),
        **(dict(training_stages=s.training_stages) if s.training_stages > 1 else {}),
        recompute=k.recompute,
        sequence_parallel=s.training_parallel,
        **(dict(expert_parallel=s.dealt) if s.dealt > 1 else {}),
        **(dict(logits_chunk=s.logits_chunk) if s.logits_chunk else {}),
    )
