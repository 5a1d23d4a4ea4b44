"""Generation beside training: what it saves, how old the completions become, and how old they may be."""

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from math import floor

import numpy as np

from sim.cluster import memory, pipeline, step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import Engine, Misfit
from sim.cluster.models import MODELS
from sim.experiments import delayed_gradient
from sim.words import counted
from widgets.asynchrony import eight_answers
from widgets.frame.contract import impossible_job, machine_knobs, recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing import piles, scene
from widgets.frame.drawing.marks import bars, dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "How old completions are when they are trained on, and how that affects training"

UPDATES = 40  # of the pipeline
LAST = 200  # updates of the policy over which its score is taken
LOST = 0.06  # of the score, below the best that there is
NOTED = 0.001  # of the score: so much less is said
FAIR = 0.85  # of the mean length of all that were finished, which those trained on have at least
OVERLAPS = [overlap for overlap in step.OVERLAPS if overlap != "carry-over"]
AS_IT_IS = "the pipeline's"
LENGTHS = [128, 256, 512, 720, 1000, 1500, 2000, 3000, 4182, 4600, 6000, 8192, 9646, 12000, 16384, 24000, 32768]
LENGTHS += [60000, 131072]
SECONDS = [1.0, 2.0, 5.0, 7.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0, 120.0, 150.0, 200.0, 300.0]
SECONDS += [600.0, 1200.0, 1800.0, 3600.0, 7200.0]
ARRIVING = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0]
RATES = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.5, 6.0, 8.0, 10.0, 12.0, 15.0]
SHOWN, LANES, COLUMNS, GAP = 6, 10, 48, 3  # steps, slots, moments and empty rows in the picture of the pipeline
OLDEST = 20  # lags beyond share the last bar


@dataclass(frozen=True)
class Own:
    overlap: str = choice("What overlaps", "async", OVERLAPS)
    head: int = ladder("Head start, batches", 2, [*range(9), 10, 12, 16, 24, 32])
    train: float = ladder("Training time per batch", 30.0, SECONDS, symbol="t_T", unit="s")
    learning_rate: float = ladder("Learning rate", 3.0, RATES)
    delay: str = choice("Lag of the policy", AS_IT_IS, [AS_IT_IS, *map(str, range(33))], symbol="Δ")
    sync: float = ladder("Weights arrive in", 2.0, ARRIVING, symbol="t_S", unit="s")
    in_place: bool = toggle("Generation pauses for weights", True)
    hard_cap: str = choice("Largest lag before dropping", "never", ["never", "1", "2", "3", "4", "6", "8", "16", "32"])
    correction: str = choice("Correction for old samples", "none", list(delayed_gradient.CORRECTIONS))
    draws: str = choice("Answers sampled per update", "exact", ["exact", "16", "64", "256"])
    beta: float = ladder("KL coefficient", 0.2, [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5], symbol="β")
    slots: int = ladder("Sequences at once", 256, [32, 64, 128, 256, 512])
    completions: int = ladder("Completions per batch", 128, [16, 32, 64, 128], symbol="B")
    model: str = choice("Model", "qwen2.5-7b", list(MODELS))
    accelerator: str = choice("Accelerator", "h100", list(ACCELERATORS))
    p50: int = ladder("Median completion", 1500, LENGTHS, unit="tokens")
    p90: int = ladder("Ninetieth percentile", 4182, LENGTHS, unit="tokens")
    p99: int = ladder("Ninety-ninth percentile", 9646, LENGTHS, unit="tokens")
    longest: int = ladder("Longest completion", 8192, LENGTHS, unit="tokens")
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


@dataclass(frozen=True)
class Knobs(machine_knobs.Brought, machine_knobs.Assumed, Own):
    pass


