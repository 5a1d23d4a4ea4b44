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

TITLE = "Two policies, one trained on people's labels and one on a judge's"
COST = "six draws of pairs and labels"

AS_THEY_COME, ALIKE = "as they come", "alike in style"
BOTH, ONE = "both orders", "one random order"
FIRST = 3.0  # nats that the judge pays for being read first
BEHIND, CLOSE = 0.1, 0.05  # of the wins of people's policy: where it breaks, and where a word is said
BELOW = "judge < people - 10"
FILLED = 0.05  # a share of style that a longer list would take away, and that is worth a word


@dataclass(frozen=True)
class Knobs:
    taste: float = slider("Judge's taste for style", 0.25, low=0.0, high=2.5, step=0.25, symbol="c")
    listed: int = slider("Principles on the list", 8, low=1, high=8, step=1)
    labels: int = ladder("Labels from each labeler", 1000, list(feedback.SIZES))
    pairs: str = choice("Pairs to label", AS_THEY_COME, [AS_THEY_COME, ALIKE])
    kl: float = ladder("KL after training", 4.0, [1.0, 2.0, 4.0, 8.0, 16.0], unit="nats")
    noise: float = slider("Noise in each vote", 1.0, low=0.0, high=3.0, step=0.5)
    K: int = ladder("Votes per pair", 1, [1, 3, 5, 9])
    order: str = choice("Judge reads a pair in", BOTH, [BOTH, ONE])
    flip: float = slider("Fraction of people's labels flipped", 0.15, low=0.0, high=0.4, step=0.05)
    seed: int = slider("Seed", 0, low=0, high=30, step=1)


LEAD = ("taste", "listed")
KNOB_GROUPS = {
    "Labels and training": ("labels", "pairs", "kl"),
    "The judge": ("noise", "K", "order"),
    "People": ("flip", "seed"),
}
PRESETS = {
    "Mild taste": Knobs(),
    "Strong taste": Knobs(taste=0.75),
    "Extreme taste": Knobs(taste=2.0),
    "Short list": Knobs(taste=0.5, listed=2, kl=8.0),
    "Pairs alike in style": Knobs(taste=2.0, pairs=ALIKE),
    "Nine votes per pair": Knobs(taste=0.5, K=9),
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


def writes(k, r):
    """(2, 2) quality and style of what people's policy writes, and the judge's."""
    at = feedback.SIZES.index(k.labels)
    return np.array([each[:, at].mean(axis=0) for each in (r.look.people_writes, r.look.judge_writes)])


# ── the pictures ──
CHOICES = "Wrong choices of both labelers, and what their policies then write"
ROOM, ROWS = (5, 9), 5  # of sheets


def figure(k, r):
    return [board(k, r, broken(k, r)), *by_labels(k, r), *by_distance(k, r)]


def board(k, r, verdict):
    alike = k.pairs == ALIKE
    ring = where(k, r, verdict.cause) if verdict else ("", "")
    prefer = judged.chances(judge(k), k.flip, alike)
    both = judged.labelers((r.people, r.judge), prefer, writes(k, r), won(k, r), ring)
    weights = judged_pairs.principles(k.listed)
    return scene.scene(
        CHOICES,
        "a win: people prefer the policy's answer to one from before training",
        judged.view("b", both, ROOM, ROWS, alike, weights),
        tab="Choices",
        front=True,
        data=[bars(list(QUARTERS), list(r.judge.wrong), "judge's wrong labels, by style of the worse answer", 1)],
    )


def where(k, r, cause):
    """(what a ring says, where it stands)."""
    if cause == SHORT:
        return f"{PRINCIPLES - k.listed} of 8 are left out", "list"
    if cause == NOISY or k.taste == 0:
        return f"only {k.labels:,} labels" if cause == NOISY else "both causes at once", "name"
    return judged.favoring(r.judge)


def ring(k, r, cause):
    """What is seen where a break is."""
    return where(k, r, cause)[0]


QUARTERS = ("far plainer", "plainer", "more styled", "far more styled")


def by_labels(k, r):
    people, judges = 100 * r.look.people, 100 * r.look.judge
    limit = 100 * feedback.wins(limits(k, k.kl))
    away = f"{k.kl:g} {plural(k.kl, 'nat')}"
    return [
        panel(
            "Win rates of both policies, by number of labels",
            f"% of comparisons, {away} from the start; mean of {r.draws} draws; dotted: endless labels",
            line(feedback.SIZES, people.mean(axis=0), "people's policy", 2),
            line(feedback.SIZES, judges.mean(axis=0), "the judge's policy", 1),
            *spread(people, 2),
            *spread(judges, 1),
            line([feedback.SIZES[0], feedback.SIZES[-1]], [limit] * 2, "the judge's, endless labels", 1, "exact"),
            dots([k.labels] * 2, 100 * np.array(won(k, r)), "this number", 1, "here"),
            label(3000, people[:, -1].mean() + 1, "people's policy", 2, "right"),
            label(3000, judges[:, -1].mean() - 1.5, "the judge's policy", 1, "right", below=True),
            x="labels from each labeler",
            x_range=(27, 3400),
            y_range=(10, 102),
            log="x",
            tab="By labels",
        )
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
            "Win rates of both policies, by KL after training",
            "% of comparisons; lines: endless labels, closed form",
            line(DISTANCES, perfect, "people's policy, endless labels", 2, "exact"),
            line(DISTANCES, reached, "the judge's policy, endless labels", 1, "exact"),
            dots([k.kl], [judges], "the judge's policy, this run", 1, "here"),
            dots([k.kl], [people], "people's policy, this run", 2, "here"),
            label(16, perfect[-1] - 2, "people's policy", 2, "right", below=True),
            label(16, reached[-1] - 2, "the judge's policy", 1, "right", below=True),
            x="KL from the policy before training, nats",
            x_range=(0, 16.5),
            y_range=(0, 102),
            tab="By distance",
        )
    ]


