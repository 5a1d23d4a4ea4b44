"""The small figures of lesson 22a: a sum beside a maximum, who holds the step, how many checkers hide, and the roof."""

from dataclasses import replace

import numpy as np

from sim.cluster import measured, step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.step import Roles
from widgets.frame.marks import bars, dots, label, line, panel, region
from widgets.frame.small_figures import Figure, Handle

UPRIGHT = dict(tickangle=0)
ROW, SIDE = "sync", "async"  # in a row, side by side

# ── a sum, and a maximum ──
SMALL = Roles(rollout=60, verify=0, log_probs=0, train=40, sync=0)
SPEEDS = (1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 6, 8, 16, 32, 64)
TIMES = np.geomspace(1, 64, 49)


def strips(speed):
    now = step.whatif(SMALL, "rollout", speed)
    names = ["in a row", "side by side,<br>rollout", "side by side,<br>train"]
    total = step.step_time(now, ROW)
    curves = [
        line(TIMES, [step.speedup(SMALL, overlap, "rollout", k) for k in TIMES], words, series, "")
        for overlap, words, series in ((ROW, "in a row", 1), (SIDE, "side by side", 2))
    ]
    return [
        panel(
            "One step",
            "seconds; navy: rollout, amber: train",
            bars(names, [now.rollout, now.rollout, 0], "rollout", 1),
            bars(names, [now.train, 0, now.train], "train", 2),
            label(names[0], total, f"{total:.0f} s", anchor="center"),
            label(names[1], now.rollout, f"{now.rollout:.0f}", anchor="center"),
            label(names[2], now.train, f"{now.train:.0f}", anchor="center"),
            y_range=(0, 112),
            stacked=True,
            ticks=UPRIGHT,
        ),
        panel(
            "What the faster engine is worth",
            "old step over new step",
            *curves,
            dots([speed, speed], [step.speedup(SMALL, o, "rollout", speed) for o in (ROW, SIDE)], "now", 1, "here"),
            label(64, 2.42, "in a row", 1, "right", below=True),
            label(64, 1.5, "side by side", 2, "right", below=True),
            x="engine, times as fast",
            x_range=(1, 64),
            y_range=(0.95, 2.6),
            log="x",
            ticks=dict(tickvals=[1, 2, 4, 8, 16, 32, 64], ticktext=["1", "2", "4", "8", "16", "32", "64"]),
        ),
    ]


def worth(speed):
    now = step.whatif(SMALL, "rollout", speed)
    said = [
        f"{step.step_time(now, o):.0f} s, {step.speedup(SMALL, o, 'rollout', speed):.2f} times as fast"
        for o in (ROW, SIDE)
    ]
    return f"In a row {said[0]}; side by side {said[1]}."


# ── who holds the step ──
KEPT = measured.VERL["7B, 64 GPUs"]
TESTS = step.verify_seconds(measured.COMPLETIONS, 64, 0.02, 0.02)  # assumed: 64 workers, 20 ms a test
VERL = Roles(KEPT.generate, TESTS, KEPT.old_log_prob, KEPT.update, measured.SYNC_7B)
ROLES = {"rollout": "rollout", "verify": "verify", "log-probs": "log_probs", "train": "train", "sync": "sync"}


def grown(role, overlap):
    """Seconds by which the step grows when a role takes a tenth longer."""
    return step.step_time(step.whatif(VERL, role, 1 / 1.1), overlap) - step.step_time(VERL, overlap)


def tenth(name):
    role, names = ROLES[name], list(ROLES)
    now = [getattr(VERL, attribute) for attribute in ROLES.values()]
    more = [0.1 * seconds if other == name else 0 for other, seconds in zip(names, now)]
    by = {words: grown(role, overlap) for words, overlap in (("in a row", ROW), ("side by side", SIDE))}
    return [
        panel(
            "Five roles",
            "seconds; hatched: a tenth more",
            bars(names, now, "as timed", 1),
            bars(names, more, "a tenth more", 2, "waste"),
            y_range=(0, 180),
            stacked=True,
            ticks=UPRIGHT,
        ),
        panel(
            "The step grows by",
            "seconds",
            bars(list(by), list(by.values()), "grows by", 1),
            *[label(words, seconds, f"{seconds:.3g}", anchor="center") for words, seconds in by.items()],
            y_range=(0, 18),
            ticks=UPRIGHT,
        ),
    ]


