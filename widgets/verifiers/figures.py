"""The small figures of lesson 18: where checks draw the border, which way survives one, what chance errors cost, and
how rare a way may be to be found.
"""

from functools import cache

import numpy as np

from sim.verifiers import checkers, strategies
from widgets.frame.drawing.marks import bars, by_update, cell, dots, grid, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

# ── where four checks draw the border ──
EXPECTED = {"expected_answer": "323"}
WRITTEN = (
    "Final: 323",
    "  Final: 323  ",
    "Final: 0323",
    "**Final: 323**",
    "17*19 = 323",
    "Final: -323",
    "Final: 17*19",
    "Final: 13230",
    "321 or 322 or 323",
)
CHECKS = ("substring", "last_int", "eval_expr", "strict")
CALLED = ("answer occurs", "last number", "computes it", "one exact line")


def border(check):
    """Nine completions for 17*19, and what one check pays."""
    rows = []
    for text in WRITTEN:
        verdict = checkers.CHECKERS[check](EXPECTED, text)
        reason = f" · {verdict['details']['reason']}" if check == "strict" else ""
        paid = verdict["reward"]
        rows.append(["", [cell(f"{paid:.0f}", "", 0.9 * paid)], text.replace("  ", "␣␣") + reason])
    return [grid(rows, "Nine answers to 17*19", "the reward for each; ␣ is a blank at the start or end")]


def pays(check):
    paid = sum(checkers.CHECKERS[check](EXPECTED, text)["reward"] for text in WRITTEN)
    report = checkers.report(checkers.CHECKERS[check])
    return (
        f"This check accepts {paid:.0f} of these nine, {report.correct - len(report.refused)} of {report.correct} "
        f"correct answers in the golden set and {len(report.paid)} of {report.exploits} exploits."
    )


# ── which way survives the strict check ──
AT = tuple(range(0, 121, 10))
ETA = 0.2
SHORT = ("in<br>form", "chatty", "guess", "refuse", "echo<br>task", "list<br>all")


@cache
def strict_run():
    proxy, true = strategies.payoffs("mathematics", "strict")
    step = strategies.natural(proxy)
    return strategies.run_policy(proxy, true, strategies.start("mathematics"), step, ETA, AT[-1])


def shares(update):
    """Shares of the six ways along an exact training under the strict check, and what is solved."""
    run = strict_run()
    x = list(range(6))
    return [
        panel(
            "Six ways to answer",
            "share; dots: before training",
            bars(x, run.policies[update, 0], "share", 1),
            dots(x, run.policies[0, 0], "before", 8),
            x_range=(-0.6, 5.6),
            y_range=(0, 1.05),
            ticks=dict(tickvals=x, ticktext=list(SHORT), tickangle=0),
        ),
        panel(
            "Products solved",
            "share of the tasks",
            line(np.arange(AT[-1] + 1), run.true[:, 0], "solved", 1),
            dots([update], [run.true[update, 0]], "here", 1, "here"),
            x="update",
            x_range=(-3, AT[-1] + 5),
            y_range=(0, 0.75),
        ),
    ]


def survived(update):
    run = strict_run()
    in_form, chatty = run.policies[update, 0, :2]
    return (
        f"“In form”, correct 0.55 of the time, has a share of {in_form:.2f}. “Chatty”, correct 0.70 of the time, has "
        f"{chatty:.3f}."
    )


# ── what chance errors cost ──
ERRORS = (0, 10, 20, 30, 40, 50, 60)
P0, STEP, LAST = 0.2, 0.1, 150


def chance(percent):
    """The right one of two ways, by updates, where so many verdicts of each kind are wrong."""
    t = np.arange(LAST + 1)
    curves = {error: strategies.noise_two_mode(P0, 1 - error / 100, error / 100, STEP, t) for error in ERRORS}
    curve = curves[percent]
    return [
        by_update(
            "Share of the correct way",
            "of two ways, exact natural steps",
            *(line(t, curves[other], f"{other} %", 8, "other") for other in ERRORS if other != percent),
            line(t, curve, f"{percent} %", 1),
            label(LAST, 0.9 if curve[-1] < 0.3 else 0.06, f"{percent} % of the verdicts wrong", 1, "right"),
            updates=LAST,
            y_range=(0, 1.05),
        )
    ]


def slowed(percent):
    judgment = (100 - 2 * percent) / 100
    if judgment > 0:
        return f"TPR minus FPR is {judgment:.1f}, so training runs at {judgment:.1f} times its speed without errors."
    outcome = "nothing moves" if judgment == 0 else "the wrong way wins"
    return f"Correct answers do not pass more often than wrong ones, so {outcome}."


# ── how rare a way may be ──
PRIORS = (0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2)
RUNS, UPDATES = 6, 400


@cache
def found(prior, sampled):
    """A Run under the check that asks whether the answer occurs."""
    proxy, true = strategies.payoffs("mathematics", "substring")
    step = strategies.grouped(proxy, np.random.default_rng(0)) if sampled else strategies.natural(proxy)
    return strategies.run_policy(
        proxy, true, strategies.start("mathematics", prior), step, 1.0, UPDATES, RUNS if sampled else 1
    )


def prior(share):
    """What is solved along six sampled trainings, and at the end, by the share that the exploit begins with."""
    at = np.arange(0, UPDATES + 1, 5)
    ends = {sampled: [float(found(q, sampled).true[-1].mean()) for q in PRIORS] for sampled in (True, False)}
    solved = found(share, True).true[at]
    return [
        by_update(
            "Products solved",
            "share; six sampled runs",
            *(line(at, curve, "solved", 1, "seed" if i else "") for i, curve in enumerate(solved.T)),
            updates=UPDATES,
            y_range=(0, 0.8),
        ),
        panel(
            "Solved after 400 updates",
            "by the first share of “list all”",
            line(PRIORS, ends[True], "sampled groups", 1),
            line(PRIORS, ends[False], "exact natural steps", 2),
            dots([share], [ends[True][PRIORS.index(share)]], "here", 1, "here"),
            label(0.001, 0.71, "sampled groups", 1),
            label(0.001, 0.03, "exact natural steps", 2),
            x="first share, log scale",
            x_range=(0.0008, 0.22),
            y_range=(0, 0.8),
            log="x",
            ticks=dict(tickvals=[0.001, 0.01, 0.1], ticktext=["0.001", "0.01", "0.1"]),
        ),
    ]


def rare(share):
    run = found(share, True)
    return (
        f"At a first share of {share:g}, {run.true[-1].mean():.2f} is solved at the end of six sampled runs, and "
        f"{found(share, False).true[-1, 0]:.2f} with exact natural steps."
    )


FIGURES = {
    "border": Figure(border, checkers.report, Handle("Check", CHECKS, start=3, words=CALLED), pays),
    "shares": Figure(shares, strategies.run_policy, Handle("Update", AT, start=12), survived),
    "chance": Figure(
        chance,
        strategies.noise_two_mode,
        Handle("Wrong verdicts", ERRORS, start=3, words=tuple(f"{e} %" for e in ERRORS)),
        slowed,
    ),
    "prior": Figure(prior, strategies.run_policy, Handle("First share", PRIORS, start=4, symbol="q"), rare),
}
