"""The small figures of lesson 15b: two labelers and what their labels lead to, whose errors lie where, what a list
leaves out, and drafts that are revised.
"""

from functools import cache

import numpy as np

from sim.estimators import judging
from sim.experiments import feedback
from sim.words import counted
from sim.worlds.judged_pairs import PRINCIPLES, Judge
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.rlaif import judged

KL, SEED = 4.0, 0

# ── the opening: people and a judge, thirty labels of each and more ──
SETTINGS = ("mild taste for style", "strong taste for style")
TASTE = {SETTINGS[0]: 0.25, SETTINGS[1]: 0.75}
DRAWN = 48  # seed of the pairs and labels in the picture
ACROSS = 5


@cache
def run(taste):
    *_, look = feedback.run(Judge(taste), KL, False, 0.15, SEED)
    return look


@cache
def asked(taste):
    return feedback.errors_of_judge(Judge(taste))


@cache
def of_people():
    return feedback.errors_of_people()


def wins(setting, labels):
    """(of people's policy, of the judge's)."""
    look, at = run(TASTE[setting]), feedback.SIZES.index(labels)
    return float(look.people[:, at].mean()), float(look.judge[:, at].mean())


def of_100(share):
    return f"{100 * share:.0f} of 100"


def opening(setting, labels):
    pairs, taste, pairs_a_quarter = judged.shown(ACROSS, DRAWN), TASTE[setting], feedback.SIZES.index(labels) + 1
    both = (
        ("people", judged.by_people(pairs, DRAWN), of_people()),
        ("the judge", judged.by_judge(pairs, DRAWN, Judge(taste)), asked(taste)),
    )
    won, views = wins(setting, labels), []
    gap = won[0] - won[1]
    for (name, right, errors), share in zip(both, won):
        ringed = "most of its errors" if name == "the judge" and gap > 0.1 else ""
        below = (f"right on {of_100(errors.agreement)} pairs", f"the policy wins {of_100(share)}")
        views.append(judged.quarters(name[-2:], name, pairs, right, pairs_a_quarter, ACROSS, below, ring=ringed))
    return [scene.scene("Who called the better answer better", judged.LEGEND, *views)]


def told(setting, labels):
    people, judge = wins(setting, labels)
    return (
        f"After {labels:,} labels of each, the policy wins against the start: people's {of_100(people)}, the judge's "
        f"{of_100(judge)}."
    )


OPENING = Figure(
    opening,
    feedback.run,
    Handle("Run", SETTINGS, start=1),
    told,
    Time(
        "Labels of each",
        feedback.SIZES,
        tuple(f"{n:,} labels of each" for n in feedback.SIZES),
        start=len(feedback.SIZES) - 1,
        ticks={i: f"{n:,}" for i, n in enumerate(feedback.SIZES)},
        strip=Strip(
            "The judge's policy wins, from 50 to 100",
            lambda: [[2 * wins(setting, n)[1] - 1 for n in feedback.SIZES] for setting in SETTINGS],
            lambda setting, n: f"{100 * wins(setting, n)[1]:.0f}",
        ),
        milliseconds=1100,
    ),
    stills=((0, 4), (1, 1), (1, 4)),
)

# ── whose errors lie where ──
WHO = ("people", "taste 0", "taste 0.5", "taste 0.75", "taste 2")
BIAS = dict(zip(WHO[1:], (0.0, 0.5, 0.75, 2.0)))
MANY, IN_A_ROW, MANY_DRAWN = 12, 6, 1872


def labeler(who):
    """(the errors on fresh pairs, whether each pair in the picture is called right)."""
    pairs = judged.shown(MANY, MANY_DRAWN)
    if who == WHO[0]:
        return of_people(), judged.by_people(pairs, MANY_DRAWN)
    return asked(BIAS[who]), judged.by_judge(pairs, MANY_DRAWN, Judge(BIAS[who]))


