"""The small figures of lesson 11: batches in groups of two sizes, the running batch under GRPO, one group of eight, the
same answers in groups of other sizes, what a size buys for a completion, and what it does to the mean step.
"""

from functools import cache

import numpy as np

from sim.estimators import group_baselines
from sim.experiments import group_batches, running_batch
from sim.words import plural
from sim.worlds import modsum
from widgets.frame.drawing import scene, trays
from widgets.frame.drawing.marks import cell, dots, grid, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.frame.drawing.written import signed

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


# ── the opening: what a batch teaches, in groups of two sizes ──
SETTINGS = ("groups of 16", "groups of 4")
SIZE_OF = {SETTINGS[0]: 16, SETTINGS[1]: 4}
UPDATES = (1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 20, 22, 24, 26, 28, 30, 33, 36, 39, 42, 46, 50, 55, 60)
ASKED = [f"add up to {target}" for target in modsum.TARGETS]
START = float(modsum.exact(modsum.Policy(group_batches.RARE).params["theta"])["pass_rate"].mean())


@cache
def followed(setting):
    return group_batches.run(SIZE_OF[setting], UPDATES[-1])


def batch_of(setting, update):
    return followed(setting)[update - 1]


def in_groups(setting, update):
    batch, K = batch_of(setting, update), SIZE_OF[setting]
    title = f"batch {update}: 64 answers"
    all_wrong = not batch.right.any()
    return [
        scene.scene(
            "Four prompts, sixteen answers to each, in groups",
            trays.WHAT,
            trays.in_groups(
                "g",
                title,
                ASKED,
                batch.right,
                batch.advantage,
                K,
                tuple(SIZE_OF.values()),
                (len(ASKED) - 1, "all wrong: nothing to compare") if all_wrong else None,
            ),
            [a_hundred(update, batch.pass_rate)],
            given="Write 1, 2, 3 that add up to what is asked, or to 7 or 14 more, then stop.",
        )
    ]


def a_hundred(update, rate):
    right = f"{rate * 100:.0f}"
    return scene.view(
        "h",
        8.2,
        5.75,
        f"Of a hundred answers after update {update}, {right} {plural(right, 'is', 'are')} right.",
        scene.word(f"100 answers after update {update}", (0, 0.55), "strong", key="ht"),
        scene.hundred("h", [("followed", rate), ("rest", 1 - rate)], (0, 0.95)),
        scene.word(right, (5, 2.1), "count yes", key="hn"),
        scene.word("right", (5, 2.7), "head"),
    )


def sentence(setting, update):
    batch = batch_of(setting, update)
    right = int(batch.right.sum())
    answers = {0: "all 64 answers are wrong", 1: "one answer is right"}.get(right, f"{right} of 64 answers are right")
    after, before = (f"{100 * rate:.1f}" for rate in (batch.pass_rate, START))
    return f"In batch {update}, {answers}. After it {after} of 100 are right, before training {before}."


OPENING = Figure(
    in_groups,
    group_batches.run,
    Handle("Run", SETTINGS, start=1),
    sentence,
    Time(
        "Batch",
        UPDATES,
        tuple(f"batch {update} of 60" for update in UPDATES),
        start=len(UPDATES) - 1,
        ticks={UPDATES.index(at): str(at) for at in (1, 6, 15, 24, 33, 46, 60)},
        strip=Strip(
            "Right, of 100",
            lambda: [[batch_of(setting, update).pass_rate for update in UPDATES] for setting in SETTINGS],
            lambda setting, update: f"{100 * batch_of(setting, update).pass_rate:.0f}",
        ),
        holds={0: 2400},
    ),
    stills=((1, 0), (0, 0), (0, len(UPDATES) - 1)),
)


# ── one group ──
SIZE = 8
UNIT, MIDDLE = 2.4, 6.5  # squares: an advantage of 1, and where pushes begin


def group(right):
    R = group_baselines.outcomes(SIZE)[right][None]
    less, over = group_baselines.less_mean(R)[0], group_baselines.z_score(R)[0]
    cells = [[(trays.tone(a), bool(ok)) for a, ok in zip(over, R[0])]]
    marks = [
        scene.word(f"{right} of 8 right", (0, 0.66), "strong", key="n"),
        scene.trays("g", cells, [(4.6, 0.1)], 1.0),
    ]
    for y, name, A, direction, has_any in (
        (2.6, "a right one", less[0], "up", right > 0),
        (3.7, "a wrong one", less[-1], "down", right < SIZE),
        (5.9, "a right one", over[0], "up", right > 0),
        (7.0, "a wrong one", over[-1], "down", right < SIZE),
    ):
        key = f"{direction}{y:.0f}"
        length = UNIT * float(A) if has_any else 0.0
        marks += [
            scene.rail((4.6, y), 8.4),
            scene.word(name, (0, y + 0.2), ""),
            scene.arrow(key, (MIDDLE, y + 0.19), length, f"own {direction}"),
            scene.word(
                ("no push" if abs(A) < 1e-9 else signed(A, 3 if y < 5 else 2)) if has_any else "",
                (13.4, y + 0.2),
                "strong",
                key=f"{key}n",
            ),
        ]
    marks += [
        scene.word("reward less the mean of the group", (0, 1.75), "head"),
        scene.word("the same over the standard deviation", (0, 5.05), "head"),
        *(scene.post((MIDDLE, y), 2.1, "zero") for y in (2.1, 5.4)),
    ]
    return [
        scene.scene(
            "One group of eight",
            "what pushes each completion; a check: right",
            scene.view("v", 16.2, 7.8, grouped(right), *marks),
        )
    ]


