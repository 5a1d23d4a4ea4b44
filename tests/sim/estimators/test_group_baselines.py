from functools import partial

import numpy as np
import pytest

from sim.algorithms import dr_grpo, grpo, rloo
from sim.estimators import group_baselines

GROUPS = np.array([[1, 0, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0], [0.9, -0.3, 0.2, 2.0]])


def test_the_z_score_is_that_of_verl():
    # verl 0.9.1, compute_grpo_outcome_advantage, float32
    expected = [
        [1.499997, -0.499999, -0.499999, -0.499999],
        [0.499999, 0.499999, -1.499997, 0.499999],
        [0] * 4,
        [0.2006698, -1.0033491, -0.5016745, 1.3043538],
    ]
    np.testing.assert_allclose(group_baselines.z_score(GROUPS), expected, atol=2e-6)
    np.testing.assert_allclose(
        group_baselines.z_score(np.array([[1.0, 0.0]])), [[0.7071057812, -0.7071057812]], atol=2e-9
    )


def test_without_the_division_it_is_the_distance_from_the_mean():
    # verl 0.9.1, norm_adv_by_std_in_grpo=False
    expected = [[0.75, -0.25, -0.25, -0.25], [0.25, 0.25, -0.75, 0.25], [0] * 4, [0.2, -1.0, -0.5, 1.3]]
    np.testing.assert_allclose(group_baselines.less_mean(GROUPS), expected, atol=1e-12)


def test_leave_one_out_is_that_of_verl_and_a_multiple_of_the_distance_from_the_mean():
    # verl 0.9.1, compute_rloo_outcome_advantage
    expected = [
        [1, -1 / 3, -1 / 3, -1 / 3],
        [1 / 3, 1 / 3, -1, 1 / 3],
        [0] * 4,
        [0.2666667, -1.3333333, -0.6666667, 1.7333333],
    ]
    np.testing.assert_allclose(group_baselines.leave_one_out(GROUPS), expected, atol=1e-7)
    np.testing.assert_allclose(
        group_baselines.leave_one_out(GROUPS), 4 / 3 * group_baselines.less_mean(GROUPS), atol=1e-12
    )
    np.testing.assert_array_equal(group_baselines.leave_one_out(np.array([[1.0, 0.0]])), [[1, -1]])


@pytest.mark.parametrize(
    "file, advantage",
    [(grpo, group_baselines.z_score), (dr_grpo, group_baselines.less_mean), (rloo, group_baselines.leave_one_out)],
)
def test_the_algorithm_files_compute_the_same(file, advantage):
    np.testing.assert_allclose(file.advantage(GROUPS, file.HP, None), advantage(GROUPS), atol=1e-12)


@pytest.mark.parametrize("K, right", [(4, 1), (8, 3), (16, 15)])
def test_binary_rewards_give_two_advantages(K, right):
    A, share = group_baselines.z_score(group_baselines.outcomes(K)[[right]], eps=0.0)[0], right / K
    assert A[0] == pytest.approx(np.sqrt((1 - share) / share * (K - 1) / K), abs=1e-12)  # closed form
    assert A[-1] == pytest.approx(-np.sqrt(share / (1 - share) * (K - 1) / K), abs=1e-12)


# (K - 1) / K: the leave-one-out mean is independent of its completion
@pytest.mark.parametrize("K, share", [(2, 0.5), (4, 0.75), (8, 0.875), (16, 0.9375)])
def test_a_group_mean_shortens_the_gradient_by_the_same_factor_at_every_pass_rate(K, share):
    np.testing.assert_allclose(
        group_baselines.share_of_gradient(np.array([0.001, 0.1, 0.5, 0.99]), K, group_baselines.less_mean),
        share,
        atol=1e-12,
    )


@pytest.mark.parametrize("K", [2, 3, 8, 64])
def test_leave_one_out_is_unbiased(K):
    np.testing.assert_allclose(
        group_baselines.share_of_gradient(np.array([0.001, 0.3, 0.9]), K, group_baselines.leave_one_out), 1, atol=1e-12
    )
    assert group_baselines.estimate_moments(0.3, 3, group_baselines.leave_one_out)[0] == pytest.approx(
        0.21, abs=1e-12
    )  # p (1 - p)


