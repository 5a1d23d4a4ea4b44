import numpy as np
import pytest

from sim.estimators import bradley_terry, reward_ensemble
from sim.worlds import preferences

FOUR = np.array([[1.0], [0.4], [1.6], [0.8]])  # four members, one completion
WORLD = preferences.GridWorld()
WIN, LOSE = np.array([1.2, -0.3, 0.8]), np.array([0.4, 0.5, -1.0])


@pytest.mark.parametrize("how, made", [("mean", 0.95), ("lowest", 0.4), ("uncertainty", 0.85625)])
def test_four_members_are_made_into_one(how, made):
    # by hand: the variance of the members, over four and not three, is 0.1875
    assert reward_ensemble.aggregate(FOUR, how, 0.5) == pytest.approx([made], abs=1e-12)


def test_a_free_charge_is_the_mean_and_a_larger_one_pays_less():
    charged = [float(reward_ensemble.aggregate(FOUR, "uncertainty", lam)[0]) for lam in (0.0, 0.5, 3.0)]
    assert charged == pytest.approx([0.95, 0.85625, 0.3875], abs=1e-12)


def test_a_constant_of_one_member_does_not_decide_which_is_the_lowest():
    ref = np.array([0.5, 0.3, 0.2])
    rewards = np.array([[0.0, 1.0, 2.0], [0.5, 0.5, 0.5]])
    moved = rewards + np.array([[7.0], [-3.0]])
    for how in ("mean", "lowest", "uncertainty"):
        plain, other = (reward_ensemble.aggregate(reward_ensemble.centered(r, ref), how) for r in (rewards, moved))
        np.testing.assert_allclose(plain, other, atol=1e-12)
    np.testing.assert_allclose(reward_ensemble.centered(moved, ref) @ ref, 0, atol=1e-12)


@pytest.mark.parametrize("E, lowest", [(3, -0.8462843754), (5, -1.1629644736)])
def test_the_lowest_of_standard_normal_members_is_below_their_mean(E, lowest):
    # the mean of the least of E standard normals, by quadrature
    drawn = np.random.default_rng(0).standard_normal((E, 400_000))
    assert reward_ensemble.aggregate(drawn, "lowest").mean() == pytest.approx(lowest, abs=4e-3)


@pytest.mark.parametrize("E, rho, share", [(5, 0.5, 0.6), (10, 0.8, 0.82), (5, 0.2, 0.36), (5, 0.8, 0.84), (1, 0.3, 1)])
def test_what_a_mean_keeps_of_correlated_errors(E, rho, share):
    assert reward_ensemble.variance_share(E, rho) == pytest.approx(share, abs=1e-12)  # rho + (1 - rho) / E


def test_the_mean_of_drawn_members_keeps_as_much():
    rng, E, rho = np.random.default_rng(1), 5, 0.5
    shared, own = rng.standard_normal(200_000), rng.standard_normal((E, 200_000))
    errors = np.sqrt(rho) * shared + np.sqrt(1 - rho) * own
    assert errors.mean(axis=0).var() == pytest.approx(reward_ensemble.variance_share(E, rho), abs=0.01)


def test_a_member_is_fitted_to_pairs_drawn_again_and_there_are_as_many():
    win, lose = preferences.sample_prefs(WORLD, 30, np.random.default_rng(0))
    theta = reward_ensemble.members(WORLD.phi, win, lose, 4, np.random.default_rng(1000))
    rows = np.random.default_rng(1000).integers(0, 30, (4, 30))
    for row, member in zip(rows, theta, strict=True):
        np.testing.assert_allclose(member, bradley_terry.fit(WORLD.phi, win[row], lose[row]), atol=1e-12)
    seen = [len(set(row)) / 30 for row in np.random.default_rng(2).integers(0, 30, (4000, 30))]
    assert np.mean(seen) == pytest.approx(1 - (1 - 1 / 30) ** 30, abs=0.01)  # 0.64: not all pairs


def test_without_length_quality_alone_is_paid():
    five = np.array([[0.9, 0.7, -0.1, -0.4, 0.2]])
    assert reward_ensemble.without_length(five).tolist() == [[0.9, 0.0, -0.1, 0.0, 0.0]]
    assert reward_ensemble.without_length(np.array([0.9, 0.7])).tolist() == [0.9, 0.0]
    assert five[0, 1] == 0.7, "a copy"
    paid = WORLD.phi5 @ reward_ensemble.without_length(five)[0]
    same_quality = WORLD.q == 1.0
    assert np.ptp(paid[same_quality]) == 0


def test_the_losses_are_those_of_trl():
    # TRL 1.16.0, RewardTrainer.compute_loss, in float64
    plain, margins = np.zeros(3), np.array([0.5, 0.2, 1.0])
    assert reward_ensemble.margin_loss(WIN, LOSE, plain) == pytest.approx(0.5650596474738766, abs=1e-12)
    assert reward_ensemble.margin_loss(WIN, LOSE, margins) == pytest.approx(0.7462391993115092, abs=1e-12)
    centered = reward_ensemble.margin_loss(WIN, LOSE, plain) + reward_ensemble.centering(WIN, LOSE, 0.01)
    assert centered == pytest.approx(0.5738596474738766, abs=1e-12)


def test_centering_notices_a_constant_that_the_loss_does_not():
    plain = np.zeros(3)
    assert reward_ensemble.margin_loss(WIN + 5, LOSE + 5, plain) == pytest.approx(
        reward_ensemble.margin_loss(WIN, LOSE, plain), abs=1e-12
    )
    assert reward_ensemble.centering(WIN + 5, LOSE + 5, 0.01) > reward_ensemble.centering(WIN, LOSE, 0.01)
