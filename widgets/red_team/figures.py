"""The small figures of lesson 18b: a wall that is patched in two ways, how much an audit must read, holes closed one by
one or by class, how much overlap of two verifiers is too much, a bonus for form, a benchmark that a model has seen.
"""

from functools import cache

import numpy as np

from sim.estimators import detection
from sim.verifiers import contamination, redteam
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.red_team import holes

ROUNDS, UPDATES, ETA, AUDIT, OVERLAP = 12, 15, 0.35, 64, 0.2
CLASS, INSTANCE = "class", "instance"
CLOSES = {CLASS: redteam.CLASS_OF, INSTANCE: redteam.EACH_ITS_OWN}
REFUSES = {CLASS: 0.015, INSTANCE: 0.003}  # of the right work that was paid, by each patch; assumed
BOTH_MISS = "both verifiers miss this"
FULL = 0.5  # of the completions: a shared hole that more go through is ringed


def run(patch, overlap=OVERLAP, seed=0, audit=AUDIT):
    """(Wall, Rounds)"""
    rng = np.random.default_rng(seed)
    return redteam.run(rng, ROUNDS, UPDATES, ETA, audit, overlap, CLOSES[patch], REFUSES[patch])


def missed(this, shared):
    """The hole to ring: of those that both verifiers pay, if most completions go through them, the most drawn."""
    mass = this.policies[-1, 2:] * (this.open & shared)
    return int(np.argmax(this.drawn[2:] * (this.open & shared))) if mass.sum() > FULL else None


# ── the opening: two ways to patch one wall ──
SETTINGS = ("class patched", "instance patched")
PATCH = {SETTINGS[0]: CLASS, SETTINGS[1]: INSTANCE}
MOMENTS = tuple(range(1, ROUNDS + 1))
LEGEND = "a dot: a completion read; number: how many used the hole; struck out: found; faint: closed; double: in both"


@cache
def patched(setting):
    return run(PATCH[setting])


@cache
def piles(setting, moment):
    """The pile of each dot; whose pile stays has not moved since the round before."""
    _, rounds = patched(setting)
    before = piles(setting, moment - 1) if moment > 1 else ()
    return holes.owners(holes.counted(rounds[moment - 1].drawn), before)


def opening(setting, moment):
    built, rounds = patched(setting)
    this, ever_found = rounds[moment - 1], np.any([past.found for past in rounds[:moment]], axis=0)
    return [
        scene.scene(
            "A verifier's holes, by class, and the 64 completions that an audit reads",
            LEGEND,
            holes.view(
                "o",
                holes.wall(this.open, ever_found, built.shared, this.drawn[2:]),
                piles(setting, moment),
                told(setting, moment),
                missed(this, built.shared),
                BOTH_MISS,
            ),
        )
    ]


def told(setting, moment):
    built, rounds = patched(setting)
    second = redteam.heldout(rounds[moment - 1], built.shared)[-1]
    return f"The second verifier accepts {100 * second:.0f} of 100 completions."


OPENING = Figure(
    opening,
    redteam.run,
    Handle("Run", SETTINGS, start=1),
    told,
    Time(
        "Round",
        MOMENTS,
        tuple(f"round {moment} of {ROUNDS}" for moment in MOMENTS),
        start=len(MOMENTS) - 1,
        ticks={i: str(moment) for i, moment in enumerate(MOMENTS) if moment in (1, 3, 6, 9, 12)},
        strip=Strip(
            "Solved, of 100",
            lambda: [[float(redteam.solved(this)[-1]) for this in patched(setting)[1]] for setting in SETTINGS],
            lambda setting, moment: f"{100 * redteam.solved(patched(setting)[1][moment - 1])[-1]:.0f}",
        ),
        milliseconds=900,
        holds={0: 1800},
    ),
    stills=((1, 0), (0, len(MOMENTS) - 1)),
)

