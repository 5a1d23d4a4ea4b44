"""The small figures of lesson 11: the answers of batches in groups of two sizes, four answers under GRPO, one group of
eight, the same answers in groups of other sizes, what a size buys for a completion, and what it does to the mean step.
"""

from functools import cache

import numpy as np

from sim.estimators import group_baselines
from sim.experiments import group_batches
from sim.experiments.group_batches import RARE, RATE
from sim.words import plural
from widgets.frame.drawing import scene, sum_groups
from widgets.frame.drawing.marks import cell, dots, grid, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.frame.drawing.written import signed

# ── four answers to one sum ──
ASKED = "7 + 5 ="
ROWS = (
    ("Final:", "1", "2", "stop"),
    ("Final:", "9", "stop"),
    ("Final:", "1", "2", "stop"),
    ("Final:", "1", "3", "stop"),
)
RIGHT = np.array([1.0, 0.0, 1.0, 0.0])  # chosen, not sampled: two are correct, and one of the wrong ones is shorter
SAID = {
    "reward": "The reward of the answer, 1 or 0. All of its tokens share it.",
    "minus mean": "The reward minus the mean of the four rewards, which is 0.5.",
    "over deviation": "That difference, divided by the standard deviation of the four rewards, which is 0.58.",
    "over length": "The advantage divided by the number of tokens. Each token of the short answer is pushed harder.",
}


def pushes(quantity):
    """What every token of each row is pushed by, (4,)."""
    R = RIGHT[None]
    lengths = np.array([len(row) for row in ROWS])
    return {
        "reward": R[0],
        "minus mean": group_baselines.less_mean(R)[0],
        "over deviation": group_baselines.z_score(R)[0],
        "over length": group_baselines.z_score(R)[0] / lengths,
    }[quantity]


def written(quantity):
    """The grid's cells hold the chosen quantity; all tokens of a row have the same."""
    digits = {"reward": 0, "minus mean": 1}.get(quantity, 2)
    rows = [
        [
            ("wrong", "correct")[int(reward)],
            [
                cell(token, f"{push:.0f}" if quantity == "reward" else signed(push, digits), float(push))
                for token in row
            ],
            f"reward {reward:.0f} · {len(row)} tokens",
        ]
        for row, reward, push in zip(ROWS, RIGHT, pushes(quantity))
    ]
    return [grid(rows, f"Four answers to {ASKED}", diverging=quantity != "reward")]


# ── the opening: what a batch teaches, in groups of two sizes, and of four at a higher rate ──
SETTINGS = ("groups of 16", "groups of 4", "groups of 4, rate × 2.5")
SIZE_OF = dict(zip(SETTINGS, (16, 4, 4)))
RATE_OF = dict(zip(SETTINGS, (RATE, RATE, 2.5 * RATE)))
OPENING_SIZES = sorted(set(SIZE_OF.values()))
SEED = 2
UPDATES = (1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60)
QUESTIONS = {sums: [f"{e // 10} + {e % 10} =" for e in of] for sums, of in group_batches.SUMS.items()}
START = float(group_batches.start(RARE).mean())


@cache
def followed(setting):
    return group_batches.run(SIZE_OF[setting], UPDATES[-1], SEED, learning_rate=RATE_OF[setting])


def batch_of(setting, update):
    return followed(setting)[update - 1]


def in_groups(setting, update):
    batch, K = batch_of(setting, update), SIZE_OF[setting]
    return [
        scene.scene(
            f"Sixteen answers to each of four sums, in groups of {K}",
            "a square: an answer, filled if correct",
            *sum_groups.views(QUESTIONS[RARE], batch.answers, batch.right, batch.advantage, K, OPENING_SIZES),
        )
    ]


def sentence(setting, update):
    batch = batch_of(setting, update)
    right, (many, live) = int(batch.right.sum()), sum_groups.live_groups(batch.right, SIZE_OF[setting])
    if not live:
        return f"None of the {many} groups has anything to compare."
    answers = f"{right} of 64 answers {plural(right, 'is', 'are')} correct"
    return f"{answers}. {live} of {many} groups {plural(live, 'has', 'have')} something to compare."


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
        ticks={UPDATES.index(at): str(at) for at in (1, 6, 15, 24, 33, 42, 51, 60)},
        strip=Strip(
            "Correct, %",
            lambda: [[2 * batch_of(setting, update).pass_rate for update in UPDATES] for setting in SETTINGS],
            lambda setting, update: f"{100 * batch_of(setting, update).pass_rate:.0f}",
        ),
        holds={0: 2400},
    ),
    stills=((1, 0), (0, 0), (0, len(UPDATES) - 1)),
)


