"""A policy that writes programs, and the pool of sandboxes that checks them: what a step takes, which verdicts the pool
makes by itself, and what training makes of those.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.cluster import verifier_pool
from sim.cluster.verifier_pool import CPU, SIGMA, WALL
from sim.experiments import loaded_pool
from sim.experiments.loaded_pool import (
    AGAIN,
    COIN,
    JOBS,
    MEDIAN,
    OUT,
    QUICK,
    SKILL,
    START,
    THOROUGH,
    UPDATES,
    WRONG,
    Setting,
    Update,
)
from sim.words import plural
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import lanes, scene
from widgets.frame.drawing.marks import by_update, dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played
from widgets.verifier_pool import sandboxes

TITLE = "A policy learns from the verdicts of a pool of sandboxes"
COST = f"{UPDATES} batches of {JOBS} programs"
LOW = 0.61  # fewer solved tasks than before training, which are 0.6125
WELL = 0.664  # less, and it is clearly behind an idle pool, which leads to 0.69
MARGIN = 0.02  # a way back leads so far above the start, with at most FEW programs that pass by luck
FEW = 0.05
NO, DEATHS = "no", 0.2  # of the sandboxes, if any die
SEEN = 2  # updates between two pictures


@dataclass(frozen=True)
class Knobs:
    slots: int = ladder("Sandbox slots", 32, [8, 16, 32, 64, 128, 256, 512])
    clock: str = choice("Clock of the limit", WALL, [WALL, CPU])
    cores: int = ladder("Cores", 32, [4, 8, 16, 32, 64, 128])
    limit: int = ladder("Time limit", 10, [2, 4, 5, 6, 8, 10, 15, 20, 30, 60], unit="s")
    startup: float = ladder("Start-up time per sandbox", 0.0, [0.0, 0.125, 0.5, 1, 2, 5], unit="s")
    tries: int = ladder("Tries (any pass counts)", 1, [1, 2, 3, 4, 5, 6, 7, 8])
    flake: float = ladder("Chance failures per test", 0.0, [0.0, 0.05, 0.1, 0.5, 1], unit="%")
    tests: int = ladder("Tests per program", 100, [1, 10, 20, 50, 100, 200])
    deaths: str = choice("Dead sandboxes (one in five)", NO, [NO, WRONG, AGAIN, OUT])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("slots", "clock")
KNOB_GROUPS = {
    "The pool": ("cores", "limit", "startup"),
    "The verdict": ("tries", "flake", "tests", "deaths"),
    "The run": ("seed",),
}
PRESETS = {
    "One slot per core": Knobs(),
    "Four slots per core": Knobs(slots=128),
    "Eight cores": Knobs(cores=8),
    "Eight cores, CPU clock": Knobs(cores=8, clock=CPU),
    "Limit 4 s": Knobs(limit=4),
    "Eight tries, flaky tests": Knobs(tries=8, flake=0.1),
}


def setting(k):
    crash, crashed = (0.0, WRONG) if k.deaths == NO else (DEATHS, k.deaths)
    return Setting(k.slots, k.cores, k.limit, k.clock, k.startup, k.tries, k.flake / 100, k.tests, crash, crashed)


@dataclass(frozen=True)
class Trace:
    policy: np.ndarray  # (updates + 1, ways), before training first
    seconds: np.ndarray  # (updates,) of a step
    by_load: np.ndarray  # share of the verdicts: cut off, and only because of load
    by_startup: np.ndarray  # cut off, and only because of start-up
    own: np.ndarray  # cut off, and would be in an idle pool without start-up
    by_pool: np.ndarray  # by load or start-up, or lost because the sandbox died
    busy: np.ndarray  # share of all cores' seconds
    last: Update
    crowd: np.ndarray  # (pools, ways): what the first batch would be paid, by the wall clock and slots a core

    @property
    def updates(self):
        return len(self.seconds)

    @property
    def solved(self):
        return self.policy @ SKILL


CROWDS = (1, 2, 4, 8, 16)


def run(k):
    rng, pool = np.random.default_rng(k.seed), setting(k)
    policy, measured = [loaded_pool.SHARES], []
    for number, update in enumerate(loaded_pool.train(rng, pool), 1):
        verdicts = update.batch.verdicts
        policy.append(update.policy)
        cut = verdicts.by_load.mean(), verdicts.by_startup.mean(), verdicts.by_itself.mean()
        busy = verdicts.busy / (k.cores * verdicts.seconds)
        measured.append((verdicts.seconds, *cut, update.batch.by_pool.mean(), busy))
        if number == 1:
            by_wall = replace(pool, clock=WALL)
            crowd = loaded_pool.crowded(update.batch, by_wall, tuple(k.cores * many for many in CROWDS)).round(12)
        if number == 1 or number % SEEN == 0:
            yield Trace(np.array(policy).round(12), *np.transpose(measured).round(12), update, crowd)


def progress(k, r):
    return ["update", r.updates, UPDATES]


def done(r):
    return r.updates == UPDATES


def final(r):
    return float(r.solved[-1])


def idle(k):
    reasons = {} if k.flake else dict(tests="no test fails by chance")
    if not shared(k):
        reasons["clock"] = "no core is shared"
    return reasons


def shared(k):
    return k.slots > k.cores


# ── the pictures ──
POOL, SOLVED = "The last batch in the pool", "Tasks solved"
WHICH = "[s1] thorough, [s2] quick, [s3] coin"


def figure(k, r):
    x = np.arange(1, r.updates + 1)
    return [
        board(k, r),
        by_update(
            SOLVED,
            "share of tasks that the policy solves",
            line(np.arange(r.updates + 1), r.solved, "solved"),
            line([0, UPDATES], [START] * 2, "before training", 8, "reference"),
            label(UPDATES, START, "before training", 8, "right"),
            threshold(LOW, f"broken if it ends below {LOW:.2f}", 0.0),
            updates=UPDATES,
            y_range=(0, 0.8),
            tab="A step",
        ),
        panel(
            "Duration of a step",
            "seconds until the last verdict, log scale",
            line(x, r.seconds, "seconds"),
            x="update",
            x_range=(0, UPDATES),
            y_range=(30, 3_000),
            log="y",
            tab="By update",
        ),
        by_update(
            "Programs cut off at the limit",
            "because of [s2] load, [s3] start-up, [s1] their length",
            line(x, r.by_load, "by load", 2),
            line(x, r.by_startup, "by start-up", 3),
            line(x, r.own, "by their length", 1),
            updates=UPDATES,
            y_range=(0, 1.04),
            tab="By update",
        ),
        by_update(
            "How programs are written",
            WHICH,
            line(np.arange(r.updates + 1), r.policy[:, THOROUGH], "thorough", 1),
            line(np.arange(r.updates + 1), r.policy[:, QUICK], "quick", 2),
            line(np.arange(r.updates + 1), r.policy[:, COIN], "coin", 3),
            updates=UPDATES,
            y_range=(0, 1.04),
            tab="Ways",
        ),
        panel(
            "Mean reward in the first batch, by wall clock",
            f"if none died; {WHICH}",
            line(CROWDS, r.crowd[:, THOROUGH], "thorough", 1),
            line(CROWDS, r.crowd[:, QUICK], "quick", 2),
            line(CROWDS, r.crowd[:, COIN], "coin", 3),
            dots(CROWDS, r.crowd[:, THOROUGH], "thorough", 1),
            x="slots per core, logarithmic",
            x_range=(0.9, 18),
            y_range=(0, 1.04),
            log="x",
            tab="Ways",
            ticks=dict(tickvals=CROWDS, ticktext=[str(many) for many in CROWDS]),
        ),
    ]


def board(k, r):
    verdicts = r.last.batch.verdicts
    break_ = broken(k, r)
    rows, job, words = pointed_at(k, r, break_.cause if break_ else None)
    cut = f"{100 * verdicts.cut.mean():.0f}"
    last = f"Update {r.updates}: the last verdict comes after {verdicts.seconds:.0f} s"
    return scene.scene(
        POOL,
        f"{len(rows)} of {k.slots} slots; [work] core seconds, with start-up ([rival] if cut off); [other] waiting",
        sandboxes.board(
            "b",
            verdicts,
            rows,
            lanes.round_up(1.02 * verdicts.seconds),
            f"{last}; {cut} of 100 {plural(cut, 'is', 'are')} cut off.",
            ringed=job,
            words=words,
        ),
        tab="A step",
        front=True,
        data=[line(np.arange(r.updates + 1), r.solved, "solved, by update")],
    )


def pointed_at(k, r, cause):
    """(slots that are shown, program that is pointed at, words); None and "" where there is none."""
    batch = r.last.batch
    verdicts = batch.verdicts
    if cause is None:
        return sandboxes.typical(verdicts, k.slots), None, ""
    guilty, words = {
        LOAD: (verdicts.by_load & right(batch), "correct, cut off by load"),
        SHORT: (verdicts.cut & verdicts.over & right(batch), "correct, needs more time"),
        LUCK: (batch.ways == COIN, "wrong, passes sometimes"),
    }[cause]
    rows = sandboxes.typical(verdicts, k.slots, wanted=guilty)
    rows, job = sandboxes.to_point_at(verdicts, rows, guilty, verdicts.seconds / 2)
    return rows, job, "" if job is None else words


def right(batch):
    """Which programs are right, drawn by the skill of their ways, (JOBS,)."""
    return np.random.default_rng(0).random(JOBS) < SKILL[batch.ways]


def readouts(k, r):
    state = "violated" if broken(k, r) else ""
    return [
        Readout("Tasks solved", 100 * final(r), "of 100", loaded_pool.train, state),
        Readout("Mean duration of a step", float(r.seconds.mean()), "s", verifier_pool.pool),
        Readout("Verdicts lost to the pool", 100 * float(r.by_pool.mean()), "%", loaded_pool.drawn),
        Readout("Coin programs at the end", round(100 * float(r.policy[-1, COIN]), 2), "%", loaded_pool.train),
        Readout("Core time in use", 100 * float(r.busy.mean()), "%", verifier_pool.pool),
    ]


def watched(k, r):
    return Gauge(
        f"Tasks solved after {r.updates} updates", final(r), LOW, below=True, expression=f"solved < {LOW:g} at the end"
    )


# ── what went wrong, and because of what ──
LOAD, SHORT, LUCK = "time-outs caused by load", "a limit that is too short", "tries that reward luck"


def way_back(k):
    """As few as are enough of: a CPU clock, a long limit, one try. None where nothing of that leads back."""
    values = {}
    if k.limit < 30:
        values["limit"] = 30
    if k.tries > 1:
        values["tries"] = 1
    if k.clock == WALL and shared(k):
        values["clock"] = CPU
    return recovery.fewest(k, values, lambda other: other != k and mends(other))


def mends(k):
    """Whether a run with these knobs ends well above its start, in closed form where no job slows another."""
    policy = loaded_pool.alone(setting(k)) if k.clock == CPU or not shared(k) else end(run, k).policy[-1]
    return policy @ SKILL >= START + MARGIN and policy[COIN] <= FEW


CAUSE = {"tries": LUCK, "clock": LOAD, "limit": SHORT}


def causes(fix):
    return [cause for name, cause in CAUSE.items() if name in fix]


def broken(k, r):
    if not done(r) or final(r) >= LOW:
        return None
    fix = way_back(k)
    return Break(why(k, r, fix), fix, causes(fix)[0])


def undone_to(k, fix):
    """Tasks solved after training where no job slows another, in closed form."""
    return float(loaded_pool.alone(setting(replace(k, **fix))) @ SKILL)


def why(k, r, fix):
    names = causes(fix)
    ends = f"Training lowered the tasks solved from {100 * START:.1f} to {100 * final(r):.1f} of 100"
    claims = {
        "fewer than before": lambda: final(r) < r.solved[0],
        "undoing it mends": lambda: final(end(run, replace(k, **fix))) >= LOW,
        "by as much as is said": lambda: (
            names != [LOAD] or abs(final(end(run, replace(k, **fix))) - undone_to(k, fix)) < 0.01
        ),
        "the pool cuts what needed less": lambda: LOAD not in names or r.by_load.mean() > 0.01,
        "lucky ones are common": lambda: LUCK not in names or r.policy[-1, COIN] > loaded_pool.SHARES[COIN],
        "long ones are cut more": lambda: SHORT not in names or own_share(k, THOROUGH) > own_share(k, QUICK),
    }
    if len(names) > 1:
        return Said(f"{ends}. Several faults at once: {', '.join(SHORTLY[name] for name in names)}.", claims)
    if names == [LOAD]:
        ends += f" ({100 * undone_to(k, fix):.1f} with a CPU clock)"
    blame = {
        LOAD: f"Load cut off {percent(r.by_load.mean())} of the programs, long ones first.",
        SHORT: f"{percent(own_share(k, THOROUGH))} of thorough programs need more than {k.limit} s"
        f"{' with start-up' * (k.startup > 0)}.",
        LUCK: f"In {k.tries} tries, a wrong program that passes one time in five earns {lucky(k):.2f}.",
    }[names[0]]
    return Said(f"{ends}. {blame}", claims)


SHORTLY = {LOAD: "time-outs by load", SHORT: "a short limit", LUCK: "lucky passes"}


def own_share(k, way):
    """How many programs of a way need more than the limit, start-up included."""
    room = k.limit - k.startup
    return verifier_pool.over_limit(MEDIAN[way], SIGMA, room) if room > 0 else 1.0


def lucky(k):
    return float(loaded_pool.passing(setting(k))[COIN])


def percent(share):
    return f"{100 * share:.1f} %"


def seen_at(k, r, cause):
    _, job, words = pointed_at(k, r, cause)
    if job is not None:
        return At(POOL, None, None, words)
    return At(SOLVED, None, None, f"{of_100(final(r))} solved", "solved")


def worse(k, r):
    if not done(r) or not LOW <= final(r) < WELL:
        return None
    ends = of_100(final(r))
    if final(r) < START + 0.01:
        text = f"{ends} tasks are solved, as many as before training. The policy learned hardly anything."
    else:
        text = (
            f"{ends} tasks are solved, {of_100(START)} before training. One try in an idle pool with a limit of 30 s "
            f"would lead to {of_100(BEST)}."
        )
    return Said(
        text,
        {
            "not fewer than before": lambda: final(r) >= START - 0.005,
            "that leads higher": lambda: final(r) + 0.02 < BEST,
            "as many": lambda: "as many" not in text or abs(final(r) - START) <= 0.01,
        },
    )


BEST = float(loaded_pool.alone(loaded_pool.IDLE) @ SKILL)


def holds(k, r):
    ends = f"{of_100(final(r))} tasks are solved, {of_100(START)} before training"
    by_pool, last = r.by_pool.mean(), r.last.batch
    lost = "hardly a verdict was" if by_pool < 0.0005 else f"{percent(by_pool)} of the verdicts were"
    return Said(
        f"{ends}. A step takes {r.seconds.mean():,.0f} s on average, and "
        f"{lost if by_pool else 'no verdict was'} lost to the pool.",
        {
            "more": lambda: not done(r) or final(r) > START,
            "only load, start-up or death makes one": lambda: (
                by_pool == 0 or k.deaths != NO or k.startup > 0 or (k.clock == WALL and shared(k))
            ),
            "those that need no more than the limit": lambda: (
                by_pool > 0 or (last.work[last.verdicts.cut] > k.limit).all()
            ),
        },
    )


def of_100(share):
    return f"{100 * share:.0f} of 100"


GUESS = Guess(
    "One slot per core solves 69 of 100 tasks after training. How many do four slots solve, with a wall clock of 10 s?",
    ("about 69", "about 65", "about 60, fewer than before"),
    Knobs(slots=128),
    2,
    lambda k, r: (
        f"It is {100 * r.solved[-1]:.0f}, fewer than before training. Load cut off correct programs, long ones first."
    ),
    "Tasks solved",
)
DARE = "Can you make the policy solve fewer tasks than before training?"
OPENING = Played(Knobs(cores=8, clock=CPU), Knobs(cores=8), "opening")
