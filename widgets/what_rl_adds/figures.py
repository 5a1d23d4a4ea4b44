"""The small figures of lesson 01: a hundred answers under two settings, whose answers are learned, what each draw of an
update pushes, one number for a chain.
"""

from dataclasses import replace
from functools import cache

import numpy as np

from sim.experiments import five_answers
from sim.experiments.five_answers import ANSWERS, FOUR, REWARD, SHOWN
from sim.words import counted
from sim.worlds import bandit, tasks, tinylm
from widgets.frame.drawing import piles, scene, trays
from widgets.frame.drawing.marks import cell, grid
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.frame.drawing.written import signed

SUM = 75  # the example of 7 + 5

# ── a hundred answers, update by update, under two settings ──
SETTINGS = ("rewards of 0 and 1", "10 added to each")
ADDED = dict(zip(SETTINGS, (0, 10)))  # to every reward
AT = (0, 1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 40, 55, 60, 80, 120, 200)
LAST = AT[-1]
UNEXPLAINED = [replace(pile, note="") for pile in piles.FIVE]  # beside piles that say why they are paid nothing
FEW = 2  # of a hundred: what has fewer is gone


@cache
def runs(name):
    return five_answers.uncompared(ADDED[name])


def hundred(name, update):
    pi = runs(name)[update, 0]
    gone = piles.hundredths(pi)[0] < FEW
    return [
        scene.scene(
            "A hundred answers from the model, one dot for each",
            "the model learns from eight of its own answers in each update",
            piles.view("b", "before training", UNEXPLAINED, SHOWN, SHOWN, role="before"),
            piles.view(
                "n",
                "before training" if update == 0 else f"after update {update}",
                piles.FIVE,
                SHOWN,
                pi,
                (0, "the correct answer is gone", "broken") if gone else None,
            ),
            given=piles.ASKED,
        )
    ]


def outcome(name, update):
    return f"{wrong(name) or 'None'} of 20 runs fail." if update == LAST else ""


def wrong(name):
    """Runs that end with the right answer below one half."""
    return int((runs(name)[-1, :, 0] < 0.5).sum())


OPENING = Figure(
    hundred,
    five_answers.uncompared,
    Handle("Run", SETTINGS, start=1),
    outcome,
    Time(
        "Update",
        AT,
        tuple(f"update {update}" for update in AT),
        start=len(AT) - 1,
        ticks={i: str(AT[i]) for i in (0, 1, 2, 3, 5, 7, 9, 10, 11, 13, 15, 16)},
        strip=Strip(
            "Correct answers, of 100",
            lambda: [[runs(name)[update, 0, 0] for update in AT] for name in SETTINGS],
            lambda name, update: str(piles.hundredths(runs(name)[update, 0])[0]),
        ),
        milliseconds=450,
        holds={0: 1000, 1: 1800, 2: 1500},
    ),
    stills=((1, 1), (0, len(AT) - 1)),
)


# ── whose answers ──
IMITATED, REWARDED = "people's answers", "its own, checked"
LEARNING = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40, 60, 80, 100, 150, 200)


@cache
def learned(whose):
    return five_answers.imitated() if whose == IMITATED else five_answers.rewarded()


def answers(whose, update):
    many, shown = piles.hundredths(learned(whose)[update]), piles.hundredths(SHOWN)
    as_shown = whose == IMITATED and update > 0 and many == shown
    return [
        scene.scene(
            "A hundred answers to 7 + 5, and a hundred demonstrations",
            "each dot is an answer; below each answer, how many demonstrations give it",
            piles.view(
                "a",
                "before training" if update == 0 else f"after update {update}",
                [replace(pile, note=f"shown {n} times") for pile, n in zip(piles.FIVE, shown)],
                SHOWN,
                learned(whose)[update],
                (3, "its teachers’ mistakes, too", "look") if as_shown else None,
            ),
        )
    ]


def learns(whose, update):
    right = piles.hundredths(learned(whose)[update])[0]
    if update == 0:
        return (
            "It begins with five answers that are equally likely."
            if whose == IMITATED
            else "It begins where imitation ended."
        )
    if whose == IMITATED:
        shown = piles.hundredths(SHOWN)[0]
        return f"The policy is correct {right} times in 100. Its demonstrations are correct {shown} times in 100."
    return f"The policy is correct {right} times in 100, more often than the demonstrations."


