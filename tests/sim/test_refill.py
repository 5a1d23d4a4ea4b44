import numpy as np
import pytest

from sim import refill


@pytest.mark.parametrize("p, K, dead", [(0.1, 4, 0.6562), (0.1, 8, 0.430467), (0.1, 16, 0.185302), (0.02, 8, 0.850763)])
def test_a_group_is_dead_with_probability_p_to_the_k_and_the_mirror(p, K, dead):
    assert 1 - refill.live_probability(p, K) == pytest.approx(dead, abs=1e-6)                  # closed form p^K + (1 - p)^K, tabulated


def test_a_live_group_of_a_prompt_that_passes_twice_in_a_hundred_costs_fifty_four_completions():
    assert refill.completions_per_live_group(0.02, 8) == pytest.approx(53.6, abs=0.05)         # 8 / (1 - .02^8 - .98^8)


def test_a_prompt_solved_half_the_time_costs_hardly_more_than_the_group():
    assert refill.completions_per_live_group(0.5, 8) == pytest.approx(8 / (1 - 2 / 256), rel=1e-12)


def test_the_price_grows_toward_both_ends_alike():
    p = np.array([0.5, 0.2, 0.1, 0.01, 1e-6])
    price = refill.completions_per_live_group(p, 8)
    assert (np.diff(price) > 0).all()
    np.testing.assert_allclose(refill.completions_per_live_group(1 - p[:-1], 8), price[:-1], rtol=1e-9)
    assert price[-1] == pytest.approx(1e6, rel=1e-5)                                           # for a rare success 1 - (1 - p)^K is K p


def test_larger_groups_are_dead_less_often():
    assert (np.diff(refill.live_probability(0.02, np.array([2, 4, 8, 16, 64]))) > 0).all()