def moves(name):
    row, side = (grown(ROLES[name], overlap) for overlap in (ROW, SIDE))
    said = f"{side:.3g} s" if side > 0 else "nothing"
    return f"A tenth more of {name}: {row:.3g} s of the step in a row, {said} side by side."


# ── how many checkers hide ──
WORKERS = tuple(2**n for n in range(14))
REUSED = replace(VERL, log_probs=0.0)


def checked(workers):
    return replace(REUSED, verify=step.verify_seconds(measured.COMPLETIONS, workers, 0.02, 0.02))


def checkers(workers):
    busy = max(REUSED.rollout, REUSED.train)
    curve = lambda overlap: [step.step_time(checked(w), overlap) for w in WORKERS]
    return [
        panel(
            "One step",
            "seconds; 8,192 tests of 20 ms",
            line(WORKERS, curve(ROW), "in a row", 2),
            line(WORKERS, curve(SIDE), "side by side", 1),
            line(WORKERS, [checked(w).verify for w in WORKERS], "tests alone", 8, "reference"),
            dots([workers, workers], [step.step_time(checked(workers), o) for o in (ROW, SIDE)], "now", 1, "here"),
            label(WORKERS[-1], step.step_time(checked(8192), ROW), "in a row", 2, "right"),
            label(WORKERS[-1], busy, "side by side: the rollout", 1, "right", below=True),
            label(12, 22, "tests alone", 8),
            x="workers",
            x_range=(0.9, 9000),
            y_range=(0, 500),
            log="x",
            ticks=dict(tickvals=[1, 8, 64, 512, 4096], ticktext=["1", "8", "64", "512", "4,096"]),
        )
    ]


def hidden(workers):
    now = checked(workers)
    row, side = (step.step_time(now, overlap) for overlap in (ROW, SIDE))
    crew = "One worker tests" if workers == 1 else f"{workers:,} workers test"
    return f"{crew} for {now.verify:.3g} s: in a row the step takes {row:.0f} s, side by side {side:.0f} s."


# ── the roof ──
QWEN, H100, CONTEXT = MODELS["qwen2.5-7b"], ACCELERATORS["h100"], 2048
SEQUENCES = tuple(2**n for n in range(11))
INTENSITY = np.geomspace(0.5, 4096, 40)


def decode(sequences):
    return throughput.role_points(QWEN, H100, sequences, CONTEXT, throughput.MICRO_BATCH)[0]


def roof(sequences):
    path, now = [decode(n) for n in SEQUENCES], decode(sequences)
    reached = np.minimum(
        INTENSITY * H100.hbm_bytes_per_second * throughput.ASSUMED.bandwidth, H100.flops() * throughput.ASSUMED.flops
    )
    return [
        panel(
            "Decoding under the roof of one H100",
            "TFLOP/s reached; log scales; 7B, 2,048 tokens each",
            region(throughput.effective_ridge(H100), 4096),
            label(4096, 1.3, "gray: arithmetic is short", 0, "right"),
            line(INTENSITY, reached / 1e12, "roof", 8, "reference"),
            dots([p.flop_per_byte for p in path], [p.flops_per_second / 1e12 for p in path], "1 to 1,024 sequences", 1),
            dots([now.flop_per_byte], [now.flops_per_second / 1e12], "now", 1, "here"),
            x="FLOP for each byte that is read",
            x_range=(0.5, 4096),
            y_range=(1, 1200),
            log="xy",
        )
    ]


def intensity(sequences):
    now = decode(sequences)
    many = "1 sequence" if sequences == 1 else f"{sequences:,} sequences"
    ridge = throughput.effective_ridge(H100)
    return f"{many}: {now.flop_per_byte:.0f} FLOP a byte; arithmetic is short from {ridge:.0f} on."


FIGURES = {
    "lanes": Figure(
        strips,
        step.step_time,
        Handle("Engine, times as fast", SPEEDS, start=4, words=tuple(f"{k:g}" for k in SPEEDS)),
        worth,
    ),
    "holds": Figure(tenth, step.step_time, Handle("A tenth more of", tuple(ROLES)), moves),
    "checkers": Figure(
        checkers,
        step.verify_seconds,
        Handle("Workers", WORKERS, start=0, words=tuple(f"{n:,}" for n in WORKERS)),
        hidden,
    ),
    "roof": Figure(
        roof,
        throughput.role_points,
        Handle("Sequences at once", SEQUENCES, start=6, words=tuple(f"{n:,}" for n in SEQUENCES)),
        intensity,
    ),
}
