"""What a run takes before it is begun: whether it fits, seconds of a step as a range, GPU-hours, and what would pay."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sim.cluster import envelope, memory, planner, step
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from widgets.frame import impossible_job, machine_knobs, recovery
from widgets.frame.exercises import Guess
from widgets.frame.knobs import choice, ladder, slider, toggle
from widgets.frame.marks import band, bars, dots, label, line, panel, threshold
from widgets.frame.readouts import Break, Gauge, Readout

TITLE = "A run on paper: what fits, what a step takes, and what would shorten it"

GPUS = [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096, 8192]
LENGTHS = [128, 256, 512, 720, 1024, 1200, 2000, 3000, 4600, 6000, 8192, 8363, 12000, 16384, 19289, 24000, 32768, 60000]
LENGTHS += [65536, 131072]
AUTO = "the fewest that hold it"
WIDTHS = {"bf16": 2, "fp8": 1}
SECONDS = [0.0, 0.1, 1.0, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0, 1800.0]
UPDATES = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 300.0, 400.0, 600.0, 1000.0, 2000.0, 5000.0, 10000.0]


@dataclass(frozen=True)
class Own:
    model: str = choice("Model", "qwen2.5-32b", list(MODELS))
    accelerator: str = choice("Accelerator", "h100", list(ACCELERATORS))
    gpus: int = ladder("GPUs", 128, GPUS)
    overlap: str = choice("What overlaps", "async", list(step.OVERLAPS))
    reuse: bool = toggle("Reuse the rollout's log-probs", False)
    prompts: int = ladder("Prompts a step", 512, [2**n for n in range(3, 11)], symbol="B")
    samples: int = ladder("Completions a prompt", 16, [1, 2, 4, 8, 16, 32], symbol="K")
    prompt: int = ladder("Prompt", 512, [2**n for n in range(5, 17)], unit="tokens")
    p50: int = ladder("Median completion", 3000, LENGTHS, unit="tokens")
    p90: int = ladder("Ninetieth percentile", 8363, LENGTHS, unit="tokens")
    p99: int = ladder("Ninety-ninth percentile", 19289, LENGTHS, unit="tokens")
    longest: int = ladder("Longest completion", 8192, LENGTHS, unit="tokens")
    share: float = slider("Of them generating, when pools are split", 0.5, low=0.05, high=0.95, step=0.05)
    tensor_parallel: str = choice("GPUs an engine", AUTO, [AUTO, "1", "2", "4", "8", "16", "32"])
    weights: str = choice("Weights in the engine", "bf16", list(WIDTHS))
    cache: str = choice("Keys and values", "bf16", list(WIDTHS))
    util: float = slider(
        "Share of memory the engine fills", memory.HBM_SHARE, low=0.02, high=0.98, step=0.02, symbol="u"
    )
    recompute: str = choice("Recompute activations", "full", list(memory.RECOMPUTE))
    training_parallel: int = ladder("GPUs that share a sequence in training", 1, [1, 2, 4, 8])
    reference: bool = toggle("Reference model", False)
    test_seconds: float = ladder("One test, on average", 0.0, SECONDS, unit="s")
    workers: int = ladder("Verifier workers", 64, [2**n for n in range(17)], symbol="w")
    update_seconds: float = ladder("An update that you timed (0: none)", 0.0, UPDATES, unit="s")
    steps: int = ladder("Steps", 500, [10, 50, 100, 200, 500, 1000, 2000, 5000, 10000])
    price: float = slider("Price of a GPU for an hour (yours)", 2.0, low=0, high=20, step=0.1)


@dataclass(frozen=True)
class Knobs(machine_knobs.Brought, machine_knobs.AssumedOfTraining, Own):
    pass


SMALL = Knobs(model="qwen2.5-7b", gpus=8, overlap="sync", prompts=128, samples=8, p50=720, p90=2000, p99=4600)
PRESETS = {
    "32B on 64 + 64 H100": Knobs(),
    "7B on one machine": SMALL,
    "Experts, 30B-A3B": replace(Knobs(), model="qwen3-30b-a3b", gpus=32, overlap="carry-over"),
    "7B with tests": replace(SMALL, gpus=16, overlap="async", test_seconds=30.0, workers=256, reference=True),
    "Selective recomputation": replace(Knobs(), recompute="selective"),
    "DeepSeek-V3 on 64 H100": replace(Knobs(), model="deepseek-v3", gpus=64),
}
GUESS = Guess(
    "Engines of 4 GPUs generate this job 1.3 times as fast as engines of 2. How much shorter is the step?",
    ("1.3 times", "1.1 times", "not at all"),
    Knobs(tensor_parallel="4"),
    2,
    lambda k, r: (
        f"{r.found.step_range[0]:.0f} s, as before: the trainer works that long, and the engines wait for it already."
    ),
)


@dataclass(frozen=True)
class Result:
    misfits: list  # what of the setting is impossible; then there is nothing but what would hold it
    scenario: planner.Scenario | None = None
    found: planner.Plan | None = None
    path: tuple = ()  # changes one after the other
    alone: tuple = ()  # changes of one thing
    sizes: tuple = ()  # (GPUs, fast step, slow step)
    fewest: int | None = None  # GPUs that hold a job which does not fit


def idle(k):
    return {} if k.test_seconds else dict(workers="nothing is tested")


def run(k):
    if out_of_order := impossible_job.out_of_order(k):
        yield Result(out_of_order)
        return
    s = scenario(k)
    if found := planner.misfits(s):
        yield Result(found, s, fewest=envelope.fewest_gpus(s.model, s.accelerator, s.job))
        return
    path = planner.best_changes(s)
    yield Result([], s, planner.plan(s), tuple(path), tuple(planner.changes(s)), tuple(sizes(s)))


def scenario(k):
    """The job as the model of costs has it."""
    made = planner.Scenario(
        machine_knobs.model(k),
        machine_knobs.accelerator(k),
        machine_knobs.law(k),
        gpus=k.gpus,
        prompts=k.prompts,
        samples=k.samples,
        prompt=k.prompt,
        overlap=k.overlap,
        share=k.share,
        tensor_parallel=0 if k.tensor_parallel == AUTO else int(k.tensor_parallel),
        weight_bytes=WIDTHS[k.weights],
        kv_bytes=WIDTHS[k.cache],
        hbm_share=k.util,
        recompute=k.recompute,
        training_parallel=k.training_parallel,
        reference=k.reference,
        reuse=k.reuse,
        test_seconds=k.test_seconds,
        longest_test=k.test_seconds,
        workers=k.workers,
        steps=k.steps,
        price=k.price,
        efficiency=machine_knobs.efficiency(k),
        mfu=k.mfu,
        engine_timed=bool(k.timed),
    )
    return planner.measured(made, update_seconds=k.update_seconds)


def sizes(s):
    """(GPUs, fast step, slow step) of an eighth to eight times as many, where that fits."""
    for gpus in sorted({round(s.gpus * 2.0**n) for n in range(-3, 4)} - {0}):
        there = replace(s, gpus=gpus)
        if not planner.misfits(there):
            yield (
                gpus,
                *(
                    planner.step_seconds(there, planner.roles(there, slower))
                    for slower in ((1.0, 1.0), planner.spread(s))
                ),
            )


def misfits(k):
    return impossible_job.out_of_order(k) or planner.misfits(scenario(k))


def figure(k, r):
    if r.misfits:
        tabs = {"The answers": "Answers", "Seconds of a step": "Answers", "What would shorten the step": "Changes"}
        tabs |= {"A step by the number of GPUs": "Changes", "Memory of one GPU": "Memory"}
        return [nothing(title, tab, r) for title, tab in tabs.items()]
    return [table(r), roles(r), pays(r), by_gpus(r), moments(r)]


def nothing(title, tab, r):
    said = f"{r.fewest:,} GPUs would hold it" if r.fewest else "no number of GPUs holds it as it is"
    front = title == "The answers"
    return impossible_job.nothing(title, "no seconds to show", tab, front, said if r.scenario else "")


HIDDEN = ("rollout", "tests", "log-probs", "update", "weights to the engines", "a step", "GPU-hours")  # stand elsewhere


def table(r):
    marks = []
    for y, answer in zip(range(7, 0, -1), (a for a in planner.answers(r.found) if a.question not in HIDDEN)):
        marks += [label(0, y, answer.question), label(0.85, y, answer.words, 1, "right")]
        marks += [label(1, y, answer.lesson, 0, "right")]
    return panel(
        "The answers",
        "at the right: the lesson that computes it",
        *marks,
        x_range=[0, 1],
        y_range=[0.8, 8],
        tab="Answers",
        front=True,
        bare=True,
    )


def roles(r):
    s, fast, slow = r.scenario, r.found.fast, r.found.slow
    of = lambda role: [step.seconds(which, role, s.overlap) for which in (fast, slow)]
    ranges = {
        "rollout": of("rollout"),
        "tests": of("verify"),
        "log-probs": of("log_probs"),
        "update": of("train"),
        "weights": [which.sync + which.switch for which in (fast, slow)],
        "a step": list(r.found.step_range),
    }
    marks = []
    for y, (name, ends) in zip(range(len(ranges), 0, -1), ranges.items()):
        series = 1 if name == "a step" else 2
        at = [place(seconds) for seconds in ends]
        marks += [line([0, 1], [y - 0.1, y - 0.1], "", 1, "reference"), line(at, [y - 0.1, y - 0.1], name, series)]
        marks += [dots(at, [y - 0.1, y - 0.1], name, series)]
        marks += [label(0, y, name, 1 if series == 1 else 0)]
        marks += [label(1, y, planner.seconds_range(*ends), 1 if series == 1 else 0, "right")]
    return panel(
        "Seconds of a step",
        "assumed to slowest; lines 0.01 s to 10⁵ s, log",
        *marks,
        x_range=[-0.02, 1.02],
        y_range=[0.6, len(ranges) + 0.8],
        tab="Answers",
        bare=True,
    )


def place(seconds):
    """From 0 to 1 on a logarithmic scale from a hundredth of a second to 100,000."""
    return min(max((math.log10(max(seconds, 1e-9)) + 2) / 7, 0.0), 1.0)


def pays(r):
    before, marks = r.found.step_range[0], []
    worth = lambda change: f"{change.seconds:,.0f} s, × {before / change.seconds:.2f}"
    rows = [(f"{'then' if i else 'first'} {c.words}", worth(c), 1) for i, c in enumerate(r.path)]
    rows = rows or [("nothing of this job shortens it by 1 %", "", 1)]
    rows.append(("each alone:", "", 0))
    rows += [(c.words, worth(c), 2) for c in r.alone[: 8 - len(rows)]]
    for y, (words, value, series) in zip(range(8, 0, -1), rows):
        marks += [label(0, y, words, series), label(1, y, value, series, "right")]
    return panel(
        "What would shorten the step",
        f"one rung each; now {before:,.0f} s, as assumed",
        *marks,
        x_range=[0, 1],
        y_range=[0.8, 9],
        tab="Changes",
        bare=True,
    )


def by_gpus(r):
    gpus, fast, slow = (list(column) for column in zip(*r.sizes))
    marks = [line(gpus, fast, "as assumed", 1), line(gpus, slow, "as the slowest published", 2)]
    if len(gpus) > 1:
        marks.insert(0, band(np.array(gpus), np.array(fast), np.array(slow)))
    return panel(
        "A step by the number of GPUs",
        "seconds, both axes log; only where it fits",
        *marks,
        dots([r.scenario.gpus], [r.found.step_range[0]], "this setting", 1, "here"),
        x="GPUs",
        log="xy",
        x_range=[1, 65536],
        y_range=[0.1, 1e5],
        tab="Changes",
    )


PARTS = ("weights", "extra", "cache", "state", "reference", "critic", "activations", "logits")


def moments(r):
    s = r.scenario
    found = envelope.envelope(s.model, s.accelerator, s.job)
    whole = s.accelerator.hbm_bytes / 100
    stacks = {part: [found[moment].get(part, 0) / whole for moment in found] for part in PARTS}
    shown = {part: shares for part, shares in stacks.items() if sum(shares)}
    return panel(
        "Memory of one GPU",
        "% of it, at four moments of a step",
        *(bars(list(found), shares, part, i) for i, (part, shares) in enumerate(shown.items(), 1)),
        threshold(100 * (1 - memory.RESERVE), "breaks above", 115),
        y_range=[0, 115],
        tab="Memory",
        stacked=True,
        ticks=dict(tickangle=0),
    )


READOUTS = {
    "A step": planner.step_seconds,
    "The run": planner.plan,
    "Fullest moment": envelope.peak,
    "In flight": step.live_sequences,
    "Pays most": planner.best_changes,
}


def readouts(k, r):
    if r.misfits:
        return impossible_job.dashes(READOUTS, "Fullest moment")
    shown = [
        (planner.number_range(*r.found.step_range), "s"),
        (planner.number_range(*r.found.gpu_hours), "GPU-hours"),
        (100 * r.found.peak.share, "%"),
        (r.found.live, "an engine"),
        (r.path[0].words if r.path else "nothing", ""),
    ]
    return [Readout(name, value, unit, source) for (name, source), (value, unit) in zip(READOUTS.items(), shown)]


def watched(k, r):
    needs = max(r.misfits[0].needs / r.misfits[0].has, 1.001) if r.misfits else r.found.peak.share
    return Gauge("Needed, of what there is", 100 * min(needs, 1e6), 100.0, "%", 1, 1e4, True, expression="misfits")


CAUSES = {
    "state": "training state fills the memory",
    "reference": "training state fills the memory",
    "activations": "activations fill the memory",
    "logits": "logits fill the memory",
    "weights": "weights leave the engine no room",
    "sequence": "one sequence is too long",
}


TURNED = ("recompute", "training_parallel", "gpus", "longest", "util", "tensor_parallel", "update_seconds")
TURNED += ("accelerator", "model", "prompt")
# what surely fits together; as much of it as can be is left as the reader has it, the first first
SURELY = dict(model="llama3.1-8b", accelerator="h200", longest=8192, prompt=512, gpus=256, overlap="sync", share=0.5)
SURELY |= dict(reference=False, weights="fp8", cache="fp8", training_parallel=1, tensor_parallel=AUTO)
SURELY |= dict(util=memory.HBM_SHARE, recompute="full", update_seconds=0.0)


def broken(k, r):
    if not r.misfits:
        return None
    first = r.misfits[0]
    return Break(f"This job does not fit: {first.what}.", fix(k), CAUSES.get(first.part, "no such job"))


def fix(k):
    if impossible_job.out_of_order(k):
        return impossible_job.in_order(k)
    fits = lambda there: not misfits(there)
    return recovery.one_knob(k, TURNED, fits) or recovery.fewest(k, SURELY, fits)


def worse(k, r):
    if r.found.idle <= 0.5:
        return None
    seconds = r.found.step_range[0]
    return f"A step takes {seconds:,.0f} s, and one of the two pools waits for {r.found.idle:.0%} of it."


def holds(k, r):
    low, high = r.found.step_range
    hours = planner.number_range(low * k.steps / 3600, high * k.steps / 3600)
    return (
        f"It fits. {k.steps:,} steps take {hours} hours and cost {planner.number_range(*r.found.money)} at your price."
    )


def export(k, r):
    """The setting as quantities of options.TABLE."""
    if r.misfits:
        return None
    s, engine = r.scenario, r.found.engine
    return dict(
        tensor_parallel=engine.tensor_parallel,
        engines=s.engines(engine.gpus),
        memory_fraction=k.util,
        concurrency=int(r.found.live),
        weights_dtype=k.weights,
        kv_dtype=k.cache,
        prompts=k.prompts,
        samples=k.samples,
        micro_batch_tokens=s.longest,
        context=s.longest,
        placement="colocated" if s.placement == "one pool" else "split",
        prompt=k.prompt,
        completion=int(s.law.longest),
        overlap=k.overlap,
        reuse_log_probs=k.reuse,
    )