def errors(who):
    exact, right = labeler(who)
    beside = [f"{of_100(share)} wrong" for share in exact.wrong]
    view = judged.quarters("e", "48 pairs", judged.shown(MANY, MANY_DRAWN), right, MANY, IN_A_ROW, beside=beside)
    return [scene.scene("Forty-eight pairs, judged", judged.LEGEND, view)]


def errors_said(who):
    exact, _ = labeler(who)
    name = "People are" if who == WHO[0] else f"A judge of {who} is"
    return f"{name} right on {of_100(exact.agreement)} pairs in all."


# ── what a list leaves out ──
B, FAR = 0.5, np.linspace(0.25, 16, 64)


@cache
def by_distance(m):
    return [feedback.wins(feedback.toward(B, m, kl)) for kl in FAR]


def listed(m):
    wins = by_distance(m)
    style = judging.style_share(B, m)
    other_lists = np.concatenate([[*by_distance(n), np.nan] for n in range(1, PRINCIPLES + 1)])
    return [
        panel(
            "Wins over the start, by distance from it",
            "of 100 comparisons; [s8] even; dotted: other lists; taste 0.5, endless labels",
            line(np.tile([*FAR, np.nan], PRINCIPLES), 100 * other_lists, "other lists", 8, "other"),
            line(FAR, 100 * np.array(wins), f"{m} listed", 1),
            line([0, 16], [50, 50], "its start", 8, "reference"),
            dots([FAR[int(np.argmax(wins))]], [100 * max(wins)], "the best", 1, "here"),
            label(16, min(100 * wins[-1] + 10, 98), f"{100 * style:.0f} % style", 1, "right"),
            x="KL from the start, nats",
            x_range=(0, 16),
            y_range=(0, 105),
        )
    ]


def listed_said(m):
    wins = by_distance(m)
    top = int(np.argmax(wins))
    many = counted(m, "principle")
    if top == len(FAR) - 1:
        return f"{many} listed: wins rise to {100 * wins[-1]:.0f} of 100 at 16 nats."
    return f"{many} listed: wins peak at {100 * wins[top]:.0f} of 100, and are {100 * wins[-1]:.0f} at 16 nats."


# ── drafts that are revised ──
CRITIC, ROUNDS = (0.8, 0.1, 0.7, 0.2), 6  # finds, is wrong about, mends, spoils: assumed
BEGIN = {"bad drafts": 0.4, "good drafts": 0.01}


def harmful(start):
    return [100 * judging.revised(BEGIN[start], *CRITIC, n) for n in range(ROUNDS + 1)]


def revised(start):
    ends, shares = 100 * judging.settled(*CRITIC), harmful(start)
    return [
        panel(
            "Harmful drafts, by rounds of critique and revision",
            "of 100, logarithmic; dotted: where both end",
            line(range(ROUNDS + 1), shares, start, 1),
            dots(range(ROUNDS + 1), shares, start, 1),
            line([0, ROUNDS], [ends] * 2, "the end", 8, "exact"),
            label(ROUNDS, ends * 1.03, f"{ends:.1f}", 8, "right"),
            x="rounds",
            x_range=(-0.2, ROUNDS + 0.2),
            y_range=(0.8, 50),
            log="y",
            y_ticks=dict(tickvals=[1, 2, 5, 10, 20, 50], ticktext=["1", "2", "5", "10", "20", "50"]),
        )
    ]


def revised_said(start):
    shares = harmful(start)
    return f"From {shares[0]:.0f} of 100 to {shares[1]:.1f} after one round and {shares[-1]:.1f} after six."


FIGURES = {
    "opening": OPENING,
    "errors": Figure(errors, feedback.errors, Handle("Whose labels", WHO, start=3, words=WHO), errors_said),
    "listed": Figure(
        listed,
        judging.asymptote,
        Handle("Principles on the list", tuple(range(1, PRINCIPLES + 1)), start=1),
        listed_said,
    ),
    "revised": Figure(
        revised, judging.revised, Handle("Begin with", tuple(BEGIN), start=1, words=tuple(BEGIN)), revised_said
    ),
}
