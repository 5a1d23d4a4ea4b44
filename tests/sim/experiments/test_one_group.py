"""The same rewards through six algorithm files. Expected numbers: by hand, or numpy's mean and std on the rewards."""

import numpy as np
import pytest

from sim.algorithms import dapo, dr_grpo, grpo, ppo, reinforce, rloo
from sim.estimators.group_baselines import z_score
from sim.experiments import one_group
from sim.framework.algorithm import Algorithm

FILES = [reinforce, ppo, grpo, rloo, dapo, dr_grpo]
BY_GROUP = [grpo, rloo, dapo, dr_grpo]
TWO = np.array([1.0, 0, 0, 1, 0, 0, 0, 0])
GRADED = np.array([0.2, 0.5, 0.9, 0.4])
LENGTHS = [3, 8, 4, 5, 3, 8, 6, 4]


def advantages(file, rewards, value=0.0, hooks=None):
    return one_group.advantages(Algorithm(file, None, hooks), one_group.batch_of(rewards, [3] * len(rewards), value))


def over_K(R, hp, batch):
    return z_score(R, ddof=0)[..., None]


@pytest.mark.parametrize(
    "file, right, wrong, tolerance",
    [
        (reinforce, 1, 0, 1e-12),
        (dr_grpo, 0.75, -0.25, 1e-12),
        (rloo, 6 / 7, -2 / 7, 1e-12),
        (grpo, 1.6201816746, -0.5400605582, 1e-9),
        (dapo, 1.6201816746, -0.5400605582, 1e-9),  # .75 / (std of the sample + 1e-6)
        (ppo, 0.67, -0.33, 1e-12),
    ],
)
def test_two_right_of_eight(file, right, wrong, tolerance):
    np.testing.assert_allclose(
        advantages(file, TWO, value=0.33 if file is ppo else 0.0), np.where(TWO == 1, right, wrong), atol=tolerance
    )


def test_over_K_in_place_of_K_minus_1_the_push_is_larger():
    np.testing.assert_allclose(
        advantages(grpo, TWO, hooks=dict(advantage=over_K))[:2], [1.7320468076, -0.5773489359], atol=1e-9
    )


@pytest.mark.parametrize(
    "K, right, wrong", [(8, 2.4748737, -0.3535534), (64, 7.875, -0.125)]
)  # (K - 1) / sqrt K, -1 / sqrt K
def test_a_lone_success_grows_with_the_root_of_K_when_the_deviation_is_divided_out(K, right, wrong):
    one = np.eye(K)[0]
    np.testing.assert_allclose(advantages(grpo, one)[:2], [right, wrong], rtol=2e-5)
    np.testing.assert_allclose(advantages(grpo, one)[0], (K - 1) / np.sqrt(K), rtol=1e-5)
    assert advantages(rloo, one)[0] == pytest.approx(1, abs=1e-12) and advantages(dr_grpo, one)[0] == pytest.approx(
        (K - 1) / K, abs=1e-12
    )


def test_a_lone_success_over_K():
    np.testing.assert_allclose(
        advantages(grpo, np.eye(8)[0], hooks=dict(advantage=over_K))[:2], [2.6457513, -0.3779645], rtol=5e-6
    )


def test_graded_rewards():
    np.testing.assert_allclose(advantages(grpo, GRADED), [-1.0190458692, 0, 1.3587278256, -0.3396819564], atol=1e-9)
    np.testing.assert_allclose(advantages(rloo, GRADED), [-0.4, 0, 0.5333333333, -0.1333333333], atol=1e-9)


def test_a_thousandth_becomes_a_full_gradient_where_the_deviation_is_divided_out():
    noisy = np.array([1, 1, 1, 0.999])
    np.testing.assert_allclose(
        advantages(grpo, noisy), [0.499002, 0.499002, 0.499002, -1.497006], atol=1e-6
    )  # .00025 / (.0005 + 1e-6)
    assert np.abs(advantages(dr_grpo, noisy)).max() == pytest.approx(0.00075, abs=1e-12)


@pytest.mark.parametrize("file", BY_GROUP)
def test_a_constant_added_to_every_reward_leaves_group_files_alone(file):
    np.testing.assert_allclose(advantages(file, GRADED + 5), advantages(file, GRADED), atol=1e-9)


@pytest.mark.parametrize("file", BY_GROUP)
def test_equal_rewards_push_nothing(file):
    assert (
        (advantages(file, np.ones(8)) == 0).all()
        and not one_group.informative(np.ones(8))
        and one_group.informative(TWO)
    )


def test_rloo_is_the_group_mean_times_K_over_K_minus_1():
    np.testing.assert_allclose(advantages(rloo, GRADED), 4 / 3 * advantages(dr_grpo, GRADED), atol=1e-12)


@pytest.mark.parametrize("right", range(1, 8))
def test_the_total_push_of_a_group(right):
    R, p = (np.arange(8) < right).astype(float), right / 8
    assert one_group.total_push(advantages(dr_grpo, R)) == pytest.approx(2 * p * (1 - p), abs=1e-12)
    assert one_group.total_push(advantages(grpo, R, hooks=dict(advantage=over_K))) == pytest.approx(
        2 * np.sqrt(p * (1 - p)), rel=1e-5
    )


def test_the_total_push_of_one_in_eight():
    assert one_group.total_push(advantages(grpo, np.eye(8)[0], hooks=dict(advantage=over_K))) == pytest.approx(
        0.6614378, abs=3e-6
    )  # less 1e-6 / std
    assert one_group.total_push(advantages(dr_grpo, np.eye(8)[0])) == pytest.approx(0.21875, abs=1e-12)


@pytest.mark.parametrize(
    "file, weight",
    [
        (grpo, lambda L: 1 / (8 * L)),
        (dapo, lambda L: 1 / L.sum() + 0 * L),
        (ppo, lambda L: 1 / L.sum() + 0 * L),
        (dr_grpo, lambda L: 1 / (8 * 16) + 0 * L),
        (reinforce, lambda L: 1 / 8 + 0 * L),
        (rloo, lambda L: 1 / 8 + 0 * L),
    ],
)
def test_a_token_is_pushed_by_the_advantage_times_its_weight(file, weight):
    batch = one_group.batch_of(TWO, LENGTHS)
    pushed = one_group.token_push(Algorithm(file, dict(beta=0.0)), batch)
    np.testing.assert_allclose(
        pushed, one_group.advantages(Algorithm(file), batch) * weight(np.array(LENGTHS, float)), atol=1e-12
    )
    assert batch.advantage is None  # what was handed in stays as it was


@pytest.mark.parametrize("file", FILES)
def test_tokens_that_were_not_sampled_are_not_pushed(file):
    batch = one_group.batch_of(TWO, LENGTHS)
    A, _ = Algorithm(file).compute_advantages(batch)
    assert (A[batch.response_mask == 0] == 0).all()
