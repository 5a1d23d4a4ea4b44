"""Welch's interval against SciPy's, Student's quantile against its tables."""

import numpy as np
import pytest

from sim.estimators import welch_interval


@pytest.mark.parametrize("df, t", [(1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042)])
def test_students_quantile_is_that_of_the_tables(df, t):
    assert welch_interval.quantile(0.975, df) == pytest.approx(t, abs=6e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_is_scipys(seed):
    stats = pytest.importorskip("scipy.stats", reason="scipy is not in the page's runtime")
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, 3 + seed), rng.normal(1, 3, 8)
    expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert welch_interval.interval(a, b) == pytest.approx((expected.low, expected.high), rel=1e-4)


def test_it_covers_the_true_difference_in_95_of_100():
    rng = np.random.default_rng(0)
    inside = [
        low < 1 < high
        for low, high in (welch_interval.interval(rng.normal(0, 1, 4), rng.normal(1, 2, 6)) for _ in range(1000))
    ]
    assert 0.93 < np.mean(inside) < 0.97  # three standard errors of 0.007


def test_samples_without_spread_differ_by_what_they_differ():
    assert welch_interval.interval([1, 1], [1, 1]) == (0, 0) and welch_interval.interval([1, 1], [3, 3]) == (2, 2)
