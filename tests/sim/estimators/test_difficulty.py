import numpy as np
import pytest

from sim.estimators import attempts, difficulty, group_baselines


@pytest.mark.parametrize(
    "a, b, K, expected",
    [  # Beta functions, tabulated
        (0.3, 0.3, 8, 0.4655665347),
        (1, 1, 8, 0.7777777778),
        (1, 1, 16, 0.8823529412),
        (0.2, 0.6, 16, 0.5040648036),
    ],
)
def test_the_share_of_live_groups_over_a_pool(a, b, K, expected):
    assert difficulty.informative_beta(a, b, K) == pytest.approx(expected, abs=1e-9)


def test_over_a_uniform_pool_two_groups_of_k_plus_one_are_dead():
    for K in (2, 5, 64):  # the integrals of p^K and of (1 - p)^K are 1 / (K + 1) each
        assert difficulty.informative_beta(1, 1, K) == pytest.approx(1 - 2 / (K + 1), abs=1e-12)


def test_the_mean_over_the_pool_is_an_integral():
    middle = (np.arange(200_000) + 0.5) / 200_000
    density = middle**1.0 * (1 - middle) ** 2.0  # Beta(2, 3)
    by_hand = (attempts.informative(middle, 8) * density).sum() / density.sum()
    assert difficulty.informative_beta(2, 3, 8) == pytest.approx(by_hand, abs=1e-8)


def test_drawing_again_costs_the_inverse():
    assert difficulty.oversampling(0.3, 0.3, 8) == pytest.approx(1 / 0.4655665347, abs=1e-9)


def test_a_prompt_solved_once_in_ten_looks_unsolvable_in_four_of_ten_probes():
    assert difficulty.never_solved(0.1, 8) == pytest.approx(0.43046721, abs=1e-9)


@pytest.mark.parametrize("k, expected", [(8, 0.3123439781), (16, 0.1707497230)])
def test_what_tries_that_all_fail_leave_open(k, expected):
    assert difficulty.hidden_rate(k) == pytest.approx(expected, abs=1e-9)
    assert difficulty.never_solved(difficulty.hidden_rate(k), k) == pytest.approx(0.05, abs=1e-12)
    assert difficulty.never_solved(difficulty.hidden_rate(k, 0.2), k) == pytest.approx(0.2, abs=1e-12)


def test_one_source_owns_the_gradient_by_its_scale():
    shares = difficulty.gradient_share((48, 16), (0.45, 2.5))
    np.testing.assert_allclose(shares, (0.35064935, 0.64935065), rtol=0, atol=1e-8)
    np.testing.assert_allclose(difficulty.gradient_share((48, 16), (1, 1)), (0.75, 0.25), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "p, K, live", [(0.5, 8, 0.9921875), (0.1, 8, 0.56953278), (0.01, 8, 0.0772553056), (0.02, 64, 0.7255464553)]
)
def test_what_the_page_takes_from_elsewhere_has_the_tabulated_values(p, K, live):
    assert attempts.informative(p, K) == pytest.approx(live, abs=1e-9)
    assert group_baselines.live_probability(p, K) == pytest.approx(live, abs=1e-9)


@pytest.mark.parametrize("p, expected", [(0.5, 0.4639139874), (0.1, 0.2094920147), (0.01, 0.0258277362)])
def test_the_weight_of_a_prompt_under_the_deviation_is_a_binomial_sum(p, expected):
    def deviation_of_all(rewards):
        return group_baselines.z_score(rewards, eps=0, ddof=0)

    with np.errstate(invalid="ignore"):  # 0 / 0 in dead groups
        pushed = group_baselines.estimate_moments(p, 8, lambda rewards: np.nan_to_num(deviation_of_all(rewards)))[0]
    assert pushed == pytest.approx(expected, abs=1e-9)
    assert group_baselines.estimate_moments(0.1, 8, group_baselines.less_mean)[0] == pytest.approx(0.07875, abs=1e-12)
