"""The small figures of lesson 11: the running batch under GRPO, one group of eight, what a group's size buys for a
completion, and what it does to the mean step.
"""

import numpy as np

from sim.estimators import group_baselines
from sim.experiments import running_batch
from widgets.frame.marks import bars, cell, dots, grid, label, line, panel
from widgets.frame.small_figures import Figure, Handle
from widgets.frame.values import signed

NAMES = ("1", "2", "3", "stop")


# ── the batch ──
SAID = {
    "reward": "Reward of the completion: one number, the same for all its tokens.",
    "less mean": "Reward less the mean of the four, which is one half.",
    "over deviation": "That, divided by the standard deviation of the four rewards, 0.58.",
    "over length": "That, over its tokens: the same mistake costs 1.5 times as much in two as in three.",
}


def pushes(quantity):
    """What every token of each row is pushed by, (4,)."""
    R = running_batch.RIGHT[None]
    lengths = np.array([len(row) for row in running_batch.ROWS])
    return {
        "reward": R[0],
        "less mean": group_baselines.less_mean(R)[0],
        "over deviation": group_baselines.z_score(R)[0],
        "over length": group_baselines.z_score(R)[0] / lengths,
    }[quantity]


def written(quantity):
    """The grid's cells hold the chosen quantity; all tokens of a row have the same."""
    digits = {"reward": 0, "less mean": 1}.get(quantity, 3)
    rows = [
        [
            ("wrong", "right")[int(reward)],
            [
                cell(NAMES[token], f"{push:.0f}" if quantity == "reward" else signed(push, digits), float(push))
                for token in row
            ],
            f"reward {reward:.0f} · {len(row)} tokens",
        ]
        for row, reward, push in zip(running_batch.ROWS, running_batch.RIGHT, pushes(quantity))
    ]
    return [grid(rows, diverging=quantity != "reward")]


# ── one group ──
SIZE = 8


def group(right):
    R = group_baselines.outcomes(SIZE)[right][None]
    return [
        advantages("Reward less the mean", group_baselines.less_mean(R)[0], right, 1.15, 3),
        advantages("The same over the deviation", group_baselines.z_score(R)[0], right, 3.1, 2),
    ]


def advantages(title, A, right, most, digits):
    x = np.arange(1, SIZE + 1)
    wanted = label(0.55, float(A[0]), f"right: {signed(A[0], digits)}", 1)
    unwanted = label(SIZE + 0.45, float(A[-1]), f"wrong: {signed(A[-1], digits)}", 2, "right", below=True)
    dead = label((SIZE + 1) / 2, most / 2, "no push", 8, "center")
    return panel(
        title,
        f"advantage of each of {SIZE} completions",
        bars(x[:right], A[:right], "right", 1),
        bars(x[right:], A[right:], "wrong", 2),
        *([dead] if right in (0, SIZE) else [wanted, unwanted]),
        x="completion",
        x_range=(0.4, SIZE + 0.6),
        y_range=(-most, most),
        ticks=dict(tickvals=x.tolist()),
    )


def grouped(right):
    if right in (0, SIZE):
        return "All eight earned the same: the group is dead, and nothing is pushed."
    A = group_baselines.z_score(group_baselines.outcomes(SIZE)[right][None])[0]
    each = "the right one" if right == 1 else f"each of the {right} right ones"
    return f"Over the deviation, {each} is pushed by {signed(A[0])} and each wrong one by {signed(A[-1])}."


# ── what the size of a group buys ──
SIZES = (2, 4, 8, 16, 32, 64)
RARE = 0.02
P = np.geomspace(0.001, 0.5, 41)
P_AXIS = dict(
    x="pass rate p",
    x_range=(0.001, 0.5),
    ticks=dict(tickvals=[0.001, 0.01, 0.1, 0.5], ticktext=["1 in 1,000", "1 in 100", "1 in 10", "1 in 2"]),
)


def live(p, K):
    return 100 * group_baselines.live_probability(p, K)


def signal(p, K):
    return group_baselines.signal_to_noise_per_completion(p, K, group_baselines.less_mean)


def size(K):
    return [
        panel(
            "Groups that are live",
            "% of the groups, exact",
            *(line(P, live(P, other), f"K = {other}", 8, "other") for other in SIZES if other != K),
            line(P, live(P, K), f"K = {K}"),
            dots([RARE], [live(RARE, K)], "1 in 50", 1, "here"),
            **P_AXIS,
            y_range=(0, 104),
            log="x",
        ),
        panel(
            "Signal to noise of one completion",
            "exact, logarithmic",
            *(line(P, signal(P, other), f"K = {other}", 8, "other") for other in SIZES if other != K),
            line(P, signal(P, K), f"K = {K}"),
            dots([RARE], [signal(RARE, K)], "1 in 50", 1, "here"),
            **P_AXIS,
            y_range=(5e-4, 60),
            log="xy",
        ),
    ]


def sized(K):
    return f"Right one time in 50: {live(RARE, K):.0f} % of the groups are live, signal to noise {signal(RARE, K):.3f}."


# ── what it does to the mean step ──
def step(K):
    return [
        length("Reward less the mean", group_baselines.less_mean, K),
        length("The same over the deviation", group_baselines.z_score, K),
    ]


def length(title, advantage, K):
    share = lambda size: group_baselines.share_of_gradient(P, size, advantage)
    here = group_baselines.share_of_gradient(RARE, K, advantage)
    return panel(
        title,
        "mean step over the true gradient, exact",
        *(line(P, share(other), f"K = {other}", 8, "other") for other in SIZES if other != K),
        line(P, share(K), f"K = {K}"),
        dots([RARE], [here], "1 in 50", 1, "here"),
        label(0.5, 7.3, f"{here:.2f} at 1 in 50", 1, "right"),
        **P_AXIS,
        y_range=(0, 8.2),
        log="x",
    )


def stepped(K):
    rare, half = group_baselines.share_of_gradient(np.array([RARE, 0.5]), K, group_baselines.z_score)
    return f"With the deviation, the mean step is {rare:.2f} times the gradient at 1 in 50, {half:.2f} times at 1 in 2."


COMPLETIONS = Handle("Completions a prompt", SIZES, start=len(SIZES) - 1, symbol="K")
FIGURES = {
    "batch": Figure(
        written, group_baselines.z_score, Handle("In each cell", tuple(SAID), start=3, words=tuple(SAID)), SAID.get
    ),
    "group": Figure(
        group,
        group_baselines.less_mean,
        Handle("Right", tuple(range(SIZE + 1)), start=1, words=tuple(f"{n} of {SIZE}" for n in range(SIZE + 1))),
        grouped,
    ),
    "size": Figure(size, group_baselines.signal_to_noise_per_completion, COMPLETIONS, sized),
    "step": Figure(step, group_baselines.share_of_gradient, COMPLETIONS, stepped),
}
