"""The small figures of lesson 24: a step and what it waits for, what a step moves, what a token carries, how weights
are sent, and what a trainer gathers.
"""

from dataclasses import replace
from functools import cache

from sim.cluster import paths, topology
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS
from sim.cluster.paths import (
    CONTROLLER,
    ENGINES,
    ENVIRONMENT,
    EXPERIENCE,
    FULL,
    FUNNEL,
    PLAIN,
    ROUTED,
    STRAIGHT,
    TOP,
    TRAINER,
    WEIGHTS,
)
from widgets.frame.drawing import lanes, scene, slots, steps
from widgets.frame.drawing.marks import bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time

MODEL, LENGTH = MODELS["qwen2.5-32b"], 8192  # the job of the widget's default
JOB = topology.Job(MODEL, ACCELERATORS["h100"], 128, 512, 16, 1024, Law(LENGTH, LENGTH, LENGTH, LENGTH), 4)
SETTING = paths.Setting(JOB)
UPRIGHT = dict(tickangle=0)


def written(number):
    """Bytes as words: "1.05 TB"."""
    for unit, words in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if number >= unit:
            return f"{number / unit:.3g} {words}"
    return f"{number:,.0f}"


# ── a step, with two settings ──
SETTINGS = ("GPU to GPU", "through one process")
UNTIL, TICK = 4000, 200  # seconds
TICKS = tuple(range(0, UNTIL + 1, TICK))
LATE = 1000  # seconds that nobody overlooks


@cache
def loaded(name):
    """All logits go to the trainer, straight or through one process."""
    setting = replace(SETTING, payload=FULL, route=STRAIGHT if name == SETTINGS[0] else CONTROLLER)
    return setting, paths.report(setting)


def opening(name, second):
    setting, report = loaded(name)
    late = report.paths[EXPERIENCE].exposed
    words = f"{JOB.gpus} GPUs wait {late / 60:.0f} minutes" if late > LATE else ""
    shown = dict(
        rows=steps.FEW, broken=(EXPERIENCE, words), ticks=lanes.quarters(UNTIL)[::2], now=second, steps=3, gap=36
    )
    shown |= dict(alt=after(name, second))
    return [
        scene.scene(
            "Where a step spends its time",
            "[work] the first step, [other] the next steps; hatched: GPUs that wait",
            steps.travelling("s", setting, report, UNTIL, **shown),
        )
    ]


def finished(name, second):
    return int(second / loaded(name)[1].seconds)


DOING = {
    paths.GENERATE: "completions are being written",
    paths.ENVIRONMENT: "completions are being checked",
    EXPERIENCE: "all GPUs wait for tokens on their way",
    paths.TRAIN: "an update is being computed",
    WEIGHTS: "new weights are on their way",
}


def after(name, second):
    setting, report = loaded(name)
    done = finished(name, second)
    many = ("no step is", "one step is", "two steps are")[done]
    since = second - done * report.seconds
    spans = paths.laid(setting, report).items()
    activity = next(name for name, (start, took) in spans if name in DOING and since < start + took)
    return f"After {second:,} s {many} finished, and {DOING[activity]}."


OPENING = Figure(
    opening,
    paths.laid,
    Handle("Run", SETTINGS, start=1),
    after,
    Time(
        "Seconds",
        TICKS,
        tuple(f"{second:,} s" for second in TICKS),
        start=len(TICKS) - 1,
        ticks={i: f"{TICKS[i]:,}" for i in range(0, len(TICKS), 5)},
        strip=Strip(
            "Steps finished",
            lambda: [[finished(name, second) / 2.4 for second in TICKS] for name in SETTINGS],
            lambda name, second: str(finished(name, second)),
        ),
        milliseconds=350,
    ),
    stills=((0, len(TICKS) - 1),),
)


# ── what a step moves ──
SAMPLES = (2, 4, 8, 16, 32, 64)
NAMES = {
    ENVIRONMENT: "environ-<br>ment",
    EXPERIENCE: "experi-<br>ence",
    WEIGHTS: "weights",
    ENGINES: "inside<br>engines",
    TRAINER: "inside<br>trainer",
}


