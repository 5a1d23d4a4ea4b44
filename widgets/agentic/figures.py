"""The small figures of lesson 08: who wrote a trajectory, how loud its tokens are, the tool's share, four masks."""

from functools import cache
from itertools import pairwise

import numpy as np

from sim.experiments import tool_masking
from sim.words import plural
from sim.worlds import tinylm
from widgets.frame.drawing.marks import bars, cell, dots, grid, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

UPDATES, EVERY, LAST, FIRST = 60, 5, 5, 10
REPLY, REPLIES, SEEDS = 8, (2, 4, 8, 12, 16), 3


@cache
def trajectory():
    """The first trajectory of the run with replies of eight tokens, before any update."""
    step = next(tool_masking.tool_run(REPLY, steps=1))
    return [getattr(step, name)[step.valid > 0] for name in ("tokens", "own", "logp", "push")]


def turns(own):
    """(first, last + 1) of each author's turns."""
    cuts = [0, *(np.flatnonzero(np.diff(own)) + 1).tolist(), len(own)]
    return list(pairwise(cuts))


def by_turn(cells):
    """A row a turn: who writes, and the cells."""
    own = trajectory()[1]
    rows = [["policy" if own[first] else "tool", cells[first:last], ""] for first, last in turns(own)]
    return [grid(rows, "One trajectory", "one row per turn")]


def named():
    return [tinylm.brief(token) for token in trajectory()[0]]


# ── who wrote it ──
def authors(quantity):
    _, own, logp, push = trajectory()

    def spelled(value, digits):
        return f"{round(float(value), digits) + 0:.{digits}f}".replace("-", "−")

    text_and_tone = {
        "written by": lambda i: ("policy", 0.8) if own[i] else ("tool", None),
        "log-prob": lambda i: (spelled(logp[i], 1), float(np.exp(logp[i]))),
        "push": lambda i: (spelled(push[i], 2), float(push[i]) / 2**0.5),
    }[quantity]
    return by_turn([cell(word, *text_and_tone(i)) for i, word in enumerate(named())])


SAID = {
    "written by": "The policy asks for entry 8 and gets seven digits, the last of which is the entry.",
    "log-prob": "Log-probability under the policy: 0 means certain, −12.9 means one in four hundred thousand.",
    "push": "Length of a token's push on the logits if it has weight 1. No push is longer than 1.41.",
}


# ── how loud ──
@cache
def readings():
    return tuple(tool_masking.reread(UPDATES, length=REPLY))


def loudness(update):
    step = readings()[update]
    place = np.arange(1, len(step.own) + 1)
    settings = dict(x="position", x_range=(0.3, len(place) + 0.7), stacked=True)

    def by_author(y, top):
        yield from (bars(place, y * step.own, "policy", 1), bars(place, y * (1 - step.own), "tool", 2))
        yield from (label(1, top, "policy", 1), label(5.5, top, "tool", 2), label(10, top, "policy", 1))

    return [
        panel(
            "The policy's surprise at each token",
            "−log π in nats",
            *by_author(-step.logp, 18),
            y_range=(0, 21),
            **settings,
        ),
        panel(
            "The push of each token",
            "length of d log π / d logits",
            *by_author(step.push, 1.45),
            y_range=(0, 1.7),
            **settings,
        ),
    ]


def pulls(update):
    step = readings()[update]
    own, tool = step.push[step.own > 0], step.push[step.own == 0]
    when = "Before the first update" if update == 0 else f"After update {update}"
    return f"{when}, the policy's tokens push with {own.max():.2f} at most, the tool's with {tool.min():.2f} at least."


# ── the tool's share, and what comes of it ──
@cache
def unmasked(length):
    """By seed: the tool's share of the tokens, of the first ten gradients, and right at the end, (SEEDS,) each."""
    runs = [list(tool_masking.tool_run(length, masked=False, seed=seed)) for seed in range(SEEDS)]
    tokens = [
        1 - next(tool_masking.tool_run(length, diluted=True, seed=seed, steps=1)).dilution for seed in range(SEEDS)
    ]
    gradient = [np.mean([step.tool_share for step in run[:FIRST]]) for run in runs]
    return np.array(tokens), np.array(gradient), np.array([ended(run) for run in runs])


