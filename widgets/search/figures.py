"""The small figures of lesson 17: one problem as a tree, chains that must be sound to their end, the best of N, equal
steps spent in three ways, and four ways to make one score of five.
"""

from functools import cache

import numpy as np

from sim.estimators import completion_selection
from sim.estimators.chain_score import WAYS, all_sound
from sim.experiments import search
from sim.words import counted
from sim.worlds import step_tree
from sim.worlds.step_tree import DEPTH, LEAVES, OFFSETS
from widgets.frame.drawing.marks import bars, dots, heat, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

SEEDS = 8


@cache
def problems(seed, recover=0.0):
    return step_tree.build(np.random.default_rng(seed), recover=recover)


# ── one problem ──
SHOWN, COLUMNS = 0, 90  # the widget's default problem; columns that are drawn
STEPS = tuple(range(1, DEPTH + 1))


def tree(steps):
    """A column is a draw of the policy: as many of them as a chain is likely."""
    world = problems(0)
    up_to = np.cumsum(world.chance[SHOWN])
    leaf = np.minimum(np.searchsorted(up_to, (np.arange(COLUMNS) + 0.5) / COLUMNS), LEAVES - 1)
    levels = np.full((DEPTH, COLUMNS), np.nan)
    for level in range(1, steps + 1):
        node = OFFSETS[level] + leaf * (OFFSETS[level + 1] - OFFSETS[level]) // LEAVES
        levels[level - 1] = np.where(world.sound[SHOWN, node], 1.0, -0.7)
    return [
        panel(
            "One problem and all its chains",
            "[above-4] sound so far; [below-3] flawed",
            heat(list(range(COLUMNS)), [*range(DEPTH, 0, -1)], levels, low=-1, high=1),
            x="share of the policy's chains, %",
            x_range=[-0.5, COLUMNS - 0.5],
            y_range=[0.4, DEPTH + 0.6],
            ticks=dict(tickvals=[-0.5, COLUMNS / 2 - 0.5, COLUMNS - 0.5], ticktext=["0", "50", "100"]),
            y_ticks=dict(tickvals=[*range(DEPTH, 0, -1)], ticktext=[f"step {n}" for n in STEPS]),
        )
    ]


def still_sound(steps):
    """Share of what the policy writes that is sound after so many steps, (300,), a problem each."""
    world = problems(0)
    return 100 * (world.chance * step_tree.along(world.sound)[:, :, steps - 1]).sum(axis=1)


def left(steps):
    of_shown, over_all = still_sound(steps)[SHOWN], still_sound(steps).mean()
    return (
        f"After {counted(steps, 'step')}, {of_shown:.0f} % of the chains for this problem are still sound, and "
        f"{over_all:.0f} % of those for all 300 problems."
    )


# ── chains ──
LENGTHS = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 50, 64)
SURE = 0.95


def chain(steps):
    x = np.arange(1, 65)
    lines = [line(x, 100 * all_sound(p, x), f"{p}", 8, "other") for p in (0.9, 0.99)]
    return [
        panel(
            "Chains that are sound to their end",
            "%; [s8] 0.99 and 0.9 per step",
            *lines,
            line(x, 100 * all_sound(SURE, x), f"{SURE} per step", 1),
            dots([steps], [100 * all_sound(SURE, steps)], "here", 1),
            label(30, 100 * all_sound(SURE, 30) + 2, "0.95 per step", 1),
            x="steps in the chain",
            x_range=[0, 65],
            y_range=[0, 104],
        )
    ]


def survives(steps):
    sound, chain = all_sound(SURE, steps), f"a chain of {counted(steps, 'step')}"
    return f"If each step is sound with probability {SURE}, {chain} is sound with probability {sound:.2f}."


# ── the best of N ──
ANSWERS, CHANCE, SCORE = ("A", "B", "C"), np.array([0.5, 0.3, 0.2]), np.array([1.0, 3.0, 2.0])
DRAWS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def best(N):
    picked = 100 * completion_selection.best_of_n(CHANCE, SCORE, N)
    return [
        panel(
            "Which answer is picked",
            "%; their scores are 1, 3 and 2",
            bars(list(ANSWERS), picked, "picked", 1, text=[f"{share:.0f}" for share in picked]),
            y_range=[0, 112],
        ),
        panel(
            "How often B is picked",
            "%",
            line(list(DRAWS), [100 * completion_selection.best_of_n(CHANCE, SCORE, n)[1] for n in DRAWS], "B", 1),
            dots([N], [picked[1]], "here", 1),
            x="chains sampled",
            x_range=[0, 33],
            y_range=[0, 112],
        ),
    ]


