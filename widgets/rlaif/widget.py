"""Two labelers judge the same pairs, people and a model that reads a list of principles; a policy is trained on the
labels of each. How often does each policy beat its start, and which labeler is right more often?
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sim.experiments import feedback
from sim.words import plural
from sim.worlds import judged_pairs
from sim.worlds.judged_pairs import PRINCIPLES, Judge
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import band, bars, dots, label, line, panel
from widgets.frame.drawing.small_figures import Played
from widgets.rlaif import judged

TITLE = "Two policies, one taught by people's labels and one by a judge's"
COST = "the mean of six draws of pairs and labels"

AS_THEY_COME, ALIKE = "as they come", "alike in style"
BOTH, ONE = "both orders", "one order, drawn"
FIRST = 3.0  # nats that the judge pays for being read first
BEHIND, CLOSE = 0.1, 0.05  # of the wins of people's policy: where it breaks, and where a word is said
PAIRS, DRAWN = 3, 468  # pairs of each quarter in the picture, and the seed of them and of their labels
BELOW = "judge < people - 10"
FILLED = 0.05  # a share of style that a longer list would take away, and that is worth a word


@dataclass(frozen=True)
class Knobs:
    taste: float = slider("Taste for style", 0.25, low=0.0, high=2.5, step=0.25, symbol="c")
    listed: int = slider("Principles on the list", 8, low=1, high=8, step=1)
    labels: int = ladder("Labels of each", 1000, list(feedback.SIZES))
    pairs: str = choice("Pairs", AS_THEY_COME, [AS_THEY_COME, ALIKE])
    kl: float = ladder("Distance from the start", 4.0, [1.0, 2.0, 4.0, 8.0, 16.0], unit="nats")
    noise: float = slider("Noise of a vote", 1.0, low=0.0, high=3.0, step=0.5)
    K: int = ladder("Votes on a pair", 1, [1, 3, 5, 9])
    order: str = choice("Asked in", BOTH, [BOTH, ONE])
    flip: float = slider("People's labels turned round", 0.15, low=0.0, high=0.4, step=0.05)
    seed: int = slider("Seed", 0, low=0, high=30, step=1)


LEAD = ("taste", "listed")
KNOB_GROUPS = {
    "The labels": ("labels", "pairs", "kl"),
    "The judge": ("noise", "K", "order"),
    "The run": ("flip", "seed"),
}
PRESETS = {
    "A small taste": Knobs(),
    "A taste": Knobs(taste=0.75),
    "Eight times the taste": Knobs(taste=2.0),
    "A short list": Knobs(taste=0.5, listed=2, kl=8.0),
    "Pairs alike in style": Knobs(taste=2.0, pairs=ALIKE),
    "Nine votes": Knobs(taste=0.5, K=9),
}


@dataclass(frozen=True)
class Trace:
    look: feedback.Look
    people: feedback.Errors
    judge: feedback.Errors

    @property
    def draws(self):
        return len(self.look.people)


def judge(k):
    return Judge(k.taste, k.listed, k.noise, FIRST, k.order == BOTH, k.K)


def run(k):
    people, of_judge = of_people(k.flip), feedback.errors_of_judge(judge(k))
    for look in feedback.run(judge(k), k.kl, k.pairs == ALIKE, k.flip, k.seed):
        yield Trace(look, people, of_judge)


@lru_cache(maxsize=16)
def of_people(flip):
    return feedback.errors_of_people(flip)


def progress(k, r):
    return ["draw", r.draws, feedback.SEEDS]


def done(r):
    return r.draws == feedback.SEEDS


def here(k, values):
    """The mean over draws, at this number of labels."""
    return float(values[:, feedback.SIZES.index(k.labels)].mean())


def won(k, r):
    """(wins of people's policy, of the judge's)."""
    return here(k, r.look.people), here(k, r.look.judge)


# ── the pictures ──
THE_PAIRS = "What the judge reads, and twelve pairs that it has judged"


def figure(k, r):
    return [board(k, r, broken(k, r)), *by_labels(k, r), *by_distance(k, r)]


def board(k, r, verdict):
    pairs = judged.shown(PAIRS, DRAWN, k.pairs == ALIKE)
    right = judged.by_judge(pairs, DRAWN, judge(k))
    weights, (people, judges) = judged_pairs.principles(k.listed), won(k, r)
    heads = ("alike in style", "", "", "") if k.pairs == ALIKE else judged.IN_COLUMNS
    on = f" {AS_THEY_COME}" if k.pairs == ALIKE else ""
    below = (
        (f"right on {of_100(r.judge.agreement)} pairs{on}", f"people on {of_100(r.people.agreement)}"),
        (f"its policy wins {of_100(judges)}", f"that of people {of_100(people)}"),
    )
    words = ring(k, r, verdict.cause) if verdict else ""
    on_list = bool(verdict) and verdict.cause == SHORT
    halves = [
        judged.board(
            f"b{i}",
            pairs.half(i),
            weights,
            right[2 * PAIRS * i : 2 * PAIRS * (i + 1)],
            heads[2 * i : 2 * i + 2],
            below[i],
            words if i and not on_list else "",
        )
        for i in (0, 1)
    ]
    return scene.scene(
        THE_PAIRS,
        "a pair: the better answer above the worse; ✓: called better; style: [above-3] much, [below-2] little",
        judged.constitution("l", weights, k.taste, words if on_list else ""),
        *halves,
        tab="The pairs",
        front=True,
        data=[bars(list(QUARTERS), list(r.judge.wrong), "wrong, by quarter", 1)],
    )


def ring(k, r, cause):
    """What is seen where a break is."""
    if cause == SHORT:
        return f"{PRINCIPLES - k.listed} of 8 are not read"
    if cause == TASTE:
        return f"{of_100(r.judge.wrong[3])} are wrong"
    return f"{of_100(r.judge.wrong[3] if k.pairs != ALIKE else 1 - r.judge.agreement)} are wrong"


QUARTERS = ("far plainer", "plainer", "more styled", "far more")


def by_labels(k, r):
    people, judges = 100 * r.look.people, 100 * r.look.judge
    limit = 100 * feedback.wins(limits(k, k.kl))
    away = f"{k.kl:g} {plural(k.kl, 'nat')}"
    return [
        panel(
            "Wins, by labels",
            f"of 100 against the start, at {away}; mean of {r.draws} draws; dotted: endless labels",
            line(feedback.SIZES, people.mean(axis=0), "people's policy", 2),
            line(feedback.SIZES, judges.mean(axis=0), "the judge's policy", 1),
            *spread(people, 2),
            *spread(judges, 1),
            line([feedback.SIZES[0], feedback.SIZES[-1]], [limit] * 2, "the judge's, of endless labels", 1, "exact"),
            dots([k.labels] * 2, 100 * np.array(won(k, r)), "this many", 1, "here"),
            label(3000, people[:, -1].mean() + 1, "people", 2, "right"),
            label(3000, judges[:, -1].mean() - 1.5, "the judge", 1, "right", below=True),
            x="labels of each",
            x_range=(27, 3400),
            y_range=(10, 102),
            log="x",
            tab="By labels",
        ),
        panel(
            "Wrong, by how much more style the worse one has",
            "of 100 fresh pairs in each quarter of them",
            bars(list(QUARTERS), list(100 * r.people.wrong), "people", 2),
            bars(list(QUARTERS), list(100 * r.judge.wrong), "the judge", 1),
            x="style of the worse answer, against the better",
            y_range=(0, 100),
            tab="By labels",
        ),
    ]


def spread(values, series):
    """The lowest and highest of the draws."""
    if len(values) < 2:
        return []
    return [band(np.array(feedback.SIZES, float), values.min(axis=0), values.max(axis=0), series)]


DISTANCES = np.linspace(0.25, 16, 64)


def by_distance(k, r):
    people, judges = 100 * np.array(won(k, r))
    reached = [100 * feedback.wins(limits(k, kl)) for kl in DISTANCES]
    perfect = [100 * feedback.wins(feedback.toward(0.0, PRINCIPLES, kl)) for kl in DISTANCES]
    return [
        panel(
            "Wins, by distance",
            "of 100 comparisons with the start; of endless labels, in closed form",
            line(DISTANCES, perfect, "people, endless labels", 2, "exact"),
            line(DISTANCES, reached, "the judge, endless labels", 1, "exact"),
            dots([k.kl], [judges], "the judge, here", 1, "here"),
            dots([k.kl], [people], "people, here", 2, "here"),
            label(16, perfect[-1] - 2, "people", 2, "right", below=True),
            label(16, reached[-1] - 2, "the judge", 1, "right", below=True),
            x="KL from the start, nats",
            x_range=(0, 16.5),
            y_range=(0, 102),
            tab="By distance",
        ),
        panel(
            "Right, and what it is worth",
            "of 100 fresh pairs, and of 100 comparisons",
            bars(["right on pairs", "policy wins"], [100 * r.people.agreement, people], "people", 2),
            bars(["right on pairs", "policy wins"], [100 * r.judge.agreement, judges], "the judge", 1),
            y_range=(0, 100),
            tab="By distance",
        ),
    ]


def limits(k, kl):
    """(17,) the mean of the policy that endless labels of this judge would lead to."""
    return feedback.toward(0.0 if k.pairs == ALIKE else k.taste, k.listed, kl)


def readouts(k, r):
    people, judges = won(k, r)
    state = "violated" if broken(k, r) else ""
    return [
        Readout("Wins of the judge's policy", 100 * judges, "of 100", feedback.wins, state),
        Readout("Wins of people's policy", 100 * people, "of 100", feedback.wins),
        Readout("The judge is right", 100 * r.judge.agreement, "of 100 pairs", feedback.errors),
        Readout("People are right", 100 * r.people.agreement, "of 100 pairs", feedback.errors),
        Readout("Judge's direction, style", 100 * here(k, r.look.style), "%", feedback.taught),
    ]


def watched(k, r):
    people, judges = won(k, r)
    wanted = 100 * (people - BEHIND)
    return Gauge("Wins of 100 (limit: people’s minus 10)", 100 * judges, wanted, below=True, expression=BELOW)


# ── what went wrong, and because of what ──
TASTE, SHORT, NOISY = "one taste in all labels", "a list too short", "too few labels for its noise"
SEVERAL = "several of these together"
UNDONE = dict(labels=feedback.SIZES[-1], taste=0.0, listed=PRINCIPLES)  # those that come first are spared first
CAUSES = dict(labels=NOISY, taste=TASTE, listed=SHORT)


@lru_cache(maxsize=256)
def ahead(k):
    """How far people's policy is ahead: the gap alone, without what the pictures need."""
    draws = range(feedback.SEEDS * k.seed, feedback.SEEDS * (k.seed + 1))
    alike = k.pairs == ALIKE
    gaps = [
        feedback.of_people(k.labels, draw, k.kl, alike, k.flip).wins
        - feedback.of_judge(k.labels, draw, k.kl, alike, judge(k)).wins
        for draw in draws
    ]
    return float(np.mean(gaps))


