import numpy as np
import pytest

from sim.estimators import step_credit


@pytest.mark.parametrize("L, flat, step", [(4, 1.75, 0.25), (16, 31.0, 1.0), (64, 508.0, 4.0)])
def test_where_scores_add_up_credit_a_step_saves_about_twice_the_length(L, flat, step):
    # L (L/4 (1/4 + sn^2) - 1/16 + ...) at p = 1/2 and noise 1/2, by hand
    assert step_credit.additive(L, 0.5, 0.5) == pytest.approx((flat, step), abs=1e-12)


def test_the_additive_variance_is_that_of_draws():
    rng = np.random.default_rng(0)
    good = rng.random((400_000, 4)) < 0.8
    score = good - 0.8
    credit = score + 0.3 * rng.normal(size=score.shape)
    drawn = (score * credit.sum(axis=1, keepdims=True)).var(axis=0).sum(), (score * credit).var(axis=0).sum()
    assert step_credit.additive(4, 0.8, 0.3) == pytest.approx(drawn, rel=0.02)


@pytest.mark.parametrize(
    "p, L, flat, step",
    [
        (0.9, 4, 0.12955613, 0.14749325),
        (0.9, 8, 0.12338235, 0.16414643),
        (0.9, 16, 0.06261169, 0.10471069),
        (0.5, 8, 0.00775146, 0.00094223),
    ],
)
def test_where_all_have_to_be_good_credit_a_step_may_cost(p, L, flat, step):
    # by enumeration of the 2^L chains, elsewhere
    assert step_credit.all_or_nothing(L, p) == pytest.approx((flat, step), abs=1e-7)


@pytest.mark.parametrize(
    "p, wanted",
    [(0.9, (0.16414643, 0.16486862, 0.17144437, 0.17406729)), (0.5, (0.00094223, 0.00126395, 0.00504800, 0.00680923))],
)
def test_a_critic_that_knows_the_chance_brings_the_least_variance_with_lambda_0(p, wanted):
    found = [step_credit.gae_variance(8, p, lam) for lam in (0, 0.5, 0.95, 1)]
    assert found == pytest.approx(wanted, abs=1e-7) and found == sorted(found)


@pytest.mark.parametrize("K", [1, 3])
def test_shares_of_completions_as_values_add_their_noise(K):
    rng, (L, p) = np.random.default_rng(0), (4, 0.7)
    good = rng.random((100_000, L)) < p
    alive = np.concatenate([np.ones((len(good), 1)), np.cumprod(good, axis=1)], axis=1)
    value = rng.binomial(K, alive * p ** (L - np.arange(L + 1))) / K  # after the last step it is the reward
    drawn = ((good - p) * np.diff(value, axis=1)).var(axis=0).sum()
    assert step_credit.sampled_values(L, p, K) == pytest.approx(drawn, rel=0.02)


def test_ever_more_completions_know_the_value_and_each_prefix_costs_what_is_left():
    assert step_credit.sampled_values(8, 0.9, 10**9) == pytest.approx(step_credit.all_or_nothing(8, 0.9)[1], abs=1e-9)
    assert step_credit.prefix_tokens(2, 3) == 4.5  # three whole answers, three halves
    assert step_credit.prefix_tokens(8, 9) == 9 * 36 / 8


def test_gae_with_lambda_0_is_credit_a_step():
    assert step_credit.gae_variance(6, 0.7, 0.0) == pytest.approx(step_credit.all_or_nothing(6, 0.7)[1], abs=1e-12)
