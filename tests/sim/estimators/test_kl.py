"""KL estimators: their values, their slopes, what they pull towards, and where training with each ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.estimators import kl

# Two pairs of three tokens; sums over the vocabulary by hand give every number marked "exact sum".
POLICY, REF = np.array([0.5, 0.3, 0.2]), np.array([0.25, 0.25, 0.5])
CONFIDENT, CONFIDENT_REF = np.array([0.9, 0.09, 0.01]), np.array([0.4, 0.35, 0.25])
# The bandit on which the placements are compared: the third token is rewarded.
BANDIT_REF, REWARD = np.array([0.5, 0.3, 0.2]), np.array([0.0, 0.0, 1.0])

# verl 0.9.1, core_algos.kl_penalty, torch 2.13, float64
LOG_PROB = np.array([-1.0, -2.0, -0.5, -3.0, -0.1])
REF_LOG_PROB = np.array([-1.2, -1.5, -0.5, -1.0, -2.4])
VERL_K3 = [0.0187307531, 0.1487212707, 0.0, 4.3890560989, 1.4002588437]
VERL_K3_SLOPE = [0.1812692469, -0.6487212707, 0.0, -6.3890560989, 0.8997411563]

RIGHT = [
    ("k1", "reward"),
    ("k1", "loss × ratio"),
    ("k2", "loss"),
    ("k3", "loss × ratio"),
    ("k1", "loss+"),
    ("k3", "loss+"),
]


def gradient(policy, ref, estimator, placement, gap=0.0):
    return kl.penalty_gradient(
        policy, ref, kl.between(policy, ref, gap), kl.softmax_score(policy), estimator, placement
    )


def random_pair(seed):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))


def softmax(logits):
    return np.exp(logits) / np.exp(logits).sum()


def central_differences(f, policy, h=1e-6):
    logits = np.log(policy)
    return np.array([(f(softmax(logits + h * e)) - f(softmax(logits - h * e))) / (2 * h) for e in np.eye(len(policy))])


# Values


def test_the_three_values_agree_with_verl():
    np.testing.assert_allclose(kl.k1(LOG_PROB, REF_LOG_PROB), [0.2, -0.5, 0, -2, 2.3], atol=1e-12)
    np.testing.assert_allclose(kl.k2(LOG_PROB, REF_LOG_PROB), [0.02, 0.125, 0, 2, 2.645], atol=1e-12)
    np.testing.assert_allclose(kl.k3(LOG_PROB, REF_LOG_PROB), VERL_K3, atol=5e-11)


@given(st.floats(-30, 30), st.floats(-30, 0))
def test_k3_is_never_negative(r, ref_logp):
    assert kl.k3(ref_logp + r, ref_logp) >= 0


@given(st.floats(-1e-5, 1e-5))
def test_near_the_reference_k3_is_k2_to_third_order(r):
    assert kl.k3(r, 0.0) == pytest.approx(kl.k2(r, 0.0), rel=1e-5, abs=1e-19)  # e^(−r) − 1 + r = r²/2 − r³/6 + …


def test_k1_and_k3_are_the_kl_on_average_and_k2_is_not():
    moments = kl.k_moments(POLICY, REF, POLICY)
    assert kl.divergence(POLICY, REF) == pytest.approx(0.218011910943, abs=1e-12)  # exact sum
    assert kl.divergence(REF, POLICY) == pytest.approx(0.239278181599, abs=1e-12)  # exact sum
    np.testing.assert_allclose(
        moments.mean, [0.218011910943, 0.2090582965, 0.218011910943], atol=1e-10
    )  # exact sum; k2 too low here


@pytest.mark.parametrize("seed", range(5))
def test_unbiasedness_does_not_depend_on_the_pair(seed):
    policy, ref = random_pair(seed)
    moments = kl.k_moments(policy, ref, policy)
    assert moments.mean[0] == pytest.approx(kl.divergence(policy, ref), rel=1e-12)
    assert moments.mean[2] == pytest.approx(kl.divergence(policy, ref), rel=1e-10)


def test_variances_near_the_reference_favor_k3_and_far_from_it_k1():
    np.testing.assert_allclose(
        kl.k_moments(POLICY, REF, POLICY).variance, [0.3705873997, 0.0204773487, 0.0393405480], atol=5e-11
    )  # exact sum
    far = kl.k_moments(CONFIDENT, CONFIDENT_REF, CONFIDENT).variance
    assert far[0] == pytest.approx(0.5303585, abs=5e-8)  # exact sum
    assert far[2] == pytest.approx(4.2570326, abs=5e-8)


def test_for_two_gaussians_k2_is_too_high():
    moments = kl.gaussian_moments(1.0)  # closed form: KL 1/2, E k2 = (1 + 1/4)/2, Var k3 = e − 2
    np.testing.assert_allclose(moments.mean, [0.5, 0.625, 0.5], atol=1e-15)
    np.testing.assert_allclose(moments.variance, [1.0, 0.75, 0.7182818285], atol=5e-11)


def test_k3_gets_noisier_than_k1_at_0_63_nats_between_gaussians():
    mu_squared = 1.2564312086  # root of e^m − 1 − m = m
    at = kl.gaussian_moments(np.sqrt(mu_squared))
    assert at.variance[2] / at.variance[0] == pytest.approx(1, abs=1e-9)
    assert at.mean[0] == pytest.approx(0.6282156, abs=5e-8)
    assert np.sqrt(mu_squared) == pytest.approx(1.1209, abs=5e-5)
    below, above = kl.gaussian_moments(1.12), kl.gaussian_moments(1.122)
    assert below.variance[2] < below.variance[0]
    assert above.variance[2] > above.variance[0]


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_a_gaussian_as_a_table_has_the_moments_of_the_formula(mu):
    _, policy = kl.gaussian_table(mu)
    _, ref = kl.gaussian_table(0.0)
    table, formula = kl.k_moments(policy, ref, policy), kl.gaussian_moments(mu)
    np.testing.assert_allclose(table.mean, formula.mean, rtol=1e-9)
    np.testing.assert_allclose(table.variance, formula.variance, rtol=1e-6)  # the tail that k3 lives on ends at −10


def test_samples_from_an_older_policy_shift_all_three():
    fresh, stale = kl.k_moments(POLICY, REF, POLICY).mean, kl.k_moments(POLICY, REF, kl.between(POLICY, REF, 0.5)).mean
    assert np.all(np.abs(stale - fresh) > 0.005)
    assert stale[0] < fresh[0]


def test_the_geometric_path_between_gaussians_moves_the_mean():
    _, policy = kl.gaussian_table(2.0)
    _, ref = kl.gaussian_table(0.0)
    np.testing.assert_allclose(kl.between(policy, ref, 0.25), kl.gaussian_table(1.5)[1], atol=1e-12)
    np.testing.assert_allclose(kl.between(policy, ref, 0.0), policy, atol=1e-15)
    np.testing.assert_allclose(kl.between(policy, ref, 1.0), ref, atol=1e-15)


# Slopes


def test_the_slopes_agree_with_verls_autograd():
    np.testing.assert_allclose(kl.k1_slope(LOG_PROB, REF_LOG_PROB), np.ones(5))
    np.testing.assert_allclose(
        kl.k2_slope(LOG_PROB, REF_LOG_PROB), [0.2, -0.5, 0, -2, 2.3], atol=1e-12
    )  # also verl's k3+
    np.testing.assert_allclose(kl.k3_slope(LOG_PROB, REF_LOG_PROB), VERL_K3_SLOPE, atol=5e-11)


@pytest.mark.parametrize("name", ["k1", "k2", "k3"])
def test_each_slope_is_the_derivative_of_its_value(name):
    h = 1e-6
    numeric = (kl.VALUE[name](LOG_PROB + h, REF_LOG_PROB) - kl.VALUE[name](LOG_PROB - h, REF_LOG_PROB)) / (2 * h)
    np.testing.assert_allclose(kl.SLOPE[name](LOG_PROB, REF_LOG_PROB), numeric, atol=1e-8)


def test_verls_clamps_stop_at_ten_and_stop_pulling():
    value, slope = kl.clamped_k3(np.array([-8.0, -1.0]), np.array([-1.0, -30.0]))  # verl 0.9.1: (10, 10)
    np.testing.assert_array_equal(value, [10.0, 10.0])
    np.testing.assert_array_equal(slope, [0.0, 0.0])


def test_verls_clamps_leave_ordinary_tokens_alone():
    value, slope = kl.clamped_k3(LOG_PROB, REF_LOG_PROB)
    np.testing.assert_allclose(value, VERL_K3, atol=5e-11)
    np.testing.assert_allclose(slope, VERL_K3_SLOPE, atol=5e-11)


def test_a_token_that_lost_a_factor_of_fourteen_is_no_longer_pulled_back():
    def pull(factor):
        return kl.clamped_k3(-np.log(factor), 0.0)[1]

    assert pull(13.0) == pytest.approx(-12.0)  # 1 − e^(−r) with e^(−r) = 13
    assert pull(14.0) == 0.0  # k3 = 14 − 1 − ln 14 = 10.36 > 10


def test_times_the_ratio_k3_gets_k2s_slope_sample_by_sample():
    weight = kl.gradient_weight(LOG_PROB, REF_LOG_PROB, LOG_PROB, "k3", "loss × ratio")
    np.testing.assert_allclose(weight, LOG_PROB - REF_LOG_PROB, atol=1e-12)  # e^(−r) − 1 + r + 1 − e^(−r) = r


# TRL's loss with a KL term


def test_the_loss_and_its_first_gradient_agree_with_trl():
    # TRL 1.16, GRPOTrainer._compute_loss, loss_type grpo, beta 0.04, ratio 1
    ref = np.array([[-1.2, -0.9, -1, -2], [-1, -1, -1.5, -1], [-0.5, -1, -1, -1]])
    mask = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0]])
    advantage, logp, beta = np.array([[1.0], [-1.0], [-0.5]]), -np.ones((3, 4)), 0.04
    share = mask / mask.sum(axis=1, keepdims=True) / len(mask)
    assert (share * (beta * kl.k3(logp, ref) - advantage)).sum() == pytest.approx(
        0.1694375484, abs=1e-8
    )  # the trainer computes in float32
    corrected = share * (beta * kl.gradient_weight(logp, ref, logp, "k3", "loss × ratio") - advantage)
    plain = share * (beta * kl.gradient_weight(logp, ref, logp, "k3", "loss") - advantage)
    assert corrected[0, 0] == pytest.approx(-0.0826666667, abs=1e-8)
    assert plain[0, 0] == pytest.approx(-0.0827290956, abs=1e-8)


# What each pulls towards


def test_gradients_of_the_three_losses():
    # exact sums over the vocabulary, with respect to the logits
    reverse, forward = [0.2375676348, -0.0107071062, -0.2268605286], [0.25, 0.05, -0.3]
    np.testing.assert_allclose(gradient(POLICY, REF, "k1", "loss"), 0, atol=1e-15)
    np.testing.assert_allclose(gradient(POLICY, REF, "k2", "loss"), reverse, atol=5e-11)
    np.testing.assert_allclose(gradient(POLICY, REF, "k3", "loss"), forward, atol=1e-12)
    np.testing.assert_allclose(gradient(POLICY, REF, "k3", "loss × ratio"), reverse, atol=5e-11)


@pytest.mark.parametrize("seed", range(3))
def test_the_reverse_and_forward_gradients_are_the_derivatives_of_the_kl(seed):
    policy, ref = random_pair(seed)
    score = kl.softmax_score(policy)
    np.testing.assert_allclose(
        kl.reverse_kl_gradient(policy, ref, score),
        central_differences(lambda p: kl.divergence(p, ref), policy),
        atol=1e-8,
    )
    np.testing.assert_allclose(
        kl.forward_kl_gradient(policy, ref, score),
        central_differences(lambda p: kl.divergence(ref, p), policy),
        atol=1e-8,
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("estimator, placement", RIGHT)
def test_six_configurations_descend_the_reverse_kl(estimator, placement, seed):
    policy, ref = random_pair(seed)
    np.testing.assert_allclose(
        gradient(policy, ref, estimator, placement),
        kl.reverse_kl_gradient(policy, ref, kl.softmax_score(policy)),
        atol=1e-12,
    )


@pytest.mark.parametrize("seed", range(3))
def test_k1_as_a_loss_pulls_towards_nothing(seed):
    policy, ref = random_pair(seed)
    np.testing.assert_allclose(gradient(policy, ref, "k1", "loss"), 0, atol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_k3_in_the_reward_pulls_towards_the_difference_of_the_two(seed):
    policy, ref = random_pair(seed)
    score = kl.softmax_score(policy)
    expected = kl.reverse_kl_gradient(policy, ref, score) - kl.forward_kl_gradient(policy, ref, score)
    np.testing.assert_allclose(gradient(policy, ref, "k3", "reward"), expected, atol=1e-12)


@pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
def test_the_loss_times_the_ratio_is_the_derivative_of_the_estimators_mean(estimator):
    policy, ref = random_pair(0)
    index = list(kl.VALUE).index(estimator)
    numeric = central_differences(lambda p: kl.k_moments(p, ref, p).mean[index], policy)
    np.testing.assert_allclose(gradient(policy, ref, estimator, "loss × ratio"), numeric, atol=1e-8)


def test_the_ratio_repairs_k1_and_k3_and_spoils_k2():
    reverse = kl.reverse_kl_gradient(CONFIDENT, CONFIDENT_REF, kl.softmax_score(CONFIDENT))
    for estimator in ("k1", "k3"):
        assert kl.cosine(gradient(CONFIDENT, CONFIDENT_REF, estimator, "loss × ratio"), reverse) == pytest.approx(
            1, abs=1e-12
        )
    assert kl.cosine(gradient(CONFIDENT, CONFIDENT_REF, "k2", "loss"), reverse) == pytest.approx(1, abs=1e-12)
    spoiled = gradient(CONFIDENT, CONFIDENT_REF, "k2", "loss × ratio")
    assert spoiled[2] > 0 > reverse[2]  # descending it takes still more from the token that fell from 0.25 to 0.01


@pytest.mark.parametrize("gap", [0.3, 0.7])
def test_only_the_ratio_survives_samples_from_an_older_policy(gap):
    reverse = kl.reverse_kl_gradient(POLICY, REF, kl.softmax_score(POLICY))
    for estimator in ("k1", "k3"):
        np.testing.assert_allclose(gradient(POLICY, REF, estimator, "loss × ratio", gap), reverse, atol=1e-12)
    for estimator, placement in (("k2", "loss"), ("k1", "reward"), ("k3", "loss+")):
        assert np.abs(gradient(POLICY, REF, estimator, placement, gap) - reverse).max() > 0.02


def test_on_two_gaussians_only_the_forward_kl_widens_the_policy():
    x, policy = kl.gaussian_table(1.0)
    _, ref = kl.gaussian_table(0.0)
    score = kl.gaussian_score(x, 1.0)
    # closed form in (mean, log σ) at σ = 1: reverse (μ, 0), forward (μ, −μ²)
    np.testing.assert_allclose(kl.penalty_gradient(policy, ref, policy, score, "k2", "loss"), [1, 0], atol=1e-9)
    np.testing.assert_allclose(kl.penalty_gradient(policy, ref, policy, score, "k3", "loss"), [1, -1], atol=1e-9)
    np.testing.assert_allclose(kl.reverse_kl_gradient(policy, ref, score), [1, 0], atol=1e-9)
    np.testing.assert_allclose(kl.forward_kl_gradient(policy, ref, score), [1, -1], atol=1e-9)


def test_the_cosine_with_a_vanishing_gradient_is_not_a_number():
    assert np.isnan(kl.cosine(np.zeros(3), np.ones(3)))
    assert kl.cosine(np.array([1.0, 0.0]), np.array([-2.0, 0.0])) == pytest.approx(-1)


# Where training ends


def test_the_optimum_of_either_penalty():
    # closed form: reverse ref·e^(R/β)/Z; forward β·ref/(λ − R), λ² − 1.2 λ + 0.16 = 0 for β = 0.2
    np.testing.assert_allclose(
        kl.reverse_kl_optimum(REWARD, BANDIT_REF, 0.2), [0.0164027832, 0.0098416699, 0.9737555469], atol=5e-11
    )
    lam = 0.6 + np.sqrt(0.2)
    assert lam == pytest.approx(1.0472135955, abs=5e-11)
    np.testing.assert_allclose(
        kl.forward_kl_optimum(REWARD, BANDIT_REF, 0.2), [0.1 / lam, 0.06 / lam, 0.04 / (lam - 1)], atol=1e-12
    )
    np.testing.assert_allclose(kl.forward_kl_optimum(REWARD, BANDIT_REF, 0.2)[2], 0.8472135955, atol=5e-11)
    assert kl.reverse_kl_optimum(REWARD, BANDIT_REF, 0.5)[2] == pytest.approx(0.6487856, abs=5e-8)
    assert kl.forward_kl_optimum(REWARD, BANDIT_REF, 0.5)[2] == pytest.approx(0.6531129, abs=5e-8)


@pytest.mark.parametrize("beta", [0.05, 0.3, 2.0])
def test_no_policy_nearby_beats_the_optimum(beta):
    rng = np.random.default_rng(0)
    for optimum, distance in (
        (kl.reverse_kl_optimum, lambda p: kl.divergence(p, BANDIT_REF)),
        (kl.forward_kl_optimum, lambda p: kl.divergence(BANDIT_REF, p)),
    ):
        best = optimum(REWARD, BANDIT_REF, beta)
        assert best.sum() == pytest.approx(1, abs=1e-12)
        for _ in range(20):
            other = softmax(np.log(best) + 0.1 * rng.normal(size=3))
            assert other @ REWARD - beta * distance(other) < best @ REWARD - beta * distance(best)


@pytest.fixture(scope="module")
def final_kl():
    """Mean KL over the last 100 of 400 updates, 16 runs, 64 tokens an update, learning rate 0.5, beta 0.2 (0 for
    "none").
    """
    settings = dict(
        none=("k1", "loss", 0.0),
        k1_loss=("k1", "loss", 0.2),
        k1_reward=("k1", "reward", 0.2),
        k2_loss=("k2", "loss", 0.2),
        k3_loss=("k3", "loss", 0.2),
        k3_ratio=("k3", "loss × ratio", 0.2),
    )
    return {name: end_of_training(*setting) for name, setting in settings.items()}


def end_of_training(estimator, placement, beta):
    policies = kl.train(REWARD, BANDIT_REF, beta, estimator, placement, 0.0, 64, 0.5, 400, 16, np.random.default_rng(7))
    return kl.divergence(policies[-100:], BANDIT_REF).mean()


def test_training_ends_near_the_optimum_its_gradient_belongs_to(final_kl):
    reverse = kl.divergence(kl.reverse_kl_optimum(REWARD, BANDIT_REF, 0.2), BANDIT_REF)
    forward = kl.divergence(kl.forward_kl_optimum(REWARD, BANDIT_REF, 0.2), BANDIT_REF)
    assert (reverse, forward) == (pytest.approx(1.4516, abs=5e-5), pytest.approx(0.9701, abs=5e-5))  # closed form
    assert final_kl["k1_reward"] == pytest.approx(reverse, abs=0.05)
    assert final_kl["k2_loss"] == pytest.approx(reverse, abs=0.05)
    assert final_kl["k3_ratio"] == pytest.approx(reverse, abs=0.05)
    assert final_kl["k3_loss"] == pytest.approx(forward, abs=0.05)


def test_k1_as_a_loss_ends_where_no_penalty_ends(final_kl):
    assert final_kl["none"] == pytest.approx(1.577, abs=0.02)  # an independent implementation of the same run
    assert final_kl["k1_loss"] == pytest.approx(final_kl["none"], abs=0.005)


def test_where_every_answer_pays_the_same_the_perfect_critic_leaves_nothing_to_push():
    paid = np.ones(len(BANDIT_REF))  # whichever few answers were sampled, each advantage is 1 - 1
    policies = kl.train(paid, BANDIT_REF, 0.0, "k1", "reward", 0.0, 4, 1.0, 20, 3, np.random.default_rng(0))
    np.testing.assert_allclose(policies, np.broadcast_to(BANDIT_REF, policies.shape), atol=1e-12)


def test_training_starts_at_the_reference_and_stays_a_distribution():
    policies = kl.train(REWARD, BANDIT_REF, 2.0, "k3", "loss", 0.5, 1, 2.0, 50, 3, np.random.default_rng(0))
    assert policies.shape == (51, 3, 3)
    np.testing.assert_allclose(policies[0], np.tile(BANDIT_REF, (3, 1)))
    np.testing.assert_allclose(policies.sum(axis=-1), 1, atol=1e-12)
    assert policies.min() > 0


def test_one_update_moves_the_logits_by_the_expected_gradient():
    # a batch so large that the sample mean is the expectation: to first order Δ(policy logits, up to a shift) = ∇(E[R]
    # − β KL)
    policy = kl.train(REWARD, BANDIT_REF, 0.3, "k2", "loss", 0.0, 10**8, 0.01, 1, 1, np.random.default_rng(0))[1, 0]
    step = (np.log(policy) - np.log(BANDIT_REF)) / 0.01
    expected = BANDIT_REF * (REWARD - BANDIT_REF @ REWARD)  # the penalty's gradient is 0 at the reference
    np.testing.assert_allclose(step - step.mean(), expected - expected.mean(), atol=1e-3)
