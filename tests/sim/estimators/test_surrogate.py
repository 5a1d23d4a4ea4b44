import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.algorithms import ppo
from sim.estimators import surrogate

OFF = np.inf


@pytest.mark.parametrize(
    "ratio, advantage, loss, slope",
    [  # verl 0.9.1, compute_policy_loss_vanilla, eps 0.2, without and with c = 3
        (0.5, 1, -0.5, -1),
        (1.0, 1, -1.0, -1),
        (1.5, 1, -1.2, 0),
        (0.5, -1, 0.8, 0),
        (1.0, -1, 1.0, 1),
        (1.5, -1, 1.5, 1),
    ],
)
def test_the_six_cells(ratio, advantage, loss, slope):
    assert surrogate.loss_and_slope(ratio, advantage, 0.2, 0.2) == pytest.approx((loss, slope), abs=1e-12)


def test_the_dual_clip_ends_the_one_cell_without_a_bound():
    assert surrogate.loss_and_slope(4.0, -1, 0.2, 0.2) == pytest.approx((4.0, 1), abs=1e-12)
    assert surrogate.loss_and_slope(4.0, -1, 0.2, 0.2, dual_clip=3) == pytest.approx((3.0, 0), abs=1e-12)  # verl 0.9.1
    assert surrogate.loss_and_slope(4.0, 1, 0.2, 0.2, dual_clip=3) == pytest.approx((-1.2, 0), abs=1e-12)  # verl 0.9.1


def test_a_higher_upper_bound_moves_only_the_wanted_side():
    assert surrogate.loss_and_slope(1.5, 1, 0.2, 0.28)[0] == pytest.approx(-1.28)
    assert surrogate.loss_and_slope(0.5, -1, 0.2, 0.28) == pytest.approx((0.8, 0))


# A batch of verl 0.9.1's compute_policy_loss_vanilla: old log-probs all -1, eps 0.2
RATIO = np.array([[0.5, 0.9, 1, 1.5], [0.5, 0.9, 1.1, 1.5], [4, 1.25, 0.7, 1]])
ADVANTAGE = np.array([[1.0, 1, 1, 1], [-1, -1, -1, -1], [-2, 1, 1, 0.5]])
MASK = np.array([[1.0, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]])


def batch(dual_clip):
    objective, slope = surrogate.clipped(np.log(RATIO) - 1, np.full(RATIO.shape, -1.0), ADVANTAGE, 0.2, 0.2, dual_clip)
    return -objective, -slope * ppo.weights(MASK, ppo.HP, None)


def test_the_token_mean_loss_of_a_batch_as_verl_computes_it():
    assert (batch(3)[0] * ppo.weights(MASK, ppo.HP, None)).sum() == pytest.approx(0.4444444444, abs=1e-9)
    assert (batch(10)[0] * ppo.weights(MASK, ppo.HP, None)).sum() == pytest.approx(0.6666666667, abs=1e-9)
    assert (batch(3)[0] * MASK).sum() / 3 == pytest.approx(1.3333333333, abs=1e-9)  # seq-mean-token-sum
    assert ((batch(3)[0] * MASK).sum(axis=1) / MASK.sum(axis=1)).mean() == pytest.approx(
        0.8111111068, abs=1e-7
    )  # verl adds 1e-8 to the divisor


def test_the_gradient_of_a_batch_as_verl_computes_it():
    np.testing.assert_allclose(
        batch(3)[1], [[-0.0555555556, -0.1, -0.1111111111, 0], [0, 0.1, 0.1222222222, 0], [0, 0, 0, 0]], atol=1e-9
    )
    assert batch(10)[1][2, 0] == pytest.approx(0.8888888889, abs=1e-9)


def test_the_clip_fractions_of_a_batch_as_verl_computes_them():
    assert (surrogate.removed(RATIO, ADVANTAGE, 0.2, 0.2) * MASK).sum() / MASK.sum() == pytest.approx(
        0.333333333, abs=1e-9
    )
    assert (surrogate.beyond_dual(RATIO, ADVANTAGE, 3) * MASK).sum() / MASK.sum() == pytest.approx(
        0.111111111, abs=1e-9
    )


ratios = st.floats(0.05, 20)
advantages = st.sampled_from([-2.0, -0.5, 0.0, 0.5, 2.0])


@given(ratios, advantages)
def test_the_file_that_trains_has_the_same_formula(ratio, advantage):
    ours = surrogate.clipped(np.log(ratio), 0.0, advantage, ppo.HP["eps"], ppo.HP["eps"])
    assert ours == pytest.approx(ppo.surrogate(np.log(ratio), 0.0, np.float64(advantage), ppo.HP, None), abs=1e-12)


@given(ratios, advantages, st.floats(0.01, 0.9), st.floats(0.01, 4))
def test_the_clipped_objective_is_never_above_the_unclipped(ratio, advantage, eps_low, eps_high):
    assert (
        surrogate.clipped(np.log(ratio), 0.0, advantage, eps_low, eps_high)[0]
        <= surrogate.clipped(np.log(ratio), 0.0, advantage, OFF, OFF)[0] + 1e-12
    )


@given(ratios, advantages, st.floats(0.01, 0.9), st.floats(0.01, 4), st.sampled_from([1.5, 3.0, OFF]))
def test_the_slope_is_the_derivative_of_the_loss(ratio, advantage, eps_low, eps_high, dual_clip):
    assume(min(abs(ratio - kink) for kink in (1 - eps_low, 1 + eps_high, dual_clip)) > 1e-3)  # at a kink there are two
    h = 1e-6
    up, down = (surrogate.loss_and_slope(ratio + d, advantage, eps_low, eps_high, dual_clip)[0] for d in (h, -h))
    assert surrogate.loss_and_slope(ratio, advantage, eps_low, eps_high, dual_clip)[1] == pytest.approx(
        (up - down) / (2 * h), abs=1e-6
    )
