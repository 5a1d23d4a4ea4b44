import numpy as np
import pytest

from sim.algorithms import grpo
from sim.estimators import std_weight
from tests.sim.algorithms.cases import expected_push


@pytest.mark.parametrize(
    "K, expected",
    [  # closed form, tabulated at p = .02, .1, .5
        (2, (0.707107, 0.707107, 0.707107)),
        (3, (1.154701, 1.154701, 1.154701)),
        (4, (1.492122, 1.463827, 1.399519)),
        (8, (2.406988, 2.177354, 1.735807)),
        (16, (3.488751, 2.757382, 1.872706)),
        (64, (5.817940, 3.229245, 1.968624)),
    ],
)
def test_the_weight_of_a_prompt_under_the_standard_deviation(K, expected):
    np.testing.assert_allclose(std_weight.std_weight([0.02, 0.1, 0.5], K), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_with_two_or_three_completions_every_mixed_group_has_the_same_deviation_and_no_prompt_is_favored(K):
    weight = std_weight.std_weight(np.linspace(0.01, 0.99, 21), K)
    np.testing.assert_allclose(weight, weight[0], rtol=1e-12)


def test_the_bias_toward_hard_prompts_grows_with_the_group():
    ratio = [std_weight.std_weight(0.02, K) / std_weight.std_weight(0.5, K) for K in (2, 3, 4, 8, 16, 64)]
    assert ratio == pytest.approx([1.00, 1.00, 1.07, 1.39, 1.86, 2.96], abs=0.005)  # closed form, tabulated
    assert std_weight.limit_weight(0.02) / std_weight.limit_weight(0.5) == pytest.approx(0.5 / np.sqrt(0.02 * 0.98))


@pytest.mark.parametrize("p, K", [(0.02, 4), (0.3, 8), (0.9, 5)])
def test_the_closed_form_is_what_the_algorithm_file_does_over_all_groups(p, K):
    assert std_weight.std_weight(p, K) * p * (1 - p) == pytest.approx(
        expected_push(grpo, p, K), rel=1e-5
    )  # the file has 1e-6 under the bar


def test_for_large_groups_the_weight_nears_its_limit():
    assert std_weight.std_weight(0.3, 2000) == pytest.approx(std_weight.limit_weight(0.3), rel=2e-3)


def test_the_limit_is_the_slope_of_the_arcsine_objective():
    p, step = 0.1, 1e-6
    slope = (2 * np.arcsin(np.sqrt(p + step)) - 2 * np.arcsin(np.sqrt(p - step))) / (2 * step)
    assert slope == pytest.approx(std_weight.limit_weight(p), rel=1e-8)
