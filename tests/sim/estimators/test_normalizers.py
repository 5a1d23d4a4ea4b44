"""verl's whitening, what each divisor is invariant to, what a loud reward does, and whose gradient it is."""

import numpy as np
import pytest

from sim.algorithms import recipes
from sim.estimators import group_baselines, normalizers, std_weight
from sim.estimators.normalizers import BATCH, GROUP, NONE, SOURCE, normalized
from tests.sim.estimators.test_group_baselines import GROUPS

ROW = np.array([[1.0, 0.0] * 7 + [1.0, 100.0]])  # fifteen answers paid 1 or 0, and one paid 100
ONE = np.zeros(1)


def test_whitening_is_that_of_verl():
    # verl 0.9.1, masked_whiten
    values, mask = np.array([[1.0, 2, 3], [4, 9, 0]]), np.array([[1.0, 1, 1], [1, 0, 0]])
    expected = np.array([[-1.161895, -0.3872983, 0.3872983], [1.161895, 0, 0]])
    np.testing.assert_allclose(normalizers.whitened(values, mask) * mask, expected, atol=1e-6)
    kept = normalizers.whitened(values, mask, shift_mean=False)
    np.testing.assert_allclose(kept * mask, (expected + 2.5) * mask, atol=1e-6)


def test_less_the_group_mean_and_whitened_it_is_verls_reinforce_plus_plus_baseline():
    # verl 0.9.1, compute_reinforce_plus_plus_baseline_outcome_advantage, three tokens a completion
    centered = np.repeat(group_baselines.less_mean(GROUPS).ravel(), 3).reshape(16, 3)
    found = normalizers.whitened(centered, np.ones((16, 3)))[:, 0].reshape(4, 4)
    expected = [
        [1.4025248, -0.4675083, -0.4675083, -0.4675083],
        [0.4675083, 0.4675083, -1.4025248, 0.4675083],
        [0] * 4,
        [0.3740066, -1.8700331, -0.9350165, 2.4310430],
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_parts_are_those_of_the_algorithms():
    source = np.zeros(4)
    np.testing.assert_allclose(normalized(GROUPS, source, GROUP, NONE), group_baselines.less_mean(GROUPS))
    np.testing.assert_allclose(normalized(GROUPS, source, GROUP, GROUP), group_baselines.z_score(GROUPS))
    lite = recipes.over_batch_std(GROUPS, {}, None) * np.sqrt(15 / 16)  # that one divides by n, not by n - 1
    np.testing.assert_allclose(normalized(GROUPS, source, GROUP, BATCH), lite, rtol=1e-5)
    np.testing.assert_allclose(normalized(GROUPS, source, NONE, NONE), GROUPS)


@pytest.mark.parametrize("over", normalizers.PARTS)
def test_the_group_mean_takes_away_what_is_added_to_a_group(over):
    added = np.array([[0.0], [3.0], [-7.0], [100.0]])
    source = np.array([0, 0, 1, 1])
    if over != BATCH:
        np.testing.assert_allclose(
            normalized(GROUPS + added, source, GROUP, over), normalized(GROUPS, source, GROUP, over), atol=1e-6
        )
    np.testing.assert_allclose(
        normalized(GROUPS + 5, source, GROUP, over), normalized(GROUPS, source, GROUP, over), atol=1e-6
    )


def test_what_each_divisor_does_not_notice():
    source = np.array([0, 1, 0, 1])

    def same(rewards, over):
        return np.allclose(
            normalized(rewards, source, GROUP, over), normalized(GROUPS, source, GROUP, over), rtol=1e-4, atol=1e-5
        )

    all_of_it, one_source = 7 * GROUPS, GROUPS * np.array([[1], [7], [1], [7]])
    each_group = GROUPS * np.array([[1], [7], [2], [3]])
    assert [same(all_of_it, over) for over in (NONE, BATCH, SOURCE, GROUP)] == [False, True, True, True]
    assert [same(one_source, over) for over in (NONE, BATCH, SOURCE, GROUP)] == [False, False, True, True]
    assert [same(each_group, over) for over in (NONE, BATCH, SOURCE, GROUP)] == [False, False, False, True]


def test_one_loud_reward_drags_all_others_to_one_side():
    A = normalized(ROW, ONE)[0]
    np.testing.assert_allclose(A[[0, 1, -1]], [-0.23118672, -0.27139311, 3.74924553], atol=1e-6)  # torch, float64
    mended = normalized(normalizers.clipped(ROW, 1.0), ONE)[0]
    np.testing.assert_allclose(mended[[0, 1, -1]], [0.85391256, -1.09788758, 0.85391256], atol=1e-5)
    late = normalizers.clipped(A, 1.0)
    assert late[0] < 0 and late[0] == A[0], "an advantage that is clipped afterwards has its sign still"


@pytest.mark.parametrize("n, most", [(8, 2.4748737), (16, 3.75)])
def test_the_loudest_reaches_what_the_closed_form_says_and_no_more(n, most):
    assert normalizers.loudest(n) == pytest.approx(most)
    for pay in (1.0, 100.0, 1e6):
        reached = normalized(np.array([[0.0] * (n - 1) + [pay]]), ONE)[0, -1]
        assert reached == pytest.approx(most, rel=1e-4)
    assert normalized(np.random.default_rng(0).normal(size=(1, n)), ONE).max() < most


def test_whose_gradient_it_is_does_not_change_by_one_number():
    # p = 0.3 of a checker against N(4, 9) of a reward model: 0.21 / 9.21
    expected = normalizers.expected_shares((1, 1), (np.sqrt(0.21), 3.0))
    np.testing.assert_allclose(expected, [0.0228013, 0.9771987], atol=1e-7)
    rng = np.random.default_rng(0)
    groups, K = 300, 8
    source = np.repeat([0, 1], groups)
    R = np.concatenate([(rng.random((groups, K)) < 0.3).astype(float), rng.normal(4, 3, (groups, K))])
    for over in (NONE, BATCH):
        assert normalizers.shares(normalized(R, source, GROUP, over), source)[0] == pytest.approx(0.0228, abs=0.004)
    assert normalizers.shares(normalized(R, source, GROUP, SOURCE), source)[0] == pytest.approx(0.5, abs=1e-6)


def test_both_sources_have_the_same_share_however_the_prompts_of_one_differ():
    # either is right half the time: of twenty answers the checker's prompts have 1 or 19 right, the model's 10, paid 30
    right = np.array([[1.0] * n + [0.0] * (20 - n) for n in (1, 19, 10, 10)])
    source = np.array([0, 0, 1, 1])
    R = right * np.where(source == 1, 30.0, 1.0)[:, None]
    np.testing.assert_allclose(normalizers.shares(normalized(R, source, GROUP, SOURCE), source), [0.5, 0.5], atol=1e-5)
    # over the deviations of the rewards as they came, which are equal but for the 30: 0.05 * 0.95 beside 0.5 * 0.5
    raw = group_baselines.less_mean(R) / np.repeat([R[:2].std(), R[2:].std()], 2)[:, None]
    np.testing.assert_allclose(normalizers.shares(raw, source), [0.0475 / 0.2975, 0.25 / 0.2975], rtol=1e-9)


def test_equal_shares_ask_for_equal_deviations():
    np.testing.assert_allclose(normalizers.expected_shares((1, 1), (np.sqrt(0.21), 0.4582576)), [0.5, 0.5], atol=1e-6)


@pytest.mark.parametrize("K", [4, 8, 64])
def test_the_weight_of_a_prompt_by_what_its_rewards_are_divided_by(K):
    p = np.array([0.02, 0.1, 0.5])
    np.testing.assert_allclose(normalizers.prompt_weight(p, K, GROUP), std_weight.std_weight(p, K), rtol=1e-9)
    for over, number in ((NONE, 1.0), (BATCH, 0.4), (SOURCE, 0.4)):
        np.testing.assert_allclose(normalizers.prompt_weight(p, K, over, 0.4), (K - 1) / K / number, rtol=1e-9)


def test_a_sum_of_two_rewards_forgets_what_one_of_them_said():
    # GDPO, arXiv:2601.05242, figure 2: two completions, two rewards of 0 or 1
    one_more, two_more = np.array([[[0.0, 0.0], [1.0, 0.0]]]), np.array([[[0.0, 0.0], [1.0, 1.0]]])
    for rewards in (one_more, two_more):
        np.testing.assert_allclose(normalizers.summed_first(rewards), [[-0.7071068, 0.7071068]], atol=2e-6)
    np.testing.assert_allclose(normalizers.summed_last(one_more), [[-0.7071068, 0.7071068]], atol=2e-6)
    np.testing.assert_allclose(normalizers.summed_last(two_more), [[-1.4142136, 1.4142136]], atol=4e-6)


def test_what_cannot_be_scored_is_left_out_and_is_not_zero():
    # TRL 1.16.0: a row that no reward function scored has no part in the mean, and an advantage of 0
    rewards = np.array([[1.0, 0.0, 1.0, np.nan]])
    np.testing.assert_allclose(normalizers.scored_alone(rewards), [[1 / 3, -2 / 3, 1 / 3, 0]], atol=1e-12)
    as_zero = group_baselines.less_mean(np.nan_to_num(rewards))
    np.testing.assert_allclose(as_zero, [[0.5, -0.5, 0.5, -0.5]])
