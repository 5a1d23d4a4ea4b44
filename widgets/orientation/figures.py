"""The small figures of lesson 00: what a log sees of a model that learns, the four lines on four completions, the best
of K, and two models that are equally good.
"""

from functools import cache

import numpy as np

from sim.estimators import equal_models
from sim.experiments import cut_arrows, running_batch
from sim.worlds import modsum
from widgets.frame.drawing import answers, scene
from widgets.frame.drawing.marks import dots, label, line, panel, region
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time

GIVEN = "Write ones, twos and threes that add up to 5, 12, 19, …, then stop."
SIGNS = ("1", "2", "3", "■")
RATE = cut_arrows.LEARNING_RATE  # of the one step, as in the simulator


@cache
def start():
    """(4,) pass rates of the prompts before training."""
    return modsum.exact(modsum.Policy().params["theta"])["pass_rate"]


@cache
def stepped():
    return running_batch.one_step(running_batch.RIGHT, RATE)


# ── the two copies of the weights, asked the same ──
SETTINGS = ("with weight sync", "without it")
ROUNDS = tuple(range(0, 61, 3))
OLD = "the untrained model wrote these"


@cache
def asked(name):
    """Twins before training and after each of sixty rounds."""
    arrow = "none" if name == SETTINGS[0] else "weight sync"
    return cut_arrows.twins_without(arrow, running_batch.PROMPT, iterations=ROUNDS[-1])


def rows(key, title, written, legend=False):
    """Eight answers side by side with eight others, below what the first column is."""
    view = answers.view(key, title, written, running_batch.PROMPT, "", legend, answers.SHORT, answers.judged)
    return view | dict(marks=[mark for mark in view["marks"] if mark.get("text") != "completion"])


def two_copies(name, i):
    twins = asked(name)[i]
    stale = twins.sampled_rate < twins.trained_rate
    return [
        scene.scene(
            "A model learns for sixty rounds",
            "eight answers in its log and eight from the model itself, sampled with the same random numbers",
            answers.around_rewards(rows("l", "answers in the log", twins.sampled), OLD if stale else ""),
            rows("m", "answers of the model", twins.trained, legend=True),
            given=GIVEN,
        )
    ]


OPENING = Figure(
    two_copies,
    cut_arrows.twins_without,
    Handle("Run", SETTINGS, start=1),
    None,
    Time(
        "Round",
        ROUNDS,
        tuple(f"round {i} of {ROUNDS[-1]}" if i else "before training" for i in ROUNDS),
        start=len(ROUNDS) - 1,
        ticks={at: str(i) for at, i in enumerate(ROUNDS) if i % 12 == 0},
        strip=Strip(
            "Correct answers in the log, of 100",
            lambda: [[asked(name)[i].sampled_rate for i in ROUNDS] for name in SETTINGS],
            lambda name, i: answers.hundredths(asked(name)[i].sampled_rate),
        ),
        milliseconds=350,
        holds={0: 1800, 1: 1000},
    ),
    stills=((1, 0), (0, len(ROUNDS) - 1)),
)


# ── four lines ──
LINES = ("1 sample", "2 score", "3 push", "4 hold")
SAMPLED, SCORED, PUSHED, HELD = LINES
REWARD, FIRST, DOWN = 0.8, 2.0, 1.8  # in squares: the middle of the rewards, where the tokens begin
ROOM = max(map(len, running_batch.ROWS))
FACTOR = FIRST + ROOM + 3.2  # the middle of what has become of a row


def likelier():
    """(4,) how many times as likely each row is after the step: the product over its tokens."""
    ratio, _ = stepped()
    return np.array([ratio[i, : len(row)].prod() for i, row in enumerate(running_batch.ROWS)])


def squares(line, i):
    """The tokens of a row, as the line leaves them."""
    if line == SCORED:
        return answers.judged(running_batch.ROWS[i], running_batch.PROMPT)
    role = "up" if line in (PUSHED, HELD) and running_batch.RIGHT[i] else "silent"
    return [(SIGNS[token], role) for token in running_batch.ROWS[i]]


