"""The small figures of lesson 01: whose answers are learned, four draws, one number for a chain, eight draws."""

from functools import cache

import numpy as np

from sim.experiments import after_sft, five_answers
from sim.experiments.five_answers import ANSWERS, FOUR, REWARD, SHOWN
from sim.worlds import bandit, tasks, tinylm
from widgets.frame.marks import bars, by_update, cell, dots, grid, label, line, panel
from widgets.frame.small_figures import Figure, Handle
from widgets.frame.values import signed

FIVE = tuple(name.replace(": ", ":<br>") for name in ANSWERS)  # two lines under a narrow bar
UPDATES, EVERY, SUM = 60, 10, 75  # SUM is the example of 7 + 5


def ended(title, note, before, after, digits):
    """Five probabilities, and a dot where each began."""
    return panel(
        title,
        note,
        bars(FIVE, after, "after", 1, text=[f"{p:.{digits}f}" for p in after]),
        dots(FIVE, before, "before", 8),
        y_range=(0, 1),
    )


def moved(title, note, change, digits, span):
    """Five signed numbers as bars from zero."""
    return panel(
        title,
        note,
        bars(FIVE, change, note, 1, text=[signed(v, digits) if abs(v) > 1e-9 else "0" for v in change]),
        y_range=span,
    )


# ── whose answers ──
IMITATED, REWARDED = "people's answers", "its own, checked"


@cache
def sums(whose):
    """Right sums of a hundred, by update."""
    if whose == IMITATED:
        seen = after_sft.imitated(UPDATES, EVERY)
    else:
        seen = after_sft.rewarded(UPDATES, EVERY, bandit.leave_one_out)
    return np.array([100 * after_sft.start(), *(100 * rate for _, rate, *_ in seen)])


def answers(whose):
    last = five_answers.imitated() if whose == IMITATED else five_answers.rewarded()
    other = REWARDED if whose == IMITATED else IMITATED
    x = np.arange(0, UPDATES + 1, EVERY)
    return [
        ended("Five answers to 7 + 5", "probability at the end; dots: demonstrations", SHOWN, last, 2),
        by_update(
            "A language model on a hundred sums",
            "right of 100, on average",
            line(x, sums(other), other, 8, "other"),
            line(x, sums(whose), whose),
            dots([0], sums(whose)[:1], "start", 1),
            label(UPDATES, float(sums(whose)[-1]) + 3, whose, 1, "right"),
            updates=UPDATES,
            y_range=(0, 104),
        ),
    ]


# ── four draws ──
COMPARED = REWARD[FOUR] - bandit.leave_one_out(REWARD[FOUR])


@cache
def four(compared):
    return five_answers.by_draw(SHOWN, FOUR, COMPARED if compared else REWARD[FOUR])


def draws(n):
    span = (-0.06, 0.09)
    return [
        moved(title, "change of probability", four(compared)[1][n] - SHOWN, 3, span)
        for title, compared in (("Weight R", False), ("Weight R less the others' mean", True))
    ]


def pushed(n):
    if n == 0:
        return "Before the first draw: the shares of the demonstrations."
    if n == len(FOUR):
        ends = [four(compared)[1][n][0] for compared in (False, True)]
        return f'After all four, "Final: 12" is at {ends[0]:.3f} with R and at {ends[1]:.3f} compared.'
    name, paid = ANSWERS[FOUR[n - 1]], REWARD[FOUR[n - 1]]
    weight = "1" if COMPARED[n - 1] > 0 else "−1/3"
    return f'Draw {n}, "{name}", is paid {paid:.0f}: its weight is {paid:.0f} with R and {weight} compared.'


# ── one number for a chain ──
CHAINS = np.array([[tinylm.FINAL, 1, 2, tinylm.EOS], [tinylm.FINAL, 1, 3, tinylm.EOS]])
WRITTEN = (("Final:", "1", "2", "end"), ("Final:", "1", "3", "end"))
PAID = np.array([1.0, 0.0])


