import numpy as np
import pytest

from sim.experiments import five_answers as five
from sim.worlds import bandit


def test_one_paid_draw_by_hand():
    """A quarter of (e_0 - pi) on the logits: 0.175 on its own, minus a quarter of its share on every other."""
    pushes, policies = five.by_draw(five.SHOWN, np.array([0, 3, 3, 1]), np.array([1.0, 0, 0, 0]))
    np.testing.assert_allclose(pushes[1], [0.175, -0.0375, -0.0375, -0.0625, -0.0375])
    grown = five.SHOWN * np.exp([0.175, -0.0375, -0.0375, -0.0625, -0.0375])
    np.testing.assert_allclose(policies[1], grown / grown.sum())
    np.testing.assert_allclose(policies[2:], policies[1][None].repeat(3, axis=0))  # a weight of 0 pushes nothing


def test_the_draws_add_up_to_the_update():
    arms = five.first_batch()
    advantage = five.REWARD[arms] + 10
    pushes, policies = five.by_draw(five.SHOWN, arms, advantage)
    np.testing.assert_allclose(pushes[-1], bandit.push(five.SHOWN, arms, advantage))
    np.testing.assert_allclose(pushes.sum(axis=1), 0, atol=1e-12)  # what one gains the others lose
    np.testing.assert_allclose(policies.sum(axis=1), 1)
    assert policies[0] == pytest.approx(five.SHOWN)


def test_with_equal_pay_what_is_drawn_less_than_its_share_loses():
    """The push is pay times (share of the draws - share of the policy)."""
    arms = np.array([0, 0, 0, 3, 3, 3, 3, 4])
    pushes, _ = five.by_draw(five.SHOWN, arms, np.full(8, 10.0))
    np.testing.assert_allclose(pushes[-1], 10 * (np.array([3, 0, 0, 4, 1]) / 8 - five.SHOWN))
    assert pushes[-1][4] < 0 < pushes[-1][0]


def test_imitation_ends_at_the_demonstrations_and_the_policy_gradient_beyond_them():
    np.testing.assert_allclose(five.imitated()[0], 0.2)
    np.testing.assert_allclose(five.imitated()[-1], five.SHOWN, atol=1e-6)
    assert five.rewarded()[-1][0] > 0.99 and five.rewarded()[0] == pytest.approx(five.SHOWN)


def test_the_first_update_of_the_first_run_is_that_of_its_first_batch():
    arms = five.first_batch()
    _, policies = five.by_draw(five.SHOWN, arms, five.REWARD[arms] + 10)
    np.testing.assert_allclose(five.uncompared(10)[1, 0], policies[-1])


def test_a_constant_on_every_reward_leaves_the_mean_step_alone_and_loses_runs():
    wrong = [(five.uncompared(offset)[-1, :, 0] < 0.5).sum() for offset in (0, 10)]
    assert wrong[0] == 0 and wrong[1] > 5
    mean = bandit.policy_gradient(five.SHOWN, five.REWARD)
    np.testing.assert_allclose(bandit.policy_gradient(five.SHOWN, five.REWARD + 10), mean, atol=1e-12)