def limits(k, kl):
    """(17,) the mean of the policy that endless labels of this judge would lead to."""
    return feedback.toward(0.0 if k.pairs == ALIKE else k.taste, k.listed, kl)


def readouts(k, r):
    people, judges = won(k, r)
    state = "violated" if broken(k, r) else ""
    return [
        Readout("Win rate of the judge's policy", 100 * judges, "%", feedback.wins, state),
        Readout("Win rate of people's policy", 100 * people, "%", feedback.wins),
        Readout("Pairs the judge labels correctly", 100 * r.judge.agreement, "%", feedback.errors),
    ]


def watched(k, r):
    people, judges = won(k, r)
    wanted = 100 * (people - BEHIND)
    words = "Win rate of the judge's policy (limit: people's minus 10)"
    return Gauge(words, 100 * judges, wanted, below=True, expression=BELOW)


# ── what went wrong, and because of what ──
TASTE, SHORT, NOISY = "a taste that most errors share", "a list that is too short", "too few labels for its noise"
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
    plain, styled_ones = judged.sides(r.judge)
    faults = []
    if "listed" in fix:
        filled = list(fix) == ["listed"] and style > styled(replace(k, listed=PRINCIPLES)) + FILLED
        so = f" and {100 * style:.0f} % of what it teaches is style" if filled else ""
        faults.append(f"its list omits {PRINCIPLES - k.listed} of 8 principles{so}")
    if "taste" in fix:
        faults.append(f"{styled_ones} of its {plain + styled_ones} wrong choices favor style")
    if "labels" in fix:
        faults.append(f"{k.labels:,} labels are too few for its noise")
    *first, last = faults
    causes = f"{', '.join(first)} and {last}" if first else last
    compared = " comparisons" if len(faults) < len(UNDONE) else ""
    return Said(
        f"The judge's policy wins {of_100(judges)}{compared}, people's {100 * people:.0f}, because {causes}.",
        {
            "it is behind": lambda: people - judges > BEHIND,
            "so much is style": lambda: abs(styled(k) - style) < 1e-9,
            "they favor style": lambda: "favor style" not in causes or styled_ones > plain,
            "a longer list leaves less to style": lambda: (
                "is style" not in causes or here(k, end(run, replace(k, listed=PRINCIPLES)).look.style) < style - 0.02
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
    return At(CHOICES, None, None, ring(k, r, cause))


def both_win(k, r):
    people, judges = won(k, r)
    return f"The judge's policy wins {of_100(judges)} comparisons, people's {100 * people:.0f}."


def worse(k, r):
    people, judges = won(k, r)
    if not done(r) or judges >= people - CLOSE:
        return None
    if r.judge.agreement > r.people.agreement:
        wrong = [sum(judged.sides(errors)) for errors in (r.judge, r.people)]
        return Said(
            f"{both_win(k, r)[:-1]}, although the judge gets {wrong[0]} of 100 labels wrong and people {wrong[1]}.",
            {
                "it is right more often": lambda: sum(r.judge.wrong) < sum(r.people.wrong),
                "its policy wins less": lambda: behind(k) > CLOSE,
            },
        )
    return Said(both_win(k, r), {"its policy wins less": lambda: behind(k) > CLOSE})


def holds(k, r):
    _, judges = won(k, r)
    return Said(
        both_win(k, r),
        {
            "so many": lambda: abs(np.mean(r.look.judge, axis=0)[feedback.SIZES.index(k.labels)] - judges) < 1e-9,
            "hardly behind": lambda: not done(r) or behind(k) <= CLOSE + 1e-9,
        },
    )


def of_100(share):
    return f"{100 * share:.0f} of 100"


GUESS = Guess(
    "With a taste of 0.5, the judge gets 23 of 100 labels wrong and people 27. Whose policy wins more comparisons?",
    ("the judge's policy", "both about the same", "people's policy"),
    Knobs(taste=0.5),
    2,
    lambda k, r: (
        f"People's policy: it wins {of_100(won(k, r)[0])} comparisons, the judge's policy {100 * won(k, r)[1]:.0f}."
    ),
)
DARE = "Can you make the judge's policy fall more than ten wins behind?"
OPENING = Played(Knobs(), Knobs(taste=0.75), "opening")
