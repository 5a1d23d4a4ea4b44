"""What one training step moves on four paths, over which links, and what of it the step has to wait for."""

from dataclasses import dataclass, replace
from math import log10

from sim.cluster import memory, paths, topology
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import Engine, Misfit, Training
from sim.cluster.models import MODELS
from sim.cluster.paths import ENGINES, ENVIRONMENT, EXPERIENCE, TRAINER, WEIGHTS
from sim.cluster.topology import COLOCATED, SPLIT
from widgets.frame.contract import impossible_job, machine_knobs, recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing import lanes, scene, steps
from widgets.frame.drawing.marks import bars, dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "What a training step moves, and how long the step waits for it"

LIMIT = 0.25  # of the step, which one path may cost
NOTED = 0.05  # of the step, for all paths together: more is worse
CHUNK = 1024  # assumed: tokens whose logits are computed at a time in the update
LENGTHS = [256, 512, 1024, 1200, 1500, 2048, 3000, 4096, 4182, 4600, 8192, 9646, 16384, 32768, 65536, 131072]
RATES = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 400.0]
BYTES, SECONDS = [1e5, 1e17], [1e-6, 1e6]  # of the axes
WIDTHS = {"bf16": 2, "eight bits": 1}
ONCE, AGAIN = "once, it keeps them", "anew at each turn"


@dataclass(frozen=True)
class Own:
    payload: str = choice("What a token carries", paths.PLAIN, list(paths.PAYLOADS))
    route: str = choice("Route of experience", paths.STRAIGHT, list(paths.ROUTES))
    schedule: str = choice("Way of sending weights", paths.DIRECT, list(paths.SCHEDULES))
    micro_batch: int = ladder("Tokens per micro-batch", paths.MICRO_BATCH, [2**n for n in range(10, 18)], unit="tokens")
    way: str = choice("Who works when", SPLIT, list(paths.WAYS))
    turns: int = ladder("Turns per completion", 1, [1, 2, 3, 5, 10, 20, 50, 100, 200])
    texts: str = choice("Texts sent to environment", ONCE, [ONCE, AGAIN])
    gpus: int = ladder("GPUs", 128, [2**n for n in range(1, 14)])
    generating: int = ladder("GPUs that generate (split only)", 64, [2**n for n in range(13)])
    tensor_parallel: int = ladder("GPUs that share an engine", 4, [1, 2, 4, 8, 16, 32, 64], symbol="TP")
    weights: str = choice("Precision of engine’s weights", "bf16", list(WIDTHS))
    prompts: int = ladder("Prompts per step", 512, [2**n for n in range(11)])
    samples: int = ladder("Completions per prompt", 16, [1, 2, 4, 8, 16, 32], symbol="K")
    prompt: int = ladder("Prompt length", 1024, [128, *LENGTHS], unit="tokens")
    p50: int = ladder("Median completion", 8192, LENGTHS, unit="tokens")
    p90: int = ladder("Ninetieth percentile", 8192, LENGTHS, unit="tokens")
    p99: int = ladder("Ninety-ninth percentile", 8192, LENGTHS, unit="tokens")
    longest: int = ladder("Longest completion", 8192, LENGTHS, unit="tokens")
    model: str = choice("Model", "qwen2.5-32b", list(MODELS))
    accelerator: str = choice("Accelerator", "h100", list(ACCELERATORS))
    controller: float = ladder("Controller bandwidth (assumed)", 10.0, RATES, unit="GB/s")
    front: float = ladder("Environment network bandwidth (assumed)", 10.0, RATES, unit="GB/s")


@dataclass(frozen=True)
class Knobs(machine_knobs.Brought, machine_knobs.AssumedOfTraining, Own):
    pass


def of_length(tokens):
    """The knobs of completions that are all as long."""
    return dict(p50=tokens, p90=tokens, p99=tokens, longest=tokens)


