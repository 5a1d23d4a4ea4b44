"""People and a judge on pairs of completions, against normal integrals and what they are told."""

import numpy as np
import pytest

from sim.worlds import judged_pairs
from sim.worlds.judged_pairs import STYLE, Judge, W

MANY = 100_000


def drawn(seed=0, alike=False):
    rng = np.random.default_rng(seed)
    return *judged_pairs.pairs(MANY, rng, alike), rng


def test_gold_pays_eight_principles_alike_and_style_only_takes():
    assert np.linalg.norm(W) == pytest.approx(1) and W[STYLE] == 0
    one = np.zeros(17)
    one[STYLE] = 2.0
    assert judged_pairs.gold(one) == -1.0  # ks/2 style² = 0.25 · 4
    one[0] = 1.0
    assert judged_pairs.gold(one) == -0.75


def test_a_list_pays_two_numbers_for_each_of_its_principles():
    for m in range(1, 9):
        weights = judged_pairs.principles(m)
        assert np.count_nonzero(weights) == 2 * m and weights @ weights == pytest.approx(m / 8)


def test_two_people_agree_on_63_percent_and_on_77_where_nothing_is_turned_round():
    # the specification's oracle: flip 0.15: 63 %, 0: 77 %, 0.25: 57 %
    for flip, agreed in ((0.15, 0.63), (0.0, 0.77), (0.25, 0.57)):
        first, second, rng = drawn()
        both = [judged_pairs.people(first, second, rng, flip) for _ in range(2)]
        assert (both[0] == both[1]).mean() == pytest.approx(agreed, abs=0.006)


def test_a_judge_without_noise_agrees_with_the_linear_truth_by_the_angle():
    # 1 − arccos(1/√(1+b²))/π: 0.8524163823 at b = 1/2, 3/4 at b = 1; curvature left out of the truth
    first, second, rng = drawn()
    linear = (first - second) @ W > 0
    for b, agreed in ((0.5, 0.8524163823), (1.0, 0.75)):
        said = judged_pairs.votes(Judge(bias=b, noise=0.0), first, second, rng)[0]
        assert (said == linear).mean() == pytest.approx(agreed, abs=0.005)


def test_pairs_alike_leave_a_taste_nothing_to_decide():
    first, second, rng = drawn(alike=True)
    assert (first[:, STYLE] == second[:, STYLE]).all()
    plain, tasty = (judged_pairs.votes(Judge(bias=b, noise=0.0), first, second, rng) for b in (0.0, 2.5))
    assert (plain == tasty).all()


def test_both_orders_cancel_the_pay_for_being_first():
    first, second, _ = drawn()

    def vote(judge):
        return judged_pairs.votes(judge, first, second, np.random.default_rng(1))

    assert (vote(Judge(position=3.0)) == vote(Judge())).all()
    one_order = vote(Judge(position=3.0, both_orders=False))
    truth = judged_pairs.truth(first, second)
    assert (one_order == truth).mean() < (vote(Judge()) == truth).mean() - 0.1


def test_the_majority_of_votes_is_the_verdict():
    votes = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0]], bool)
    assert judged_pairs.verdict(votes).tolist() == [True, True, False]
    assert judged_pairs.votes(Judge(K=5), *drawn()[:2], np.random.default_rng(0)).shape == (5, MANY)


def test_the_four_quarters_of_pairs_are_as_large():
    first, second, _ = drawn()
    share = np.bincount(judged_pairs.quarter(first, second), minlength=4) / MANY
    assert share == pytest.approx([0.25] * 4, abs=0.006)


def test_the_last_quarter_is_where_the_worse_one_has_more_style():
    first, second, _ = drawn()
    truth, quarter = judged_pairs.truth(first, second), judged_pairs.quarter(first, second)
    more = np.where(truth, second[:, STYLE] - first[:, STYLE], first[:, STYLE] - second[:, STYLE])
    assert more[quarter == 3].min() > 0.9 and more[quarter == 0].max() < -0.9