def undone(k):
    """As few knobs as mend it."""
    return recovery.fewest(k, UNDONE, lambda k: ahead(k) <= BEHIND) or recovery.different(k, UNDONE)


def broken(k, r):
    people, judges = won(k, r)
    if not done(r) or judges >= people - BEHIND:
        return None
    fix = undone(k)
    return Break(why(k, r, fix), fix, CAUSES[next(iter(fix))] if len(fix) == 1 else SEVERAL)


def why(k, r, fix):
    people, judges = won(k, r)
    style = here(k, r.look.style)
    faults = []
    if "listed" in fix:
        filled = list(fix) == ["listed"] and style > styled(replace(k, listed=PRINCIPLES)) + FILLED
        so = f", so style took {100 * style:.0f} % of the direction" if filled else ""
        faults.append(f"{k.listed} of 8 principles {plural(k.listed, 'is', 'are')} listed{so}")
    if "taste" in fix:
        faults.append(f"style took {100 * style:.0f} % of the direction")
    if "labels" in fix:
        faults.append(f"{k.labels:,} labels are few for its noise")
    causes = ", and ".join(faults)
    than = f"its policy wins {of_100(judges)}, that of people's labels {of_100(people)}"
    return Said(
        f"{causes[0].upper()}{causes[1:]}: {than}.",
        {
            "it is behind": lambda: people - judges > BEHIND,
            "so much is style": lambda: abs(styled(k) - style) < 1e-9,
            "a longer list leaves less to style": lambda: (
                "so style" not in causes or here(k, end(run, replace(k, listed=PRINCIPLES)).look.style) < style - 0.02
            ),
            "undone, it is not": lambda: behind(replace(k, **fix)) <= BEHIND + 1e-9,
            "one alone does not": lambda: (
                len(fix) == 1 or all(behind(replace(k, **{knob: value})) > BEHIND for knob, value in fix.items())
            ),
        },
    )