def ended(run):
    return np.mean([step.accuracy for step in run[-LAST:]])


def shares(length):
    tokens, gradient = (np.array([unmasked(reply)[i].mean() for reply in REPLIES]) for i in (0, 1))
    at, others = REPLIES.index(length), [reply for reply in REPLIES if reply != length]
    x = dict(x="tokens in the tool's reply", x_range=(0, 18), ticks=dict(tickvals=list(REPLIES)))
    return [
        panel(
            "The tool's share",
            "of the tokens and of the first ten gradients",
            line(REPLIES, tokens, "of the tokens", 8),
            line(REPLIES, gradient, "of the gradient", 2),
            dots([length], [tokens[at]], "this reply", 8),
            dots([length], [gradient[at]], "this reply", 2),
            label(17.6, 0.9, "of the gradient", 2, "right"),
            label(17.6, 0.46, "of the tokens", 8, "right"),
            y_range=(0, 1.05),
            **x,
        ),
        panel(
            "Pass rate at the end",
            "without a mask, last five updates, three seeds",
            dots(
                np.repeat(others, SEEDS), np.concatenate([unmasked(reply)[2] for reply in others]), "other replies", 8
            ),
            dots([length] * SEEDS, unmasked(length)[2], "this reply", 1),
            y_range=(-0.05, 1.05),
            **x,
        ),
    ]


def led(length):
    tokens, gradient, right = unmasked(length)
    return (
        f"Replies of {length} tokens make up {100 * tokens.mean():.0f} % of the tokens and {100 * gradient.mean():.0f} "
        f"% of the gradient. The pass rate ends at {spread(right)}."
    )


def spread(right):
    low, high = (f"{end:.2f}" for end in (right.min(), right.max()))
    return low if low == high else f"{low} to {high}"


# ── four masks ──
MASKS = {
    "in place": {},
    "none": dict(masked=False),
    "one to the right": dict(shift=1),
    "one to the left": dict(shift=-1),
}


def covered(mask):
    """1 where the token is in the loss, (T,)."""
    own = trajectory()[1]
    return (
        tool_masking.shifted(own[None], np.ones((1, len(own))), mask.get("shift", 0))[0]
        if mask.get("masked", True)
        else np.ones(len(own))
    )


def counted(name):
    own, inside = trajectory()[1], covered(MASKS[name])
    tools, left_out = int((inside * (1 - own)).sum()), int(((1 - inside) * own).sum())
    return (
        f"The loss covers {int(inside.sum())} of {len(own)} tokens, and {tools or 'none'} of them "
        f"{plural(max(tools, 1), 'is', 'are')} the tool's. Of the policy's own tokens, {left_out or 'none'} "
        f"{plural(max(left_out, 1), 'is', 'are')} left out."
    )


def masks(name):
    own, inside = trajectory()[1], covered(MASKS[name])
    tones = [("in", 0.8 if own[i] else -0.8) if inside[i] else ("mask", None) for i in range(len(own))]
    (table,) = by_turn([cell(word, *tone) for word, tone in zip(named(), tones, strict=True)])
    return [dict(table, diverging=True)]


FIGURES = {
    "authors": Figure(
        authors,
        tool_masking.tool_run,
        Handle("Content of each cell", tuple(SAID), start=0, words=tuple(SAID)),
        SAID.get,
    ),
    "loudness": Figure(
        loudness,
        tool_masking.reread,
        Handle(
            "Update",
            tuple(range(0, UPDATES + 1, EVERY)),
            start=UPDATES // EVERY,
            words=tuple(f"{n} of {UPDATES}" for n in range(0, UPDATES + 1, EVERY)),
        ),
        pulls,
    ),
    "shares": Figure(
        shares, tool_masking.tool_run, Handle("Tokens per reply", REPLIES, start=4, words=tuple(map(str, REPLIES))), led
    ),
    "masks": Figure(masks, tool_masking.shifted, Handle("Mask", tuple(MASKS), start=2, words=tuple(MASKS)), counted),
}
