"""The small figures of lesson 19: what more GPUs buy, five ways to share them, and where to cut."""

from dataclasses import replace
from functools import cache

from sim.cluster import topology
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import lognormal
from sim.cluster.models import MODELS
from sim.cluster.topology import ASYNC, COLOCATED, WAYS
from widgets.frame.drawing.marks import band, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

JOB = topology.Job(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], 32, 128, 16, 512, lognormal(1200, 0.8, 8192))
LANES = {"generate": (1.15, 1.85), "train": (0.15, 0.85)}
GPUS = (8, 16, 32, 64, 128, 256)
CUT = 7
CUTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 21, 24, 27, 29, 31)
END = 280.0  # seconds of the five ways: three steps of the first


@cache
def batches():
    """Lengths of the completions of six steps."""
    return topology.drawn_lengths(JOB, 6, 0)


# ── what more GPUs buy ──
@cache
def generation(gpus):
    """Mean seconds of a rollout."""
    job = replace(JOB, gpus=gpus)
    return sum(topology.rollout_seconds(job, lengths, gpus) for lengths in batches()) / len(batches())


def more(gpus):
    floor, share = topology.floor_seconds(JOB, batches()), [generation(8) * 8 / n for n in GPUS]
    return [
        panel(
            "Until the last completion is written",
            "seconds, mean of six samples",
            line(GPUS, share, "if only work took time", 8, "reference"),
            line(GPUS, [generation(n) for n in GPUS], "generation", 1),
            line(GPUS, [floor] * len(GPUS), "the longest alone", 2, "exact"),
            dots([gpus], [generation(gpus)], "here", role="here"),
            label(290, floor - 2, "the longest completion, alone", 2, "right", below=True),
            label(30, 25, "if only work took time", 8),
            x="GPUs that generate",
            x_range=(7, 300),
            y_range=(0, 90),
            log="x",
            ticks=dict(tickvals=list(GPUS)),
        )
    ]


def bought(gpus):
    if gpus == GPUS[0]:
        alone = topology.floor_seconds(JOB, batches())
        return f"8 GPUs need {generation(8):.0f} s, and the longest completion alone takes {alone:.0f} s."
    return f"{gpus} GPUs, {gpus // 8} times as many, need {generation(gpus):.0f} s instead of {generation(8):.0f} s."


# ── five ways ──
NAMES = dict(zip(WAYS, ("wait", "partial rollout", "split", "one-step off-policy", "async")))


@cache
def played(way, cut=CUT):
    return topology.simulate(JOB, way, cut, batches())


def five(way):
    spans = played(way).until(END)
    ends = [span.start + span.seconds for span in spans if span.what == "train"]
    blocks = []
    for span in spans:
        if span.what in LANES:
            low, high = LANES[span.pool]
            seconds, share = played(way).still_written(span)
            top = low + (high - low) * share
            blocks.append(band(span.start + seconds, [low] * len(seconds), top, 1 + span.step % 3))
    return [
        panel(
            "What 32 GPUs do",
            f"{'7 generate, 25 train' if way not in WAYS[:2] else 'all generate, then train'}; height: still written",
            *blocks,
            *(band([at - 0.6, at + 0.6], [0.0, 0.0], [0.1, 0.1], 1) for at in ends if at < END),
            label(0, 1.86, "generate", 0),
            label(0, 0.86, "train", 0),
            x="seconds",
            x_range=(0, END),
            y_range=(0, 2.15),
            y_ticks=dict(tickvals=[1.0], ticktext=[""]),
        )
    ]


def worth(way):
    run = played(way)
    speed, first = run.tokens_per_second, played(COLOCATED).tokens_per_second
    step = run.seconds / len(run.updates)
    return (
        f"This way reaches {speed:,.0f} tokens per second, {speed / first:.2f} times the speed of “wait”. "
        f"A step takes {step:.0f} s."
    )


# ── where to cut ──
@cache
def sides(cut):
    """(seconds of generation with its pause, seconds of training) of a mean step."""
    spans = played(ASYNC, cut).spans
    return tuple(sum(s.seconds for s in spans if s.pool == pool) / len(batches()) for pool in LANES)


def cut(generating):
    write, train = zip(*map(sides, CUTS))
    a, b = sides(generating)
    return [
        panel(
            "Generation and training at one cut",
            "seconds per step, log scales; the longer sets the pace",
            line(CUTS, write, "generation", 1),
            line(CUTS, train, "training", 2),
            dots([generating, generating], [a, b], "here", role="here"),
            label(1.1, write[0] * 1.15, "generation", 1),
            label(1.1, train[0] * 0.9, "training", 2, below=True),
            x="GPUs that generate, of 32",
            x_range=(1, 32),
            y_range=(8, 1000),
            log="xy",
            ticks=dict(tickvals=[1, 2, 4, 8, 16, 31]),
        )
    ]


def waits(generating):
    write, train = sides(generating)
    short = 100 * (1 - min(write, train) / max(write, train))
    waiting = "trainers" if train < write else "generators"
    return f"A step takes {max(write, train):.0f} s, and the {waiting} wait for {short:.0f} % of it."


FIGURES = {
    "more": Figure(more, topology.rollout_seconds, Handle("GPUs that generate", GPUS, 2), bought),
    "five": Figure(five, topology.simulate, Handle("Who works when", WAYS, 0, tuple(NAMES.values())), worth),
    "cut": Figure(cut, topology.simulate, Handle("GPUs that generate", CUTS, CUTS.index(15)), waits),
}