LEAD = ("learning_rate", "delay")
KNOB_GROUPS = {
    "Lag and correction": ("overlap", "head", "hard_cap", "correction"),
    "Duration of a step": ("train", "sync", "in_place", "slots", "completions"),
    "Learning": ("draws", "beta", "seed"),
    "Model, chip, lengths": ("model", "accelerator", "p50", "p90", "p99", "longest"),
    "Assumed": ("bandwidth", "flops", "overhead"),
}
PRESETS = {
    "Two batches ahead": Knobs(),
    "One after the other": Knobs(overlap="sync"),
    "Four batches ahead": Knobs(head=4),
    "Rate 3, lag 16": Knobs(delay="16"),
    "Rate 12, lag 8": Knobs(learning_rate=12.0, delay="8"),
    "None older than 4": Knobs(head=4, hard_cap="4"),
}
GUESS = Guess(
    "At a learning rate of 3, the policy comes to rest up to a lag of 6. Up to which lag does it at half the rate?",
    ("6", "8", "14"),
    Knobs(learning_rate=1.5, delay="14"),
    2,
    lambda k, r: (
        f"Up to {wall(k)}, because the product of rate and lag is limited. The policy settles at {final(r):.3f}, of at "
        f"most {best(k):.3f}."
    ),
)


@dataclass(frozen=True)
class Result:
    misfits: list  # what of the setting is impossible; then there is nothing else
    run: pipeline.Run | None = None
    delay: int = 0  # updates, of the policy
    course: delayed_gradient.Course | None = None
    fresh: delayed_gradient.Course | None = None  # without a lag


def idle(k):
    return dict.fromkeys(("head", "in_place", "hard_cap"), "nothing overlaps") if k.overlap == "sync" else {}


def run(k):
    if impossible := misfits(k):
        yield Result(impossible)
        return
    generation = generated(only(k, PIPELINE))
    delay = round(float(generation.lag[generation.settled].mean())) if k.delay == AS_IT_IS else int(k.delay)
    policy = only(k, POLICY)
    yield Result([], generation, delay, trained(policy, delay), trained(policy, 0))


POLICY = ("learning_rate", "correction", "draws", "beta", "seed")
PIPELINE = [f.name for f in fields(Knobs) if f.name not in ("delay", *POLICY)] + ["seed"]


def only(k, names):
    """These knobs, and the others as they are by default: what one of the two halves depends on."""
    return Knobs(**{name: getattr(k, name) for name in names})


@lru_cache(maxsize=32)
def generated(k):
    """The pipeline of `UPDATES` batches; None if nearly all that is written is dropped as too old."""
    batches, seconds = k.completions * UPDATES, iteration_seconds(k)
    job = (step.PROMPT, seconds, k.train, k.sync)
    if k.overlap != "async":
        return SOURCES[k.overlap](lengths(k, batches).reshape(UPDATES, -1), *job, slots(k))
    cap = float("inf") if k.hard_cap == "never" else int(k.hard_cap)
    ahead = (k.head + 2) * k.completions + k.slots
    tokens = lengths(k, batches + ahead * (1 if k.hard_cap == "never" else UPDATES)).tolist()
    rules = dict(hard_cap=cap, in_place=k.in_place)
    try:
        return pipeline.stream(tokens, UPDATES, k.completions, *job, k.head, slots(k), **rules)
    except pipeline.Starved:
        return None


def lengths(k, n):
    """n completions of the law, in whole tokens."""
    return np.ceil(machine_knobs.law(k).at(np.random.default_rng(k.seed).standard_normal(n)))


def iteration_seconds(k):
    model, accelerator = machine_knobs.model(k), machine_knobs.accelerator(k)
    engine = dict(tensor_parallel=engine_size(k), efficiency=machine_knobs.efficiency(k))
    return lambda n, kv_tokens: throughput.iteration_seconds(model, accelerator, n, kv_tokens, **engine)


def slots(k):
    """Sequences that run at once: as many as are allowed, or as the cache holds."""
    context = machine_knobs.law(k).context(step.PROMPT)
    engine = Engine(tensor_parallel=engine_size(k))
    return max(
        min(k.slots, floor(memory.sequences(machine_knobs.model(k), machine_knobs.accelerator(k), context, engine))), 1
    )


