"""The numbers of the lesson on search, recomputed."""

from functools import cache

import numpy as np
import pytest

from sim.estimators import completion_selection
from sim.estimators.chain_score import all_sound, soundness
from sim.experiments import search
from sim.worlds import step_tree
from tests.lessons.prose import Lesson
from widgets.search import figures, widget
from widgets.search.widget import Knobs

LESSON = Lesson("17")


@cache
def result(**knobs):
    (r,) = widget.run(Knobs(**knobs))
    return r


def reranked(**knobs):
    return result(**knobs).reranked(Knobs(**knobs))


def solved_by_256(**knobs):
    return result(**knobs).by_answers[-1]


def behind(**knobs):
    return result(**knobs).behind(Knobs(**knobs))


@cache
def spent(seed):
    """{way: % solved at each of the figure's numbers of steps} of one draw of the problems."""
    world, sizes = figures.problems(seed), [W * W for W in figures.KEPT]
    beams = [search.beam(world, W, W, "product", np.random.default_rng(seed)).solved(world) for W in figures.KEPT]
    return {"answers": 100 * search.best_of_n(world, world.orm, sizes).solved, "beam": 100 * np.array(beams)}


def sixteen(score, recover=0.0):
    """% solved with 16 finished chains, reranked by a score of the problems."""

    def measured(seed):
        tree = figures.problems(seed, recover)
        return 100 * search.best_of_n(tree, score(tree), [16]).solved[0]

    return measured


def exact(tree):
    """The chance that a chain is sound, given all its scores: each is two normals 2 apart with deviation 1."""
    return soundness(2 * step_tree.along(tree.prm), 0.8)


def by_tree(steps):
    def measured(seed):
        world = figures.problems(seed)
        return 100 * search.tree_search(world, steps, 1.0).solved(world)

    return measured


MEASURED = {
    **{
        f"{way}, {budget} steps": lambda seed, way=way, i=i: spent(seed)[way][i]
        for i, budget in enumerate(figures.BUDGETS)
        for way in ("answers", "beam")
    },
    "beam, step noise 2": lambda seed: result(prm_noise=2.0, seed=seed).searched,
    "steps, step noise 2": lambda seed: reranked(prm_noise=2.0, seed=seed)[1],
    "answers, step noise 2": lambda seed: reranked(prm_noise=2.0, seed=seed)[0],
    "beam": lambda seed: result(seed=seed).searched,
    "beam, one kept": lambda seed: result(kept="1", seed=seed).searched,
    "beam behind answers, step noise 1": lambda seed: behind(seed=seed),
    "beam behind answers, step noise 1.25": lambda seed: behind(prm_noise=1.25, seed=seed),
    **{
        f"five blind spots, {n} chains": lambda seed, i=i: result(blind_spots=5.0, seed=seed).by_answers[i]
        for n, i in ((16, 4), (256, -1))
    },
    **{
        f"16 chains by {how}{words}": sixteen(lambda tree, how=how: search.step_scores(tree, how), recover)
        for words, recover in (("", 0.0), (", flaws mended", 0.2))
        for how in widget.WAYS
    },
    "16 chains by answers": sixteen(lambda tree: tree.orm),
    "16 chains by the exact chance": sixteen(exact),
    "tree search, 20 steps": by_tree(20),
    "tree search, 80 steps": by_tree(80),
}


def test_the_smallest_case_and_why_chains_fail():
    LESSON.says("38.6", result().one)
    LESSON.says("60", 100 * all_sound(0.95, 10))
    LESSON.says("13", 100 * all_sound(0.95, 40))


def test_the_best_of_three_answers():
    assert (figures.CHANCE.tolist(), figures.SCORE.tolist()) == ([0.5, 0.3, 0.2], [1, 3, 2])
    LESSON.says("0.94", completion_selection.best_of_n(figures.CHANCE, figures.SCORE, 8)[1])


kept = LESSON.kept


def ahead(budget):
    return kept(f"beam, {budget} steps") - kept(f"answers, {budget} steps")


def test_equal_steps():
    LESSON.spread("73 ± 3", kept("beam, 20 steps"))
    LESSON.spread("69 ± 2", kept("answers, 20 steps"))
    LESSON.counts("the beam is ahead in {} of twenty draws", ahead(20) > 0)
    assert round(ahead(80).mean()) == 2 and "At 80 it is two points ahead" in LESSON.text
    assert abs(ahead(125).mean()) < 0.5 and abs(ahead(180).mean()) < 0.5 and "from 125 to 180 level" in LESSON.text
    LESSON.counts("at 320 behind in {} of twenty", ahead(320) < 0)


