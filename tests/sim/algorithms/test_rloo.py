import numpy as np
import pytest

from sim.algorithms import dr_grpo, rloo
from sim.experiments.standard_runs import modsum_run
from sim.worlds.optimizer import SGD, AdamW
from tests.sim.algorithms.cases import GROUPS, expected_push


def pass_rates(optimizer, advantage=rloo.advantage, steps=60, **settings):
    """(seeds, steps), mean over the prompts; `advantage` may take the place of the file's own."""
    runs = [
        modsum_run(rloo, seed=seed, optimizer=optimizer(), hooks=dict(advantage=advantage), **settings).frames(steps)
        for seed in range(4)
    ]
    return np.array([[frame.exact["pass_rate"].mean() for frame in run] for run in runs])


def test_advantages_as_verl_computes_them():
    expected = [
        [1, -1 / 3, -1 / 3, -1 / 3],
        [1 / 3, 1 / 3, -1, 1 / 3],
        [0, 0, 0, 0],
        [0.8 / 3, -4 / 3, -2 / 3, 5.2 / 3],
    ]  # verl 0.9.1, compute_rloo_outcome_advantage: .2666667 -1.3333333 -.6666667 1.7333333
    np.testing.assert_allclose(rloo.advantage(GROUPS, rloo.HP, None), expected, atol=1e-9)


def test_it_is_the_group_mean_baseline_times_k_over_k_minus_1():
    np.testing.assert_allclose(
        rloo.advantage(GROUPS, rloo.HP, None), 4 / 3 * dr_grpo.advantage(GROUPS, dr_grpo.HP, None), atol=1e-12
    )


def test_with_two_completions_it_is_their_difference():
    np.testing.assert_allclose(rloo.advantage(np.array([[1.0, 0]]), rloo.HP, None)[0], [1, -1], atol=1e-15)


@pytest.mark.parametrize("p, K", [(0.3, 3), (0.1, 2), (0.5, 8), (0.02, 4)])
def test_its_expected_push_is_the_true_gradient_for_every_k(p, K):
    assert expected_push(rloo, p, K) == pytest.approx(p * (1 - p), abs=1e-12)


def test_a_constant_added_to_every_reward_changes_nothing():
    np.testing.assert_allclose(
        rloo.advantage(GROUPS + 5, rloo.HP, None), rloo.advantage(GROUPS, rloo.HP, None), atol=1e-12
    )


def test_under_adam_the_two_baselines_give_one_trajectory():
    # Adam takes a constant factor out, up to its eps; 4.6e-7 and 5e-7 on two other implementations
    own, mean = (
        pass_rates(lambda: AdamW(0.05, clip=None), advantage) for advantage in (rloo.advantage, dr_grpo.advantage)
    )
    assert np.abs(own - mean).max() < 1e-6 and (own != mean).any()
    assert own[:, -1].mean() == pytest.approx(0.961, abs=0.02)


@pytest.mark.when_changed()
def test_under_sgd_they_differ_by_a_learning_rate_and_by_nothing_else():
    settings = dict(groups=32, K=2)
    own, mean = (
        pass_rates(lambda: SGD(2.0), advantage, **settings) for advantage in (rloo.advantage, dr_grpo.advantage)
    )
    # .703 and .525 on another implementation, .735 and .529 on a third
    assert own[:, -1].mean() == pytest.approx(0.703, abs=0.04) and mean[:, -1].mean() == pytest.approx(0.525, abs=0.03)
    np.testing.assert_allclose(pass_rates(lambda: SGD(4.0), dr_grpo.advantage, **settings), own, rtol=0, atol=1e-9)


@pytest.mark.when_changed()
def test_sixteen_passes_over_a_batch_without_a_ratio_move_the_policy_by_nats():
    settings = dict(groups=4, K=4, hyper=dict(inner_epochs=16))
    kl = {
        rate: max(
            frame.exact["kl_step"].mean()
            for seed in range(6)
            for frame in modsum_run(rloo, seed=seed, learning_rate=rate, **settings).frames(60)
        )
        for rate in (4.0, 8.0)
    }
    assert 4 < kl[4.0] < 7 and 15 < kl[8.0] < 30  # 5.5 and 20.8 nats, 4.8 and 20.8, on two other implementations