def engine_size(k):
    """GPUs of the one engine."""
    accelerator = machine_knobs.accelerator(k)
    longest = step.PROMPT + machine_knobs.law(k).longest
    return memory.engine_tp(machine_knobs.model(k), accelerator, Engine(accelerator.scaleup_domain, longest=longest))


@lru_cache(maxsize=64)
def trained(k, delay):
    draws = 0 if k.draws == "exact" else int(k.draws)
    return delayed_gradient.course(delay, k.learning_rate, k.beta, k.correction, draws, seed=k.seed)


def misfits(k):
    """What of the setting is impossible."""
    if out_of_order := impossible_job.out_of_order(k):
        return out_of_order
    accelerator = machine_knobs.accelerator(k)
    engine = Engine(accelerator.scaleup_domain, engine_size(k), step.PROMPT + machine_knobs.law(k).longest)
    too_large = memory.fits(machine_knobs.model(k), accelerator, engine, efficiency=machine_knobs.efficiency(k))
    if too_large:
        return too_large
    if k.overlap == "async" and k.hard_cap != "never" and generated(only(k, PIPELINE)) is None:
        what = f"nearly all completions are older than {k.hard_cap} when they are done, and thrown away"
        return [Misfit(what, 2, 1, "Use a larger limit of age, or none.", "input")]
    return []


# What comes of it


def best(k):
    """The highest score that any policy has."""
    return delayed_gradient.optimum(k.beta)[1]


def wall(k):
    """The largest lag at which the policy comes to rest without a correction."""
    return delayed_gradient.freshness_wall(k.learning_rate, k.beta, delayed_gradient.curvature(k.beta))


def final(r):
    return float(r.course.score[-LAST:].mean())


def missing(k, r):
    """Score that the lag has cost, or the rate, or the noise."""
    return best(k) - final(r)


def stuck(r):
    return float(r.course.surest[-LAST:].min()) > 0.99


def kept(r):
    """(mean length of those trained on, of all that were finished)."""
    trained_on, dropped = r.run.length, r.run.dropped
    return float(trained_on.mean()), float((trained_on.sum() + dropped.sum()) / (trained_on.size + len(dropped)))


def fair(r):
    """Mean length of those trained on, over that of all."""
    mean, of_all = kept(r)
    return mean / of_all


def spare(k, r):
    """Whole batches that lie ready when the trainer has taken one."""
    return float(r.run.left[r.run.settled].mean()) / k.completions


# The picture


def figure(k, r):
    if r.misfits:
        tabs = ["Learning", "Learning", "Pipeline", "Pipeline", "Limit"]
        return impossible_job.unfit(k, r.misfits, tabs, "longest", misfits)
    return [answers(k, r), score(k, r), ages(k, r), board(k, r), walls(k, r)]


ANSWERED = "A hundred answers of the policy at its worst update"


def answers(k, r):
    """The policy at the update of the last ones that has the lowest score, and where it should be."""
    worst = len(r.course.score) - LAST + int(r.course.score[-LAST:].round(6).argmin())
    pi, goal = r.course.policies[worst], delayed_gradient.optimum(k.beta)[0]
    score, most = final(r), best(k)
    ring = off(pi, goal) if missing(k, r) > LOST else None
    description = f"Score {score:.3f} on average over the last {LAST} updates, {most:.3f} at best."
    counts = [
        scene.word(f"{score:.3f}", (0.8, 1.5), "count", key="c"),
        scene.word("score, mean of", (0.8, 2.4), "strong"),
        scene.word(f"the last {LAST}", (0.8, 3.15), "strong"),
        scene.word(f"{most:.3f} at best", (0.8, 3.9), "head", key="e"),
    ]
    return scene.scene(
        ANSWERED,
        f"lag {r.delay}; the last {LAST} of {delayed_gradient.UPDATES} updates",
        eight_answers.view("n", f"at update {worst}", pi, ring, goal=goal),
        scene.view("m", 6.0, 4.3, description, *counts),
        tab="Learning",
        front=True,
        data=[
            bars(list(eight_answers.NAMES), eight_answers.piled(pi), "probability"),
            bars(list(eight_answers.NAMES), eight_answers.piled(goal), "should be"),
        ],
    )


