"""Entropy and its slopes against closed forms and finite differences."""

import numpy as np
import pytest

from sim.estimators import entropy

Z = np.array([0.3, -0.2, 1.0, 0.0])
A = np.array([1.0, -0.5, 0.2, 0.0])


def softmax(z):
    return np.exp(z) / np.exp(z).sum()


PI = softmax(Z)
START = np.array([0.5, 0.3, 0.15, 0.05])


def slope(of, z, step=1e-6):
    """Central differences."""
    return np.array([(of(z + step * one) - of(z - step * one)) / (2 * step) for one in np.eye(len(z))])


def test_entropy_of_a_level_policy_is_the_logarithm_of_the_number_of_actions():
    assert entropy.entropy(np.full(20, 1 / 20)) == pytest.approx(np.log(20), abs=1e-12)
    assert entropy.entropy(np.eye(3)[0]) == 0
    assert entropy.entropy(PI) == pytest.approx(1.2699969821, abs=1e-9)  # by hand, logits 0.3, −0.2, 1, 0


def test_the_bonus_is_the_slope_of_the_entropy():
    np.testing.assert_allclose(entropy.bonus(PI), slope(lambda z: entropy.entropy(softmax(z)), Z), atol=1e-8)
    np.testing.assert_allclose(entropy.bonus(PI), [0.0464854, 0.0977335, -0.2296171, 0.0853981], atol=1e-7)
    doubled = entropy.bonus(softmax(2 * Z))  # H 0.9531
    np.testing.assert_allclose(doubled, [0.1396418, 0.1129732, -0.3843915, 0.1317765], atol=1e-7)


def test_the_bonus_raises_what_is_rarer_than_the_geometric_mean_of_the_draws():
    np.testing.assert_array_equal(entropy.bonus(PI) > 0, np.exp(-entropy.entropy(PI)) > PI)
    assert entropy.bonus(PI).sum() == pytest.approx(0, abs=1e-12)


def test_the_bonus_fades_with_the_probability():
    pi = np.array([1 - 2e-6, 1e-6, 1e-6])
    assert 0 < entropy.bonus(pi)[1] < 2e-5
    assert np.isfinite(entropy.bonus(np.eye(3)[0])).all()


def test_the_price_is_the_slope_of_the_kl():
    def kl(z):
        return float((softmax(z) * np.log(softmax(z) / START)).sum())

    np.testing.assert_allclose(entropy.price(PI, START), slope(kl, Z), atol=1e-8)
    np.testing.assert_allclose(entropy.price(START, START), 0, atol=1e-12)


def test_a_policy_gradient_step_changes_the_entropy_by_minus_a_covariance():
    centered = A - PI @ A

    def after(push):
        return entropy.entropy(softmax(Z + 1e-6 * push))

    def measured(push):
        return (after(push) - entropy.entropy(PI)) / 1e-6

    assert entropy.rate(PI, A, natural=False) == pytest.approx(-3.8332e-4, abs=1e-7)
    assert entropy.rate(PI, A, natural=True) == pytest.approx(-0.0483047529, abs=1e-9)
    assert entropy.rate(PI, A, natural=False) == pytest.approx(measured(PI * centered), abs=1e-6)
    assert entropy.rate(PI, A, natural=True) == pytest.approx(measured(centered), abs=1e-6)


def test_the_optimum_of_a_bonus_forgets_where_it_began():
    np.testing.assert_allclose(
        entropy.bonus_optimum(np.array([1, 0.5, 0.0]), 0.5), [0.6652410, 0.2447285, 0.0900306], atol=1e-7
    )  # e^2, e, 1 over their sum
