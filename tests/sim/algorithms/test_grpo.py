import numpy as np
import pytest

from sim.algorithms import dapo, grpo
from sim.experiments.standard_runs import modsum_run
from sim.framework.algorithm import Algorithm
from tests.sim.algorithms.cases import GROUPS, MASK, OLD, RATIO, A, expected_push


def test_advantages_as_verl_computes_them():
    expected = [
        [1.499997, -0.499999, -0.499999, -0.499999],
        [0.499999, 0.499999, -1.499997, 0.499999],
        [0, 0, 0, 0],
        [0.2006698, -1.0033491, -0.5016745, 1.3043538],
    ]  # verl 0.9.1, compute_grpo_outcome_advantage
    np.testing.assert_allclose(grpo.advantage(GROUPS, grpo.HP, None), expected, atol=2e-6)


def test_two_completions_of_which_one_is_right_always_get_the_same_advantages():
    np.testing.assert_allclose(
        grpo.advantage(np.array([[1.0, 0]]), grpo.HP, None)[0], [0.7071057812, -0.7071057812], atol=1e-9
    )  # verl 0.9.1
    assert grpo.advantage(np.array([[0, 0.01]]), grpo.HP, None)[0, 1] == pytest.approx(0.7071, abs=2e-4)


def test_rewards_equal_up_to_rounding_have_an_advantage_of_nearly_zero():
    assert np.abs(grpo.advantage(np.array([[0.3, 0.1 + 0.2, 0.3, 0.3]]), grpo.HP, None)).max() < 1e-9


def test_a_group_without_a_difference_pushes_nothing():
    assert not grpo.advantage(np.array([[0.0] * 8, [1.0] * 8]), grpo.HP, None).any()


def test_dividing_by_the_standard_deviation_changes_the_expected_push():
    assert expected_push(grpo, 0.1, 8) == pytest.approx(
        0.1959618361, abs=1e-6
    )  # closed form for eps -> 0; ours is 1e-6
    assert expected_push(grpo, 0.1, 8) > 2 * 0.1 * 0.9


def test_each_completion_counts_the_same_however_long_it_is():
    np.testing.assert_allclose(grpo.weights(MASK, grpo.HP, None).sum(axis=1), [1 / 3] * 3, atol=1e-15)
    loss = np.array([[1, 2, 3, 4], [5, 6, 0, 0], [7, 0, 0, 0]])
    mask = np.array([[1.0, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]])
    assert (grpo.weights(mask, grpo.HP, None) * loss).sum() == pytest.approx(
        5.0, abs=1e-7
    )  # verl 0.9.1, agg_loss seq-mean-token-mean: 4.99999997


def test_the_loss_as_trl_computes_it():
    objective, slope = dapo.surrogate(
        OLD + np.log(RATIO), OLD, A, dapo.HP, None
    )  # clip .2 and .28, as the case was run
    w = grpo.weights(MASK, grpo.HP, None)
    assert -(w * objective).sum() == pytest.approx(0.2419444444, abs=1e-9)  # TRL 1.16.0, _compute_loss, loss_type grpo
    np.testing.assert_allclose(-(w * slope)[0], [-0.0416667, -0.075, -0.0833333, 0], atol=1e-7)


def test_the_kl_penalty_as_verl_and_trl_compute_it():
    logp, ref = np.array([-1, -2, -0.5, -3, -0.1]), np.array([-1.2, -1.5, -0.5, -1, -2.4])
    penalty, slope = grpo.kl_term(logp, ref, grpo.HP, None)
    np.testing.assert_allclose(
        penalty, [0.0187307531, 0.1487212707, 0, 4.3890560989, 1.4002588437], atol=1e-9
    )  # verl 0.9.1, low_var_kl
    np.testing.assert_allclose(slope, [0.1812692469, -0.6487212707, 0, -6.3890560989, 0.8997411563], atol=1e-9)
    ref = np.array([[-1.2, -0.9, -1, -2], [-1, -1, -1.5, -1], [-0.5, -1, -1, -1]])
    w, (penalty, slope) = grpo.weights(MASK, grpo.HP, None), grpo.kl_term(OLD, ref, grpo.HP, None)
    assert -(w * A).sum() + 0.04 * (w * penalty).sum() == pytest.approx(
        0.1694375484, abs=1e-9
    )  # TRL 1.16.0, beta .04, ratio 1
    assert (-w * A + 0.04 * w * slope)[0, 0] == pytest.approx(
        -0.0827290956, abs=1e-8
    )  # in 32 bits; closed form -.0827291025


def test_the_loss_of_a_fresh_batch_is_zero_although_its_gradient_is_not():
    # mean-zero advantages and equal weights a completion: the loss says nothing about how training goes
    R, mask = np.array([[1.0, 0, 0, 1]]), np.array([[1.0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 0]])
    advantage = grpo.advantage(R, grpo.HP, None)[0][:, None] * mask
    objective, slope = grpo.surrogate(-mask, -mask, advantage, grpo.HP, None)
    assert (
        abs((grpo.weights(mask, grpo.HP, None) * objective).sum()) < 1e-15
        and np.abs(grpo.weights(mask, grpo.HP, None) * slope).max() > 0.05
    )


def test_a_kl_penalty_is_asked_for_by_the_file_itself():
    assert Algorithm(grpo).hp["beta"] == 0.04  # DeepSeekMath, section 4.2


@pytest.mark.when_changed()
def test_at_a_fixed_number_of_completions_larger_groups_learn_faster_on_modsum():
    # 64 completions a step, one mean of three seeds at step 50 each: .708 .944 .972 .976 and .708 .939 .966 .975, two
    # implementations
    rates = [
        np.mean(
            [
                list(modsum_run(grpo, seed=seed, groups=64 // K, K=K, hyper=dict(beta=0.0)).frames(51))[50]
                .exact["pass_rate"]
                .mean()
                for seed in range(3)
            ]
        )
        for K in (2, 4, 8, 16)
    ]
    assert np.allclose(rates, [0.708, 0.944, 0.972, 0.976], rtol=0, atol=0.03)
