from itertools import product

import numpy as np
import pytest

from sim.estimators import completion_selection

CHANCE, SCORE = np.array([0.5, 0.3, 0.2]), np.array([1.0, 3.0, 2.0])


@pytest.mark.parametrize("N, right", [(1, 0.7), (2, 0.49), (4, 0.2401)])
def test_a_wrong_answer_that_scores_best_is_picked_more_often_with_every_draw(N, right):
    picked = completion_selection.best_of_n(CHANCE, SCORE, N)
    assert picked @ [1, 0, 1] == pytest.approx(right, abs=1e-12)  # (1 − .3)^N: it must never be drawn
    assert picked.sum() == pytest.approx(1, abs=1e-12)


def test_a_right_answer_that_scores_best_is_picked_as_soon_as_it_is_drawn():
    assert completion_selection.best_of_n(CHANCE, SCORE, 4)[1] == pytest.approx(1 - 0.7**4, abs=1e-12)


@pytest.mark.parametrize("score", [(3, 1, 2, 0), (1, 1, 2, 0), (2, 2, 2, 2), (0, 5, 5, 1)])
def test_it_is_what_drawing_every_way_gives(score):
    chance, N = [0.1, 0.4, 0.3, 0.2], 3
    expected = np.zeros(4)
    for draws in product(range(4), repeat=N):
        best = max(score[i] for i in draws)
        first = [i for i in draws if score[i] == best]  # of equal ones any of the draws is as good
        for i in first:
            expected[i] += np.prod([chance[j] for j in draws]) / len(first)
    np.testing.assert_allclose(
        completion_selection.best_of_n(np.array(chance), np.array(score, float), N), expected, atol=1e-12
    )


def test_several_sizes_and_several_problems_at_once():
    rng = np.random.default_rng(0)
    chance, score = rng.dirichlet(np.ones(5), size=2), rng.normal(size=(2, 5))
    both = completion_selection.best_of_n(chance, score, [1, 7])
    assert both.shape == (2, 2, 5)
    np.testing.assert_allclose(both[0], chance)
    np.testing.assert_allclose(both[1, 1], completion_selection.best_of_n(chance[1], score[1], 7))


def test_a_completion_that_is_never_drawn_is_never_picked():
    assert completion_selection.best_of_n(np.array([0.0, 1.0]), np.array([2.0, 1.0]), 8).tolist() == [0, 1]


def test_the_plurality_of_five_draws():
    # multinomial enumeration, ties shared
    assert completion_selection.plurality([0.45, 0.3, 0.25], 5)[0] == pytest.approx(0.53217, abs=1e-5)
    # binomial: three or more of five
    assert completion_selection.plurality([0.6, 0.4], 5)[0] == pytest.approx(0.68256, abs=1e-9)


def test_voting_helps_while_the_right_answer_is_the_most_likely_and_hurts_where_it_is_not():
    assert completion_selection.plurality([0.4, 0.6], 9)[0] < completion_selection.plurality([0.4, 0.6], 3)[0] < 0.4
    assert (
        completion_selection.plurality([0.4, 0.3, 0.3], 9)[0]
        > completion_selection.plurality([0.4, 0.3, 0.3], 3)[0]
        > 0.4
    )
