import numpy as np
import pytest

from sim.estimators import importance, off_policy

# two completions of four and of three tokens
LOG_RATIO = np.array([[0, 0.5, -1, 1.2], [0.1, -0.2, 0.9, 0.0]])
MASK = np.array([[1.0, 1, 1, 1], [1, 1, 1, 0]])
PRODUCTS = np.exp([0.7, 0.8])  # 2.01 and 2.23
MEANS = np.exp([0.175, 0.8 / 3])  # 1.19 and 1.31


def test_a_truncated_ratio_keeps_every_token():
    expected = [[1, 1.64872127, 0.36787944, 2], [1.10517092, 0.81873075, 2, 0]]  # exp, cut at 2
    np.testing.assert_allclose(off_policy.token_truncated(LOG_RATIO, MASK, 2.0), expected, atol=1e-8)


def test_a_mask_drops_what_it_does_not_keep_whole():
    expected = [[1, 1.64872127, 0, 0], [1.10517092, 0.81873075, 0, 0]]
    np.testing.assert_allclose(off_policy.token_masked(LOG_RATIO, MASK, 0.5, 2.0), expected, atol=1e-8)


def test_a_completion_has_one_weight_the_product_of_its_ratios():
    whole = off_policy.completion_truncated(LOG_RATIO, MASK, np.inf)
    np.testing.assert_allclose(whole, PRODUCTS[:, None] * MASK)
    np.testing.assert_allclose(
        off_policy.completion_truncated(LOG_RATIO, MASK, 2.1), [[PRODUCTS[0]] * 4, [2.1] * 3 + [0]]
    )
    np.testing.assert_allclose(off_policy.completion_masked(LOG_RATIO, MASK, 2.1), [[PRODUCTS[0]] * 4, [0] * 4])


def test_a_product_too_large_for_a_float_is_cut_all_the_same():
    assert off_policy.completion_truncated(np.full((1, 2), 800.0), np.ones((1, 2)), 2.0).max() == pytest.approx(2.0)


def test_a_geometric_mean_does_not_depend_on_the_length():
    kept = off_policy.mean_masked(LOG_RATIO, MASK, 0.8, 1.25)
    assert MEANS[0] < 1.25 < MEANS[1]
    np.testing.assert_allclose(kept, [np.exp(LOG_RATIO[0]), [0] * 4])
    twice = np.hstack([LOG_RATIO[:1, :], LOG_RATIO[:1, :]])
    assert off_policy.mean_masked(twice, np.ones((1, 8)), 0.8, 1.25).any()
    assert not off_policy.completion_masked(twice, np.ones((1, 8)), 3.0).any()  # 2.01² = 4.06


def test_only_completions_of_negative_advantage_are_masked_for_their_kl():
    log_ratio = np.array([[-0.2, -0.2], [-0.2, -0.2], [0.2, 0.2], [-0.04, 0.0]])
    advantage = np.array([[-1.0], [1], [-1], [-1]]) * np.ones((4, 2))
    kept = off_policy.negative_masked(log_ratio, np.ones((4, 2)), advantage, 0.05)
    np.testing.assert_array_equal(kept, [[0, 0], [1, 1], [1, 1], [1, 1]])  # 0.2 > 0.05 nats, and the last only 0.02


PI, MU = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.3, 0.4, 0.2])
REWARD = np.array([1.0, 0.5, 0.2, 0.0])


def test_the_whole_ratio_has_no_bias_and_a_constant_weight_has_one():
    mean, bias, _ = off_policy.estimator(PI, MU, REWARD, PI / MU, 0.3)
    np.testing.assert_allclose(mean, PI * (REWARD - PI @ REWARD), atol=1e-12)  # the gradient of the mean reward
    assert bias == pytest.approx(0, abs=1e-12)
    assert off_policy.estimator(PI, MU, REWARD, np.ones(4), 0.3)[1] > 0.05


def test_a_lower_limit_buys_less_noise_with_more_bias():
    at = [off_policy.estimator(PI, MU, REWARD, np.minimum(PI / MU, C), 0.3)[1:] for C in (1, 1.5, 2, 3, 5)]
    bias, noise = np.array(at).T
    assert (np.diff(bias) <= 1e-12).all() and (np.diff(noise) >= -1e-12).all()
    assert bias[-1] < 1e-12 < bias[0] and noise[-1] > noise[0]  # the largest ratio is 4