@cache
def moved(samples):
    return paths.path_bytes(replace(SETTING, job=replace(JOB, samples=samples)))


def four(samples):
    sizes = moved(samples)
    return [
        panel(
            "What one step moves",
            "bytes, log scale",
            bars(list(NAMES.values()), [sizes[name] for name in NAMES], "bytes", 1),
            *[label(NAMES[name], sizes[name], written(sizes[name]), anchor="center") for name in NAMES],
            y_range=(1e6, 1e17),
            log="y",
            ticks=UPRIGHT,
        )
    ]


def stays(samples):
    sizes = moved(samples)
    return (
        f"With {512 * samples:,} completions, a step moves {written(sizes[WEIGHTS])} of weights and "
        f"{written(sizes[EXPERIENCE])} of experience."
    )


# ── what a token carries ──
SHOWN = {  # of each payload: a model that has it
    PLAIN: MODEL,
    ROUTED: MODELS["qwen3-30b-a3b"],
    TOP: MODEL,
    FULL: MODEL,
}
BYTE, ROW, LONG = 0.5, 1.25, 24  # in squares: a byte to scale, from a field to the next; bytes that a row has room for
LEFT, MOST = 5.3, 6  # room for a name; fields, the extra included


SHORT = {"log-prob when sampled": "log-prob", "reference's log-prob": "reference"}


def token(payload):
    sizes = list(paths.token_fields(SHOWN[payload], payload).items())
    marks = [scene.wall((LEFT + BYTE * LONG, 0.2), ROW * MOST)]
    for i in range(MOST):
        name, size = sizes[i] if i < len(sizes) else ("", 0)
        y, extra = 0.3 + ROW * i, i == MOST - 1
        marks.append(scene.word(SHORT.get(name, name), (0, y + 0.62), "strong", key=f"f{i}"))
        marks.append(scene.bar(f"b{i}", (LEFT, y), BYTE * min(size, LONG), "against" if extra else "written", 0.85))
        at = (LEFT + 0.3 + BYTE * min(size, LONG), y + 0.62)
        marks.append(scene.word(f"{size:,}" if size else "", at, key=f"n{i}"))
    beyond = dict(enumerate(sizes)).get(MOST - 1, ("", 0))[1] / LONG
    words = f"{beyond:,.0f} times as long as this" if beyond > 1 else ""
    marks.append(scene.ring("r", (LEFT, 0.3 + ROW * (MOST - 1)), words, beyond > 1, (BYTE * LONG, 0.85), role="look"))
    return [
        scene.scene(
            "What is sent for one token",
            "bytes; a bar that reaches the line is cut off there",
            scene.view("t", LEFT + BYTE * LONG + 3.6, ROW * MOST + 1.7, carried(payload), *marks),
        )
    ]


def carried(payload):
    model = SHOWN[payload]
    step = paths.experience_bytes(model, JOB.completions, JOB.prompt, LENGTH, payload)
    return f"{model.name}: {paths.token_bytes(model, payload):,} bytes per token, {written(step)} per step."


# ── how weights are sent ──
CARD = paths.nic(SETTING)
ENGINES_OF_THE_JOB = SETTING.replicas
SENT_UNTIL = 22  # seconds
SECONDS = tuple(range(SENT_UNTIL + 1))


def took(schedule):
    return paths.sync_seconds(MODEL, schedule, CARD, ENGINES_OF_THE_JOB, SETTING.train_gpus, JOB.tensor_parallel)


def arrives(schedule, engine):
    """(seconds when an engine's weights begin to come, when all are there)."""
    whole = took(schedule)
    if schedule != FUNNEL:
        return 0.0, whole
    return whole * engine / ENGINES_OF_THE_JOB, whole * (engine + 1) / ENGINES_OF_THE_JOB


