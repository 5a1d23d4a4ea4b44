import numpy as np
import pytest

from sim.estimators import chain_score

STEPS = np.array([1.2, -0.3, 0.8])


@pytest.mark.parametrize(
    "p, steps, expected", [(0.95, 10, 0.5987369392), (0.95, 40, 0.1285121566), (0.9, 8, 0.43046721)]
)
def test_the_chance_that_every_step_is_sound(p, steps, expected):
    assert chain_score.all_sound(p, steps) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "how, expected", [("product", -1.4887383774), ("min", -0.3), ("last", 0.8), ("mean", 0.5666666667)]
)
def test_three_steps_as_one_score(how, expected):
    assert chain_score.chain_score(STEPS, how) == pytest.approx(expected, abs=1e-9)  # by the formula of each


def test_the_product_is_that_of_the_chances():
    chances = 1 / (1 + np.exp(-STEPS))
    assert np.exp(chain_score.chain_score(STEPS, "product")) == pytest.approx(chances.prod(), abs=1e-12)
    assert chances.prod() == pytest.approx(0.2256571702, abs=1e-9)


@pytest.mark.parametrize("how", chain_score.WAYS)
def test_it_goes_along_the_last_axis(how):
    table = np.stack([STEPS, STEPS + 1])
    both = chain_score.chain_score(table, how)
    assert both.shape == (2,) and both[0] == chain_score.chain_score(STEPS, how) < both[1]


def test_the_best_use_of_all_scores_is_bayes_over_where_the_first_flaw_may_be():
    p, ratios = 0.8, np.array([0.7, -1.1, 0.4])
    # sound up to step t, then flawed: p^t (1 − p), with the likelihood of the scores up to t; or sound to the end
    weight = [p**t * (1 - p) * np.exp(ratios[:t].sum()) for t in range(3)] + [p**3 * np.exp(ratios.sum())]
    assert chain_score.soundness(ratios, p) == pytest.approx(weight[3] / sum(weight), abs=1e-12)


def test_scores_that_say_nothing_leave_the_chance_as_it_was():
    assert chain_score.soundness(np.zeros((2, 5)), 0.9) == pytest.approx(np.full(2, 0.9**5), abs=1e-12)