# ── one group ──
SIZE = 8
UNIT, MIDDLE = 2.4, 6.9  # squares: an advantage of 1, and where pushes begin
GUESSES = ("11", "13", "9", "14", "11", "10", "13", "8")  # to ASKED, where they are wrong
EIGHT = [(0.1 + sum_groups.PITCH * i, 1.4) for i in range(SIZE)]


def group(right):
    R = group_baselines.outcomes(SIZE)[right][None]
    less, over = group_baselines.less_mean(R)[0], group_baselines.z_score(R)[0]
    live = 0 < right < SIZE
    cells = [sum_groups.answered("12" if ok else guess, bool(ok), a, live) for ok, a, guess in zip(R[0], over, GUESSES)]
    marks = [
        scene.word(ASKED, (0.1, 0.8), "asked"),
        scene.word(f"{right} of 8 correct", (SIZE * sum_groups.PITCH - 0.2, 0.8), "strong", "end", key="n"),
        scene.frame("f", (0.15, 1.39), SIZE * sum_groups.PITCH - 0.02, live, True, sum_groups.PITCH),
        scene.answers("g", cells, EIGHT, sum_groups.SIDE),
    ]
    for y, name, A, direction, has_any in (
        (5.3, "a correct one", less[0], "up", right > 0),
        (6.4, "a wrong one", less[-1], "down", right < SIZE),
        (8.6, "a correct one", over[0], "up", right > 0),
        (9.7, "a wrong one", over[-1], "down", right < SIZE),
    ):
        key = f"{direction}{y:.0f}"
        length = UNIT * float(A) if has_any else 0.0
        marks += [
            scene.rail((5.0, y), 8.4),
            scene.word(name, (0.1, y + 0.2), ""),
            scene.arrow(key, (MIDDLE, y + 0.19), length, f"own {direction}"),
            scene.word(
                ("no push" if abs(A) < 1e-9 else signed(A, 3 if y < 8 else 2)) if has_any else "",
                (13.8, y + 0.2),
                "strong",
                key=f"{key}n",
            ),
        ]
    marks += [
        scene.word("reward minus the mean of the group", (0.1, 4.45), "head"),
        scene.word("divided by the standard deviation", (0.1, 7.75), "head"),
        *(scene.post((MIDDLE, y), 2.1, "zero") for y in (4.8, 8.1)),
    ]
    return [
        scene.scene(
            "How hard each of eight answers is pushed",
            "filled: correct; ↑ how hard it is pushed up",
            scene.view("v", SIZE * sum_groups.PITCH + 0.2, 10.4, grouped(right), *marks),
        )
    ]


def grouped(right):
    if right in (0, SIZE):
        return "All eight have the same reward. The group is dead: nothing is pushed."
    A = group_baselines.z_score(group_baselines.outcomes(SIZE)[right][None])[0]
    each = "the correct answer" if right == 1 else f"each of the {right} correct answers"
    wrong = "the wrong one" if right == SIZE - 1 else "each wrong one"
    return f"After the division, {each} is pushed by {signed(A[0])} and {wrong} by {signed(A[-1])}."


GROUP = Figure(
    group,
    group_baselines.z_score,
    None,
    grouped,
    Time(
        "Correct, of eight",
        tuple(range(SIZE + 1)),
        tuple(f"{n} of 8 correct" for n in range(SIZE + 1)),
        start=1,
        ticks={n: str(n) for n in range(SIZE + 1)},
        milliseconds=700,
    ),
    stills=((0, 4), (0, 0)),
)


# ── the same answers in groups of other sizes ──
SHOWN = {2: "pairs", 4: "fours", 8: "eights", 16: "sixteens"}
OF_64 = (1, 2, 4, 8, 16, 32)
STEP = 2.9  # squares: a step as long as the true gradient


@cache
def places():
    """An order in which 64 places become correct that is typical: at each number of correct ones, the live groups of
    every size are as many as expected, within one.
    """
    for seed in range(1_000):
        order = np.random.default_rng(seed).permutation(64)
        if all(
            abs(sum_groups.live_groups(outcome(n, order), K)[1] - expected(n, K)) <= 1 for n in OF_64 for K in SHOWN
        ):
            return order
    raise ValueError("no order of a thousand is typical")


@cache
def guesses():
    """(4, 16) wrong answers to ASKED, as the model of the opening gives them before it has learned."""
    wrong = [
        text for update in followed(SETTINGS[1])[:8] for text, ok in zip(update.answers[1], update.right[1]) if not ok
    ]
    return np.array(wrong[:64]).reshape(4, 16)


def expected(n, K):
    """Live groups, if n of 64 are correct."""
    return 64 / K * float(group_baselines.live_probability(n / 64, K))


