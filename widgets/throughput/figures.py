"""The small figures of lesson 22a: pools that wait, a sum beside a maximum, five roles in lanes, who holds the step,
how many checkers hide, and the roof.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from rlpt.planning import measured
from sim.cluster import paths, step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import lognormal
from sim.cluster.models import MODELS
from sim.cluster.step import Roles
from sim.words import counted
from widgets.frame.drawing import lanes, scene, steps
from widgets.frame.drawing.marks import bars, dots, label, line, panel, region
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time

UPRIGHT = dict(tickangle=0)
ROW, SIDE = "sync", "async"  # in a row, side by side

# ── two pools of GPUs, and a step that neither of them holds ──
WAYS = ("64 workers", "8 workers")
WORKERS_OF = dict(zip(WAYS, (64, 8)))
AGENT_UNTIL, TICK = 400, 20  # seconds
POOLS = {"engine": ("rollout",), "trainer": ("log_probs", "train")}  # roles of each pool


def agent(way):
    """64 completions on 8 GPUs, tests of 20 s, one of 30: the opening of widget.py."""
    return Roles(60.0, step.verify_seconds(64, WORKERS_OF[way], 20.0, 30.0), 8.0, 30.0, 4.0)


def busy(way, pool):
    return sum(getattr(agent(way), role) for role in POOLS[pool])


def works(way, pool):
    """{batch: (start, end)} of a pool, the third batch the first that is generated here."""
    spans = {}
    for job in step.laid(agent(way), SIDE, AGENT_UNTIL):
        if job.role in POOLS[pool]:
            begin, end = spans.get(job.batch + 3, (job.start, 0.0))
            spans[job.batch + 3] = (min(begin, job.start), max(end, job.start + job.seconds))
    return spans


def two_pools(way, second):
    step_seconds, marks = step.step_time(agent(way), SIDE), []
    for row, pool in enumerate(POOLS):
        spans = works(way, pool)
        for batch in range(1, 10):
            start, end = spans.get(batch, (2 * AGENT_UNTIL, 2 * AGENT_UNTIL))
            role = "work" if batch == 3 else "other"
            marks.append(lanes.span(f"{pool[0]}{batch}", row, start, end, role, str(batch)))
        for s in range(7):
            start = s * step_seconds + busy(way, pool)
            marks.append(lanes.span(f"{pool[0]}w{s}", row, start, (s + 1) * step_seconds, "waits"))
    idle = step_seconds - max(busy(way, pool) for pool in POOLS)
    seen = idle > 0.25 * step_seconds and second >= step_seconds
    words = f"both wait, {idle:.0f} of {step_seconds:.0f} s"
    marks.append(lanes.spot("r", (0, 1), step_seconds - idle, step_seconds, words if seen else "", seen))
    return [
        scene.scene(
            "Two pools of GPUs, and the batches they work on",
            "[work] batch 3, first written, then learned from; hatched: GPUs that wait",
            lanes.board(
                "p",
                so_far(way, second),
                AGENT_UNTIL,
                (("engine", "writes batches"), ("trainer", "learns from them")),
                *marks,
                tall=46,
                top=58,
                ticks=(0, 100, 200, 300, 400),
                unit=" s",
                now=second,
            ),
        )
    ]


def learned(way, second):
    return sum(end <= second for _, end in works(way, "trainer").values())


def stood(way):
    seconds = step.step_time(agent(way), SIDE)
    longest = max(busy(way, pool) for pool in POOLS)
    if seconds > longest:
        return f"In every {seconds:.0f} s, both pools of GPUs sit idle for {seconds - longest:.0f} s."
    engine, trainer = (busy(way, pool) for pool in POOLS)
    return f"In every {seconds:.0f} s, the engine works for {engine:.0f} s and the trainer for {trainer:.0f} s."


def so_far(way, second):
    return stood(way)


SECONDS = tuple(range(0, AGENT_UNTIL + 1, TICK))
OPENING = Figure(
    two_pools,
    step.laid,
    Handle("Run", WAYS, start=1),
    so_far,
    Time(
        "Time",
        SECONDS,
        tuple(f"{second} s" for second in SECONDS),
        start=len(SECONDS) - 1,
        ticks={i: str(TICK * i) for i in range(0, len(SECONDS), 5)},
        strip=Strip(
            "Batches learned from",
            lambda: [[learned(way, second) / 7 for second in SECONDS] for way in WAYS],
            lambda way, second: str(learned(way, second)),
        ),
        milliseconds=350,
        holds={8: 1500},
    ),
    stills=((0, len(SECONDS) - 1),),
)

# ── a sum, and a maximum ──
SMALL = Roles(rollout=60, verify=0, log_probs=0, train=40, sync=0)
SPEEDS = (1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4)
SHORT = {"synchronous": ROW, "side by side": "one-off"}
SAID = {"synchronous": "If the jobs are synchronous", "side by side": "If the jobs run side by side"}
SMALL_UNTIL, STEPS = 200, 5


def two_jobs(way, speed):
    overlap, roles = SHORT[way], step.whatif(SMALL, "rollout", speed)
    step_seconds, beside = step.step_time(roles, overlap), way != "synchronous"
    jobs = {(job.role, job.batch + 1): job for job in step.laid(roles, overlap, SMALL_UNTIL)}
    marks = []
    for role, row in (("rollout", 0), ("train", 1 if beside else 0)):
        for batch in range(0, STEPS + 1):
            job = jobs.get((role, batch))
            start, seconds = (job.start, job.seconds) if job else (2 * SMALL_UNTIL, 0.0)
            text = f"{role} {batch}" if seconds >= (45 if role == "rollout" else 38) else str(batch)
            marks.append(
                lanes.span(f"{role[0]}{batch}", row, start, start + seconds, "work" if batch == 1 else "other", text)
            )
    for s in range(STEPS):
        for row, seconds in enumerate((roles.rollout, roles.train)):
            end = (s + 1) * step_seconds
            marks.append(lanes.span(f"w{row}{s}", row, s * step_seconds + seconds if beside else end, end, "waits"))
    marks.append(lanes.span("g", 0, 0, SMALL.rollout if speed > 1 else 0, "ghost"))
    seen = beside and step_seconds > roles.rollout
    words = "the faster engine only waits" if seen else ""
    marks.append(lanes.spot("r", (0, 0), step_seconds + roles.rollout, 2 * step_seconds, words, seen, "look"))
    marks.append(lanes.measure("m", 0, step_seconds, f"a step: {step_seconds:.0f} s"))
    rows = (("engine", "its GPUs"), ("trainer", "its GPUs")) if beside else (("both", "one by one"), (" ", ""))
    return [
        scene.scene(
            "A step of 60 seconds of rollout and 40 of training",
            "[work] batch 1, [other] other batches; hatched: GPUs that wait; dashed: the rollout before",
            lanes.board(
                "s",
                f"{SAID[way]}, with an engine {speed:g} times as fast, a step takes {step_seconds:.0f} s.",
                SMALL_UNTIL,
                rows,
                *marks,
                tall=36,
                top=62,
                ticks=(0, 50, 100, 150, 200),
                unit=" s",
            ),
        )
    ]


def worth(way, speed):
    was, now = small_step(way, 1), small_step(way, speed)
    if speed == 1:
        return f"{SAID[way]}, a step takes {now:.0f} s."
    gain = f"A step takes {now:.0f} s instead of {was:.0f} s, so it is {was / now:.2f} times as fast."
    roles = step.whatif(SMALL, "rollout", speed)
    return gain if way == "synchronous" or roles.rollout >= roles.train else f"{gain} Now it waits for the trainer."


def faster(step_of, speeds, ways):
    """What a faster engine gives back in each way, as a share of the most."""
    gains = [[step_of(way, 1) / step_of(way, speed) - 1 for speed in speeds] for way in ways]
    return [[gain / max(map(max, gains)) for gain in row] for row in gains]


def small_step(way, speed):
    return step.step_time(step.whatif(SMALL, "rollout", speed), SHORT[way])


def speeds(positions, step_of, ways, start):
    return Time(
        "Speed-up of the engine",
        positions,
        tuple(f"engine × {speed:g}" for speed in positions),
        start=start,
        ticks={i: f"×{speed:g}" for i, speed in enumerate(positions)},
        strip=Strip(
            "Speed-up of the step",
            lambda: faster(step_of, positions, ways),
            lambda way, speed: f"{step_of(way, 1) / step_of(way, speed):.2f}",
        ),
        milliseconds=900,
    )


# ── five roles, and four ways to overlap them ──
H100, LAW = ACCELERATORS["h100"], lognormal(1200, 0.8, 8192)
OVERLAPS = steps.WAYS
FIVE_UNTIL = 400


@cache
def five():
    """7B on 64 H100, half of them generating; 8,192 tests of 0.6 s on 256 workers; weights through one card."""
    tests = step.verify_seconds(8192, 256, 0.6, 10)
    roles = step.roles_from_config(MODELS["qwen2.5-7b"], H100, 32, 32, 1, 8192, LAW, tests, True, True)
    card = paths.sync_seconds(MODELS["qwen2.5-7b"], paths.FUNNEL, 1e9 * H100.nic_gb_per_second, 32, 32, 1)
    return replace(roles, sync=float(card))


def five_step(way, speed):
    return step.step_time(step.whatif(five(), "rollout", speed), OVERLAPS[way])


def five_roles(way, speed):
    roles = step.whatif(five(), "rollout", speed)
    board = steps.board("f", roles, OVERLAPS[way], FIVE_UNTIL, was=five(), ticks=(0, 100, 200, 300, 400))
    return [
        scene.scene(
            "The five roles of a step over 400 seconds",
            "[work] batch 7, [other] others; hatched: GPUs wait; underlined: the step waits for it; dashed: as before",
            board,
        )
    ]


def held_by(way, speed):
    was, now = five_step(way, 1), five_step(way, speed)
    chain = steps.chain(step.whatif(five(), "rollout", speed), OVERLAPS[way])
    if speed == 1:
        return f"A step takes {now:.0f} s. It waits for {chain}."
    gain = f"{100 * (was / now - 1):.0f} % faster" if was / now > 1.004 else "no faster"
    return f"A step takes {now:.0f} s. An engine {speed:g} times as fast makes it {gain}, because it waits for {chain}."


# ── who holds the step ──
MEASURED = measured.VERL["7B, 64 GPUs"]
TESTS = step.verify_seconds(measured.COMPLETIONS, 64, 0.02, 0.02)  # assumed: 64 workers, 20 ms a test
VERL = Roles(MEASURED.generate, TESTS, MEASURED.old_log_prob, MEASURED.update, measured.SYNC_7B)
ROLES = {"rollout": "rollout", "verify": "verify", "log-probs": "log_probs", "train": "train", "sync": "sync"}


def grown(role, overlap):
    """Seconds by which the step grows when a role takes a tenth longer."""
    return step.step_time(step.whatif(VERL, role, 1 / 1.1), overlap) - step.step_time(VERL, overlap)


def tenth(name):
    role, names = ROLES[name], list(ROLES)
    timed = [getattr(VERL, attribute) for attribute in ROLES.values()]
    more = [0.1 * seconds if other == name else 0 for other, seconds in zip(names, timed)]
    by = {words: grown(role, overlap) for words, overlap in (("synchronous", ROW), ("asynchronous", SIDE))}
    return [
        panel(
            "Five roles",
            "seconds; hatched: a tenth more",
            bars(names, timed, "as timed", 1),
            bars(names, more, "a tenth more", 2, "waste"),
            y_range=(0, 180),
            stacked=True,
            ticks=UPRIGHT,
        ),
        panel(
            "By how much the step grows",
            "seconds",
            bars(list(by), list(by.values()), "grows by", 1),
            *[label(words, seconds, f"{seconds:.3g}", anchor="center") for words, seconds in by.items()],
            y_range=(0, 18),
            ticks=UPRIGHT,
        ),
    ]


def moves(name):
    row, side = (grown(ROLES[name], overlap) for overlap in (ROW, SIDE))
    streamed = f"by {side:.3g} s" if side > 0 else "not at all"
    return (
        f"If {name} takes a tenth longer, a synchronous step grows by {row:.3g} s and an asynchronous one {streamed}."
    )


# ── how many checkers hide ──
WORKERS = tuple(2**n for n in range(14))
REUSED = replace(VERL, log_probs=0.0)


def checked(workers):
    return replace(REUSED, verify=step.verify_seconds(measured.COMPLETIONS, workers, 0.02, 0.02))


def checkers(workers):
    busy = max(REUSED.rollout, REUSED.train)
    in_turn, streamed = ([step.step_time(checked(w), overlap) for w in WORKERS] for overlap in (ROW, SIDE))
    return [
        panel(
            "Duration of a step",
            "seconds; 8,192 tests of 20 ms",
            line(WORKERS, in_turn, "synchronous", 2),
            line(WORKERS, streamed, "asynchronous", 1),
            line(WORKERS, [checked(w).verify for w in WORKERS], "tests alone", 8, "reference"),
            dots([workers, workers], [step.step_time(checked(workers), o) for o in (ROW, SIDE)], "now", 1, "here"),
            label(WORKERS[-1], step.step_time(checked(8192), ROW), "synchronous", 2, "right"),
            label(WORKERS[-1], busy, "asynchronous: the rollout", 1, "right", below=True),
            label(12, 22, "tests alone", 8),
            x="workers",
            x_range=(0.9, 9000),
            y_range=(0, 500),
            log="x",
            ticks=dict(tickvals=[1, 8, 64, 512, 4096], ticktext=["1", "8", "64", "512", "4,096"]),
        )
    ]


def hidden(workers):
    roles = checked(workers)
    row, side = (step.step_time(roles, overlap) for overlap in (ROW, SIDE))
    crew = "One worker tests" if workers == 1 else f"{workers:,} workers test"
    return (
        f"{crew} for {roles.verify:.3g} s. A synchronous step takes {row:.0f} s and an asynchronous one {side:.0f} s."
    )


# ── the roof ──
QWEN, CONTEXT = MODELS["qwen2.5-7b"], 2048
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
            "TFLOP/s reached by a 7B model with 2,048 tokens per sequence; log scales",
            region(throughput.effective_ridge(H100), 4096),
            label(4096, 1.3, "shaded: limited by arithmetic", 0, "right"),
            line(INTENSITY, reached / 1e12, "roof", 8, "reference"),
            dots([p.flop_per_byte for p in path], [p.flops_per_second / 1e12 for p in path], "1 to 1,024 sequences", 1),
            dots([now.flop_per_byte], [now.flops_per_second / 1e12], "now", 1, "here"),
            x="FLOP per byte read",
            x_range=(0.5, 4096),
            y_range=(1, 1200),
            log="xy",
        )
    ]


def intensity(sequences):
    many, intensity = counted(sequences, "sequence"), decode(sequences).flop_per_byte
    ridge = throughput.effective_ridge(H100)
    return f"Decoding {many} does {intensity:.0f} FLOP per byte. From {ridge:.0f} on, arithmetic is the limit."


FIGURES = {
    "opening": OPENING,
    "lanes": Figure(
        two_jobs,
        step.laid,
        Handle("The two jobs", tuple(SHORT), start=1, words=tuple(SHORT)),
        worth,
        speeds(SPEEDS, small_step, SHORT, 4),
        stills=((0, 4), (1, 2)),
    ),
    "step": Figure(
        five_roles,
        step.laid,
        Handle("What overlaps", tuple(OVERLAPS), start=0, words=tuple(OVERLAPS)),
        held_by,
        speeds(SPEEDS, five_step, OVERLAPS, 0),
        stills=((2, 4), (3, 4)),
    ),
    "holds": Figure(tenth, step.step_time, Handle("Role made longer", tuple(ROLES)), moves),
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