# ── the draws of one update ──
ZERO, LONG, HEAD, PITCH = 9.3, 4.4, 4.3, 1.5  # in squares: where no push is, half a rail, the first row, row to row
FACTORS = ("reward R", "R minus the others’ mean")
OFFSET = 10


@cache
def update_of(factor):
    """(arms, what is paid, the factor of each, pushes, policies) of four draws, or of eight that are all paid."""
    arms = five_answers.first_batch() if factor == OFFSET else FOUR
    paid = REWARD[arms] + (OFFSET if factor == OFFSET else 0)
    factors = paid - bandit.leave_one_out(paid) if factor == FACTORS[1] else paid
    return arms, paid, factors, *five_answers.by_draw(SHOWN, arms, factors)


def pushes_of(factor, n, most, ring=None):
    """The draws in their tray, the n-th ringed; below, what the first n push each logit by, and the probabilities.
    `most` is the push at the end of a rail; `ring` a pile and its words.
    """
    arms, paid, factors, pushes, policies = update_of(factor)
    cells = [(trays.tone(factors[i]), bool(REWARD[arms[i]])) if i < n else (0, False) for i in range(len(arms))]
    at = max(n - 1, 0)
    marks = [
        scene.word("samples", (0, 1.05), "head"),
        scene.trays("d", [cells], [(HEAD, 0.5)], 1.6),
        scene.ring(
            "w",
            (HEAD + 1.6 * at, 0.5),
            f"“{ANSWERS[arms[at]]}”, reward {paid[at]:.0f}" if n else "",
            n > 0,
            (0.82, 0.68),
            role="look",
            anchor="start" if at < len(arms) / 2 else "end",
        ),
        scene.word("down", (ZERO - 0.4, HEAD - 0.3), "head", "end"),
        scene.word("up", (ZERO + 0.4, HEAD - 0.3), "head"),
        scene.word("of 100", (piles.WIDE, HEAD - 0.3), "head", "end"),
        scene.post((ZERO, HEAD), PITCH * 5, "zero"),
    ]
    for i, answer in enumerate(ANSWERS):
        y, push = HEAD + PITCH * i + 0.75, float(pushes[n][i])
        sign = 1 if push > 0 else -1
        marks += [
            scene.word(answer, (0, y), "strong code"),
            scene.word(draws_in_words(arms[:n], i), (0, y + 0.65), "head", key=f"c{i}"),
            scene.rail((ZERO - LONG, y), 2 * LONG),
            # 12 / 26 squares back: an arrow leaves room for a bead, and this one starts at none
            scene.arrow(
                f"a{i}", (ZERO - sign * 12 / 26, y + 0.2), LONG * push / most, "own up" if sign > 0 else "own down"
            ),
            scene.word(f"{100 * policies[n][i]:.1f}", (piles.WIDE, y + 0.2), "strong", "end", key=f"p{i}"),
        ]
    pile, words = ring or (0, "")
    place = (piles.WIDE - 1.5, HEAD + PITCH * pile + 0.25)
    marks.append(scene.ring("r", place, words, ring is not None, (1.6, 1.0), "left"))
    moves = ", ".join(f"{answer} by {signed(push)}" for answer, push in zip(ANSWERS, pushes[n]))
    return scene.view(
        "u", piles.WIDE, HEAD + PITCH * 5 + 0.3, f"After {counted(n, 'sample')} the logits have moved: {moves}.", *marks
    )


def draws_in_words(arms, pile):
    many = int((arms == pile).sum())
    return ("not sampled", "sampled once", "sampled twice")[many] if many < 3 else f"sampled {many} times"


def draws(factor, n):
    return [
        scene.scene(
            "One update: four samples and their pushes",
            f"a check: correct; [above-2] pushes its own answer up, [below-2] pushes it down; the factor of a sample "
            f"is {'its reward' if factor == FACTORS[0] else 'its reward minus the mean of the others'}",
            pushes_of(factor, n, 0.55),
        )
    ]


def pushed(factor, n):
    arms, paid, factors, _, policies = update_of(factor)
    if n == 0:
        return "Before the first sample, a hundred answers are distributed like the demonstrations."
    if n == len(arms):
        return f"After all four samples, “Final: 12” has risen from 30 to {100 * policies[n][0]:.1f} of 100."
    named = {1: "1", 0: "0"}.get(round(factors[n - 1], 6), "−1/3")
    sample = f"Sample {n}, “{ANSWERS[arms[n - 1]]}”, has a reward of {paid[n - 1]:.0f}"
    return f"{sample}. Its push is multiplied by {named}."


