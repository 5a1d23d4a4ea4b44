import numpy as np
import pytest

from sim.worlds import preferences
from sim.worlds.preferences import GridWorld

WORLD = GridWorld()


def over_pairs(value, kappa=1.0):
    """The mean of value(gold difference) over pairs of the reference's completions, with the sums written out here."""
    x = np.arange(-48, 49) * 0.25
    weight = np.exp(-(x**2) / 2)
    weight /= weight.sum()
    near = np.abs(x) < 5.6
    x, weight = x[near], weight[near]
    gold = ((x - 0.1 * x**2)[:, None] + (x - kappa / 2 * x**2)).ravel()
    mass = np.outer(weight, weight).ravel()
    return sum(m * (mass @ value(g - gold)) for g, m in zip(gold, mass, strict=True))


def test_the_reference_is_a_standard_normal_in_both_features():
    assert WORLD.ref.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(WORLD.ref @ WORLD.phi, 0, atol=1e-12)
    np.testing.assert_allclose(WORLD.ref @ WORLD.phi5, [0, 0, 1, 1, 0], atol=1e-9)
    # spacing 0.25: the entropy of N(0, I) in cells, log(2 pi e) + 2 log 4
    entropy = -WORLD.ref @ WORLD.logref
    assert entropy == pytest.approx(np.log(2 * np.pi * np.e) + 2 * np.log(4), abs=1e-9)


def test_the_map_has_97_by_97_responses_and_quality_comes_first():
    assert len(WORLD.phi) == 9409 and WORLD.phi[0].tolist() == [-12, -12] and WORLD.phi[1].tolist() == [-12, -11.75]
    np.testing.assert_allclose(WORLD.tokens[np.isin(WORLD.l, (0, 2)) & (WORLD.q == 0)], [40, 80])


def test_gold_is_the_parabola_less_its_mean():
    at = (WORLD.q == 2) & (WORLD.l == 3)
    # 2 - 0.1 * 4 + 3 - 0.5 * 9, and the mean of the parabola under N(0, I) is -(0.1 + 0.5)
    assert WORLD.gold[at] == pytest.approx(2 - 0.4 + 3 - 4.5 + 0.6, abs=1e-9)
    assert WORLD.ref @ WORLD.gold == pytest.approx(0, abs=1e-12)


def test_the_reference_has_a_thousandth_of_its_mass_outside_its_ring():
    # P(chi-square of two > 13.8155) = exp(-13.8155 / 2) = 0.001; the cells cut the circle into steps
    assert WORLD.ref @ WORLD.off == pytest.approx(0.001, abs=1e-4)


@pytest.mark.parametrize("kappa", [0.0, 1.0])
def test_win_rate_and_agreement_are_the_sums_over_all_pairs(kappa):
    world = GridWorld(kappa=kappa)
    assert world.ref @ world.wins == pytest.approx(0.5, abs=2e-5)
    of = int(np.argmax((world.q == 1) & (world.l == 1)))
    x = np.arange(-48, 49) * 0.25
    weight = np.exp(-(x**2) / 2)
    weight = np.outer(weight, weight) / weight.sum() ** 2
    less = 1 - 0.1 + 1 - kappa / 2 - ((x - 0.1 * x**2)[:, None] + (x - kappa / 2 * x**2))
    assert world.wins[of] == pytest.approx((weight / (1 + np.exp(-less))).sum(), abs=2e-5)

    def both_ways(difference):
        p = 1 / (1 + np.exp(-difference))
        return p**2 + (1 - p) ** 2

    assert preferences.agreement(world) == pytest.approx(over_pairs(both_ways, kappa), abs=2e-5)


def test_two_labelers_agree_on_seventy_pairs_of_a_hundred():
    assert preferences.agreement(WORLD) == pytest.approx(0.703, abs=5e-4)  # the specification's, by sampled pairs
    assert preferences.agreement(WORLD, flip=0.02) == pytest.approx(0.687, abs=5e-4)
    assert preferences.agreement(WORLD, flip=0.5) == pytest.approx(0.5, abs=1e-12)  # a coin


def test_pairs_come_from_the_reference_and_winners_from_their_gold_difference():
    win, lose = preferences.sample_prefs(WORLD, 20_000, np.random.default_rng(0))
    both = np.concatenate([WORLD.phi[win], WORLD.phi[lose]])
    np.testing.assert_allclose(both.mean(axis=0), 0, atol=4 / 200)  # four standard errors of 40,000 draws
    gap = WORLD.gold[win] - WORLD.gold[lose]
    ahead = (gap > 0).mean()
    p = 1 / (1 + np.exp(-np.abs(gap)))
    assert ahead == pytest.approx(p.mean(), abs=4 * 0.5 / np.sqrt(20_000))


def test_deterministic_labels_follow_gold_and_flips_turn_their_share_round():
    rng = np.random.default_rng(1)
    win, lose = preferences.sample_prefs(WORLD, 5_000, rng, deterministic=True)
    assert (WORLD.gold[win] >= WORLD.gold[lose]).all()
    win, lose = preferences.sample_prefs(WORLD, 5_000, rng, flip=0.2, deterministic=True)
    assert (WORLD.gold[win] < WORLD.gold[lose]).mean() == pytest.approx(0.2, abs=4 * 0.4 / np.sqrt(5_000))


def test_a_biased_labeler_pays_for_length():
    longer = []
    for bias in (0.0, 2.0):
        win, lose = preferences.sample_prefs(WORLD, 5_000, np.random.default_rng(2), bias=bias)
        longer.append((WORLD.l[win] > WORLD.l[lose]).mean())
    assert longer[1] > longer[0] + 0.1


def test_accuracy_on_held_out_pairs_has_a_ceiling_below_one():
    win, lose = preferences.sample_prefs(WORLD, 20_000, np.random.default_rng(12345))
    # 0.778: the specification's; the expected share of a known gold is E max(p, 1 - p)
    expected = over_pairs(lambda d: 1 / (1 + np.exp(-np.abs(d))))
    assert preferences.accuracy(WORLD.gold, win, lose) == pytest.approx(0.778, abs=1e-3)
    assert expected == pytest.approx(0.778, abs=4 * 0.42 / np.sqrt(20_000))


def test_a_reward_that_cannot_tell_is_wrong():
    assert preferences.accuracy(np.zeros(3), np.array([0, 1]), np.array([1, 2])) == 0
