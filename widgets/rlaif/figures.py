"""The small figures of lesson 15b: two labelers and what their labels lead to, whose errors lie where, what a list
leaves out, and drafts that are revised.
"""

from functools import cache

import numpy as np

from sim.estimators import judging
from sim.experiments import feedback
from sim.words import counted, plural
from sim.worlds.judged_pairs import FLIP, PRINCIPLES, Judge
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle
from widgets.rlaif import judged

KL, SEED, LABELS = 4.0, 0, 1000

# ── the opening: people and a judge, and what their policies write ──
SETTINGS = ("mild taste", "strong taste")
TASTE = {SETTINGS[0]: 0.25, SETTINGS[1]: 0.75}
BEHIND = 0.1  # of wins, from which on the picture points at the judge's errors


@cache
def run(taste):
    *_, look = feedback.run(Judge(taste), KL, False, FLIP, SEED)
    return look


@cache
def asked(taste):
    return feedback.errors_of_judge(Judge(taste))


@cache
def of_people():
    return feedback.errors_of_people()


def wins(setting, labels=LABELS):
    """(of people's policy, of the judge's)."""
    look, at = run(TASTE[setting]), feedback.SIZES.index(labels)
    return float(look.people[:, at].mean()), float(look.judge[:, at].mean())


def writes(setting):
    """(2, 2) quality and style of the answers of both policies."""
    look, at = run(TASTE[setting]), feedback.SIZES.index(LABELS)
    return np.array([each[:, at].mean(axis=0) for each in (look.people_writes, look.judge_writes)])


def of_100(share):
    return f"{100 * share:.0f} of 100"


def opening(setting):
    judge, won, wrong = Judge(TASTE[setting]), wins(setting), asked(TASTE[setting])
    ring = judged.favoring(wrong) if won[0] - won[1] > BEHIND else ("", "")
    both = judged.labelers((of_people(), wrong), judged.chances(judge), writes(setting), won, ring)
    title = "Wrong choices of people and of an AI judge, and what a policy learns from them"
    return [scene.scene(title, "", judged.view("o", both, (4, 6), 4))]


OPENING = Figure(opening, feedback.run, Handle("The judge has a", SETTINGS, start=1, words=SETTINGS), stills=((0, 0),))

# ── whose errors lie where ──
WHO = ("people", "taste 0", "taste 0.25", "taste 0.75", "taste 2")
BIAS = dict(zip(WHO[1:], (0.0, 0.25, 0.75, 2.0)))
QUARTERS = ("far plainer", "plainer", "more styled", "far more styled")


def labeler(who):
    return of_people() if who == WHO[0] else asked(BIAS[who])


def errors(who):
    views = []
    for i, (name, wrong) in enumerate(zip(QUARTERS, labeler(who).wrong)):
        views.append(
            scene.view(
                f"e{i}",
                5.2,
                6.6,
                f"If the worse answer is {name}, {of_100(wrong)} labels are wrong.",
                scene.word(name, (0, 0.55), "strong"),
                scene.hundred(f"e{i}d", [("against", wrong), ("rest", 1 - wrong)], (0, 0.95)),
                scene.word(of_100(wrong), (0, 6.3), "", key=f"e{i}n"),
            )
        )
    return [scene.scene("Wrong labels, by the style of the worse answer", "[against] wrong, of 100 pairs", *views)]


def errors_said(who):
    name = "People label" if who == WHO[0] else f"A judge with a {who.replace(' ', ' of ')} labels"
    return f"{name} {of_100(labeler(who).agreement)} pairs correctly."


# ── where the reward points: the listed principles and the taste as the legs of a right angle ──
TASTES = (0.0, 0.25, 0.5, 0.75, 1.0)
LEG, ORIGIN = 3.4, (1.0, 4.2)  # squares: a length of 1, and where the arrows begin


def pointing(taste):
    (x, y), style = ORIGIN, LEG * taste
    length, turn = LEG * np.hypot(1, taste), -np.degrees(np.arctan(taste))
    beside, share = x + LEG + style + 0.7, judging.style_share(taste)
    marks = [
        scene.bar("p", (x, y), LEG, "given", LEG),
        scene.bar("s", (x + LEG, y - style), style, "styled", style),
        scene.needle("people", ORIGIN, 0, LEG, "followed"),
        scene.needle("judge", ORIGIN, turn, length, "against"),
        scene.word("principles: 1", (x + LEG / 2, y + LEG / 2 + 0.2), "strong", "middle"),
        scene.word("people's reward", (x + LEG + 0.3, y + 0.7)),
        scene.word("the judge's reward" if taste else "", (x, y - style - 0.4), key="j"),
        scene.word(f"style: {taste**2:.2g}" if taste else "", (beside, y - style / 2 - 0.3), "strong", key="w"),
        scene.word(f"{100 * share:.0f} % of the sum" if taste else "", (beside, y - style / 2 + 0.6), key="n"),
    ]
    words = f"The judge's arrow turns {-turn:.0f} degrees from people's toward style."
    title, note = "Where the reward points after very many labels", "squares: the squared lengths of its two parts"
    return [scene.scene(title, note, scene.view("a", 15.0, y + LEG + 0.2, words, *marks))]


def pointing_said(taste):
    return (
        f"With a taste of {taste:g}, the squared length is 1 + {taste**2:.2g}, "
        f"and {100 * judging.style_share(taste):.0f} % of it is style."
        if taste
        else "Without a taste, the judge's reward points where people's reward does."
    )


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
            "Win rate of the judge's policy, by KL after training",
            "% of comparisons; taste 0.5, endless labels; dotted: longer and shorter lists",
            line(np.tile([*FAR, np.nan], PRINCIPLES), 100 * other_lists, "other lists", 8, "other"),
            line(FAR, 100 * np.array(wins), counted(m, "principle"), 1),
            line([0, 16], [50, 50], "no better than before training", 8, "reference"),
            dots([FAR[int(np.argmax(wins))]], [100 * max(wins)], "the best", 1, "here"),
            label(16, min(100 * wins[-1] + 10, 98), f"{100 * style:.0f} % style", 1, "right"),
            x="KL from the policy before training, nats",
            x_range=(0, 16),
            y_range=(0, 105),
        )
    ]


def listed_said(m):
    wins = by_distance(m)
    top = int(np.argmax(wins))
    with_so_many = f"With {counted(m, 'principle')} on the list, the policy's wins"
    if top == len(FAR) - 1:
        return f"{with_so_many} rise to {100 * wins[-1]:.0f} of 100 at 16 nats."
    peak = f"reach {100 * wins[top]:.0f} of 100 at {counted(round(FAR[top]), 'nat')}"
    return f"{with_so_many} {peak} and fall to {100 * wins[-1]:.0f} at 16 nats."


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
            "of 100, logarithmic axis; dotted: the value that both approach",
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
    return (
        f"Of 100 drafts, {shares[0]:.0f} {plural(round(shares[0]), 'is', 'are')} harmful at first, {shares[1]:.1f} "
        f"after one round and {shares[-1]:.1f} after six."
    )


FIGURES = {
    "opening": OPENING,
    "errors": Figure(errors, feedback.errors, Handle("Whose labels", WHO, start=3, words=WHO), errors_said),
    "pointing": Figure(
        pointing, judging.style_share, Handle("The judge's taste", TASTES, start=TASTES.index(0.75)), pointing_said
    ),
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