SHORT = dict(model="llama3.1-70b", prompts=32, **of_length(2048))
KNOB_GROUPS = {
    "What travels": ("schedule", "micro_batch", "turns", "texts"),
    "Machine": ("way", "gpus", "generating", "tensor_parallel", "weights", "model", "accelerator"),
    "Batch": ("prompts", "samples", "prompt", "p50", "p90", "p99", "longest"),
    "Assumptions": ("controller", "front", "bandwidth", "flops", "overhead", "mfu"),
}
PRESETS = {
    "32B, two pools of 64 H100": Knobs(),
    "All logits, from GPU to GPU": Knobs(payload=paths.FULL),
    "All logits, through the controller": Knobs(payload=paths.FULL, route=paths.CONTROLLER),
    "70B, 512 short answers, one sender": Knobs(schedule=paths.FUNNEL, **SHORT),
    "30B-A3B, 2,048 tokens at a time": Knobs(model="qwen3-30b-a3b", micro_batch=2048, **of_length(1024)),
    "50 turns, all text sent again": Knobs(turns=50, texts=AGAIN, prompts=32, prompt=2048, **of_length(65536)),
}
GUESS = Guess(
    "All logits of a step, 20.4 TB, cross 64 network cards. What share of the step does that take?",
    ("under 1 %", "about 10 %", "over half"),
    Knobs(payload=paths.FULL),
    0,
    lambda k, r: (
        f"It takes {r.report.paths[EXPERIENCE].seconds:.1f} of {r.report.seconds:,.0f} s, because "
        f"{r.setting.train_gpus} cards together carry {r.setting.train_gpus * paths.nic(r.setting) / 1e9:,.0f} GB/s."
    ),
    "Longest wait for one path",
)


@dataclass(frozen=True)
class Result:
    misfits: list  # what of the setting is impossible; then there is nothing else
    setting: paths.Setting | None = None
    report: paths.Report | None = None
    rates: dict | None = None  # {words: bytes a second} of the links that are drawn


def idle(k):
    once = dict(texts="there is only one turn") if k.turns == 1 else {}
    return once | (dict(controller="nothing goes through it") if k.route == paths.STRAIGHT else {})


def run(k):
    if impossible := misfits(k):
        yield Result(impossible)
        return
    s = setting(k)
    yield Result([], s, paths.report(s), link_rates(s))


def setting(k):
    """The step as the model of costs has it."""
    law = machine_knobs.law(k)
    job = topology.Job(
        machine_knobs.model(k),
        machine_knobs.accelerator(k),
        k.gpus,
        k.prompts,
        k.samples,
        k.prompt,
        law,
        k.tensor_parallel,
        efficiency=machine_knobs.efficiency(k, Engine(weight_bytes=WIDTHS[k.weights])),
        mfu=k.mfu,
    )
    return paths.Setting(
        job,
        k.way,
        k.generating,
        k.schedule,
        WIDTHS[k.weights],
        k.payload,
        k.route,
        k.turns,
        k.texts == ONCE,
        max(k.micro_batch, longest_sequence(k)),  # a sequence is not cut
        1e9 * k.controller,
        1e9 * k.front,
    )


def longest_sequence(k):
    return k.prompt + round(machine_knobs.law(k).longest)


def link_rates(s):
    """Bytes a second of what paths cross: one card, all cards of the trainer, all links of the engines."""
    card = paths.nic(s)
    chip = s.job.accelerator
    return {
        "one card": card,
        **({f"{s.train_gpus:,} cards": s.train_gpus * card} if s.train_gpus > 1 else {}),
        "scale-up links": s.rollout_gpus * 1e9 * chip.scaleup_gb_per_second,
    }


def misfits(k):
    """What of the setting is impossible."""
    if out_of_order := impossible_job.out_of_order(k):
        return out_of_order
    split = k.way != COLOCATED
    if split and k.generating >= k.gpus:
        what = f"{k.generating:,} GPUs generate, and there are {k.gpus:,}, so none is left to train"
        return [Misfit(what, k.generating + 1, k.gpus, "More GPUs.")]
    generating, training = (k.generating, k.gpus - k.generating) if split else (k.gpus, k.gpus)
    longest = longest_sequence(k)
    engine = Engine(generating, k.tensor_parallel, longest, weight_bytes=WIDTHS[k.weights])
    # assumed: in one pool the trainer's state is on the host during the rollout
    trainer = Training(training, reference=True, tokens=max(k.micro_batch, longest), length=longest, logits_chunk=CHUNK)
    efficiency = machine_knobs.efficiency(k, engine)
    return memory.fits(machine_knobs.model(k), machine_knobs.accelerator(k), engine, trainer, efficiency=efficiency)