def test_the_variance_of_an_estimate_is_that_of_its_draws():
    rng = np.random.default_rng(0)
    drawn = rng.choice(4, 200_000, p=MU)
    each = ((PI / MU) * (REWARD - 0.3))[drawn, None] * (np.eye(4)[drawn] - PI)
    assert off_policy.estimator(PI, MU, REWARD, PI / MU, 0.3)[2] == pytest.approx(each.var(axis=0).sum(), rel=0.02)


def test_the_missing_mass_is_the_bias_of_the_weights():
    ratio = PI / MU
    kept, _ = importance.mean_under(PI, MU, np.ones(4), 2.0)
    assert 1 - kept == pytest.approx((MU * np.maximum(ratio - 2, 0)).sum())  # 0.1 × 2 = 0.2


def test_a_product_loses_its_effective_share_with_length():
    assert off_policy.effective_share(0.01, 1000) == pytest.approx(0.9048, abs=1e-4)  # e^(−0.1)
    assert off_policy.effective_share(0.01, 16_000) == pytest.approx(0.2019, abs=1e-4)  # e^(−1.6)
    assert off_policy.effective_share(0.05, 1000) == pytest.approx(0.0821, abs=1e-4)  # e^(−2.5)
    rng = np.random.default_rng(0)
    weight = np.exp(rng.normal(0, 0.02 * np.sqrt(1000), 200_000))  # a sum of 1,000 independent log-ratios
    assert importance.effective_sample_size(weight) / 200_000 == pytest.approx(
        off_policy.effective_share(0.02, 1000), rel=0.02
    )


def test_the_second_moment_of_a_product_grows_as_a_power():
    chi2 = (PI**2 / MU).sum() - 1
    pairs, ratios = np.outer(MU, MU), np.outer(PI / MU, PI / MU)
    assert off_policy.second_moment(PI, MU, 1) == pytest.approx(chi2)
    assert off_policy.second_moment(PI, MU, 2) == pytest.approx((pairs * ratios**2).sum() - 1)


RHO, R, V = np.array([0.5, 2, 1, 0.8]), np.array([0, 0, 0.5, 1]), np.array([0.3, 0.5, 0.4, 0.7])


@pytest.mark.parametrize(
    ("limits", "targets", "advantages"),
    [
        ((1, 1, 1), (0.87, 1.44, 1.44, 0.94), (0.57, 0.94, 1.04, 0.24)),
        ((2, 1, 0.99), (0.799586, 1.312294, 1.4306, 0.94), (0.499586, 1.832588, 1.0306, 0.24)),
        ((np.inf, np.inf, 1), (1.34, 2.38, 1.44, 0.94), None),
        ((1, 0.5, 0.9), (0.481695, 0.7371, 1.238, 0.94), None),
    ],
)
def test_vtrace_is_the_sum_of_its_definition(limits, targets, advantages):
    rho_bar, c_bar, gamma = limits
    found, advantage = off_policy.vtrace(RHO, R, V, 0.0, gamma, rho_bar, c_bar)
    np.testing.assert_allclose(found, targets, atol=1e-6)
    if advantages:
        np.testing.assert_allclose(advantage, advantages, atol=1e-6)
    rho, c = np.minimum(RHO, rho_bar), np.minimum(RHO, c_bar)
    delta = rho * (R + gamma * np.append(V[1:], 0) - V)
    direct = [V[s] + sum(gamma ** (t - s) * np.prod(c[s:t]) * delta[t] for t in range(s, 4)) for s in range(4)]
    np.testing.assert_allclose(found, direct, atol=1e-12)


def test_on_policy_vtrace_is_the_return():
    found, _ = off_policy.vtrace(np.ones(4), R, V, 0.0, 1.0, 1.0, 1.0)
    np.testing.assert_allclose(found, [1.5, 1.5, 1.5, 1.0])


def test_the_limit_of_vtrace_sets_whose_value_it_finds():
    np.testing.assert_allclose(off_policy.vtrace_fixed_point(PI, MU, 10.0), PI)
    np.testing.assert_allclose(off_policy.vtrace_fixed_point(PI, MU, 0.1), MU)
    np.testing.assert_allclose(off_policy.vtrace_fixed_point(PI, MU, 1.0), np.array([0.1, 0.3, 0.2, 0.1]) / 0.7)