def outcome(n, order=None):
    """(4, 16) of which n are correct."""
    right = np.zeros(64, bool)
    right[(places() if order is None else order)[:n]] = True
    return right.reshape(4, 16)


def named(words):
    return next(K for K, name in SHOWN.items() if name == words)


def mean_step(n, K):
    return float(group_baselines.share_of_gradient(n / 64, K, group_baselines.z_score))


def resized(words, n):
    K, right = named(words), outcome(n)
    A = group_baselines.z_score(right.reshape(-1, K).astype(float)).reshape(4, 16)
    step = mean_step(n, K)
    return [
        scene.scene(
            "Sixty-four answers to one sum",
            "answers in a frame are compared with each other",
            *sum_groups.views((ASKED,) * 4, np.where(right, "12", guesses()), right, A, K, tuple(SHOWN)),
            scene.view(
                "s",
                18.0,
                2.3,
                f"The mean step is {step:.2f} times the true gradient.",
                scene.word("the true gradient", (0, 0.5), "head"),
                scene.arrow("st", (4.6, 0.3), STEP, "own others"),
                scene.word("the mean step", (0, 1.6), "strong"),
                scene.arrow("sm", (4.6, 1.55), STEP * step, "own up"),
                scene.word(f"×{step:.2f}", (4.6 + STEP * step + 1.1, 1.75), "strong", key="sx"),
            ),
        )
    ]


def compared(words, n):
    K = named(words)
    many, live = sum_groups.live_groups(outcome(n), K)
    return (
        f"{live} of {many} groups {plural(live, 'is', 'are')} live. The mean step is {mean_step(n, K):.2f} times the "
        "true gradient."
    )


SIZES_COMPARED = Figure(
    resized,
    group_baselines.share_of_gradient,
    Handle("The same answers in", tuple(SHOWN.values()), start=3, words=tuple(SHOWN.values())),
    compared,
    Time(
        "Correct, of 64",
        OF_64,
        tuple(f"{n} of 64 correct" for n in OF_64),
        start=0,
        ticks={i: str(n) for i, n in enumerate(OF_64)},
        milliseconds=900,
    ),
    stills=((0, 0), (0, 4)),
)


# ── what the size of a group buys ──
SIZES = (2, 4, 8, 16, 32, 64)
ONE_IN_50 = 0.02
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
            "Live groups",
            "% of the groups, exact",
            *(line(P, live(P, other), f"K = {other}", 8, "other") for other in SIZES if other != K),
            line(P, live(P, K), f"K = {K}"),
            dots([ONE_IN_50], [live(ONE_IN_50, K)], "1 in 50", 1, "here"),
            **P_AXIS,
            y_range=(0, 104),
            log="x",
        ),
        panel(
            "Signal to noise of one completion",
            "exact, logarithmic",
            *(line(P, signal(P, other), f"K = {other}", 8, "other") for other in SIZES if other != K),
            line(P, signal(P, K), f"K = {K}"),
            dots([ONE_IN_50], [signal(ONE_IN_50, K)], "1 in 50", 1, "here"),
            **P_AXIS,
            y_range=(5e-4, 60),
            log="xy",
        ),
    ]


def sized(K):
    return (
        f"At a pass rate of 1 in 50, {live(ONE_IN_50, K):.0f} % of the groups are live. The signal to noise of a "
        f"completion is {signal(ONE_IN_50, K):.3f}."
    )


# ── what it does to the mean step ──
def step(K):
    return [
        length("With the reward minus the mean", group_baselines.less_mean, K),
        length("With the z-score", group_baselines.z_score, K),
    ]


def length(title, advantage, K):
    def share(p, size):
        return group_baselines.share_of_gradient(p, size, advantage)

    rare = share(ONE_IN_50, K)
    return panel(
        title,
        "mean step divided by the true gradient, exact",
        *(line(P, share(P, other), f"K = {other}", 8, "other") for other in SIZES if other != K),
        line(P, share(P, K), f"K = {K}"),
        dots([ONE_IN_50], [rare], "1 in 50", 1, "here"),
        label(0.5, 7.3, f"{rare:.2f} at 1 in 50", 1, "right"),
        **P_AXIS,
        y_range=(0, 8.2),
        log="x",
    )


def stepped(K):
    rare, half = group_baselines.share_of_gradient(np.array([ONE_IN_50, 0.5]), K, group_baselines.z_score)
    return (
        f"With the z-score, the mean step is {rare:.2f} times the gradient at 1 in 50 and {half:.2f} times at 1 in 2."
    )


COMPLETIONS = Handle("Completions per prompt", SIZES, start=len(SIZES) - 1, symbol="K")
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
