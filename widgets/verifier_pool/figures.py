"""The small figures of lesson 18c: one batch by two clocks, one batch in more and more slots, tests that fail by
chance, and what tries pay a wrong program.
"""

from functools import cache

import numpy as np

from sim.cluster import verifier_pool
from sim.cluster.verifier_pool import CPU, WALL
from sim.experiments import loaded_pool
from sim.experiments.loaded_pool import JOBS, LUCK, SHARES, SKILL, START, THOROUGH, Setting
from sim.words import counted
from widgets.frame.drawing import runs, scene
from widgets.frame.drawing.marks import dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.verifier_pool import sandboxes

SEED = 0

# ── the opening: the same programs, by two clocks ──
SETTINGS = ("CPU time", "wall-clock time")
POOLS = {SETTINGS[0]: Setting(cores=8, clock=CPU), SETTINGS[1]: Setting(cores=8, clock=WALL)}
UNTIL, TICK = 192, 8  # seconds
SECONDS = tuple(range(0, UNTIL + 1, TICK))


@cache
def batch(way):
    """The first batch of a training."""
    return loaded_pool.drawn(np.random.default_rng(SEED), SHARES, POOLS[way])


@cache
def trained(way):
    """(tasks solved after training, seconds of the last step)."""
    *_, last = loaded_pool.train(np.random.default_rng(SEED), POOLS[way])
    return last.solved, last.batch.verdicts.seconds


@cache
def right(way):
    """Which programs are right, (JOBS,)."""
    return np.random.default_rng(SEED).random(JOBS) < SKILL[batch(way).ways]


@cache
def pictured(way):
    """(slots in the picture, the program that is pointed at)."""
    verdicts = batch(way).verdicts
    slots = sandboxes.typical(verdicts, POOLS[way].slots)
    return sandboxes.to_point_at(verdicts, slots, verdicts.by_load & right(way), 70)


@cache
def most():
    return max(len(sandboxes.programs(batch(way).verdicts, pictured(way)[0])) for way in SETTINGS)


def opening(way, second):
    slots, job = pictured(way)
    return [
        scene.scene(
            f"Programs checked in {len(slots)} of 32 sandboxes, on 8 cores",
            sandboxes.LEGEND,
            sandboxes.board(
                "o",
                batch(way).verdicts,
                slots,
                UNTIL,
                so_far(way, second),
                ringed=job,
                words="correct, cut off by load",
                named=True,
                many=most(),
                now=second,
                ticks=(0, 60, 120, 180),
            ),
        )
    ]


def refused(way, second):
    """How many of the right programs have been refused by then, as a share of all that are right."""
    verdicts = batch(way).verdicts
    return float((verdicts.cut & right(way) & (verdicts.end <= second)).sum() / right(way).sum())


def so_far(way, second):
    verdicts = batch(way).verdicts
    if second < verdicts.seconds:
        done = int((verdicts.end <= second).sum())
        waits = int(((batch(way).arrivals <= second) & (verdicts.start > second)).sum())
        return f"{done} of {JOBS} programs have a verdict, and {waits} wait for a sandbox."
    solved, _ = trained(way)
    return f"The policy solved {100 * START:.0f} of 100 tasks. After 60 such steps it solves {100 * solved:.0f}."


OPENING = Figure(
    opening,
    verifier_pool.pool,
    Handle("Run", SETTINGS, start=1),
    so_far,
    Time(
        "Seconds",
        SECONDS,
        tuple(f"{second} s" for second in SECONDS),
        start=len(SECONDS) - 1,
        ticks={i: str(second) for i, second in enumerate(SECONDS) if second % 48 == 0},
        strip=Strip(
            "Correct programs rejected, of 100",
            lambda: [[refused(way, second) for second in SECONDS] for way in SETTINGS],
            lambda way, second: f"{100 * refused(way, second):.0f}",
        ),
        milliseconds=300,
        holds={15: 1500},
    ),
    stills=((0, len(SECONDS) - 1), (1, len(SECONDS) - 1)),
)


