import numpy as np
import pytest

from sim.estimators import bradley_terry
from sim.worlds import preferences


def pairs(wins):
    """(win, lose) of a table of counts, wins[i][j] of i over j."""
    at = [(i, j) for i, row in enumerate(wins) for j, n in enumerate(row) for _ in range(n)]
    return np.array(at).T


def test_three_items_are_rated_as_by_two_other_methods():
    win, lose = pairs([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    theta = bradley_terry.fit(np.eye(3), win, lose, lam=0)
    # scipy's BFGS and, independently, the MM algorithm of Zermelo and Hunter (2004), centered
    np.testing.assert_allclose(theta, [0.94360587, -0.16016071, -0.78344516], atol=1e-6)
    assert bradley_terry.loss(theta[win] - theta[lose]).sum() == pytest.approx(16.324990494, abs=1e-6)


def test_of_two_items_the_gap_is_the_log_of_wins_over_losses():
    win, lose = pairs([[0, 30], [10, 0]])
    theta = bradley_terry.fit(np.eye(2), win, lose, lam=0)
    assert theta[0] - theta[1] == pytest.approx(1.0986122887, abs=1e-9)  # log 3
    assert bradley_terry.odds(30, 10) == pytest.approx(1.0986122887, abs=1e-9)


@pytest.mark.parametrize("wins, losses, gap", [(40, 0, np.inf), (0, 40, -np.inf), (20, 20, 0)])
def test_who_wins_all_comparisons_has_no_finite_reward(wins, losses, gap):
    assert bradley_terry.odds(wins, losses) == gap


def test_a_ridge_ends_what_separable_pairs_would_raise_for_ever():
    win, lose = pairs([[0, 40], [0, 0]])
    a, b = bradley_terry.fit(np.eye(2), win, lose, lam=0.1)
    gap = a - b
    # the gradient vanishes: 40 (1 - sigma(gap)) = lam * gap / 2
    assert 40 / (1 + np.exp(gap)) == pytest.approx(0.05 * gap, abs=1e-9) and gap == pytest.approx(5.06, abs=5e-3)


def test_the_slope_is_minus_the_probability_given_to_the_loser():
    margin, h = np.array([-3.0, 0.0, 0.4, 5.0]), 1e-6
    slope = (bradley_terry.loss(margin + h) - bradley_terry.loss(margin - h)) / (2 * h)
    np.testing.assert_allclose(bradley_terry.loss_slope(margin), slope, atol=1e-9)
    assert bradley_terry.loss(0.0) == pytest.approx(np.log(2), abs=1e-12)


def test_the_default_reward_model_is_the_one_that_bfgs_finds():
    world = preferences.GridWorld()
    win, lose = preferences.sample_prefs(world, 200, np.random.default_rng(0))
    np.testing.assert_allclose(bradley_terry.fit(world.phi, win, lose), [0.91769388, 0.65780316], atol=1e-6)  # BFGS


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("deterministic", [False, True])
def test_five_features_are_fitted_as_bfgs_fits_them(n, deterministic):
    optimize = pytest.importorskip("scipy.optimize", reason="scipy's BFGS is not in the page's runtime")
    world = preferences.GridWorld()
    for seed in range(3):
        win, lose = preferences.sample_prefs(world, n, np.random.default_rng(seed), deterministic=deterministic)
        D = world.phi5[win] - world.phi5[lose]

        def objective(theta, D=D):
            return np.logaddexp(0, -D @ theta).sum() + 0.05 * theta @ theta

        found = optimize.minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
        np.testing.assert_allclose(bradley_terry.fit(world.phi5, win, lose), found.x, atol=2e-4)