def test_the_shares_hold_for_rewards_that_are_not_binary():
    rng = np.random.default_rng(0)
    pi, reward, K = np.array([0.2, 0.5, 0.3]), np.array([0.7, -1.0, 2.0]), 3
    truth, drawn = pi * (reward - pi @ reward), rng.choice(3, (400_000, K), p=pi)
    score = np.eye(3)[drawn] - pi
    for advantage, share in ((group_baselines.less_mean, 2 / 3), (group_baselines.leave_one_out, 1.0)):
        estimate = (advantage(reward[drawn])[..., None] * score).mean(axis=(0, 1))
        np.testing.assert_allclose(estimate, share * truth, atol=4e-3)


@pytest.mark.parametrize(
    "change, mean",
    [(dict(eps=0.0), 0.1959618361), (dict(eps=0.0, ddof=0), 0.2094920147), (dict(eps=1e-4), 0.1959120149)],
)
def test_the_mean_of_the_z_score_estimate(change, mean):
    def advantage(R):
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(group_baselines.z_score(R, **change))  # 0/0 in a dead group at eps 0

    assert group_baselines.estimate_moments(0.1, 8, advantage)[0] == pytest.approx(
        mean, abs=1e-9
    )  # sum over k right of Bin(8, .1)


def test_the_z_score_favors_prompts_that_are_nearly_lost_or_nearly_solved():
    share = group_baselines.share_of_gradient(np.array([0.02, 0.5, 0.98]), 16, group_baselines.z_score)
    assert share[0] > 1.5 * share[1] < share[2] and share[0] == pytest.approx(share[2], rel=1e-9)
    small = group_baselines.share_of_gradient(1e-7, 16, partial(group_baselines.z_score, eps=0.0 + 1e-12))
    assert small == pytest.approx(15 / 4, rel=1e-4)  # (K - 1) / sqrt(K): one right completion


# p^K + (1 - p)^K
@pytest.mark.parametrize("p, K, dead", [(0.1, 4, 0.6562), (0.1, 8, 0.430467), (0.1, 16, 0.185302), (0.02, 8, 0.850763)])
def test_dead_groups(p, K, dead):
    assert sum(group_baselines.dead_probability(p, K)) == pytest.approx(dead, abs=1e-6)


@pytest.mark.parametrize("K, live", [(4, 0.078), (8, 0.149), (16, 0.276), (64, 0.726)])
def test_live_groups_at_two_percent(K, live):
    assert group_baselines.live_probability(0.02, K) == pytest.approx(live, abs=5e-4)  # 1 - .98^K - .02^K
    assert group_baselines.completions_per_live_group(0.02, K) == pytest.approx(K / live, rel=5e-3)


@pytest.mark.parametrize("p, K, seen", [(0.1, 8, 0.1755825012), (0.25, 4, 0.3620689655)])
def test_among_live_groups_a_hard_prompt_looks_easier(p, K, seen):
    assert group_baselines.pass_rate_seen_alive(p, K) == pytest.approx(
        seen, abs=1e-9
    )  # (p - p^K) / (1 - p^K - (1 - p)^K)


def test_the_probabilities_of_the_outcomes_are_those_of_coins():
    np.testing.assert_allclose(group_baselines.outcome_probability(0.5, 3), [1 / 8, 3 / 8, 3 / 8, 1 / 8], atol=1e-15)
    np.testing.assert_allclose(
        group_baselines.outcome_probability(np.array([0.001, 0.3]), 64).sum(axis=-1), 1, atol=1e-12
    )


@pytest.mark.parametrize("K", [2, 8, 32])
def test_scaling_does_not_change_the_signal_to_noise(K):
    p = np.array([0.05, 0.5, 0.8])
    np.testing.assert_allclose(
        group_baselines.signal_to_noise_per_completion(p, K, group_baselines.leave_one_out),
        group_baselines.signal_to_noise_per_completion(p, K, group_baselines.less_mean),
        rtol=1e-12,
    )


def test_two_of_a_kind_by_rounding_are_dead_only_because_of_eps():
    pair = np.array([[0.3, 0.1 + 0.2]])  # 5.6e-17 apart
    assert np.abs(group_baselines.z_score(pair)).max() < 1e-9
    assert np.abs(group_baselines.z_score(pair, eps=0.0)).max() > 0.7