def grouped(right):
    if right in (0, SIZE):
        return "All eight earned the same: the group is dead, and nothing is pushed."
    A = group_baselines.z_score(group_baselines.outcomes(SIZE)[right][None])[0]
    each = "the right one" if right == 1 else f"each of the {right} right ones"
    return f"Over the deviation, {each} is pushed by {signed(A[0])} and each wrong one by {signed(A[-1])}."


GROUP = Figure(
    group,
    group_baselines.z_score,
    None,
    grouped,
    Time(
        "Right, of eight",
        tuple(range(SIZE + 1)),
        tuple(f"{n} of 8 right" for n in range(SIZE + 1)),
        start=1,
        ticks={n: str(n) for n in range(SIZE + 1)},
        milliseconds=700,
    ),
    stills=((0, 4), (0, 0)),
)


# ── the same answers in groups of other sizes ──
SHOWN = {2: "pairs", 4: "fours", 8: "eights", 16: "sixteens"}
OF_64 = (1, 2, 4, 8, 16, 32)
STEP = 3.2  # squares: a step as long as the true gradient


@cache
def places():
    """An order in which 64 places become right that is typical: at each number of right ones, the live groups of every
    size are as many as expected, within one.
    """
    for seed in range(1_000):
        order = np.random.default_rng(seed).permutation(64)
        if all(abs(trays.live_groups(answers(n, order), K)[1] - expected(n, K)) <= 1 for n in OF_64 for K in SHOWN):
            return order
    raise ValueError("no order of a thousand is typical")


def expected(n, K):
    """Live groups, if n of 64 are right."""
    return 64 / K * float(group_baselines.live_probability(n / 64, K))


def answers(n, order=None):
    """(4, 16) of which n are right."""
    right = np.zeros(64, bool)
    right[(places() if order is None else order)[:n]] = True
    return right.reshape(4, 16)


def named(words):
    return next(K for K, name in SHOWN.items() if name == words)


def mean_step(n, K):
    return float(group_baselines.share_of_gradient(n / 64, K, group_baselines.z_score))


def signal_of_one(n, K):
    return float(group_baselines.signal_to_noise_per_completion(n / 64, K, group_baselines.less_mean))


def resized(words, n):
    K, right = named(words), answers(n)
    A = group_baselines.z_score(right.reshape(-1, K).astype(float)).reshape(4, 16)
    step = mean_step(n, K)
    longer = step > 1.5 * mean_step(n, 2) and signal_of_one(n, K) < 1.1 * signal_of_one(n, 2)
    return [
        scene.scene(
            "Sixty-four answers to one prompt, in groups",
            trays.WHAT,
            trays.in_groups("g", f"{n} of 64 right, in {words}", ("",) * 4, right, A, K, tuple(SHOWN)),
            scene.view(
                "s",
                16.5,
                3.6,
                f"The mean step is {step:.2f} times the true gradient.",
                scene.word("the true gradient", (0, 0.5), "head"),
                scene.arrow("st", (4.6, 0.3), STEP, "own others"),
                scene.word("the mean step", (0, 1.6), "strong"),
                scene.arrow("sm", (4.6, 1.55), STEP * step, "own up"),
                scene.word(f"×{step:.2f}", (4.6 + STEP * step + 1.1, 1.55), "strong", key="sx"),
                scene.ring(
                    "sr",
                    (4.6 + STEP * step - 0.6, 0.85),
                    "a longer step",
                    longer,
                    (1.3, 1.0),
                    role="look",
                    anchor="middle",
                ),
            ),
        )
    ]


def compared(words, n):
    K = named(words)
    many, live = trays.live_groups(answers(n), K)
    return (
        f"{live} of {many} groups live; the mean step is {mean_step(n, K):.2f} times the true gradient. "
        f"Signal to noise of an answer, undivided: {signal_of_one(n, K):.3f}."
    )


SIZES_COMPARED = Figure(
    resized,
    group_baselines.share_of_gradient,
    Handle("The same answers in", tuple(SHOWN.values()), start=3, words=tuple(SHOWN.values())),
    compared,
    Time(
        "Right, of 64",
        OF_64,
        tuple(f"{n} of 64 right" for n in OF_64),
        start=0,
        ticks={i: str(n) for i, n in enumerate(OF_64)},
        milliseconds=900,
    ),
    stills=((0, 0), (0, 4)),
)


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
    def share(p, size):
        return group_baselines.share_of_gradient(p, size, advantage)

    rare = share(RARE, K)
    return panel(
        title,
        "mean step over the true gradient, exact",
        *(line(P, share(P, other), f"K = {other}", 8, "other") for other in SIZES if other != K),
        line(P, share(P, K), f"K = {K}"),
        dots([RARE], [rare], "1 in 50", 1, "here"),
        label(0.5, 7.3, f"{rare:.2f} at 1 in 50", 1, "right"),
        **P_AXIS,
        y_range=(0, 8.2),
        log="x",
    )


def stepped(K):
    rare, half = group_baselines.share_of_gradient(np.array([RARE, 0.5]), K, group_baselines.z_score)
    return f"With the deviation, the mean step is {rare:.2f} times the gradient at 1 in 50, {half:.2f} times at 1 in 2."


COMPLETIONS = Handle("Completions a prompt", SIZES, start=len(SIZES) - 1, symbol="K")
FIGURES = {
    "opening": OPENING,
    "batch": Figure(
        written, group_baselines.z_score, Handle("In each cell", tuple(SAID), start=3, words=tuple(SAID)), SAID.get
    ),
    "group": GROUP,
    "sizes": SIZES_COMPARED,
    "size": Figure(size, group_baselines.signal_to_noise_per_completion, COMPLETIONS, sized),
    "step": Figure(step, group_baselines.share_of_gradient, COMPLETIONS, stepped),
}
