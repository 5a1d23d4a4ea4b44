from math import comb

import numpy as np
import pytest

from sim.estimators import equal_models


def test_one_prompt_each_is_two_coins():
    points, probability = equal_models.difference(1)
    assert points.tolist() == [-100, 0, 100]
    np.testing.assert_allclose(probability, [1 / 4, 1 / 2, 1 / 4])


@pytest.mark.parametrize("n", [2, 25, 100])
def test_the_difference_has_the_distribution_of_two_counts_of_heads(n):
    heads = np.array([comb(n, h) for h in range(n + 1)], float) / 2.0**n
    np.testing.assert_allclose(equal_models.difference(n)[1], np.convolve(heads, heads[::-1]), atol=1e-12)


def test_it_adds_up_to_one_and_scatters_as_two_independent_shares_do_even_where_factorials_overflow():
    points, probability = equal_models.difference(3200)
    assert probability.sum() == pytest.approx(1, abs=1e-9)
    assert probability @ points**2 == pytest.approx(100**2 * 2 * 0.25 / 3200, rel=1e-6)


def test_all_differ_by_nothing_or_more_and_hardly_any_by_more_than_two_standard_errors():
    assert equal_models.at_least(100, 0) == pytest.approx(1)
    assert equal_models.at_least(3200, equal_models.half_width(3200)) == pytest.approx(0.05, abs=0.003)  # two-sided 5 %


def test_two_prompts_each_differ_by_fifty_points_or_more_in_five_of_eight_comparisons():
    assert equal_models.at_least(2, 50) == pytest.approx(5 / 8)  # 1 - C(4, 2) / 16
