"""The small figures of lesson 00: the four lines on four completions, the best of K, and two models that are equally
good.
"""

from functools import cache

import numpy as np

from sim.estimators import equal_models
from sim.experiments import cut_arrows, running_batch
from sim.worlds import modsum
from widgets.frame.marks import cell, dots, grid, label, line, panel, region
from widgets.frame.small_figures import Figure, Handle

NAMES = ("1", "2", "3", "stop")
RATE = cut_arrows.LEARNING_RATE  # of the one step, as in the instrument


@cache
def start():
    """(4,) pass rates of the prompts before training."""
    return modsum.exact(modsum.Policy().params["theta"])["pass_rate"]


@cache
def stepped():
    return running_batch.one_step(running_batch.RIGHT, RATE)


# ── four lines ──
SAMPLED, SCORED, PUSHED, HELD = "1 sample", "2 score", "3 push", "4 hold"


def four_lines(which):
    """The rows as the line leaves them; the words beside them come with the verifier."""
    ratio, _ = stepped()
    rows = []
    for i, (row, reward, total) in enumerate(zip(running_batch.ROWS, running_batch.RIGHT, running_batch.sums())):
        scored = which != SAMPLED
        cells = [cell(NAMES[token], *written(which, reward, ratio[i, t])) for t, token in enumerate(row)]
        words = f"sum {total} · reward {reward:.0f}" if scored else ""
        rows.append([("wrong", "right")[int(reward)] if scored else f"row {i + 1}", cells, words])
    return [grid(rows, diverging=which == HELD)]


def written(which, reward, ratio):
    """(words, tone) of one token."""
    if which == PUSHED:
        return ("↑ up", 0.5) if reward else ("none", None)
    if which == HELD:
        return f"×{ratio:.2f}", float(np.clip(np.log(ratio) / np.log(4), -1, 1))
    return "", 0.0


def said(which):
    rate = stepped()[1]
    return {
        SAMPLED: "Line 1: four completions of one prompt, each drawn token by token.",
        SCORED: "Line 2: the verifier adds up the digits. 5 and 12 are right and get 1, the others 0.",
        PUSHED: (
            f"Line 3: what was paid is pushed up. After one step this prompt is right {rate:.2f} of the time, "
            f"before it {start()[running_batch.PROMPT]:.2f}."
        ),
        HELD: "Line 4: how many times as likely as at the start each token is after that step. A price charges for it.",
    }[which]


# ── the best of K ──
KS = (1, 2, 4, 8, 16, 32, 64)


def best(K):
    x = np.geomspace(1, 64, 49)
    one, kept = start().mean(), cut_arrows.best_of(start(), K).mean()
    return [
        panel(
            "The untrained policy",
            "share right, exact, mean of four prompts",
            line(x, [cut_arrows.best_of(start(), n).mean() for n in x], "best of K", 2),
            line(x, np.full(len(x), one), "one completion", 1),
            dots([K], [kept], "best of K", 2),
            dots([K], [one], "one completion", 1),
            label(64, 0.96, "best of K", 2, "right"),
            label(64, one + 0.02, "one completion", 1, "right"),
            x="completions a prompt, K",
            x_range=(0.9, 71),
            y_range=(0, 1.1),
            log="x",
            ticks=dict(tickvals=list(KS), ticktext=[str(K) for K in KS]),
        )
    ]


# ── two models that are equally good ──
PROMPTS = (25, 50, 100, 200, 400, 800, 1600)
APART = 5  # points


def coin(n):
    points, probability = equal_models.difference(n)
    seen = np.abs(points) <= 40
    return [
        panel(
            "Difference of two equal models",
            "points; likelihood relative to no difference",
            region(-APART, APART),
            line(points[seen], probability[seen] / probability.max(), "difference", 1),
            label(-39, 0.9, "shaded: less than", 0),
            label(-39, 0.78, "five points", 0),
            x="difference in points",
            x_range=(-40, 40),
            y_range=(0, 1.08),
        )
    ]


FIGURES = {
    "lines": Figure(
        four_lines,
        running_batch.one_step,
        Handle("Line", (SAMPLED, SCORED, PUSHED, HELD), start=2, words=(SAMPLED, SCORED, PUSHED, HELD)),
        said,
    ),
    "best": Figure(
        best,
        cut_arrows.best_of,
        Handle("Completions a prompt", KS, start=len(KS) - 1, symbol="K"),
        lambda K: (
            f"Best of {K}: right {cut_arrows.best_of(start(), K).mean():.3f} of the time; one completion: "
            f"{start().mean():.3f}, whatever K is."
        ),
    ),
    "coin": Figure(
        coin,
        equal_models.difference,
        Handle("Prompts", PROMPTS, start=PROMPTS.index(100), words=tuple(f"{n:,}" for n in PROMPTS)),
        lambda n: (
            f"Asked {n:,} prompts once, two equally good models differ by five points or more "
            f"{100 * equal_models.at_least(n, APART):.2g} % of the time."
        ),
    ),
}