def behind(k):
    people, judges = won(k, end(run, k))
    return people - judges


@lru_cache(maxsize=64)
def styled(k):
    """The share of style alone, without what the pictures need."""
    draws = range(feedback.SEEDS * k.seed, feedback.SEEDS * (k.seed + 1))
    shares = [feedback.of_judge(k.labels, draw, k.kl, k.pairs == ALIKE, judge(k)).style for draw in draws]
    return float(np.mean(shares))


def seen_at(k, r, cause):
    return At(THE_PAIRS, None, None, ring(k, r, cause))


def worse(k, r):
    people, judges = won(k, r)
    if not done(r) or judges >= people - CLOSE:
        return None
    if r.judge.agreement > r.people.agreement:
        return Said(
            f"It is right on {of_100(r.judge.agreement)} pairs, people on {of_100(r.people.agreement)}, and its policy "
            f"wins {of_100(judges)}, theirs {of_100(people)}.",
            {
                "it is right more often": lambda: sum(r.judge.wrong) < sum(r.people.wrong),
                "its policy wins less": lambda: behind(k) > CLOSE,
            },
        )
    return Said(
        f"Its policy wins {of_100(judges)} comparisons with the start, that of people's labels {of_100(people)}.",
        {"its policy wins less": lambda: behind(k) > CLOSE},
    )


def holds(k, r):
    people, judges = won(k, r)
    return Said(
        f"Its policy wins {of_100(judges)} comparisons with the start, that of people's labels {of_100(people)}.",
        {
            "so many": lambda: abs(np.mean(r.look.judge, axis=0)[feedback.SIZES.index(k.labels)] - judges) < 1e-9,
            "hardly behind": lambda: not done(r) or behind(k) <= CLOSE + 1e-9,
        },
    )


def of_100(share):
    return f"{100 * share:.0f} of 100"


GUESS = Guess(
    "At a taste of 0.5 the judge is right on 77 of 100 pairs, people on 73. Whose policy is then better?",
    ("the judge's", "about equal", "people's"),
    Knobs(taste=0.5),
    2,
    lambda k, r: f"People's: it beats its start {of_100(won(k, r)[0])} times, the judge's {of_100(won(k, r)[1])}.",
)
DARE = "Can you make the judge's policy fall far behind the people's?"
OPENING = Played(Knobs(), Knobs(taste=0.75), "opening")