def test_blind_spots():
    r = result(blind_spots=5.0)
    LESSON.says("72", reranked(blind_spots=5.0)[0])
    LESSON.says("57", solved_by_256(blind_spots=5.0))
    LESSON.says("3.23", r.answers.score[4])
    LESSON.says("4.25", r.answers.score[-1])
    assert r.peak[0] == 16 and result(blind_spots=2.0).peak[0] == 32
    LESSON.says("78.7", solved_by_256(orm_noise=2.0))
    LESSON.says("97.6", solved_by_256())
    assert (np.diff(result(orm_noise=2.0).by_answers) > 0).all()


def test_among_finished_chains():
    LESSON.says("87.6", reranked()[0])
    LESSON.says("85.9", reranked()[1])
    exact = reranked(orm_noise=0.5, prm_noise=0.5)
    LESSON.says("94.5", exact[0])
    LESSON.says("89.1", exact[1])
    noisy = reranked(orm_noise=2.0, prm_noise=2.0)
    assert round(noisy[1] - noisy[0]) == 3


def test_what_is_right_by_luck():
    r = result()
    LESSON.says("76.4", 100 * r.answers.sound[4])
    LESSON.says("84.7", 100 * r.steps.sound[4])
    assert round(1 / (1 - r.answers.sound[4] / r.answers.solved[4])) == 8  # "every eighth"
    LESSON.says("8", 100 * search.lucky_share(r.tree))


@LESSON.when_changed
def test_noise_before_the_end():
    LESSON.says("70", result(prm_noise=2.0).searched)
    LESSON.says("75", result(kept="1").searched)
    LESSON.says("88", result().searched)
    noisy = {way: kept(f"{way}, step noise 2") for way in ("beam", "steps", "answers")}
    assert abs(noisy["beam"] - noisy["steps"]).mean() < 3 and "about as much" in LESSON.text
    assert (noisy["beam"] < noisy["answers"] - 5).all() and "far below reranked answers" in LESSON.text
    assert abs(behind()) < 0.5  # "level"
    assert round(behind(prm_noise=1.25)) == 3
    assert behind(prm_noise=1.25, blind_spots=2.0) < 0 < behind(prm_noise=1.5, blind_spots=2.0) < 1.5


def test_the_best_use_of_five_scores():
    tree = figures.problems(0)
    assert (tree.prior * tree.sound)[:, 1:4].sum(axis=1).mean() == pytest.approx(0.8, abs=0.03)  # of a first step
    for said, score in (("86.5", "the exact chance"), ("86.6", "answers"), ("84.8", "product")):
        LESSON.says(said, kept(f"16 chains by {score}").mean())


def test_the_order_of_the_ways_turns_where_flaws_are_mended():
    assert (kept("16 chains by product") > kept("16 chains by last")).all() and "In each of twenty draws" in LESSON.text
    mended = np.array([kept(f"16 chains by {how}, flaws mended") for how in widget.WAYS])
    first, fourth = (np.array(list(widget.WAYS))[of(mended, axis=0)] for of in (np.argmax, np.argmin))
    assert (first == "last").all() and (fourth == "min").all()


def test_what_the_last_score_throws_away():
    LESSON.says("81.0", figures.reranked(0.0, "last")[4])
    LESSON.says("85.9", figures.reranked(0.0, "product")[4])


@LESSON.when_changed
def test_tree_search():
    LESSON.says("77.6", kept("tree search, 20 steps").mean())
    LESSON.says("72.8", kept("beam, 20 steps").mean())
    LESSON.says("89.0", kept("tree search, 80 steps").mean())
    LESSON.says("29", result(searcher="tree", c=0.0).searched)
    LESSON.says("67", result(searcher="tree", c=4.0).searched)


def test_the_price_in_kl_and_votes():
    price = lambda N: np.log(N) - (N - 1) / N  # closed form
    LESSON.says("1.8", price(16))
    LESSON.says("4.5", price(256))
    LESSON.says("0.53", completion_selection.plurality([0.45, 0.3, 0.25], 5)[0])
    LESSON.says("0.67", completion_selection.plurality([0.45, 0.3, 0.25], 15)[0])
    LESSON.says("0.32", completion_selection.plurality([0.4, 0.6], 5)[0])