# ── how much an audit must read ──
AUDITS = (1, 4, 16, 64, 128, 256, 299, 512)
SHARES = (0.05, 0.01, 0.002)


def audits(n):
    """The chance to see a hack at least once, by the completions that are read, for three shares of it."""
    at = np.unique(np.round(np.geomspace(1, 1_000, 60)))
    chances = [float(detection.detect_probability(share, n)) for share in SHARES]
    names = [f"1 in {round(1 / share)}" for share in SHARES]
    return [
        panel(
            "Probability that an audit sees a hack",
            "if the hack makes up one completion in 20, 100 or 500",
            *(
                line(at, detection.detect_probability(share, at), name, i + 1)
                for i, (share, name) in enumerate(zip(SHARES, names))
            ),
            *(dots([n], [value], name, i + 1, "here") for i, (value, name) in enumerate(zip(chances, names))),
            label(30, 0.86, names[0], 1, "right"),
            label(190, 0.86, names[1], 2, "right"),
            label(900, 0.86, names[2], 3, "right"),
            x="completions read, log scale",
            x_range=(0.9, 1_100),
            y_range=(0, 1.05),
            log="x",
            ticks=dict(tickvals=[1, 10, 100, 1_000], ticktext=["1", "10", "100", "1,000"]),
        )
    ]


def audits_said(n):
    chances = [f"{detection.detect_probability(share, n):.2f}" for share in SHARES]
    return f"The audit sees the three hacks with probabilities {chances[0]}, {chances[1]} and {chances[2]}."


# ── one hole at a time, or its class ──
READ = (4, 16, 64, 256)


@cache
def chased(patch, audit):
    """Share of the completions that use a hole, after each round, none of them shared."""
    return [float(redteam.hacked(this)[-1]) for this in run(patch, 0.0, audit=audit)[1]]


def chase(audit):
    at = list(range(1, ROUNDS + 1))
    return [
        panel(
            "Completions that use a hole",
            "share after each round (one seed; no hole is shared)",
            line(at, chased(INSTANCE, audit), "instances patched", 2),
            line(at, chased(CLASS, audit), "classes patched", 1),
            label(ROUNDS, 0.96, "instances patched", 2, "right"),
            label(ROUNDS, 0.78, "classes patched", 1, "right"),
            x="round",
            x_range=(1, ROUNDS),
            y_range=(0, 1.05),
        )
    ]


def chase_said(audit):
    hacked = {patch: sum(share > FULL for share in chased(patch, audit)) for patch in CLOSES}
    return (
        f"If {audit} completions are read per round, over half of them are hacks after {hacked[INSTANCE]} of "
        f"{ROUNDS} rounds with instance patches, and after {hacked[CLASS]} with class patches."
    )


# ── a bonus for form ──
BONUSES = (0.0, 0.1, 0.15, 0.25, 0.3, 0.5)
WITHOUT, WITH = 0.5, 0.3  # right: in free text, and in the form that the bonus wants; assumed


def bonus(f):
    """What each of two policies is paid, and solves, at a bonus for form."""
    paid = [WITHOUT, WITH + f]
    return [
        panel(
            "Reward with and without the form",
            "bars: mean reward; dots: share solved",
            bars([0, 1], paid, "mean reward", 2, text=[f"{value:.2f}" for value in paid]),
            dots([0, 1], [WITHOUT, WITH], "solved", 1),
            x_range=(-0.6, 1.6),
            y_range=(0, 0.95),
            ticks=dict(tickvals=[0, 1], ticktext=["no form, correct 0.5", "in form, correct 0.3"], tickangle=0),
        )
    ]


def bonus_said(f):
    if detection.bonus_wins(f, WITHOUT, WITH):
        return f"With a bonus of {f:g}, the form wins by {WITH + f:.2f} to {WITHOUT:.2f}, but solves only {WITH:.2f}."
    return f"With a bonus of {f:g}, the form earns {WITH + f:.2f} and loses to {WITHOUT:.2f} without it."


