"""A pool of prompts, too hard for the most part, and four ways to choose which of them are rolled out."""

from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from sim.experiments import curation
from sim.experiments.curation import BOTH, KEPT, NEVER
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import bars, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "How much of a pool is solved, by the choice of prompts"

LOST = 10.0  # points of the pool behind prompts at random
NOTED = 4.0  # twice what two seeds differ by where they differ most
FEW = 30.0  # % solved at the end, below which nothing was won
SMOOTH = 8  # steps, of the share of live groups
ASKING = 0.4  # of all rollouts
RANDOM, AGAIN, LIST, PREDICTED = "at random", "again, until live", "from a list", "by prediction"
WAYS = {
    RANDOM: curation.every_prompt,
    AGAIN: curation.live_groups,
    LIST: curation.a_list,
    PREDICTED: curation.predicted,
}
ONCE = "never"


@dataclass(frozen=True)
class Knobs:
    way: str = choice("Choice of prompts", RANDOM, list(WAYS))
    tries: int = ladder("Tries per prompt", 8, [2, 4, 8, 16, 32])
    keep: str = choice("Prompts kept in the list", BOTH, list(KEPT))
    renew: str = choice("Rollouts until list renewal", ONCE, [ONCE, "80000", "40000", "20000", "10000"])
    budget: int = ladder("Budget of rollouts", 160_000, [30_000, 60_000, 90_000, 120_000, 160_000, 200_000])
    K: int = ladder("Completions per prompt", 8, [2, 4, 8, 16, 32, 64], symbol="K")
    mean: float = slider("Mean difficulty (logits)", 6.0, -2.0, 8.0, 1.0)
    deviation: float = slider("Spread of difficulty (logits)", 3.0, 0.5, 4.0, 0.5)
    wrong: float = slider("Share of wrong keys", 0.0, 0.0, 0.4, 0.05)
    rate: float = ladder("Learning rate", 0.5, [0.1, 0.25, 0.5, 1.0])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("way", "budget")
PRESETS = {
    "At random": Knobs(),
    "By prediction": Knobs(way=PREDICTED),
    "A list, eight tries each": Knobs(way=LIST),
    "A list, 32 tries each": Knobs(way=LIST, tries=32, budget=90_000),
    "A list of the never solved": Knobs(way=LIST, keep=NEVER, budget=90_000),
    "Until groups are live, 120,000": Knobs(way=AGAIN, budget=120_000),
}
GUESS = Guess(
    "At random, 60,000 rollouts solve 14 % of the pool. How much do they solve if past groups guide the choice?",
    ("14 %", "20 %", "27 %"),
    Knobs(way=PREDICTED, budget=60_000),
    2,
    lambda k, r: (
        f"They solve {solved(k, r.run):.0f} %. A group that is never started saves rollouts, but a discarded one does "
        "not."
    ),
)


@dataclass(frozen=True)
class Result:
    run: curation.Run
    plain: curation.Run  # the same pool with prompts at random


def idle(k):
    return {} if k.way == LIST else dict.fromkeys(("tries", "keep", "renew"), "there is no list")


def run(k):
    yield Result(trained(k), trained(at_random(k)))


def at_random(k):
    """The setting with prompts at random, and what that does not look at as it is by default."""
    default = Knobs()
    return replace(k, way=RANDOM, tries=default.tries, keep=default.keep, renew=default.renew)


@lru_cache(maxsize=32)
def trained(k):
    pool = curation.pool(np.random.default_rng(5), mean=k.mean, deviation=k.deviation, wrong=k.wrong)
    way = WAYS[k.way]
    if k.way == LIST:
        renew = curation.NEVER_AGAIN if k.renew == ONCE else int(k.renew)
        way = partial(way, tries=k.tries, keep=k.keep, renew=renew)
    return curation.train(pool, way, k.budget, np.random.default_rng(k.seed), k.K, k.rate)


def solved(k, run):
    """% of the pool at the end of the budget."""
    return 100 * run.at(k.budget)


def ahead(k, r):
    """Points of the pool ahead of prompts at random."""
    return solved(k, r.run) - solved(k, r.plain)


def live(run):
    """% of all groups of training that had both verdicts."""
    return 100 * run.live_share


