import numpy as np
import pytest

from sim.estimators import completion_ratio, surrogate

RNG = np.random.default_rng(0)
OLD = -RNG.random((6, 5)) * (np.arange(5) < RNG.integers(1, 6, (6, 1)))
MASK = OLD != 0
A = RNG.normal(size=(6, 1)) * MASK
LOGP = OLD + 0.1 * RNG.normal(size=OLD.shape) * MASK


def test_the_slope_is_the_derivative_of_the_objective():
    h, slope = 1e-6, completion_ratio.clipped(LOGP, OLD, A, 0.2)[1]
    for n, t in np.argwhere(MASK):
        step = np.zeros(LOGP.shape)
        step[n, t] = h
        up, down = (completion_ratio.clipped(LOGP + sign * step, OLD, A, 0.2)[0].sum() for sign in (1, -1))
        assert slope[n, t] == pytest.approx((up - down) / (2 * h), abs=1e-8)
    assert (slope[~MASK] == 0).all()


def test_at_ratio_one_it_is_the_policy_gradient_as_the_token_clip_is():
    np.testing.assert_allclose(completion_ratio.clipped(OLD, OLD, A, 0.2)[1], A)
    np.testing.assert_allclose(surrogate.clipped(OLD, OLD, A, 0.2, 0.2)[1], A)


def test_small_moves_of_many_tokens_leave_the_range_together():
    old, wanted = np.full((1, 10), -1.0), np.ones((1, 10))
    moved = old + np.log(1.05)  # 1.05^10 = 1.63
    assert (surrogate.clipped(moved, old, wanted, 0.2, 0.2)[1] > 0).all()
    assert (completion_ratio.clipped(moved, old, wanted, 0.2)[1] == 0).all()
    assert completion_ratio.clipped(moved, old, wanted, 0.2)[0].sum() == pytest.approx(1.2)
