"""Best of N by answers and by steps, and a search that looks at steps before the chain is finished."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sim.estimators.chain_score import WAYS
from sim.experiments import search
from sim.worlds import step_tree
from sim.worlds.step_tree import DEPTH, LEAVES, OFFSETS
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import bars, dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "How many of 300 problems each way of choosing a chain solves"

PROBLEMS = 300
SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]  # chains that are drawn
LOST = 10.0  # points below its best, or below what reranking by answers solves: more is broken
TURNED, BEHIND = 1.0, 3.0  # points: so much is said
NOISE = [0.2, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0]
COLUMNS = 120  # of the picture of one problem
KEPT = {"1": "one", "√n": "root", "n/2": "half"}


@dataclass(frozen=True)
class Knobs:
    blind_spots: float = ladder("Blind spots per 100 chains", 0.0, [0.0, 1.0, 2.0, 3.0, 5.0, 10.0])
    orm_noise: float = ladder("Noise of answer scores", 1.0, NOISE)
    prm_noise: float = ladder("Noise of step scores", 1.0, NOISE)
    budget: int = ladder("Steps to write", 80, [20, 80, 320])
    how: str = choice("Combined step score", "product", list(WAYS))
    recover: float = ladder("Flaws fixed per 100", 0.0, [0.0, 5.0, 10.0, 20.0, 30.0])
    searcher: str = choice("Search method", "beam", ["beam", "tree"])
    kept: str = choice("Prefixes kept (of n)", "√n", list(KEPT))
    c: float = ladder("Exploration", 1.0, [0.0, 0.25, 0.5, 1.0, 2.0, 4.0], symbol="c")
    problem: int = slider("Problem shown", 1, low=1, high=PROBLEMS, step=1)
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("blind_spots", "prm_noise")
PRESETS = {
    "Clean scores": Knobs(),
    "5 blind spots per 100": Knobs(blind_spots=5.0),
    "Step noise 2": Knobs(prm_noise=2.0),
    "One prefix kept": Knobs(kept="1"),
    "Flaws fixed, last score": Knobs(recover=20.0, how="last"),
    "Tree search": Knobs(searcher="tree"),
}
GUESS = Guess(
    "Sixteen chains are finished, and both scorers have half the usual noise. Which one picks more correct answers?",
    ("the step scorer, clearly", "equal within three points", "the answer scorer, clearly"),
    Knobs(orm_noise=0.5, prm_noise=0.5),
    2,
    lambda k, r: (
        f"They solve {r.reranked(k)[0]:.1f} %. Step scores solve {r.reranked(k)[1]:.1f} %: they reject lucky chains."
    ),
)


@dataclass(frozen=True)
class Result:
    """Shares in percent; reranked are as many chains as the steps to write allow."""

    tree: step_tree.Tree
    answers: search.Picked  # the best of N by answers, for each N of SIZES
    steps: search.Picked  # by steps
    ceiling: np.ndarray  # (sizes,) where one of N is right
    one: float
    greedy: float
    found: search.Found  # by the search
    searched: float

    @property
    def by_answers(self):
        return 100 * self.answers.solved

    @property
    def by_steps(self):
        return 100 * self.steps.solved

    def reranked(self, k):
        """(by answers, by steps) with the steps to write."""
        return float(self.by_answers[at(k)]), float(self.by_steps[at(k)])

    @property
    def peak(self):
        """(N at which most is solved by answers, how much)."""
        best = int(self.by_answers.argmax())
        return SIZES[best], float(self.by_answers[best])

    @property
    def lost(self):
        """Points between the best N and the largest."""
        return self.peak[1] - float(self.by_answers[-1])

    def behind(self, k):
        """Points by which the search solves less than reranking by answers."""
        return self.reranked(k)[0] - self.searched


def chains(k):
    return k.budget // DEPTH


def at(k):
    return SIZES.index(chains(k))


def run(k):
    tree = problems(k.seed, k.blind_spots, k.orm_noise, k.prm_noise, k.recover)
    found = searched(tree, k)
    yield Result(
        tree,
        by_answers(k.seed, k.blind_spots, k.orm_noise, k.recover),
        search.best_of_n(tree, search.step_scores(tree, k.how), SIZES),
        100 * np.array([search.ceiling(tree, N) for N in SIZES]),
        100 * search.solved_by_one(tree),
        100 * search.greedy(tree).solved(tree),
        found,
        100 * found.solved(tree),
    )


@lru_cache(maxsize=4)
def problems(seed, blind_spots, orm_noise, prm_noise, recover):
    rng = np.random.default_rng(seed)
    return step_tree.build(rng, PROBLEMS, prm_noise, orm_noise, blind_spots / 100, recover / 100)


@lru_cache(maxsize=32)
def by_answers(seed, blind_spots, orm_noise, recover):
    tree = problems(seed, blind_spots, orm_noise, 1.0, recover)  # the noise of steps does not matter here
    return search.best_of_n(tree, tree.orm, SIZES)


def searched(tree, k):
    if k.searcher == "tree":
        return search.tree_search(tree, k.budget, k.c)
    return search.beam(tree, *search.widths(k.budget, KEPT[k.kept]), k.how, np.random.default_rng(k.seed))


def turned(k, **knobs):
    """The result at other knobs."""
    (r,) = run(replace(k, **knobs))
    return r


# The picture

BEST_OF_N, EQUAL_STEPS = "Problems solved by the best of N", "Problems solved with equal steps"


def figure(k, r):
    return [climb(r), equal_steps(k, r), one_problem(k, r), liked(r)]


def within(mark, low, high, x, y):
    """A threshold that is one from `low` to `high` of the horizontal axis only, its words at (x, y)."""
    (words,) = mark["annotations"]
    return dict(
        shapes=[{**shape, "xref": "x", "x0": low, "x1": high} for shape in mark["shapes"]],
        annotations=[words | dict(x=x, y=y, xref="x", xanchor="right", yanchor="bottom")],
    )


CHAINS = dict(
    x="chains sampled",
    x_range=[1, 300],
    log="x",
    ticks=dict(tickvals=[1, 4, 16, 64, 256], ticktext=["1", "4", "16", "64", "256"]),
)


def climb(r):
    return panel(
        BEST_OF_N,
        f"% of {PROBLEMS}; dotted: one of the N is correct",
        line(SIZES, r.ceiling, "one of N is correct", 3, "exact"),
        line(SIZES, r.by_steps, "by steps", 2),
        line(SIZES, r.by_answers, "by answers", 1),
        within(threshold(r.peak[1] - LOST, "at 256: breaks below", 20.0), 150, 300, 290, 21),
        label(2, 33, "by answers", 1),
        label(2, 21, "by steps", 2),
        y_range=[20, 104],
        tab="Solved",
        front=True,
        **CHAINS,
    )


def equal_steps(k, r):
    answers, steps = r.reranked(k)
    shares = [(r.one, 8), (r.greedy, 8), (answers, 1), (steps, 2), (r.searched, 4)]
    solved = [bars([i], [share], "", series, text=[f"{share:.0f}"]) for i, (share, series) in enumerate(shares)]
    return panel(
        EQUAL_STEPS,
        f"% of {PROBLEMS}; ORM, PRM, {k.searcher}: {k.budget} steps; others: 5 steps",
        *solved,
        within(threshold(answers - LOST, "the search breaks below", 0.0), 3.5, 4.5, 4.55, 104),
        x_range=[-0.6, 4.6],
        y_range=[0, 118],
        tab="Solved",
        stacked=True,
        ticks=dict(tickvals=[0, 1, 2, 3, 4], ticktext=["one", "greedy", "ORM", "PRM", k.searcher], tickangle=0),
    )


def one_problem(k, r):
    """The tree as wide as its chains are likely: a column is a draw."""
    row, tree = k.problem - 1, r.tree
    up_to = np.cumsum(tree.chance[row])
    leaf = np.minimum(np.searchsorted(up_to, (np.arange(COLUMNS) + 0.5) / COLUMNS), LEAVES - 1)
    levels = []
    for level in range(1, DEPTH + 1):
        node = OFFSETS[level] + leaf * (OFFSETS[level + 1] - OFFSETS[level]) // LEAVES
        levels.append(np.where(tree.sound[row, node], 1, -1) * np.where(r.found.made[row, node], 1.0, 0.4))
    right = np.where(tree.correct[row, leaf], 1, -1) * 0.4
    answer = r.found.chain[row]
    place = COLUMNS * (up_to[answer] - tree.chance[row, answer] / 2) - 0.5
    return panel(
        "One problem, and what the search wrote",
        f"no. {k.problem}; [above-4] sound, [below-4] flawed; full color: written",
        heat(list(range(COLUMNS)), [6, 5, 4, 3, 2, 0.5], np.array([*levels, right]), low=-1, high=1),
        dots([place], [0.5], "answer of the search", 1, "here"),
        x="share of the policy's chains, %",
        x_range=[-0.5, COLUMNS - 0.5],
        y_range=[-0.2, 6.6],
        tab="One problem",
        ticks=dict(tickvals=[-0.5, COLUMNS / 2 - 0.5, COLUMNS - 0.5], ticktext=["0", "50", "100"]),
        y_ticks=dict(tickvals=[6, 5, 4, 3, 2, 0.5], ticktext=["1", "2", "3", "4", "5", "answer"]),
    )


def liked(r):
    return panel(
        "Answer score of the picked answer",
        "mean; correct answers average 2, wrong ones 0",
        line(SIZES, r.answers.score, "score", 1),
        y_range=[0, 11],
        tab="One problem",
        **CHAINS,
    )


def readouts(k, r):
    answers, steps = r.reranked(k)
    searcher = search.tree_search if k.searcher == "tree" else search.beam
    blind, astray = r.lost > LOST, r.behind(k) > LOST
    sound = [100 * picked.sound[at(k)] for picked in (r.answers, r.steps)]
    return [
        Readout("Solved, reranked by answer scores", answers, "%", search.best_of_n),
        Readout("Solved, reranked by step scores", steps, "%", search.best_of_n),
        Readout("Solved by a sound chain (answers, steps)", f"{sound[0]:.1f}, {sound[1]:.1f}", "%", search.best_of_n),
        Readout("Solved by the search", r.searched, "%", searcher, "violated" if astray else ""),
        Readout(
            "Solved by best of 256 (answers)",
            float(r.by_answers[-1]),
            "%",
            search.best_of_n,
            "violated" if blind else "",
        ),
    ]


# What comes of it

BLIND, NOISY, SPREAD, MIXED = (
    "blind spots that more chains find",
    "noise that misleads the search",
    "steps spent in the wrong places",
    "a combination of settings",
)
UNDONE = {BLIND: dict(blind_spots=0.0), SPREAD: dict(kept="√n", c=1.0), NOISY: dict(prm_noise=NOISE[0])}


def damage(k, r):
    """The points that decide whether it is broken: lost from the best N to 256, or behind reranking."""
    return r.lost if r.lost > LOST else r.behind(k)


def cause(k, r):
    """The first cause that mends the run when it alone is undone, MIXED if none does; None where nothing is broken."""
    if damage(k, r) <= LOST:
        return None
    return next((possible for possible, usual in UNDONE.items() if mended(k, r, usual)), MIXED)


def mended(k, r, usual):
    without = replace(k, **usual)
    if without == k:
        return False
    result = turned(without)
    return (result.lost if r.lost > LOST else result.behind(without)) <= LOST


def watched(k, r):
    if r.lost > max(r.behind(k), 0) or r.lost > LOST:
        code = f"max(solved) - solved[256] > {LOST:g}"
        return Gauge("Loss from the best N to 256", r.lost, LOST, "points", expression=code)
    code = f"by_answers - search > {LOST:g}"
    return Gauge("Lag of search behind reranking", max(r.behind(k), 0.0), LOST, "points", expression=code)


def seen_at(k, r, cause):
    if cause == BLIND:
        return At(BEST_OF_N, None, None, "{y:.0f} % with 256 chains", "by answers")
    return At(EQUAL_STEPS, 4, r.searched, f"the search solves {r.searched:.0f} %")


def broken(k, r):
    blamed = cause(k, r)
    if blamed is None:
        return None
    if r.lost > LOST:
        N, most = r.peak
        led = " More chains hit more wrong answers that the scorer overrates." if blamed == BLIND else ""
        why = f"The best of {N} chains solves {most:.0f} %, the best of 256 only {r.by_answers[-1]:.0f} %.{led}"
        claims = {
            "more chains solve less": lambda: (
                solved_again(r, r.tree.orm, 256) < solved_again(r, r.tree.orm, N) - LOST + 4
            )
        }
    else:
        led = {NOISY: "Noisy step scores mislead it", SPREAD: "It spends its steps in the wrong places"}
        why = (
            f"The search solves {r.searched:.0f} %, the best of {chains(k)} by answer score {r.reranked(k)[0]:.0f} %. "
            f"{led.get(blamed, 'No single change brings it back')}."
        )
        claims = solving(k, r) | {
            "the search is behind": lambda: r.searched < solved_again(r, r.tree.orm, chains(k)) - LOST + 4
        }
    undone = {"undone, it is mended": lambda: mended(k, r, UNDONE[blamed])}
    alone = {"nothing alone mends it": lambda: not any(mended(k, r, usual) for usual in UNDONE.values())}
    return Break(Said(why, claims | (alone if blamed == MIXED else undone)), fix(k), blamed)


def solved_again(r, score, N):
    """% solved by the best scored of N chains, estimated anew for a claim: drawn twenty times of each problem."""
    rng, P = np.random.default_rng(11), len(score)
    up_to = np.cumsum(r.tree.chance, axis=1)
    right = []
    for _ in range(20):
        leaf = np.stack([np.searchsorted(row, rng.random(N) * row[-1]) for row in up_to])
        best = np.take_along_axis(leaf, np.take_along_axis(score, leaf, 1).argmax(axis=1)[:, None], 1)[:, 0]
        right.append(r.tree.correct[np.arange(P), best].mean())
    return 100 * float(np.mean(right))


def solving(k, r):
    """What is asserted of shares with the steps that are set."""
    (answers, steps), by_steps, N = r.reranked(k), search.step_scores(r.tree, k.how), chains(k)
    return {
        "so much is solved by answers": lambda: abs(solved_again(r, r.tree.orm, N) - answers) < 4,
        "so much is solved by steps": lambda: abs(solved_again(r, by_steps, N) - steps) < 4,
        "the search solves so much": lambda: (
            abs(100 * r.tree.correct[np.arange(PROBLEMS), r.found.chain].mean() - r.searched) < 1e-6
        ),
        "and writes no more": lambda: r.found.made.sum(axis=1).max() <= k.budget + 1,
    }


def fix(k):
    """As few knobs as bring it back, turned to where they stand by default."""
    names = ("recover", "how", "budget", "orm_noise", "c", "kept", "searcher", "prm_noise", "blind_spots", "seed")
    usual = {name: getattr(Knobs(), name) for name in names}
    return recovery.fewest(k, usual, holding)


def holding(k):
    (r,) = run(k)
    return r.lost <= LOST and r.behind(k) <= LOST


def worse(k, r):
    if r.lost > TURNED:
        N, most = r.peak
        return Said(
            f"The best of {N} chains solves {most:.1f} %. Beyond that, more chains hurt: 256 solve "
            f"{r.by_answers[-1]:.1f} %.",
            {
                "each size beyond it solves less": lambda: all(r.by_answers[SIZES.index(N) + 1 :] < most),
                "a scorer without blind spots loses less": lambda: turned(k, blind_spots=0.0).lost < r.lost,
            },
        )
    if r.behind(k) > BEHIND:
        return Said(
            f"The search solves {r.searched:.1f} %, {r.behind(k):.1f} points less than the best of {chains(k)} "
            "finished chains by answer score.",
            solving(k, r),
        )
    return None


def holds(k, r):
    answers, steps = r.reranked(k)
    return Said(
        f"With {k.budget} steps, the best of {chains(k)} chains solves {answers:.1f} % by answer score and "
        f"{steps:.1f} % by step score. The search solves {r.searched:.1f} %.",
        solving(k, r),
    )


# ── two runs on the first screen ──


DARE = "Can you make more chains solve fewer problems?"

TWO_RUNS = "no blind spots", "5 in 100 blind spots"


def opening(plain, other):
    named = ((plain, TWO_RUNS[0], 1), (other, TWO_RUNS[1], 2))
    return [
        panel(
            BEST_OF_N,
            f"% of {PROBLEMS}",
            *[line(SIZES, r.by_answers, name, series) for r, name, series in named],
            label(280, float(plain.by_answers[-1]) - 16, TWO_RUNS[0], 1, "right"),
            label(280, float(other.by_answers[-1]) - 15, TWO_RUNS[1], 2, "right"),
            y_range=[20, 104],
            **CHAINS,
        ),
        panel(
            "Answer score of the picked answer",
            "mean; the highest score is picked",
            *[line(SIZES, r.answers.score, name, series) for r, name, series in named],
            y_range=[0, 5],
            **CHAINS,
        ),
    ]


OPENING = Opening(Knobs(), Knobs(blind_spots=5.0), opening, search.best_of_n, TWO_RUNS)
