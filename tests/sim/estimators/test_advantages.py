import numpy as np
import pytest

from sim.estimators.advantages import at_the_end, gae, gae_without_holes

REWARD = np.array([[0, 0, 0, 1], [0, -0.1, 0.5, 0]])
VALUE = np.array([[0.2, 0.4, 0.5, 0.7], [0.3, 0.1, 0.2, 0.9]])
MASK = np.array([[1.0, 1, 1, 1], [1, 1, 1, 0]])


@pytest.mark.parametrize(
    "gamma, lam, expected",
    [  # verl 0.9.1, compute_gae_advantage_return, before whitening
        (1, 1, [[0.8, 0.6, 0.5, 0.3], [0.1, 0.3, 0.3, 0]]),
        (1, 0.95, [[0.7327125, 0.56075, 0.485, 0.3], [0.07075, 0.285, 0.3, 0]]),
        (1, 0, [[0.2, 0.1, 0.2, 0.3], [-0.2, 0, 0.3, 0]]),
        (0.99, 0.9, [[0.6460684243, 0.5051273, 0.4603, 0.3], [0.0353823, 0.2653, 0.3, 0]]),
    ],
)
def test_advantages_as_verl_computes_them(gamma, lam, expected):
    np.testing.assert_allclose(gae(REWARD, VALUE, MASK, gamma, lam)[0], expected, atol=1e-9)


@pytest.mark.parametrize("length", [1, 2, 7, 16, 33])
@pytest.mark.parametrize("gamma, lam", [(1, 1), (1, 0), (0.9, 0.7)])
def test_without_holes_doubling_gives_what_the_loop_gives(length, gamma, lam):
    rng = np.random.default_rng(1)
    reward, value = rng.normal(size=(3, length)), rng.normal(size=(3, length))
    loop, _ = gae(reward, value, np.ones((3, length)), gamma, lam)
    np.testing.assert_allclose(gae_without_holes(reward, value, gamma, lam), loop, atol=1e-12)


def test_tokens_of_the_environment_are_stepped_over():
    advantage, returns = gae(REWARD[:1], VALUE[:1], np.array([[1.0, 0, 0, 1]]), 1, 0.95)
    np.testing.assert_allclose(advantage, [[0.785, 0, 0, 0.3]], atol=1e-12)  # verl 0.9.1 at the two own positions
    np.testing.assert_allclose(returns, [[0.985, 0, 0, 1]], atol=1e-12)  # with the values there, 0.2 and 0.7


def test_at_lambda_one_the_advantage_is_the_reward_still_to_come_less_the_value():
    rng = np.random.default_rng(0)
    reward, value = rng.normal(size=(5, 9)), rng.normal(size=(5, 9))
    advantage, returns = gae(reward, value, np.ones((5, 9)), 1, 1)
    to_come = reward[:, ::-1].cumsum(axis=1)[:, ::-1]
    np.testing.assert_allclose(advantage, to_come - value, atol=1e-12)
    np.testing.assert_allclose(returns, to_come, atol=1e-12)


def test_the_reward_is_paid_at_the_last_own_token():
    mask = np.array([[1.0, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1]])
    np.testing.assert_array_equal(at_the_end(np.array([1.0, 2, 3]), mask), [[0, 1, 0, 0], [0, 0, 0, 2], [0, 0, 0, 3]])
