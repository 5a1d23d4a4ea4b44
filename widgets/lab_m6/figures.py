"""The scene of M6, eight runs of one policy on forty prompts, and its two figures: three ways from the reference to a
higher worth, and a learned scorer that picks.
"""

from functools import cache

import numpy as np

from sim.lab import eight_actions, learned, packs, selection
from sim.words import counted
from sim.worlds import scorer
from widgets.frame.drawing import scene, twins
from widgets.frame.drawing.marks import Panel, bars, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Time

PAIR = (6, 3)  # the samples that differ most; sample 5 has as many correct answers as sample 3
ORDER = (*PAIR, *(i for i in range(packs.SAMPLES) if i not in PAIR))  # of the rows
NAMES = "ABCDEFGH"
AT_FIRST = len(PAIR)  # rows

WAYS = ("not trained", "trained on its picks", "trained on a leash")
N, ROUNDS = 4, (0, 1, 2, 3)  # picks are the best of so many fresh samples in each round

SIZES = (1, 2, 4, 8)  # samples among which a scorer picks


@cache
def passed() -> np.ndarray:
    """Which run answers which prompt correctly, (runs, prompts) booleans, in the order of the rows; the prompts from
    those that most runs answer to those that none does.
    """
    correct = packs.passed()[:, ORDER]
    return correct[np.argsort(-correct.sum(1), kind="stable")].T


def rows(there: int) -> list[Panel]:
    """The first runs."""
    runs = [twins.Run(f"run {name}", row.tolist()) for name, row in zip(NAMES, passed(), strict=True)]
    known = ", ".join(f"{run.name} {sum(run.correct)}" for run in runs[:there])
    only_a, only_b = only(0, 1)
    alt = (
        f"{there} runs on the same forty prompts, by the number of correct answers: {known}. "
        f"{only_a} prompts are answered correctly by run A and not by run B, and {only_b} by run B and not by run A."
    )
    head = "each dot is a prompt; filled: the answer is correct; ringed: correct in only one of runs A and B"
    drawing = twins.view("t", alt, head, runs, there)
    numbers = scene.counts(
        "c",
        (str(only_a), "prompts that only A answers correctly", ""),
        (str(only_b), "prompts that only B answers correctly", ""),
    )
    return [scene.scene("Two runs on forty prompts", "the easiest prompts are on the left", [drawing, numbers])]


def only(first: int, second: int) -> tuple[int, int]:
    """How many prompts only the one row answers correctly, and how many only the other."""
    one, other = passed()[first], passed()[second]
    return int((one & ~other).sum()), int((other & ~one).sum())


def said(there: int) -> str:
    """How the last run compares, and at the end, what all of them are."""
    many = passed().sum(1)
    if there == AT_FIRST:
        return f"Run A has {many[0]} correct answers and run B has {many[1]}."
    if there < len(many):
        return f"Run {NAMES[there - 1]} has {many[there - 1]} correct answers. It comes from the policy of run A."
    return f"All eight runs come from one policy. They have {many.min()} to {many.max()} correct answers."


# ── three ways ──
def ways(rounds: int) -> list[Panel]:
    """What a single answer is worth after so many rounds, by the way in which the policy is trained."""
    _, worth = after(rounds)
    return [
        panel(
            "Mean worth of one answer",
            "exact, for the eight actions of M3",
            bars(WAYS, worth, "", 1, text=[f"{value:.3f}" for value in worth]),
            y_range=(0, 0.6),
        )
    ]


def after(rounds: int) -> tuple[list[float], list[float]]:
    """Mean pay and mean worth for each of WAYS."""
    held = eight_actions.leashed(eight_actions.best_price()) if rounds else eight_actions.REF
    policies = (eight_actions.REF, eight_actions.cloned(N, rounds), held)
    paid, worth, _ = zip(*map(eight_actions.outcome, policies), strict=True)
    return list(paid), list(worth)


def earned(rounds: int) -> str:
    paid, worth = (values[1] for values in after(rounds))
    when = f"After {counted(rounds, 'round')}" if rounds else "Before training"
    return f"{when}, an answer of the policy trained on its picks is paid {paid:.3f} and worth {worth:.3f}."


# ── a learned scorer ──
@cache
def weights() -> np.ndarray:
    return learned.fitted(*learned.labeled("dev"))


@cache
def right(judge: str, split: str) -> tuple[int, ...]:
    """How many picks are correct, for each number of samples."""
    if judge == "learned":
        return tuple(row.right for row in learned.picks(weights(), SIZES, split))
    return tuple(row.right for row in selection.table(selection.first_best, scorer.score, SIZES, split))


def picked(split: str) -> list[Panel]:
    """The share of correct picks of both scorers."""
    prompts = len(packs.examples(split))
    shares = {judge: [many / prompts for many in right(judge, split)] for judge in ("verifier", "learned")}
    sizes = [str(size) for size in SIZES]
    return [
        panel(
            "Share of correct picks",
            f"of {prompts} prompts; left bar: the verifier, right bar: the learned scorer",
            bars(sizes, shares["verifier"], "picked by the verifier", 1),
            bars(sizes, shares["learned"], "picked by the learned scorer", 2),
            x="samples for each prompt",
            y_range=(0, 1),
        )
    ]


def compared(split: str) -> str:
    prompts, most = len(packs.examples(split)), SIZES[-1]
    by_rule, by_fit = (right(judge, split)[-1] for judge in ("verifier", "learned"))
    return (
        f"Among {most} samples, the verifier picks a correct answer for {by_rule} of {prompts} prompts, "
        f"and the learned scorer for {by_fit}."
    )


FIGURES = {
    "twins": Figure(
        rows,
        packs.passed,
        None,
        said,
        Time(
            "runs",
            tuple(range(AT_FIRST, packs.SAMPLES + 1)),
            tuple(f"{there} runs" for there in range(AT_FIRST, packs.SAMPLES + 1)),
            ticks={i: str(i + AT_FIRST) for i in range(packs.SAMPLES + 1 - AT_FIRST)},
            milliseconds=1000,
        ),
        stills=((0, 0), (0, packs.SAMPLES - AT_FIRST)),
    ),
    "ways": Figure(
        ways,
        eight_actions.cloned,
        Handle(
            "Rounds of training", ROUNDS, start=len(ROUNDS) - 1, words=[counted(rounds, "round") for rounds in ROUNDS]
        ),
        earned,
    ),
    "learned": Figure(
        picked,
        learned.picks,
        Handle("Prompts", ("dev", "holdout"), words=("30 dev prompts", "10 holdout prompts")),
        compared,
    ),
}
