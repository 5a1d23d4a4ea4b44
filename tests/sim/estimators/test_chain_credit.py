"""The exact chain against enumeration in closed form and against what the field says of GAE."""

import numpy as np
import pytest

from sim.estimators import chain_credit

CHAIN = (8, 0.5, 5)
GRID = np.linspace(0, 1, 21)


def parts(lam, **critic):
    return chain_credit.bias_and_variance(*CHAIN, lam, **critic)


def test_the_first_value_is_a_binomial_tail():
    value = chain_credit.chain_value(*CHAIN)
    assert value[0, 0] == pytest.approx((56 + 28 + 8 + 1) / 256)  # 5, 6, 7 or 8 of eight
    assert value[8].tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1] and value[7, 4] == 0.5


def test_a_value_is_the_mean_of_the_two_that_may_follow():
    value = chain_credit.chain_value(8, 0.3, 5)
    assert value[:-1, :-1] == pytest.approx(0.7 * value[1:, :-1] + 0.3 * value[1:, 1:])


def test_the_exact_gradient_is_the_slope_of_the_chance_to_be_paid():
    assert chain_credit.exact_gradient(*CHAIN) == pytest.approx(8 * 35 / 256 / 2)  # 0.546875
    theta, h = 0.4, 1e-5

    def paid(theta):
        return chain_credit.chain_value(8, 1 / (1 + np.exp(-theta)), 5)[0, 0]

    slope = (paid(theta + h) - paid(theta - h)) / (2 * h)
    assert chain_credit.exact_gradient(8, 1 / (1 + np.exp(-theta)), 5) == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("lam", [0.0, 0.5, 0.95, 1.0])
def test_a_perfect_critic_has_no_bias_at_any_lambda(lam):
    assert parts(lam)[1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("lam", [0.0, 0.5, 0.95, 1.0])
def test_a_constant_error_of_the_critic_is_no_bias_either(lam):
    assert parts(lam, offset=0.3)[1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("shrink", [0.0, 0.5, 1.0])
def test_at_lambda_1_no_critic_biases(shrink):
    assert parts(1.0, shrink=shrink)[1] == pytest.approx(0, abs=1e-12)


def test_at_lambda_1_and_a_critic_that_tells_nothing_apart_this_is_reinforce_with_a_baseline():
    good = chain_credit.completions(8)
    paid = good.sum(axis=1) >= 5
    by_hand = (paid - 93 / 256) * (good - 0.5).sum(axis=1)
    assert chain_credit.gradients(*CHAIN, 1.0, shrink=1.0)[0] == pytest.approx(by_hand)
    assert parts(1.0, shrink=1.0)[2] == pytest.approx(np.mean(by_hand**2) - 0.546875**2)  # 0.238312


def test_at_lambda_0_the_bias_is_that_of_the_critic_s_differences():
    """δ_t before the last token is (1 − shrink) times the true difference, whose mean push is the true one."""
    one_decides = 35 / 128  # the chance that four of the other seven were good
    true_last = 0.25 * one_decides  # p (1 − p) of it, for the last token's own difference of 1
    assert parts(0.0, shrink=0.5)[0] == pytest.approx(7 * 0.5 * true_last + true_last)
    assert parts(0.0, shrink=1.0)[1] == pytest.approx(-7 * true_last)


def test_even_a_perfect_critic_has_its_least_noise_between_the_ends():
    variance = [parts(lam)[2] for lam in GRID]
    assert GRID[np.argmin(variance)] == pytest.approx(0.8)
    assert variance[16] < variance[0] < variance[-1]


def test_the_best_lambda_rises_with_the_batch():
    best = [
        GRID[np.argmin([sum(chain_credit.squared_error(*CHAIN, lam, N, shrink=0.5)) for lam in GRID])]
        for N in (1, 4, 16, 64)
    ]
    assert best == sorted(best) and best[0] < 0.9 and best[-2:] == [1.0, 1.0]


@pytest.mark.parametrize(
    "shrink, lam, bias, variance",
    [  # an enumeration of the 256 completions by other code, to six digits
        (0.5, 0.0, -0.239258, 0.0365),
        (0.5, 0.5, -0.205345, 0.038604),
        (0.5, 0.9, -0.078773, 0.065388),
        (0.5, 0.95, -0.043354, 0.082174),
        (0.5, 1.0, 0.0, 0.111419),
        (1.0, 0.0, -0.478516, 0.053154),
        (1.0, 1.0, 0.0, 0.238312),
        (0.0, 0.0, 0.0, 0.05196),
        (0.0, 0.9, 0.0, 0.044807),
        (0.0, 1.0, 0.0, 0.057827),
    ],
)
def test_bias_and_variance_as_other_code_enumerates_them(shrink, lam, bias, variance):
    assert parts(lam, shrink=shrink)[1:] == pytest.approx((bias, variance), abs=1e-5)
