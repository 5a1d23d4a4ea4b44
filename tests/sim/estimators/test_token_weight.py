import numpy as np
import pytest

from sim.estimators import token_weight

RATIO = np.array([0.5, 0.9, 1.0, 1.1, 1.5])


def test_at_a_ratio_of_one_all_five_are_reinforce():
    for weight in token_weight.WEIGHTS.values():
        assert weight(np.array([1.0]), 1.0, 0.2, 7) == pytest.approx(1) == weight(np.array([1.0]), -1.0, 0.2, 7)


def test_ppo_lets_go_on_the_side_it_pushes_to_and_only_there():
    """Schulman et al. (2017), the derivative of min(ρA, clip(ρ)A) in ρ, times ρ for that in log ρ."""
    np.testing.assert_allclose(token_weight.ppo(RATIO, 1.0, 0.2, 7), [0.5, 0.9, 1.0, 1.1, 0.0])
    np.testing.assert_allclose(token_weight.ppo(RATIO, -1.0, 0.2, 7), [0.0, 0.9, 1.0, 1.1, 1.5])


def test_cispo_cuts_the_weight_and_never_the_push():
    """MiniMax (2025), equation 5: the clipped weight is a constant, and no lower bound is used."""
    np.testing.assert_allclose(token_weight.cispo(RATIO, 1.0, 0.2, 7), [0.5, 0.9, 1.0, 1.1, 1.2])
    np.testing.assert_allclose(token_weight.cispo(RATIO, -1.0, 0.2, 7), [0.5, 0.9, 1.0, 1.1, 1.2])


def test_gspo_sees_the_geometric_mean_of_the_completion():
    """One token of seven has moved: the completion's ratio is its seventh root, clipped at 1.2 ** 7 = 3.583."""
    assert token_weight.gspo(np.array([2.0]), 1.0, 0.2, 7) == pytest.approx(2 ** (1 / 7))
    assert token_weight.gspo(np.array([3.5, 3.6]), 1.0, 0.2, 7) == pytest.approx([3.5 ** (1 / 7), 0])
