import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.algorithms import dr_grpo, grpo, recipes, rloo
from sim.estimators import normalizers
from sim.rollouts import advantages

ONE = np.array([1.0, 0, 0, 0])
TWO = np.array([1.0, 0, 0, 0, 0.5, 1, 0, 1])
GROUP, STEP = np.repeat([0, 1], 4), np.zeros(8, np.int64)


def of(name, reward):
    return advantages.RULES[name](np.asarray(reward, float), np.zeros(len(reward), np.int64), STEP[: len(reward)])


@pytest.mark.parametrize(
    "name, right, wrong",
    [
        ("GRPO", 0.75 / 0.5001, -0.25 / 0.5001),  # the sample deviation of 1, 0, 0, 0 is 1/2; TRL adds 1e-4
        ("GRPO, epsilon 1e-6", 0.75 / 0.500001, -0.25 / 0.500001),
        ("RLOO", 1, -1 / 3),
        ("Dr. GRPO", 0.75, -0.25),
        ("GRPO, deviation over K", 0.75 / (np.sqrt(3 / 16) + 1e-6), -0.25 / (np.sqrt(3 / 16) + 1e-6)),
    ],
)
def test_one_right_completion_in_four(name, right, wrong):
    np.testing.assert_allclose(of(name, ONE), [right, wrong, wrong, wrong], rtol=1e-12)


def test_the_deviation_of_the_others_divides_unless_it_is_0():
    # NeMo RL's default: the others of the right one are all 0, so that its 1 stays; those of a wrong one are 1, 0, 0,
    # with mean 1/3 and sample deviation 1 / sqrt 3
    wrong = -1 / 3 / (1 / np.sqrt(3) + 1e-6)
    np.testing.assert_allclose(of("GRPO, leave-one-out", ONE), [1, wrong, wrong, wrong], rtol=1e-12)
    right = 2 / 3 / (1 / np.sqrt(3) + 1e-6)
    np.testing.assert_allclose(of("GRPO, leave-one-out", [1, 1, 0, 0]), [right, right, -right, -right], rtol=1e-12)
    np.testing.assert_allclose(of("GRPO, leave-one-out", [1, 0]), [1, -1])


def test_two_groups_over_the_batch_are_what_trl_makes_of_them():
    # the lines of TRL 1.16.0's grpo_trainer.py (scale_rewards="batch") and rloo_trainer.py (normalize_advantages), run
    # in torch 2.14.1; its n / (n - 1) has single precision
    scaled = [1.5132695105970417] + 3 * [-0.504423170199014]
    scaled += [-0.252211585099507, 0.7566347552985209, -1.2610579254975347, 0.7566347552985209]
    normalized = [1.65475795] + 3 * [-0.55158598] + [-0.27579299, 0.82737897, -1.37896496, 0.82737897]
    np.testing.assert_allclose(advantages.RULES["GRPO, deviation of the batch"](TWO, GROUP, STEP), scaled, rtol=1e-7)
    np.testing.assert_allclose(advantages.RULES["RLOO, normalized"](TWO, GROUP, STEP), normalized, rtol=1e-7)


def test_gdpo_is_what_trl_makes_of_two_scores_one_of_which_is_missing_once():
    # TRL 1.16.0's grpo_trainer.py, normalize_then_sum, in torch 2.14.1, weights 1 and 0.5
    scores = np.array([[1.0, 0, 0, 1, 0, 1, 1, 0], [0.5, 0.25, 0, 1, np.nan, 0, 1, 0.5]])
    expected = [0.7943135041292468, -0.918106981768462, -1.1656939370468922, 1.2894874146861073]
    expected += [-0.7324167653096394, 0.3095670706604029, 1.1552664599588758, -0.7324167653096394]
    total = advantages.total(advantages.each_alone(scores, GROUP, STEP), [1, 0.5])
    np.testing.assert_allclose(advantages.gdpo(total, GROUP, STEP), expected, rtol=1e-7)


def test_the_rules_are_those_of_the_lessons():
    R = TWO.reshape(2, 4)
    lessons = {"GRPO": grpo, "GRPO, epsilon 1e-6": grpo, "RLOO": rloo, "Dr. GRPO": dr_grpo}
    for name, lesson in lessons.items():
        ours = advantages.RULES[name](TWO, GROUP, STEP)
        # lesson 11 adds 1e-6 to the deviation, TRL 1e-4
        np.testing.assert_allclose(
            ours, lesson.advantage(R, {}, None).ravel(), rtol=2.1e-4 if name == "GRPO" else 1e-12
        )
    over_batch = advantages.RULES["GRPO, deviation of the batch"](TWO, GROUP, STEP)
    # recipes.py divides by the deviation over N, TRL by that over N - 1
    n = np.sqrt(7 / 8)
    np.testing.assert_allclose(over_batch, n * recipes.over_batch_std(R, {}, None).ravel(), rtol=3e-4)
    ours = advantages.RULES["whitened"](TWO, GROUP, STEP)
    np.testing.assert_allclose(ours, normalizers.whitened(R, np.ones((2, 4))).ravel(), rtol=1e-12)


def test_groups_of_several_sizes_are_each_their_own():
    reward = np.array([1.0, 0, 1, 0, 0, 0, 7])
    group = np.array([0, 0, 1, 1, 1, 1, 2])
    expected = [0.5, -0.5, *dr_grpo.advantage(ONE.reshape(1, 4), {}, None)[0], 0]  # nobody to compare the last with
    np.testing.assert_allclose(advantages.RULES["Dr. GRPO"](reward, group, group * 0), expected)


def test_a_completion_without_a_reward_counts_for_nobody():
    reward = np.array([1.0, np.nan, 0, 0, 0])
    np.testing.assert_allclose(of("RLOO", reward), [1, 0, -1 / 3, -1 / 3, -1 / 3])


@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0, np.nan]), min_size=1, max_size=5), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_whatever_the_groups_advantages_are_finite_and_those_within_groups_sum_to_0(groups):
    group = np.repeat(np.arange(len(groups)), [len(one) for one in groups])
    reward, step = np.concatenate(groups), group // 2
    for name, rule in advantages.RULES.items():
        A = rule(reward, group, step)
        assert np.isfinite(A).all() and not A[np.isnan(reward)].any()
        if name not in ("GRPO, leave-one-out", "batch mean", "whitened"):
            np.testing.assert_allclose(np.bincount(group, A), 0, atol=1e-9)
