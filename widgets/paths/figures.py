"""The small figures of lesson 24: what a step moves, what a token carries, how weights are sent, and what a trainer
gathers.
"""

from dataclasses import replace
from functools import cache

from sim.cluster import paths, topology
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS
from sim.cluster.paths import (
    BROADCAST,
    DIRECT,
    ENGINES,
    ENVIRONMENT,
    EXPERIENCE,
    FULL,
    FUNNEL,
    PLAIN,
    ROUTED,
    TOP,
    TRAINER,
    WEIGHTS,
)
from widgets.frame.marks import bars, dots, label, line, panel
from widgets.frame.small_figures import Figure, Handle

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
        f"{512 * samples:,} completions: {written(sizes[WEIGHTS])} of weights and "
        f"{written(sizes[EXPERIENCE])} of experience."
    )


# ── what a token carries ──
SHOWN = {  # of each payload: a model that has it
    PLAIN: MODEL,
    ROUTED: MODELS["qwen3-30b-a3b"],
    TOP: MODEL,
    FULL: MODEL,
}
FIELDS = ["id", "log-<br>prob", "mask", "advan-<br>tage", "refer-<br>ence", "extra"]


def token(payload):
    sizes = list(paths.token_fields(SHOWN[payload], payload).values())
    sizes += [0] * (len(FIELDS) - len(sizes))
    return [
        panel(
            "What is sent of one token",
            "bytes, log scale",
            bars(FIELDS, [size or None for size in sizes], "bytes", 1),
            *[label(name, size, f"{size:,}", anchor="center") for name, size in zip(FIELDS, sizes) if size],
            y_range=(0.5, 3e6),
            log="y",
            ticks=UPRIGHT,
        )
    ]


def carried(payload):
    model = SHOWN[payload]
    step = paths.experience_bytes(model, JOB.completions, JOB.prompt, LENGTH, payload)
    return f"{model.name}: {paths.token_bytes(model, payload):,} bytes a token, {written(step)} a step."


# ── how weights are sent ──
REPLICAS = (1, 2, 4, 8, 16, 32, 64, 128)
CARD = paths.nic(SETTING)


def took(schedule, replicas):
    return paths.sync_seconds(MODEL, schedule, CARD, replicas, 64, 4)


def sync(replicas):
    series = {FUNNEL: 1, BROADCAST: 2, DIRECT: 3}
    return [
        panel(
            "Until all engines have the weights",
            "seconds, log scales; 65.5 GB each, 50 GB/s a card",
            *[line(REPLICAS, [took(s, n) for n in REPLICAS], s, color) for s, color in series.items()],
            dots([replicas] * 3, [took(s, replicas) for s in series], "here", role="here"),
            label(60, took(FUNNEL, 60), FUNNEL, 1, "right"),
            label(4, took(BROADCAST, 1), BROADCAST, 2, below=True),
            label(1.1, took(DIRECT, 1), DIRECT, 3, below=True),
            x="engines of four GPUs",
            x_range=(1, 140),
            y_range=(0.1, 300),
            log="xy",
            ticks=dict(tickvals=list(REPLICAS)),
        )
    ]


def waited(replicas):
    engines = "engine" if replicas == 1 else "engines"
    said = [took(schedule, replicas) for schedule in (FUNNEL, BROADCAST, DIRECT)]
    return (
        f"{replicas} {engines}: {said[0]:.3g} s from one sender, {said[1]:.3g} s by broadcast, {said[2]:.2g} s "
        "shard to shard."
    )


# ── what a trainer gathers ──
MICRO = tuple(2**n for n in range(10, 18))


@cache
def update(micro_batch):
    """(seconds of gathering and scattering, of arithmetic)."""
    setting = replace(SETTING, micro_batch=micro_batch)
    return paths.trainer_seconds(setting), paths.worked(setting).train


def gather(micro_batch):
    gathered, computed = zip(*map(update, MICRO))
    here = update(micro_batch)
    return [
        panel(
            "One update of 64 GPUs",
            "seconds, log scales; the longer of the two counts",
            line(MICRO, gathered, "gathering", 1),
            line(MICRO, computed, "arithmetic", 2),
            dots([micro_batch] * 2, here, "here", role="here"),
            label(4700, gathered[2], "gathering and scattering", 1),
            label(MICRO[-1], computed[0], "arithmetic", 2, "right"),
            x="tokens a GPU trains on at a time",
            x_range=(1000, 140000),
            y_range=(3, 3000),
            log="xy",
            ticks=dict(tickvals=list(MICRO), ticktext=[f"{n // 1024}k" for n in MICRO]),
        )
    ]


def longer(micro_batch):
    gathered, computed = update(micro_batch)
    steps = replace(SETTING, micro_batch=micro_batch).micro_steps
    return f"{steps:,} times {micro_batch:,} tokens: {gathered:,.0f} s of gathering, {computed:,.0f} s of arithmetic."


FIGURES = {
    "four": Figure(
        four, paths.path_bytes, Handle("Completions of each prompt", SAMPLES, SAMPLES.index(16), symbol="K"), stays
    ),
    "token": Figure(
        token,
        paths.token_fields,
        Handle("A token carries", (PLAIN, ROUTED, TOP, FULL), 3, ("no extras", "+ routing", "+ 20 logits", "+ all")),
        carried,
    ),
    "sync": Figure(sync, paths.sync_seconds, Handle("Engines", REPLICAS, REPLICAS.index(16)), waited),
    "gather": Figure(
        gather,
        paths.sharded_bytes,
        Handle("Tokens at a time", MICRO, MICRO.index(32768), tuple(f"{n:,}" for n in MICRO)),
        longer,
    ),
}