def all_paid(n):
    end = n == len(update_of(OFFSET)[0])
    return [
        scene.scene(
            "One update: eight samples with rewards of 10 or 11",
            "a check: correct; a sample pushes its own answer up, and all five down by their shares",
            pushes_of(OFFSET, n, 3.4, (0, "top reward, but fell") if end else None),
        )
    ]


def so_far(n):
    arms, paid, _, _, policies = update_of(OFFSET)
    if n == 0:
        return "Before the update, a hundred answers are distributed like the demonstrations."
    if n == len(arms):
        low, high = 100 * policies[n][0], 100 * policies[n][3]
        return (
            f"“Final: 12” was sampled 3 times and fell from 30 to {low:.0f} of 100. “12” was sampled 4 times and rose "
            f"to {high:.0f}."
        )
    sample = f"Sample {n}, “{ANSWERS[arms[n - 1]]}”, has a reward of {paid[n - 1]:.0f}"
    return f"{sample}. It pushes its own answer up and lowers all five by their shares."


# ── one number for a chain ──
CHAINS = np.array([[tinylm.FINAL, 1, 2, tinylm.EOS], [tinylm.FINAL, 1, 3, tinylm.EOS]])
WRITTEN = (("Final:", "1", "2", "end"), ("Final:", "1", "3", "end"))
PAID = np.array([1.0, 0.0])
MINUS = "R minus the other’s"


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
        MINUS: lambda i, t: (signed(less[i], 0), float(less[i])),
    }[quantity]
    whole = {
        "probability": [f"product {p:.3f}" for p in np.exp(logp.sum(axis=1))],
        "log-prob": [f"sum {signed(s)}" for s in logp.sum(axis=1)],
    }.get(quantity, [f"reward {paid:.0f}" for paid in PAID])
    rows = [
        [word, [cell(token, *shown(i, t)) for t, token in enumerate(WRITTEN[i])], whole[i]]
        for i, word in enumerate(("correct", "wrong"))
    ]
    return [grid(rows, diverging=quantity == MINUS)]


CELLS = {
    "probability": "Each token’s probability after those before it. Their product is the completion’s probability.",
    "log-prob": "The logarithm of each probability. Their sum is the log-probability of the completion.",
    "R": "The factor of each token’s push: the one reward at the end, used for all four tokens.",
    MINUS: "Where both completions have the same token, +1 and −1 cancel. What remains moves the last digit.",
}


def by_draw(n):
    """The time of a scene that goes through the draws of an update."""
    return Time(
        "Sample",
        tuple(range(n + 1)),
        ("no sample yet", *(f"sample {i} of {n}" for i in range(1, n + 1))),
        start=n,
        ticks={i: str(i) for i in range(n + 1)},
        milliseconds=1400,
    )


FIGURES = {
    "opening": OPENING,
    "answers": Figure(
        answers,
        five_answers.rewarded,
        Handle("It learns from", (IMITATED, REWARDED), start=0, words=(IMITATED, REWARDED)),
        learns,
        Time(
            "Update",
            LEARNING,
            tuple(f"update {update}" for update in LEARNING),
            start=len(LEARNING) - 1,
            ticks={i: str(LEARNING[i]) for i in (0, 2, 4, 6, 8, 11, 14, 16, 18)},
            strip=Strip(
                "Correct answers, of 100",
                lambda: [[learned(whose)[update, 0] for update in LEARNING] for whose in (IMITATED, REWARDED)],
                lambda whose, update: str(piles.hundredths(learned(whose)[update])[0]),
            ),
        ),
        stills=((1, len(LEARNING) - 1),),
    ),
    "draws": Figure(
        draws,
        five_answers.by_draw,
        Handle("Factor", FACTORS, start=0, words=FACTORS),
        pushed,
        by_draw(len(FOUR)),
        stills=((1, len(FOUR)),),
    ),
    "chain": Figure(
        chain, tasks.checkpoint, Handle("Shown in each cell", tuple(CELLS), start=3, words=tuple(CELLS)), CELLS.get
    ),
    "all_paid": Figure(all_paid, five_answers.by_draw, None, so_far, by_draw(8), stills=((0, 4),)),
}