# ── the picture ──

NAMES = {
    WEIGHTS: "weights",
    EXPERIENCE: "experience",
    ENVIRONMENT: "environment",
    TRAINER: "inside trainer",
    ENGINES: "inside engines",
}
SERIES = {WEIGHTS: 1, EXPERIENCE: 2, ENVIRONMENT: 3, TRAINER: 4, ENGINES: 5}
SHORT_NAMES = {TRAINER: "trainer", WEIGHTS: "weights", EXPERIENCE: "experi-<br>ence", ENVIRONMENT: "environ-<br>ment"}


def figure(k, r):
    if r.misfits:
        return impossible_job.unfit(k, r.misfits, [STEP_TAB, STEP_TAB, BYTES_TAB], "gpus", misfits)
    return [lanes_of(k, r), waits(r), bytes_and_seconds(r)]


STEP, STEP_TAB, BYTES_TAB = "Work and transfers of one step", "The step", "Bytes and seconds"


def lanes_of(k, r):
    """The work of a step and what travels, over seconds."""
    until, name = lanes.round_up(1.15 * r.report.seconds), r.report.largest
    spans = paths.laid(r.setting, r.report)
    return scene.scene(
        STEP,
        "[work] this step, [other] the next; hatched: GPUs wait",
        steps.travelling(
            "s",
            r.setting,
            r.report,
            until,
            broken=(name, waited_for(r)) if broken(k, r) else ("", ""),
            ticks=lanes.quarters(until),
            steps=2,
        ),
        tab=STEP_TAB,
        front=True,
        data=[bars([steps.TRAVELS[span] for span in spans], [took for _, took in spans.values()], "seconds")],
    )


def waited_for(r):
    return f"{100 * r.report.share(r.report.largest):.0f} % of the step waits"


def bytes_and_seconds(r):
    marks, boxes = [], []  # the boxes that labels cover
    for name, path in sorted(r.report.paths.items(), key=lambda each: -each[1].bytes):
        if path.bytes > 0:
            series = SERIES[name] if path.exposed > 1e-3 * path.seconds else 8
            anchors = ["right", "left", "center"] if path.bytes > 1e12 else ["center", "right", "left"]
            marks.append(dots([path.bytes], [path.seconds], name, series))
            marks.append(free(boxes, [(path.bytes, path.seconds)], NAMES[name], series, anchors))
    for words, rate in r.rates.items():
        ends = [BYTES[0], min(BYTES[1], SECONDS[1] * rate)]
        marks.append(line(ends, [x / rate for x in ends], words, 8, "reference"))
        along = [(x, x / rate) for x in (3e8, 3e5, 3e6, 3e7, 3e9, 3e10, 3e11, 3e12) if x / rate > SECONDS[0]]
        marks.append(free(boxes, along, words, 8, ["left"]))
    return panel(
        "Bytes and seconds",
        "per step, log scales; [s8] hidden by work",
        *marks,
        x="bytes",
        log="xy",
        x_range=BYTES,
        y_range=SECONDS,
        tab=BYTES_TAB,
    )


LETTER, LINE = 0.33, 1.5  # decades of the axes that a letter and a line of words take on a phone


def free(boxes, places, words, series, anchors):
    """A label above or below one of its places, where it covers least of the boxes of others; its own is added."""
    wide, possible = LETTER * len(words), {}
    for x, y in places:
        for below in (False, True):
            for anchor in anchors:
                left, foot = log10(x) - wide * dict(left=0, center=0.5, right=1)[anchor], log10(y) - LINE * below
                possible[x, y, anchor, below] = left, foot, left + wide, foot + LINE
    (x, y, anchor, below), box = min(possible.items(), key=lambda each: covered(each[1], boxes))
    boxes.append(box)
    return label(x, y, words, series, anchor, below)


def covered(box, others):
    """How much of other boxes, and of what lies beyond the axes, a box (left, foot, right, top) covers."""

    def shared(other):
        wide, tall = (max(min(box[i + 2], other[i + 2]) - max(box[i], other[i]), 0) for i in (0, 1))
        return wide * tall

    inside = log10(BYTES[0]), log10(SECONDS[0]), log10(BYTES[1]), log10(SECONDS[1])
    beyond = (box[2] - box[0]) * (box[3] - box[1]) - shared(inside)
    return round(9 * beyond + sum(map(shared, others)), 6)