# ── one batch in more and more slots ──
CORES, LIMIT = 32, 10
SLOTS = (32, 64, 128, 256)
PART = 16  # of a pool one slot in so many is shown
PART_UNTIL = 100


@cache
def default_batch():
    return verifier_pool.workload(np.random.default_rng(SEED))


@cache
def in_slots(slots):
    return verifier_pool.pool(*default_batch(), slots, CORES, LIMIT)


@cache
def part(slots):
    return sandboxes.typical(in_slots(slots), slots, slots // PART)


def crowd(slots):
    many = max(len(sandboxes.programs(in_slots(n), part(n))) for n in SLOTS)
    return [
        scene.scene(
            "One slot in sixteen, on 32 cores",
            sandboxes.LEGEND,
            sandboxes.board(
                "c", in_slots(slots), part(slots), PART_UNTIL, crowd_said(slots), many=many, ticks=(0, 25, 50, 75, 100)
            ),
        )
    ]


def crowd_said(slots):
    verdicts = in_slots(slots)
    return (
        f"With {slots} slots, {int(verdicts.cut.sum())} of {JOBS} programs are cut off at {LIMIT} s; "
        f"{int(verdicts.over.sum())} need more than that. The last verdict comes after {verdicts.seconds:.0f} s."
    )


# ── tests that fail by chance ──
FLAKE = 0.001
TESTS = (1, 10, 50, 100, 200)
TRIES = (1, 2, 3)


def refused_by_chance(tests, tries):
    return verifier_pool.flaky_fn(FLAKE, tests) ** tries


def flaky(tests):
    marks = []
    for i, tries in enumerate(TRIES):
        chance, x = refused_by_chance(tests, tries), 6.3 * i
        marks.append(scene.word(counted(tries, "try", "tries"), (x, 0.55), "strong"))
        marks.append(scene.hundred(f"f{i}", [("against", chance), ("followed", 1 - chance)], (x, 0.95)))
        marks.append(scene.word(f"rejected: {runs.one_in(chance)}", (x, 6.3), key=f"w{i}"))
    return [
        scene.scene(
            "A hundred correct programs whose tests fail once in a thousand runs",
            "[followed] accepted: all tests passed in one of the tries; [against] rejected",
            scene.view("f", 18, 6.5, flaky_said(tests), *marks),
        )
    ]


def flaky_said(tests):
    first, second = (100 * refused_by_chance(tests, tries) for tries in (1, 2))
    rejected = f"{first:.1f} % of correct programs are rejected with one try and {second:.2g} % with two"
    return f"With {counted(tests, 'test')}, {rejected}."


# ── what tries pay a wrong program ──
MANY = (1, 2, 3, 4, 5, 6, 7, 8)


def tried(tries):
    pay = [verifier_pool.retry_fp(LUCK, n) for n in MANY]
    return [
        panel(
            "Reward of a wrong program that passes one time in five",
            "mean if any pass counts; [s8] the thorough way, correct 0.70",
            line(MANY, pay, "passes by luck", 2),
            dots(MANY, pay, "passes by luck", 2),
            line([1, 8], [SKILL[THOROUGH]] * 2, "thorough", 8, "reference"),
            dots([tries], [verifier_pool.retry_fp(LUCK, tries)], "here", 2, "here"),
            label(1, SKILL[THOROUGH], "thorough, correct 0.70", 8),
            x="tries",
            x_range=(0.7, 8.3),
            y_range=(0, 1),
        )
    ]


def tried_said(tries):
    luck = verifier_pool.retry_fp(LUCK, tries)
    return f"With {counted(tries, 'try', 'tries')} it earns {luck:.2f}, and the thorough way 0.70 with one."


FIGURES = {
    "opening": OPENING,
    "slots": Figure(
        crowd, verifier_pool.pool, Handle("Slots", SLOTS, start=2, words=tuple(map(str, SLOTS))), crowd_said
    ),
    "flaky": Figure(
        flaky, verifier_pool.flaky_fn, Handle("Tests", TESTS, start=3, words=tuple(map(str, TESTS))), flaky_said
    ),
    "tries": Figure(tried, verifier_pool.retry_fp, Handle("Tries", MANY, start=5), tried_said),
}