def four_lines(line):
    """The rows with what the lines up to this one have made of them, and a hundred answers by the policy as it is."""
    many = len(running_batch.ROWS)

    def since(first, words):
        return words if LINES.index(line) >= LINES.index(first) else ""

    marks = [
        scene.word(since(SCORED, "reward"), (0, 1.4), "head", key="hr"),
        scene.word("what it wrote", (FIRST, 1.4), "head"),
        scene.word(since(HELD, "times as likely"), (FACTOR, 1.4), "head", "middle", key="hf"),
        scene.tokens("t", [squares(line, i) for i in range(many)], ROOM, (FIRST, DOWN)),
    ]
    for i, (row, reward, total) in enumerate(zip(running_batch.ROWS, running_batch.RIGHT, running_batch.sums())):
        y, color = DOWN + i + 0.66, "yes" if reward else "no"
        marks += [
            scene.word(since(SCORED, f"{reward:.0f}"), (REWARD, y), f"reward {color}", "middle", f"r{i}"),
            scene.word(since(SCORED, f"= {total}"), (FIRST + len(row) + 0.2, y), f"sum {color}", key=f"s{i}"),
            scene.word(since(HELD, f"{likelier()[i]:.2g}"), (FACTOR, y), "strong", "middle", f"f{i}"),
        ]
    alt = f"Four completions after line {line}: two are correct, with the sums 5 and 12, and two are wrong."
    right = stepped()[1] if line in (PUSHED, HELD) else float(start()[running_batch.PROMPT])
    hundredths = answers.hundredths(right)
    return [
        scene.scene(
            "One iteration, line by line",
            "four completions of one prompt, and one step of training on them",
            scene.view("v", FACTOR + 1.6, DOWN + many + 0.2, alt, *marks),
            scene.view(
                "h",
                7.1,
                DOWN + many + 0.2,
                f"Of a hundred answers to this prompt, {hundredths} are correct.",
                scene.word("A hundred answers", (0, 0.55), "strong"),
                scene.hundred("d", [("followed", right), ("rest", 1 - right)], (0, 0.95)),
                scene.word(hundredths, (5, 2.1), "count yes", key="n"),
                scene.word("correct", (5, 2.7), "head"),
            ),
            given=GIVEN,
        )
    ]


def said(line):
    before, after = (answers.hundredths(rate) for rate in (start()[running_batch.PROMPT], stepped()[1]))
    return {
        SAMPLED: f"Line 1: the model answers four times. Of a hundred answers to this prompt, {before} are correct.",
        SCORED: "Line 2: a program adds up the digits. The sums 5 and 12 earn a reward of 1, and the other two earn 0.",
        PUSHED: f"Line 3: the correct rows are pushed up, the others not at all. Now {after} in a hundred are correct.",
        HELD: "Line 4: how far each row has moved. Rows that were not pushed lose, because probabilities add up to 1.",
    }[line]


# ── the best of K ──
KS = (1, 2, 4, 8, 16, 32, 64)


def best(K):
    x = np.geomspace(1, 64, 49)
    right, best_of_K = start().mean(), cut_arrows.best_of(start(), K).mean()
    return [
        panel(
            "The untrained policy",
            "pass rate, exact, mean over four prompts",
            line(x, [cut_arrows.best_of(start(), n).mean() for n in x], "best of K", 2),
            line(x, np.full(len(x), right), "one completion", 1),
            dots([K], [best_of_K], "best of K", 2),
            dots([K], [right], "one completion", 1),
            label(64, 0.96, "best of K", 2, "right"),
            label(64, right + 0.02, "one completion", 1, "right"),
            x="completions per prompt, K",
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
    within = np.abs(points) <= 40
    return [
        panel(
            "Difference between two equal models",
            "likelihood relative to no difference",
            region(-APART, APART),
            line(points[within], probability[within] / probability.max(), "difference", 1),
            label(-39, 0.9, "shaded: less than", 0),
            label(-39, 0.78, "five points", 0),
            x="difference in points",
            x_range=(-40, 40),
            y_range=(0, 1.08),
        )
    ]


FIGURES = {
    "opening": OPENING,
    "lines": Figure(
        four_lines,
        running_batch.one_step,
        None,
        said,
        Time(
            "Line",
            LINES,
            tuple("line " + line.replace(" ", ": ") for line in LINES),
            start=LINES.index(PUSHED),
            ticks={i: line[0] for i, line in enumerate(LINES)},
            milliseconds=2400,
        ),
        stills=((0, 0), (0, 2)),
    ),
    "best": Figure(
        best,
        cut_arrows.best_of,
        Handle("Completions per prompt", KS, start=len(KS) - 1, symbol="K"),
        lambda K: (
            f"The best of {K} is correct {cut_arrows.best_of(start(), K).mean():.3f} of the time. A single completion "
            f"is correct {start().mean():.3f} of the time, whatever K is."
        ),
    ),
    "coin": Figure(
        coin,
        equal_models.difference,
        Handle("Prompts", PROMPTS, start=PROMPTS.index(100), words=tuple(f"{n:,}" for n in PROMPTS)),
        lambda n: (
            f"If each of {n:,} prompts is asked once, two equally good models differ by five points or more "
            f"{100 * equal_models.at_least(n, APART):.2g} % of the time."
        ),
    ),
}