def waits(r):
    share = {name: 100 * r.report.share(name) for name in SHORT_NAMES}
    names = list(SHORT_NAMES.values())
    return panel(
        "What the step waits for",
        "% of the step; the rest is work",
        *[bars([SHORT_NAMES[name]], [value], name, SERIES[name]) for name, value in share.items()],
        *[label(SHORT_NAMES[name], value, per_cent(value), 0, "center") for name, value in share.items()],
        threshold(100 * LIMIT, "breaks above", 100),
        y_range=[0, 100],
        ticks=dict(tickvals=names, tickangle=0),
        tab=STEP_TAB,
    )


def per_cent(value):
    return f"{value:.0f}" if value >= 99.5 else f"{value:.2g}" if value >= 0.01 else "< 0.01" if value > 0 else "0"


READOUTS = {
    "Updates in 24 hours": ("", paths.report),
    "Experience per token": ("bytes", paths.token_bytes),
    "Weight sync": ("s", paths.weights_seconds),
    "Longest wait for one path": ("%", paths.Report.share),
    "Messages to the environment": ("per second", paths.environment_messages),
}


def readouts(k, r):
    if r.misfits:
        units, sources = ({name: pair[i] for name, pair in READOUTS.items()} for i in (0, 1))
        return impossible_job.dashes(sources, "Updates in 24 hours", units)
    report = r.report
    values = (
        report.updates_a_day,
        paths.token_bytes(machine_knobs.model(k), k.payload),
        report.paths[WEIGHTS].seconds,
        100 * report.share(report.largest),
        report.messages_per_second,
    )
    states = ["", "", "", "violated" if broken(k, r) else "", ""]
    return [
        Readout(name, value, unit, source, state)
        for (name, (unit, source)), value, state in zip(READOUTS.items(), values, states)
    ]


def written(number):
    for unit, words in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if number >= unit:
            return f"{number / unit:.3g} {words}"
    return f"{number:,.0f} bytes"


# ── what breaks ──

CAUSES = {
    EXPERIENCE: "more experience than its link carries",
    WEIGHTS: "new weights that arrive too slowly",
    TRAINER: "gathering that outlasts the arithmetic",
    ENVIRONMENT: "more text than its network carries",
}
TURNS = {
    EXPERIENCE: ("route", "payload", "controller"),
    WEIGHTS: ("schedule", "weights", "way"),
    TRAINER: ("micro_batch", "gpus", "way", "model"),
    ENVIRONMENT: ("texts", "front", "turns"),
}


def watched(k, r):
    if r.misfits:
        return impossible_job.needed(r.misfits)
    share = 100 * r.report.share(r.report.largest)
    return Gauge("Longest wait for one path", share, 100 * LIMIT, "%", expression="path.exposed / step > 0.25")


def seen_at(k, r, cause):
    if r.misfits:
        return impossible_job.unfit_at(k, r.misfits)
    return At(STEP, None, None, waited_for(r))


def broken(k, r):
    if r.misfits:
        return Break(impossible_job.why(r.misfits), made_to_fit(k), "the job does not fit")
    name = r.report.largest
    if r.report.share(name) <= LIMIT:
        return None
    return Break(why(k, r, name), recovered(k, name), CAUSES[name])