def off(pi, goal):
    """The pile that is farthest from where it should be, and the words there."""
    has, wanted = (piles.hundredths(eight_answers.piled(policy)) for policy in (pi, goal))
    pile = int(np.argmax(np.abs(np.array(has) - wanted)))
    return pile, f"should have {wanted[pile]}, has {has[pile]}", "broken"


def score(k, r):
    x, every = np.arange(0, delayed_gradient.UPDATES + 1, 2), slice(None, None, 2)
    least = best(k) - LOST
    return panel(
        "Score while training",
        f"reward minus KL penalty; lag {r.delay}; [s8] lag 0",
        line(x, r.fresh.score[every], "lag 0", 8, "reference"),
        line(x, r.course.score[every], f"lag {r.delay}", 1),
        line([0, delayed_gradient.UPDATES], [best(k)] * 2, "best there is", 2, "exact"),
        threshold(least, "breaks below", 0.3),
        label(delayed_gradient.UPDATES, best(k), "best there is", 2, "right"),
        x="update of the policy",
        x_range=[0, delayed_gradient.UPDATES],
        y_range=[0.3, 0.95],
        tab="Learning",
    )


def ages(k, r):
    lag = np.minimum(r.run.lag[r.run.settled], OLDEST)
    share = [100 * float((lag == n).mean()) for n in range(OLDEST + 1)]
    mean = float(r.run.lag[r.run.settled].mean())
    marks = [bars(list(range(OLDEST + 1)), share, "completions", 1, "histogram")]
    if k.overlap == "async":
        marks.append(line([k.head] * 2, [0, 100], "head start", 8, "reference"))
    return panel(
        "Lag of completions when trained on",
        "% of completions; [s8] head start",
        *marks,
        dots([mean], [2.0], "mean", 2),
        label(OLDEST, 88, f"mean {mean:.1f}, oldest {r.run.lag.max()}", 1, "right"),
        x="lag, updates",
        x_range=[-0.6, OLDEST + 0.6],
        y_range=[0, 104],
        tab="Pipeline",
        ticks=dict(tickvals=[0, 4, 8, 12, 16, 20], ticktext=["0", "4", "8", "12", "16", "20+"]),
    )


def board(k, r):
    slots, training = pipeline.board(r.run, LANES, COLUMNS, SHOWN)
    versions = np.array([*slots, *np.full((GAP, COLUMNS), np.nan), training])
    return panel(
        "Who works with which weights",
        f"a fuller tone is newer; {engine_size(k)} × {machine_knobs.accelerator(k).name}",
        heat(list(range(COLUMNS)), list(range(len(versions))), np.clip(versions, -8, SHOWN), low=-8, high=SHOWN),
        label(-0.5, LANES - 0.3, f"{LANES} slots: the version that began it"),
        label(-0.5, LANES + GAP + 0.7, f"the trainer, in {SHOWN} steps: its own version"),
        x_range=[-0.5, COLUMNS - 0.5],
        y_range=[-0.5, LANES + 2 * GAP + 1],
        tab="Pipeline",
        bare=True,
    )


def walls(k, r):
    lag = np.arange(33)
    size = k.learning_rate * k.beta * delayed_gradient.curvature(k.beta)
    marks = [line(lag, [delayed_gradient.step_limit(n) for n in lag], "limit", 2, "step")]
    marks += [dots([r.delay], [size], "here", 1, "here"), label(1, 0.014, "comes to rest", 2)]
    marks.append(label(30, 0.5, "swings", 2, "right"))
    return panel(
        "Largest step that comes to rest",
        "by lag; ring: here" + ("" if k.correction == "none" else "; line: without correction"),
        *marks,
        x="lag Δ, updates",
        x_range=[0, 32],
        y_range=[0.01, 10],
        log="y",
        tab="Limit",
    )