# ── how much overlap is too much ──
OVERLAPS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
SEEDS = range(200, 220)  # the twenty of the text


@cache
def lost(patch, overlap):
    """Of twenty runs, those that end hacked."""
    return sum(redteam.hacked(run(patch, overlap, seed)[1][-1])[-1] > 0.5 for seed in SEEDS)


def overlaps(overlap):
    i = OVERLAPS.index(overlap)
    ends = {patch: [lost(patch, at) / len(SEEDS) for at in OVERLAPS] for patch in CLOSES}
    return [
        panel(
            "Runs that are lost",
            "share of twenty runs; [s8] probability that one of 24 holes is shared",
            line(
                OVERLAPS,
                [detection.shared_hole(at, redteam.HOLES) for at in OVERLAPS],
                "a hole is shared",
                8,
                "reference",
            ),
            line(OVERLAPS, ends[INSTANCE], "instances patched", 2),
            line(OVERLAPS, ends[CLASS], "classes patched", 1),
            dots([overlap], [ends[INSTANCE][i]], "instances patched", 2, "here"),
            dots([overlap], [ends[CLASS][i]], "classes patched", 1, "here"),
            label(0.5, 0.86, "instances patched", 2, "right"),
            label(0.5, 0.3, "classes patched", 1, "right"),
            x="probability that a hole is shared",
            x_range=(-0.01, 0.52),
            y_range=(-0.03, 1.05),
        )
    ]


def overlaps_said(overlap):
    return (
        f"With an overlap of {overlap:g}, {lost(INSTANCE, overlap)} of 20 runs are lost with instance patches and "
        f"{lost(CLASS, overlap)} with class patches."
    )


# ── a benchmark that a model has seen ──
MODELS = ("Qwen2.5-Math-7B", "Llama-3.1-8B")


def contaminated():
    names, points = contamination.gained()
    benchmarks, _ = contamination.finished(MODELS[0])
    rates = {model: contamination.finished(model)[1] for model in MODELS}
    return [
        panel(
            "Gain on MATH-500, by what is rewarded",
            "Qwen2.5-Math-7B, in points (Shao et al. 2025)",
            bars([0, 1, 2], points, "gained", 1, text=[f"{value:g}" for value in points]),
            x_range=(-0.6, 2.6),
            y_range=(0, 36),
            ticks=dict(tickvals=[0, 1, 2], ticktext=[name.replace(" ", "<br>") for name in names], tickangle=0),
        ),
        panel(
            "Questions completed from memory",
            "%, after the first 60 % (Wu et al. 2025)",
            *(
                bars(
                    [i + 0.38 * m - 0.19 for i in range(2)],
                    rates[model],
                    model,
                    m + 1,
                    text=[f"{value:g}" for value in rates[model]],
                )
                for m, model in enumerate(MODELS)
            ),
            label(1.55, 50, MODELS[0], 1, "right"),
            label(1.55, 43, MODELS[1], 2, "right"),
            x_range=(-0.6, 1.6),
            y_range=(0, 64),
            ticks=dict(tickvals=[0, 1], ticktext=[benchmarks[0], "a younger<br>benchmark"], tickangle=0),
        ),
    ]


FIGURES = {
    "opening": OPENING,
    "audits": Figure(audits, detection.detect_probability, Handle("Completions read", AUDITS, start=3), audits_said),
    "chase": Figure(chase, redteam.hacked, Handle("Completions read per round", READ, start=1), chase_said),
    "contaminated": Figure(contaminated, contamination.gained),
    "bonus": Figure(bonus, detection.bonus_wins, Handle("Bonus for form", BONUSES, start=4), bonus_said),
    "overlap": Figure(overlaps, redteam.run, Handle("Overlap", OVERLAPS, start=4, symbol="ω"), overlaps_said),
}
