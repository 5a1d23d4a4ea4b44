"""The lesson on search: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.estimators import completion_selection
from sim.estimators.chain_score import all_sound, soundness
from sim.estimators.completion_selection import plurality
from sim.experiments import search
from sim.worlds import step_tree
from tests.lessons import spreads
from widgets.search import figures, widget
from widgets.search.widget import Knobs

values = partial(spreads.values, "17_search")


@cache
def result(**knobs):
    (r,) = widget.run(Knobs(**knobs))
    return r


def reranked(**knobs):
    return result(**knobs).reranked(Knobs(**knobs))


def by_256(**knobs):
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


def ahead(budget):
    """(20,), points by which the beam solves more than the scorer of answers with so many steps."""
    return values(f"beam, {budget} steps") - values(f"answers, {budget} steps")


def leads(budget):
    return sum(ahead(budget) > 0)


def level(budget):
    return abs(ahead(budget).mean()) < 0.5


def test_five_blind_spots_in_a_hundred_turn_the_curve_at_16():
    assert result(blind_spots=5.0).peak[0] == 16


def test_every_eighth_right_answer_is_luck():
    answers = result().answers
    assert round(1 / (1 - answers.sound[4] / answers.solved[4])) == 8


def test_noise_takes_the_beams_head_start_away():
    noisy = {way: values(f"{way}, step noise 2") for way in ("beam", "steps", "answers")}
    assert abs(noisy["beam"] - noisy["steps"]).mean() < 3
    assert (noisy["beam"] < noisy["answers"] - 5).all()
    assert abs(behind()) < 0.5  # with equal noise


def test_the_exact_chance_knows_how_often_steps_are_flawed():
    tree = figures.problems(0)
    assert (tree.prior * tree.sound)[:, 1:4].sum(axis=1).mean() == pytest.approx(0.8, abs=0.03)  # of a first step


def test_the_order_of_the_ways_turns_where_flaws_are_mended():
    assert (values("16 chains by product") > values("16 chains by last")).all()
    mended = np.array([values(f"16 chains by {how}, flaws mended") for how in widget.WAYS])
    first, fourth = (np.array(list(widget.WAYS))[of(mended, axis=0)] for of in (np.argmax, np.argmin))
    assert (first == "last").all() and (fourth == "min").all()