def smooth(run):
    """(completions, % of live groups), the mean of some steps each."""
    trained_on = ~np.isnan(run.live)
    x, y = run.completions[trained_on], 100 * run.live[trained_on]
    n = max(len(x) // SMOOTH, 1)
    parts = np.array_split(np.arange(len(x)), n) if len(x) else []
    return np.array([x[part].mean() for part in parts]), np.array([y[part].mean() for part in parts])


# The picture

SOLVED = "Pool solved"


def figure(k, r):
    return [curves(k, r), verdicts(k, r), steps(k, r), pool(k, r)]


def thinned(run):
    """Which points of a curve are drawn."""
    every = max(1, len(run.completions) // 150)
    return np.union1d(np.arange(0, len(run.completions), every), [len(run.completions) - 1])


def curves(k, r):
    least = solved(k, r.plain) - LOST
    marks = []
    for run, name, series, role in ((r.plain, "at random", 8, "reference"), (r.run, k.way, 1, "")):
        at = thinned(run)
        marks.append(line(run.completions[at] / 1000, 100 * run.solved[at], name, series, role))
    marks.append(name_of(k, r))
    if least > 0:
        marks.append(threshold(least, "broken below", 0))
    return panel(
        SOLVED,
        "% of the pool on average; [s8] prompts at random",
        *marks,
        x="rollouts paid for, thousands",
        x_range=[0, 200],
        y_range=[0, 104],
        tab="By rollout",
        front=True,
    )


def name_of(k, r):
    """The way of choosing at its curve: above where it is ahead, or where there is no room below."""
    x = 0.45 * k.budget
    if k.way == RANDOM or r.run.at(x) >= r.plain.at(x):
        return label(x / 1000, 100 * r.run.at(x) + 2, k.way, 1, "right")
    x = 0.75 * k.budget
    below = r.run.at(x) > 0.15
    return label(x / 1000, 100 * r.run.at(x) + (-2 if below else 2), k.way, 1, "left" if below else "right", below)


def verdicts(k, r):
    marks = []
    for run, name, series, role in ((r.plain, "at random", 8, "reference"), (r.run, k.way, 1, "")):
        x, y = smooth(run)
        marks.append(line(x / 1000, y, name, series, role))
    return panel(
        "Groups with both verdicts",
        f"% of groups, mean of {SMOOTH} steps",
        *marks,
        x="rollouts paid for, thousands",
        x_range=[0, 200],
        y_range=[0, 104],
        tab="By rollout",
    )


def steps(k, r):
    marks = []
    for run, name, series, role in ((r.plain, "at random", 8, "reference"), (r.run, k.way, 1, "")):
        at = thinned(run)
        of_training = np.cumsum(~np.isnan(run.live))
        marks.append(line(of_training[at], 100 * run.solved[at], name, series, role))
    return panel(
        "Pool solved, by optimizer step",
        "% of the pool; [s8] prompts at random",
        *marks,
        x="optimizer step",
        x_range=[0, 400],
        y_range=[0, 104],
        tab="By step",
    )


def pool(k, r):
    edges = np.linspace(0, 1, 11)
    before, after = ((100 * np.histogram(p, edges)[0] / len(p)).tolist() for p in (trained_rates(k), r.run.rates))
    middle = (edges[:-1] + edges[1:]) / 2
    return panel(
        "Prompts of the pool, by pass rate",
        "% of prompts; [s8] before training",
        bars(middle, before, "before", 8, "histogram"),
        bars(middle, after, "at the end", 1, "histogram"),
        x="pass rate",
        x_range=[0, 1],
        y_range=[0, 104],
        tab="By step",
    )


@lru_cache(maxsize=32)
def trained_rates(k):
    """Pass rates before the first step."""
    prompts = curation.pool(np.random.default_rng(5), mean=k.mean, deviation=k.deviation, wrong=k.wrong)
    return curation.Learner(prompts, np.random.default_rng(0)).pass_rates()


def readouts(k, r):
    return [
        Readout("Pool solved at the end", solved(k, r.run), "%", curation.train, "violated" if behind(k, r) else ""),
        Readout("Pool solved at random", solved(k, r.plain), "%", curation.train),
        Readout("Groups with both verdicts", live(r.run), "%", curation.train),
        Readout("Rollouts spent on tries", float(r.run.asked), "", curation.train),
        Readout("Optimizer steps", float(r.run.steps), "", curation.train),
    ]


def watched(k, r):
    return Gauge(
        "Lead over prompts at random",
        ahead(k, r),
        -LOST,
        "points",
        below=True,
        expression=f"solved - solved_at_random < -{LOST:g}",
    )


STALE, ASKED, DEAD, THROWN, UNSEEN, MIXED = (
    "a list that is outdated",
    "rollouts spent on tries",
    "prompts that are never solved",
    "live groups that are thrown away",
    "beliefs that come too late",
    "a combination of settings",
)
OF_LISTS = {  # what undoes each cause
    STALE: [dict(renew="40000"), dict(renew="20000"), dict(renew="10000")],
    DEAD: [dict(keep=BOTH)],
    ASKED: [dict(tries=4), dict(tries=2)],
}
AFFORDED = dict(tries=2, renew="20000")  # a list that is made again costs as much again: two tries each can be paid


def behind(k, r):
    return ahead(k, r) < -LOST


def mends(k, turned):
    other = replace(k, **turned)
    return other != k and keeps_up(other)


def keeps_up(k):
    return not behind(k, next(run(k)))


def cause(k, r):
    """For a list, the first likely cause whose undoing mends it; for another way, its own; MIXED where neither is."""
    if k.way == AGAIN:
        return THROWN if full(k, r) else MIXED
    if k.way == PREDICTED:
        return UNSEEN if r.run.live_share and seen_at_most(k, r) < MOST_SEEN else MIXED
    return next((name for name in likely(k, r) if any(mends(k, change) for change in undoing(k, r, name))), MIXED)


def undoing(k, r, cause):
    """What undoes a cause of a list; where asking takes few of the rollouts, making it again is not charged for."""
    few = cause == STALE and r.run.asked <= ASKING * k.budget and not mends(k, dict(tries=2))
    return OF_LISTS[cause] + ([AFFORDED] if few else [])


def likely(k, r):
    """Causes of a list that its run shows: one that is hardly made of rollouts is not blamed for asking."""
    return [cause for cause in (ASKED, DEAD, STALE) if cause != ASKED or r.run.asked > ASKING * k.budget]


MOST_SEEN = 0.5  # of the pool


def seen_at_most(k, r):
    """Share of the pool that can have been asked: a group is one prompt."""
    return r.run.steps * (curation.BATCH // k.K) / len(r.run.rates)


def full(k, r):
    """Whether more live groups were paid for than the batches of all steps have room for."""
    return r.run.live_share * r.run.completions[-1] / k.K > r.run.steps * (curation.BATCH // k.K) + 0.5


def why(k, r, cause):
    end, plain = solved(k, r.run), solved(k, r.plain)
    ends = f"{end:.0f} % of the pool is solved, compared with {plain:.0f} % at random."
    last = smooth(r.run)[1]
    late = last[-1] if len(last) else 0.0
    words = {
        STALE: f"{ends} The list was made for an older policy: {late:.0f} % of its groups are live at the end.",
        ASKED: f"{ends} The tries for a list took {r.run.asked:,} of {k.budget:,} rollouts.",
        DEAD: f"{ends} Of the groups of never-solved prompts, {live(r.run):.0f} % had both verdicts.",
        THROWN: f"{ends} Surplus live groups were paid for and thrown away, so only {r.run.steps} steps were made.",
        UNSEEN: f"{ends} With so few prompts per step, most were never seen.",
        MIXED: f"{ends} {why_mixed(k, r)}.",
    }
    return Said(words[cause], {**ending(k, r), "random is ahead": lambda: plain - end > LOST, **asserted(k, r, cause)})


AGES = "for a list made once"


def why_mixed(k, r):
    if k.way != LIST:
        return "More than one thing is at fault"
    if r.run.asked > ASKING * k.budget and k.renew == ONCE and mends(k, AFFORDED):
        return f"The tries took {r.run.asked:,} of {k.budget:,} rollouts, {AGES}"
    return "Neither a newer list nor a different one alone mends it"


def ending(k, r):
    """What is asserted of how much is solved: the mean chance over prompts whose key is right, at the end."""
    prompts = curation.pool(np.random.default_rng(5), mean=k.mean, deviation=k.deviation, wrong=k.wrong)

    def as_solved(run):
        share = 100 * (1 / (1 + np.exp(prompts.difficulty[~prompts.wrong_key] - run.ability))).mean()
        largest_step = 100 * np.abs(np.diff(run.solved)).max(initial=0.0)
        return abs(share - solved(k, run)) < 1e-6 + largest_step

    return {"so much is solved": lambda: as_solved(r.run), "so much is solved at random": lambda: as_solved(r.plain)}


def asserted(k, r, cause):
    """What is asserted of a cause."""
    if cause == MIXED:
        changes = [change for name in likely(k, r) for change in undoing(k, r, name)] if k.way == LIST else []
        alone = {"nothing alone mends it": lambda: not any(mends(k, change) for change in changes)}
        both = {"both together mend it": lambda: mends(k, AFFORDED)}
        return alone | (both if AGES in why_mixed(k, r) else {})
    if cause in OF_LISTS:
        undone = {"undone, it is mended": lambda: any(mends(k, change) for change in undoing(k, r, cause))}
        own = {
            ASKED: {"so many asked": lambda: 0 < r.run.asked <= k.budget},
            STALE: {"a list was in use": lambda: r.run.steps > 0},
        }
        return undone | own.get(cause, {})
    completions = r.run.steps * (curation.BATCH // k.K) * k.K  # that were trained on
    return {
        THROWN: {
            "more was paid for than was trained on": lambda: completions < r.run.completions[-1] and full(k, r),
            "at random there are more steps": lambda: r.plain.steps > r.run.steps,
        },
        UNSEEN: {"fewer groups than half of the prompts": lambda: 2 * completions < k.K * len(r.run.rates)},
    }[cause]


BACK = {
    STALE: [dict(tries=2, renew="20000"), *OF_LISTS[STALE], dict(way=PREDICTED)],
    ASKED: [dict(tries=2), dict(tries=4), dict(tries=2, renew="20000"), dict(way=PREDICTED)],
    DEAD: [dict(keep=BOTH), dict(keep=BOTH, tries=2), dict(way=PREDICTED)],
    THROWN: [dict(way=PREDICTED)],
    UNSEEN: [],
    MIXED: [dict(keep=BOTH, tries=2, renew="20000"), dict(way=PREDICTED)],
}


def fix(k, cause):
    return recovery.first_of(k, BACK[cause], keeps_up) or recovery.different(k, dict(way=RANDOM))


def seen_at(k, r, cause):
    return At(SOLVED, None, None, f"{-ahead(k, r):.0f} points behind prompts at random", k.way)


def broken(k, r):
    if not behind(k, r):
        return None
    broken_by = cause(k, r)
    return Break(why(k, r, broken_by), fix(k, broken_by), broken_by)


def worse(k, r):
    if ahead(k, r) < -NOTED:
        return Said(
            f"{solved(k, r.run):.1f} % of the pool is solved at the end, compared with {solved(k, r.plain):.1f} % with "
            "prompts at random.",
            {**ending(k, r), "random is ahead": lambda: r.plain.ability > r.run.ability},
        )
    if solved(k, r.run) < FEW and live(r.run) < 50 and k.budget >= Knobs().budget:
        return Said(
            f"{100 - live(r.run):.0f} % of the groups had one verdict, so they were paid for and taught nothing. "
            f"{solved(k, r.run):.0f} % of the pool is solved.",
            {**ending(k, r), **one_verdict(k, r), "most of the pool is not solved": lambda: solved(k, r.run) < FEW},
        )
    return None


def one_verdict(k, r):
    """What is asserted of live groups: the mean of the steps', where every step has as many."""
    shares = r.run.live[~np.isnan(r.run.live)]
    even = k.way != AGAIN and len(shares)
    return {"so many groups had both": lambda: not even or abs(100 * shares.mean() - live(r.run)) < 1e-6}


def holds(k, r):
    end = f"{solved(k, r.run):.1f} % of the pool is solved at the end"
    if k.way == RANDOM:
        return Said(
            f"{end}, and {live(r.run):.0f} % of the groups had both verdicts.", {**ending(k, r), **one_verdict(k, r)}
        )
    return Said(
        f"{end}, compared with {solved(k, r.plain):.1f} % with prompts at random.",
        {**ending(k, r), "not clearly behind": lambda: ahead(k, r) >= -NOTED},
    )


DARE = "Can you choose prompts worse than chance does?"
TWO_RUNS = "prompts at random", "from a fixed list"


def two_runs(plain, other):
    """How much of the pool is solved, and how many groups say something."""
    parts = ((plain.run, TWO_RUNS[0], 8, "reference"), (other.run, TWO_RUNS[1], 1, ""))
    left, right = [], []
    for run, name, series, role in parts:
        at = thinned(run)
        left.append(line(run.completions[at] / 1000, 100 * run.solved[at], name, series, role))
        x, y = smooth(run)
        right.append(line(x / 1000, y, name, series, role))
    end = 200
    left += [
        label(end, 100 * plain.run.solved[-1] + 1, TWO_RUNS[0], 8, "right"),
        label(end, 100 * other.run.solved[-1] - 4, TWO_RUNS[1], 1, "right", below=True),
    ]
    right += [label(45, 80, TWO_RUNS[1], 1), label(118, 52, TWO_RUNS[0], 8)]
    return [
        panel(
            "Prompts that are solved",
            "% of 4,000, on average",
            *left,
            x="answers written, thousands",
            x_range=[0, end],
            y_range=[0, 108],
        ),
        panel(
            "Prompts whose eight answers differ",
            "% of the prompts of a step",
            *right,
            x="answers written, thousands",
            x_range=[0, end],
            y_range=[0, 108],
        ),
    ]


OPENING = Opening(Knobs(budget=200_000), Knobs(budget=200_000, way=LIST), two_runs, curation.train, TWO_RUNS)