def is_b(N):
    chance = completion_selection.best_of_n(CHANCE, SCORE, N)[1]
    return f"With {counted(N, 'chain')}, B is picked with probability {chance:.2f}."


# ── equal steps ──
KEPT = (2, 3, 4, 5, 6, 7, 8)
BUDGETS = tuple(DEPTH * W * W for W in KEPT)


@cache
def spent():
    """(by answers, by steps, beam), each (budgets,), in percent over eight draws of the problems."""
    of = []
    for seed in range(SEEDS):
        world, sizes = problems(seed), [W * W for W in KEPT]
        beams = [search.beam(world, W, W, "product", np.random.default_rng(seed)).solved(world) for W in KEPT]
        scores = world.orm, search.step_scores(world, "product")
        of.append([*(search.best_of_n(world, score, sizes).solved for score in scores), beams])
    return 100 * np.mean(of, axis=0)


def equal(budget):
    i = BUDGETS.index(budget)
    named = (("answers", 1), ("steps", 2), ("beam", 4))
    return [
        panel(
            "Problems solved",
            f"%; mean of {SEEDS} draws of 300 problems",
            *[line(list(BUDGETS), curve, name, s) for (name, s), curve in zip(named, spent())],
            *[dots([budget], [curve[i]], name, s) for (name, s), curve in zip(named, spent())],
            label(322, 88.5, "beam", 4, "right", below=True),
            label(322, 95.5, "reranked by answers", 1, "right"),
            label(45, 71, "reranked by steps", 2),
            x="steps written",
            x_range=[10, 330],
            y_range=[60, 100],
        )
    ]


def solved(budget):
    answers, steps, beam = spent()[:, BUDGETS.index(budget)]
    n = budget // DEPTH
    return (
        f"With {budget} steps, the best of {n} chains solves {answers:.1f} % by answer score and {steps:.1f} % by step "
        f"score. The beam solves {beam:.1f} %."
    )


# ── one score of five ──
SIZES = [1, 2, 4, 8, 16, 32, 64]
MENDED = 0.2


@cache
def reranked(recover, how):
    world = problems(0, recover)
    return 100 * search.best_of_n(world, search.step_scores(world, how), SIZES).solved


def ways(how):
    return [way(how, 0.0, "A flaw stays"), way(how, MENDED, "One flaw in five is fixed")]


def way(how, recover, title):
    curve = reranked(recover, how)
    return panel(
        title,
        "% solved by the best of N; [s8] other ways",
        *[line(SIZES, reranked(recover, other), other, 8, "other") for other in WAYS if other != how],
        line(SIZES, curve, how, 2),
        label(60, 42, f"{how}: {curve[4]:.1f} at 16", 2, "right"),
        x="chains sampled",
        x_range=[1, 64],
        y_range=[35, 102],
        log="x",
        ticks=dict(tickvals=[1, 4, 16, 64], ticktext=["1", "4", "16", "64"]),
    )


def at_sixteen(how):
    stays, mended = reranked(0.0, how)[4], reranked(MENDED, how)[4]
    return (
        f"Ranked by “{how}”, the best of 16 chains solves {stays:.1f} % if flaws stay and {mended:.1f} % if one in "
        "five is fixed."
    )


FIGURES = {
    "tree": Figure(tree, step_tree.build, Handle("Steps written", STEPS, start=4, words=tuple(map(str, STEPS))), left),
    "chain": Figure(
        chain, all_sound, Handle("Steps in a chain", LENGTHS, start=5, words=tuple(map(str, LENGTHS))), survives
    ),
    "best": Figure(
        best,
        completion_selection.best_of_n,
        Handle("Chains sampled", DRAWS, start=5, words=tuple(map(str, DRAWS))),
        is_b,
    ),
    "spent": Figure(
        equal, search.beam, Handle("Steps written", BUDGETS, start=2, words=tuple(map(str, BUDGETS))), solved
    ),
    "ways": Figure(ways, search.step_scores, Handle("Combined step score", WAYS, start=0, words=WAYS), at_sixteen),
}