SOURCES = {"sync": pipeline.one_after_the_other, "one-off": pipeline.one_batch_ahead, "async": pipeline.stream}


def readouts(k, r):
    source = SOURCES[k.overlap]
    rows = [
        ("Duration of a step", "s", source),
        ("Lag, mean and largest", "updates", source),
        ("Largest lag that settles", "updates", delayed_gradient.freshness_wall),
        ("Mean score, last 200 updates", "", delayed_gradient.course),
        ("Length trained on, relative", "%", source),
    ]
    if r.misfits:
        return impossible_job.dashes({name: source for name, _, source in rows}, "Duration of a step")
    run, broken_by = r.run, cause(k, r)
    values = [
        run.step_seconds,
        f"{run.lag[run.settled].mean():.1f}, {run.lag.max()}",
        wall(k) if k.correction == "none" else "not computed",
        final(r),
        100 * fair(r),
    ]
    by_score, by_length = broken_by not in (SHORT, None), broken_by == SHORT
    states = ["", "", "", "violated" if by_score else "", "violated" if by_length else ""]
    return [Readout(name, v, unit, source, state) for (name, unit, source), v, state in zip(rows, values, states)]


SWINGS, STUCK, SHORT = "corrections that arrive too late", "one answer takes everything", "long completions are dropped"
SLOW, LARGE, SMALL, MIXED = (
    "too few sampled answers",
    "each step is too large",
    "each step is too small",
    "a combination of settings",
)


def cause(k, r):
    if missing(k, r) <= LOST:
        return SHORT if fair(r) < FAIR else None
    if r.delay and best(k) - float(r.fresh.score[-LAST:].mean()) <= LOST:
        return STUCK if stuck(r) else SWINGS
    return next((name for name, turned in undone_by(k).items() if scored(k, r, turned) >= best(k) - LOST), MIXED)