def sync(schedule, second):
    marks = []
    for engine in range(ENGINES_OF_THE_JOB):
        start, end = arrives(schedule, engine)
        marks.append(lanes.span(f"w{engine}", engine, 0, start, "waits"))
        marks.append(lanes.span(f"e{engine}", engine, start, end, "work"))
    last = ENGINES_OF_THE_JOB - 1
    start, end = arrives(schedule, last)
    first, seconds, words = 0, end, f"all sixteen after {end:.2f} s"
    if schedule == FUNNEL:
        first, seconds, words = last, start, f"{start:.1f} s until its turn"
    marks.append(lanes.spot("r", (first, last), 0, seconds, words, second >= seconds, "look", "right"))
    return [
        scene.scene(
            "New weights for sixteen engines",
            f"{written(paths.weights_bytes(MODEL, 1))} per engine (a row); [work] they arrive, hatched: it waits",
            lanes.board(
                "s", waited(schedule, second), SENT_UNTIL, [("", "")] * ENGINES_OF_THE_JOB, *marks,
                **slots.pitch(ENGINES_OF_THE_JOB), top=14, ticks=(0, 5, 10, 15, 20), unit=" s", now=second,
            ),
        )
    ]  # fmt: skip


COUNTED = dict(
    enumerate(("none has", "one has", "two have", "three have", "four have", "five have", "six have", "seven have"))
)
COUNTED |= {8: "eight have", 9: "nine have", 16: "all sixteen have"}


def waited(schedule, second):
    ready = sum(arrives(schedule, engine)[1] <= second for engine in range(ENGINES_OF_THE_JOB))
    have = COUNTED.get(ready, f"{ready} have")
    return f"After {second} s, {have} the new weights. All sixteen need {took(schedule):.3g} s."


# ── what a trainer gathers ──
MICRO = tuple(2**n for n in range(10, 18))


@cache
def update(micro_batch):
    """(seconds of gathering and scattering, of arithmetic)."""
    setting = replace(SETTING, micro_batch=micro_batch)
    return paths.trainer_seconds(setting), paths.worked(setting).train


def gather(micro_batch):
    gathered, computed = zip(*map(update, MICRO))
    return [
        panel(
            "Time for one update of 64 GPUs",
            "seconds, log scales; the longer of the two counts",
            line(MICRO, gathered, "gathering", 1),
            line(MICRO, computed, "arithmetic", 2),
            dots([micro_batch] * 2, update(micro_batch), "here", role="here"),
            label(4700, gathered[2], "gathering and scattering", 1),
            label(MICRO[-1], computed[0], "arithmetic", 2, "right"),
            x="tokens per micro-batch",
            x_range=(1000, 140000),
            y_range=(3, 3000),
            log="xy",
            ticks=dict(tickvals=list(MICRO), ticktext=[f"{n // 1024}k" for n in MICRO]),
        )
    ]


def longer(micro_batch):
    gathered, computed = update(micro_batch)
    steps = replace(SETTING, micro_batch=micro_batch).micro_steps
    return (
        f"{steps:,} micro-batches of {micro_batch:,} tokens take {gathered:,.0f} s of gathering and {computed:,.0f} s "
        "of arithmetic."
    )


FIGURES = {
    "opening": OPENING,
    "four": Figure(
        four, paths.path_bytes, Handle("Completions per prompt", SAMPLES, SAMPLES.index(16), symbol="K"), stays
    ),
    "token": Figure(
        token,
        paths.token_fields,
        Handle(
            "What a token carries", (PLAIN, ROUTED, TOP, FULL), 3, ("no extras", "+ routing", "+ 20 logits", "+ all")
        ),
        carried,
    ),
    "sync": Figure(
        sync,
        paths.sync_seconds,
        Handle("Way of sending", paths.SCHEDULES, paths.SCHEDULES.index(FUNNEL), paths.SCHEDULES),
        waited,
        Time(
            "Time",
            SECONDS,
            tuple(f"{second} s" for second in SECONDS),
            start=10,
            ticks={i: str(i) for i in range(0, SENT_UNTIL + 1, 5)},
            milliseconds=250,
        ),
        stills=((0, 10), (2, 1)),
    ),
    "gather": Figure(
        gather,
        paths.sharded_bytes,
        Handle("Tokens per micro-batch", MICRO, MICRO.index(32768), tuple(f"{n:,}" for n in MICRO)),
        longer,
    ),
}