@cache
def chain_logp():
    """Log-probability of each token of both completions, (2, 4), nats."""
    tokens = np.full((2, tasks.Add.T), tinylm.PAD)
    tokens[:, :4] = CHAINS
    mask = (tokens != tinylm.PAD).astype(float)
    return tasks.checkpoint("add").token_logp(tasks.Add().prompt_ids(np.array([SUM, SUM])), tokens, mask)[0][:, :4]


def chain(quantity):
    logp, less = chain_logp(), PAID - bandit.leave_one_out(PAID)
    shown = {
        "probability": lambda i, t: (f"{np.exp(logp[i, t]):.3f}", float(np.exp(logp[i, t]))),
        "log-prob": lambda i, t: (signed(logp[i, t]), float(np.exp(logp[i, t]))),
        "R": lambda i, t: (f"{PAID[i]:.0f}", float(PAID[i])) if PAID[i] else ("none", None),
        "R less the other's": lambda i, t: (signed(less[i], 0), float(less[i])),
    }[quantity]
    whole = {
        "probability": [f"product {p:.3f}" for p in np.exp(logp.sum(axis=1))],
        "log-prob": [f"sum {signed(s)}" for s in logp.sum(axis=1)],
    }.get(quantity, [f"reward {paid:.0f}" for paid in PAID])
    rows = [
        [word, [cell(token, *shown(i, t)) for t, token in enumerate(WRITTEN[i])], whole[i]]
        for i, word in enumerate(("right", "wrong"))
    ]
    return [grid(rows, diverging=quantity.startswith("R less"))]


CELLS = {
    "probability": "Probability of each token after those before it; their product is that of the completion.",
    "log-prob": "Its logarithm; the sum is that of the completion.",
    "R": "Weight of each token's push: the one number that came out, four times over.",
    "R less the other's": "Where both wrote the same, +1 and −1 cancel: what is left moves the last digit.",
}


# ── eight draws, all paid ──
OFFSET = 10


@cache
def eight():
    arms = five_answers.first_batch()
    return arms, five_answers.by_draw(SHOWN, arms, REWARD[arms] + OFFSET)


def all_paid(n):
    _, (pushes, policies) = eight()
    return [
        ended("Probability", "after the draws so far; dots: before", SHOWN, policies[n], 3),
        moved("Push on each logit", "sum of the draws so far", pushes[n], 2, (-2.2, 3.2)),
    ]


def so_far(n):
    arms, (pushes, policies) = eight()
    if n == 0:
        return "Before the update: the shares of the demonstrations."
    if n == len(arms):
        right, hmm = policies[n][0], signed(pushes[n][4])
        return (
            f'After all eight: "hmm", paid {OFFSET}, is pushed by {hmm}; "Final: 12", paid most, fell to {right:.2f}.'
        )
    paid = REWARD[arms[n - 1]] + OFFSET
    return f'Draw {n}, "{ANSWERS[arms[n - 1]]}", is paid {paid:.0f}: it lifts itself and presses all by their shares.'


FIGURES = {
    "answers": Figure(
        answers,
        five_answers.rewarded,
        Handle("It learns from", (IMITATED, REWARDED), start=1, words=(IMITATED, REWARDED)),
        lambda whose: (
            f"From {sums(whose)[0]:.0f} right sums of 100 to {sums(whose)[-1]:.0f} in {UPDATES} updates, "
            f"from the same start."
        ),
    ),
    "draws": Figure(
        draws,
        five_answers.by_draw,
        Handle("Draws", tuple(range(5)), start=4, words=("none", "1st", "2nd", "3rd", "all four")),
        pushed,
    ),
    "chain": Figure(
        chain, tasks.checkpoint, Handle("In each cell", tuple(CELLS), start=3, words=tuple(CELLS)), CELLS.get
    ),
    "all_paid": Figure(
        all_paid,
        five_answers.by_draw,
        Handle("Draws", tuple(range(9)), start=8, words=tuple(f"{n} of 8" for n in range(9))),
        so_far,
    ),
}
