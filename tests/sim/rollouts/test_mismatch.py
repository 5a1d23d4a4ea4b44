from dataclasses import replace

import numpy as np
import pytest

from sim.rollouts.mismatch import mismatch
from tests.sim.rollouts.shipped import small


def of(sampler, trainer):
    file = small([[1.0] * len(sampler)])
    return mismatch(replace(file, sampler=sampler, trainer=trainer))


def test_two_tokens_by_hand():
    found = of([[-1.0, -2.0]], [[-1.5, -1.0]])
    # k3 of e^-0.5 and e: e^-0.5 - 1 + 0.5 and e - 1 - 1
    assert found.k3 == pytest.approx((0.10653066 + 0.71828183) / 2, rel=1e-7)
    # (e^-0.5 + e)² / (e^-1 + e²) / 2
    assert found.effective_share == pytest.approx(0.71255, abs=5e-6)
    assert (found.tokens, found.above, found.below) == (2, 0.5, 0)
    assert found.worst == [(0, 1, 1.0), (0, 0, -0.5)]


def test_equal_log_probs_are_no_mismatch():
    found = of([[-1.0, -2.0], [-3.0]], [[-1.0, -2.0], [-3.0]])
    assert (found.k3, found.effective_share, found.above, found.below) == (0, 1, 0, 0)


def test_the_ten_worst_tokens_say_where_they_are():
    found = of([np.zeros(5), -np.arange(20.0)], [np.zeros(5), np.zeros(20)])
    assert found.worst == [(1, place, float(place)) for place in range(19, 9, -1)]


def test_tokens_without_two_finite_log_probs_are_left_out():
    found = of([[-1.0, -np.inf, np.nan], [-1.0]], [[-1.0, -1.0, -1.0], [-1.0, -2.0]])
    assert found.tokens == 1
    assert of([[-np.inf]], [[-1.0]]) is None and of([[]], [[]]) is None and mismatch(small([[1.0]])) is None


def test_a_ratio_too_large_for_a_number_leaves_finite_values():
    found = of([[-900.0, -1.0]], [[0.0, -1.0]])
    assert np.isfinite([found.k3, found.effective_share]).all()
    assert found.effective_share == pytest.approx(0.5)  # one of two tokens has all the weight