def why(k, r, name):
    path, report = r.report.paths[name], r.report
    cost = f"of a step of {report.seconds:,.0f} s"
    claims = {"without it, a quarter of the step is gone": lambda: without(k, r, name) < (1 - LIMIT) * report.seconds}
    model, job = machine_knobs.model(k), setting(k).job
    tokens = job.completions * job.law.mean
    if name == EXPERIENCE:
        each = paths.token_bytes(model, k.payload)
        return Said(
            f"Experience takes {path.seconds:,.0f} s {cost}, because {each:,} bytes per token make "
            f"{written(path.bytes)} via {path.link}.",
            claims
            | {
                "so many bytes": lambda: abs((each * tokens + 4 * k.prompt * job.completions) / path.bytes - 1) < 1e-6,
                "so many seconds of the step": lambda: path.seconds <= report.seconds,
            },
        )
    if name == WEIGHTS:
        copies = setting(k).replicas * WIDTHS[k.weights] * model.params()
        return Said(
            f"The engines wait {path.exposed:,.0f} s {cost}, because {written(path.bytes)} of new weights arrive too "
            "slowly.",
            claims | {"so many bytes": lambda: abs(copies / path.bytes - 1) < 1e-6},
        )
    if name == TRAINER:
        return Said(
            f"The update gathers weights for {path.seconds:,.0f} s, but computes for only "
            f"{report.roles.train:,.0f} s, which cannot hide the gathering.",
            claims | {"it gathers longer than it computes": lambda: path.seconds > report.roles.train},
        )
    return Said(
        f"The step waits {path.exposed:,.0f} s {cost} for the environment, because {written(path.bytes)} of text "
        "are sent.",
        claims
        | {"no less than each text once": lambda: path.bytes >= 4 * (tokens + k.prompt * job.completions) * 0.999},
    )


def without(k, r, name):
    """Seconds of the step if this path took none."""
    took = {other: path.seconds for other, path in r.report.paths.items()} | {name: 0.0}
    return paths.step_seconds(setting(k), r.report.roles, took)


def holding(k):
    """Whether nothing is broken."""
    return not misfits(k) and all(share <= LIMIT for share in shares(k).values())


def shares(k):
    report = paths.report(setting(k))
    return {name: report.share(name) for name in report.paths}


def recovered(k, name):
    """The nearest knob that ends this break, or as few of the defaults as do."""
    return recovery.one_knob(k, TURNS[name], holding) or recovery.fewest(k, defaults(), holding)


def made_to_fit(k):
    """Knobs after which it fits and nothing is broken, or those after which it fits."""
    rising = recovery.different(k, impossible_job.in_order(k)) if impossible_job.out_of_order(k) else {}
    if holding(replace(k, **rising)):
        return rising
    turn = ("tensor_parallel", "generating", "gpus", "micro_batch", "longest", "accelerator", "model")
    usual = rising | {name: value for name, value in defaults().items() if name not in rising}
    change = None if rising else recovery.one_knob(k, turn, holding)
    # the default's median may lie above what these quantiles become, and then they are its own too
    return change or recovery.fewest(k, usual, holding) or recovery.fewest(k, defaults(), holding)


def defaults():
    """What makes up the default setting, but for what a reader has brought."""
    names = Knobs.__dataclass_fields__
    return {name: field.default for name, field in names.items() if field.metadata["kind"] != "pasted"}


def worse(k, r):
    if r.report.waiting <= NOTED:
        return None
    report, name = r.report, r.report.largest
    most = report.paths[name].exposed > 0.5 * report.waiting * report.seconds
    return Said(
        f"{100 * report.waiting:.0f} % of the step is spent waiting for transfers, {'mostly' if most else 'above all'} "
        f"for {WAITED[name]}. That leaves {report.updates_a_day:,.1f} updates per day.",
        adding_up(k, r)
        | {"no other path costs more": lambda: without(k, r, name) <= min(without(k, r, n) for n in report.paths)},
    )


def adding_up(k, r):
    """What is asserted of a step: it is longer than its work by what it waits, and a day has so many."""
    report = r.report
    work = paths.step_seconds(setting(k), report.roles, dict.fromkeys(report.paths, 0.0))
    return {
        "so much of it is waiting": lambda: abs(1 - work / report.seconds - report.waiting) < 1e-9,
        "so many fit into a day": lambda: abs(report.updates_a_day * report.seconds - 24 * 3600) < 1e-3,
    }


WAITED = {
    WEIGHTS: "new weights",
    EXPERIENCE: "experience",
    ENVIRONMENT: "texts",
    TRAINER: "gathering in the update",
    ENGINES: "the exchange inside engines",
}


def holds(k, r):
    report = r.report
    return Said(
        f"A step takes {report.seconds:,.0f} s, of which {per_cent(100 * report.waiting)} % is spent waiting for "
        "transfers.",
        adding_up(k, r) | {"little is waited": lambda: report.waiting <= NOTED},
    )


DARE = "Can you make the step wait for a quarter of its time?"
OPENING = Played(Knobs(payload=paths.FULL), Knobs(payload=paths.FULL, route=paths.CONTROLLER), "opening")