def undone_by(k):
    """{cause: what undoes it}, beside the lag."""
    causes = {} if k.draws == "exact" else {SLOW: dict(draws="exact")}
    slower, faster = [rate for rate in RATES if rate < k.learning_rate], [r for r in RATES if r > k.learning_rate]
    causes |= {LARGE: dict(learning_rate=slower[len(slower) // 2])} if slower else {}
    return causes | ({SMALL: dict(learning_rate=faster[len(faster) // 2])} if faster else {})


def scored(k, r, turned):
    """Mean score of the last updates at other knobs of the policy, at the lag that is in force."""
    course = trained(only(replace(k, **turned), POLICY), r.delay)
    return float(course.score[-LAST:].mean())


def export(k, r):
    """The setting as quantities of options.TABLE."""
    if r.misfits:
        return None
    quantities = dict(
        tensor_parallel=engine_size(k),
        context=step.PROMPT + machine_knobs.law(k).longest,
        concurrency=slots(k),
        placement="split",
        prompt=step.PROMPT,
        completion=machine_knobs.law(k).longest,
        overlap=k.overlap,
    )
    return quantities if k.hard_cap == "never" else quantities | dict(lag=int(k.hard_cap))


def watched(k, r):
    if r.misfits:
        return impossible_job.needed(r.misfits)
    if cause(k, r) == SHORT:
        rule = "length.mean() / finished.mean() < 0.85"
        return Gauge("Length trained on, % of all", 100 * fair(r), 100 * FAIR, "%", below=True, expression=rule)
    rule = f"best - score[-{LAST}:].mean() > {LOST}"
    return Gauge("Score below the best", max(round(missing(k, r), 4), 0.0), LOST, expression=rule)


def seen_at(k, r, cause):
    if r.misfits:
        return impossible_job.unfit_at(k, r.misfits)
    if cause == SHORT:
        return At(
            "Lag of completions when trained on", min(int(k.hard_cap), OLDEST), 0, "older completions are dropped"
        )
    return At(ANSWERED, None, None, f"{missing(k, r):.2f} below the best")


def broken(k, r):
    if r.misfits:
        return Break(impossible_job.why(r.misfits, "It"), made_to_fit(k), "the job does not fit")
    broken_by = cause(k, r)
    if broken_by is None:
        return None
    if broken_by == SHORT:
        mean, of_all = kept(r)
        why = (
            f"The mean length trained on is {mean:,.0f} tokens, not {of_all:,.0f}, because {len(r.run.dropped):,} "
            "completions, on average longer ones, were dropped."
        )
        claims = {
            "dropped ones are longer": lambda: np.mean(r.run.dropped) > r.run.length.mean(),
            "so long are all of them": lambda: abs(np.append(r.run.length, r.run.dropped).mean() - of_all) < 0.5,
            "a cap of the lag drops them": lambda: k.hard_cap != "never",
        }
        return Break(Said(why, claims), recovered(k, r, dict(hard_cap="never")), SHORT)
    words = {
        STUCK: f"One answer has probability {r.course.surest[-1]:.3f}: the policy overshot before it saw a result",
        SWINGS: f"Each update corrects the policy of {counted(r.delay, 'update')} ago, so it overshoots",
        SLOW: "So few sampled answers are too noisy for steps of this size",
        LARGE: f"At a learning rate of {k.learning_rate:g}, each step is too large",
        SMALL: f"At a learning rate of {k.learning_rate:g}, {delayed_gradient.UPDATES} updates are too few",
        MIXED: "No single change repairs this",
    }
    why = f"The mean score is {final(r):.3f}, although {best(k):.3f} is possible. {words[broken_by]}."
    return Break(Said(why, scoring(k, r) | blamed(k, r, broken_by)), recovered(k, r), broken_by)


def scoring(k, r):
    """What is asserted of the score and of the best that there is: β ln mean exp(R / β)."""
    rewards = np.linspace(0, 1, delayed_gradient.ANSWERS)
    return {
        "so much is the best": lambda: abs(k.beta * np.log(np.exp(rewards / k.beta).mean()) - best(k)) < 1e-9,
        "no policy on the way had more": lambda: r.course.score.max() <= best(k) + 1e-9,
    }


def blamed(k, r, cause):
    """What is asserted of a cause."""

    def mends(turned):
        return scored(k, r, turned) >= best(k) - LOST

    def fresh_mends():
        return trained(only(k, POLICY), 0).score[-LAST:].mean() >= best(k) - LOST

    if cause in (SWINGS, STUCK):
        return {"without the lag it is mended": lambda: r.delay > 0 and fresh_mends()}
    if cause == MIXED:
        return {"nothing alone mends it": lambda: not any(map(mends, undone_by(k).values())) and not fresh_mends()}
    return {"undone, it is mended": lambda: mends(undone_by(k)[cause])}


def sound(k):
    """Whether nothing is broken there; `broken` would go on to look for its way back."""
    r = next(run(k))
    return not r.misfits and cause(k, r) is None


def made_to_fit(k):
    rising = impossible_job.in_order(k) if impossible_job.out_of_order(k) else {}
    usual = {f.name: f.default for f in fields(Knobs) if f.metadata["kind"] != "pasted"}
    if rising:
        first = recovery.first_of(k, [rising], sound)
    else:
        first = recovery.one_knob(k, ("hard_cap", "longest", "accelerator", "model"), sound)
    return (
        first
        or recovery.fewest(k, usual | rising, sound)
        # the default's median may lie above what these quantiles become, and then they are its own too
        or recovery.fewest(k, usual, sound)
    )


def recovered(k, r, turned=None):
    """Knobs after which nothing is broken: the one in the way, the lag, the rate, or the draws, or as few as do."""
    largest = max(min(wall(k), r.delay - 1), 0)
    slower = [rate for rate in reversed(RATES) if rate < k.learning_rate]
    faster = [rate for rate in RATES if rate > k.learning_rate]
    changes = [turned] if turned else [dict(delay=str(largest)), dict(delay="0")]
    changes += [dict(learning_rate=rate) for rate in (*slower, *faster)] + [dict(draws="exact")]
    changes += [dict(delay="0", draws="exact"), dict(delay="0", hard_cap="never")]
    usual = {name: getattr(Knobs(), name) for name in (*POLICY, "hard_cap") if name != "seed"}
    scoring = [change for change in changes if turned or misses(replace(k, **change)) <= LOST]
    return recovery.first_of(k, scoring, sound) or recovery.fewest(k, usual | dict(delay="0", draws="exact"), sound)


def misses(k):
    """Score below the best, of the policy alone: the pipeline is run once where the lag is its own."""
    delay = int(k.delay) if k.delay != AS_IT_IS else next(run(k)).delay
    return best(k) - float(trained(only(k, POLICY), delay).score[-LAST:].mean())


def worse(k, r):
    if missing(k, r) > NOTED:
        amount = f"The mean score is {final(r):.3f}, although {best(k):.3f} is possible."
        if k.correction == "none" and k.draws == "exact" and r.delay > wall(k) and not resting(r):
            lead = f"Beyond a lag of {wall(k)}," if wall(k) >= 0 else "At no lag"
            ends = (
                "the policy does not come to rest at this rate"
                if wall(k) >= 0
                else "does the policy come to rest at this rate"
            )
            return Said(
                f"{lead} {ends}. {amount}",
                scoring(k, r)
                | {
                    "it does not rest": lambda: not resting(r),
                    "at that lag its step is below the limit": lambda: (
                        wall(k) < 0 or steered(k) < delayed_gradient.step_limit(wall(k))
                    ),
                    "at one more it is not": lambda: steered(k) >= delayed_gradient.step_limit(wall(k) + 1),
                },
            )
        return Said(
            f"The mean score of the last {LAST} updates is {final(r):.3f}, although {best(k):.3f} is possible.",
            scoring(k, r) | {"it is below": lambda: final(r) < best(k) - NOTED},
        )
    if k.overlap == "async" and spare(k, r) > 1 and k.head and quick(k, r):
        return Said(
            f"After the trainer takes a batch, {spare(k, r):.1f} more lie ready and only grow older. A smaller "
            "head start would be as fast.",
            {"so many lie ready": lambda: spare(k, r) > 1, "a smaller head start is as fast": lambda: quick(k, r)},
        )
    return None


def steered(k):
    """The part of a distance from the goal that an update takes away."""
    return k.learning_rate * k.beta * delayed_gradient.curvature(k.beta)


def resting(r):
    """Whether the policy of the last updates hardly moves."""
    return float(np.ptp(r.course.surest[-LAST:])) < 1e-3


def quick(k, r):
    """Whether a step takes no longer with the next smaller head start."""
    rungs = [rung for rung in Knobs.__dataclass_fields__["head"].metadata["rungs"] if rung < k.head]
    shorter = generated(only(replace(k, head=rungs[-1]), PIPELINE))
    return shorter is not None and shorter.step_seconds <= 1.01 * r.run.step_seconds


def holds(k, r):
    mean = float(r.run.lag[r.run.settled].mean())
    return Said(
        f"A step takes {r.run.step_seconds:,.1f} s, the mean lag is {mean:.1f}, and the score comes to rest at "
        f"{final(r):.3f}.",
        scoring(k, r)
        | {
            "it comes to rest": lambda: float(np.ptp(r.course.score[-LAST:])) < 5 * NOTED,
            "at the best there is": lambda: final(r) >= best(k) - NOTED,
            "so old is what is trained on": lambda: mean <= r.run.lag.max(),
        },
    )


DARE = "Can you keep the policy from settling?"
OPENING = Played(Knobs(delay="4"), Knobs(delay="16"), "opening")
