"""The pushes of the Lab's four arms. Draws, final probabilities and means of runs are those of a prototype that was
written apart from this code, in plain Python without arrays.
"""

from itertools import pairwise, product

import numpy as np
import pytest

from sim.lab import arms

UNIFORM = np.full(4, 0.25)
FIFTY = range(50)


def test_ten_draws_of_seed_7_and_the_pile_that_each_moves():
    drawn = arms.pushes(7, 0.4, arms.running_mean, 10)
    assert [push.arm for push in drawn] == [2, 3, 1, 0, 3, 1, 1, 2, 3, 3]
    assert [push.reward for push in drawn] == [0, 1, 0, 0, 1, 1, 0, 1, 1, 0]
    moved = [np.sign(np.round(push.after - push.before, 12)[push.arm]) for push in drawn]
    assert moved == [0, 1, -1, -1, 1, 1, -1, 1, 1, -1]
    assert moved == [np.sign(push.advantage) for push in drawn]


def test_the_baseline_of_each_draw_is_the_mean_of_the_earlier_rewards():
    seen = [push.baseline for push in arms.pushes(7, 0.4, arms.running_mean, 10)]
    np.testing.assert_allclose(seen, [0, 0, 1 / 2, 1 / 3, 1 / 4, 2 / 5, 3 / 6, 3 / 7, 4 / 8, 5 / 9], atol=1e-15)


@pytest.mark.parametrize(
    "baseline, final",
    [
        (arms.running_mean, [0.181464, 0.178366, 0.256485, 0.383685]),
        (arms.no_baseline, [0.156240, 0.218047, 0.225242, 0.400472]),
    ],
)
def test_the_shares_after_ten_pushes(baseline, final):
    np.testing.assert_allclose(arms.pushes(7, 0.4, baseline, 10)[-1].after, final, atol=1e-6)


def test_without_a_baseline_a_draw_that_is_not_paid_moves_nothing():
    drawn = arms.pushes(7, 0.4, arms.no_baseline, 10)
    still = [t for t, push in enumerate(drawn, 1) if np.array_equal(push.before, push.after)]
    assert still == [1, 3, 4, 7, 10]


def test_a_push_takes_from_all_arms_that_were_not_drawn():
    push = arms.pushes(7, 0.4, arms.running_mean, 2)[1]
    others = np.arange(4) != push.arm
    assert push.advantage == 1 and (push.after < push.before)[others].all()
    # the logits move by .4 × (one-hot − ¼), so the odds of the drawn arm are multiplied by e^.4
    assert push.after[push.arm] == pytest.approx(np.exp(0.4) / (np.exp(0.4) + 3), abs=1e-12)


def test_each_push_begins_where_the_last_one_ended():
    drawn = arms.pushes(3, 0.4, arms.running_mean, 20, offset=10.0)
    np.testing.assert_array_equal(drawn[0].before, UNIFORM)
    assert all((a.after == b.before).all() for a, b in pairwise(drawn))
    np.testing.assert_allclose([push.after.sum() for push in drawn], 1, atol=1e-12)


@pytest.mark.parametrize("reward, share", [(10, 0.948), (11, 0.964)])
def test_a_cold_start_with_ten_on_top_decides_at_the_first_draw(reward, share):
    first = [arms.pushes(seed, 0.4, arms.running_mean, 1, offset=10.0)[0] for seed in FIFTY]
    ended = [push.after[push.arm] for push in first if push.reward == reward]
    # the odds of one arm against three, times e^(.4 reward)
    np.testing.assert_allclose(ended, np.exp(0.4 * reward) / (np.exp(0.4 * reward) + 3), atol=1e-12)
    assert ended[0] == pytest.approx(share, abs=5e-4)


@pytest.mark.parametrize(
    "baseline, offset, mean, deviation, failed",
    [
        (arms.no_baseline, 0.0, 0.8615, 0.0789, 0.08),
        (arms.running_mean, 0.0, 0.8865, 0.0052, 0.0),
        (arms.no_baseline, 10.0, 0.5364, 0.2565, 0.72),
        (arms.running_mean, 10.0, 0.7312, 0.1734, 0.42),
        (arms.warm_running_mean, 10.0, 0.8869, 0.0050, 0.0),
    ],
    ids=["none", "mean", "none + 10", "mean + 10", "warm + 10"],
)
def test_fifty_runs_of_two_hundred_pushes(baseline, offset, mean, deviation, failed):
    J = arms.ends(FIFTY, 0.4, baseline, 200, offset)
    assert (J.mean(), J.std()) == pytest.approx((mean, deviation), abs=5e-5)
    assert (J < 0.7).mean() == pytest.approx(failed, abs=1e-12)


def test_a_run_ends_where_its_last_push_does():
    last = [arms.pushes(seed, 0.4, arms.running_mean, 30)[-1].after for seed in (3, 4)]
    J = [after @ np.array([0.2, 0.4, 0.6, 0.9]) for after in last]
    np.testing.assert_allclose(arms.ends([3, 4], 0.4, arms.running_mean, 30), J, atol=1e-12)


def test_a_warm_start_makes_a_constant_disappear():
    plain, raised = (arms.ends(range(10), 0.4, arms.warm_running_mean, 100, offset) for offset in (0.0, 10.0))
    np.testing.assert_allclose(plain, raised, atol=1e-9)


@pytest.mark.parametrize("seeds", [range(100, 150), range(1000, 1200)])
def test_the_order_of_the_settings_holds_for_other_seeds(seeds):
    def mean(baseline, offset):
        return arms.ends(seeds, 0.4, baseline, 200, offset).mean()

    cold = mean(arms.running_mean, 10.0)
    assert mean(arms.no_baseline, 10.0) < cold < mean(arms.no_baseline, 0.0)
    assert mean(arms.no_baseline, 0.0) < min(mean(arms.running_mean, 0.0), mean(arms.warm_running_mean, 10.0))


@pytest.mark.parametrize(
    "baseline, offset, expected", [(0.0, 0.0, 0.37703125), (0.525, 0.0, 0.1703125), (0.0, 10.0, 83.25203125)]
)
def test_the_variance_of_one_push_over_all_eight_outcomes(baseline, offset, expected):
    assert arms.variance(UNIFORM, arms.PAY, baseline, offset) == pytest.approx(expected, abs=1e-12)
    outcomes = [
        (0.25 * (pay if paid else 1 - pay), (paid + offset - baseline) * (np.eye(4)[arm] - 0.25))
        for (arm, pay), paid in product(enumerate([0.2, 0.4, 0.6, 0.9]), (0, 1))
    ]
    mean = sum(chance * push for chance, push in outcomes)
    # pay minus the mean pay .525, times the probability .25; neither the baseline nor the offset moves it
    np.testing.assert_allclose(mean, [-0.08125, -0.03125, 0.01875, 0.09375], atol=1e-12)
    spread = sum(chance * ((push - mean) ** 2).sum() for chance, push in outcomes)
    assert spread == pytest.approx(expected, abs=1e-12)


def test_with_the_mean_pay_as_baseline_a_constant_changes_no_variance():
    assert arms.variance(UNIFORM, arms.PAY, 10.525, 10.0) == pytest.approx(0.1703125, abs=1e-12)


def test_an_uneven_policy_has_the_variance_of_its_own_outcomes():
    pi = np.array([0.1, 0.2, 0.3, 0.4])
    outcomes = [
        (pi[arm] * (pay if paid else 1 - pay), (paid - 0.3) * (np.eye(4)[arm] - pi))
        for (arm, pay), paid in product(enumerate([0.2, 0.4, 0.6, 0.9]), (0, 1))
    ]
    mean = sum(chance * push for chance, push in outcomes)
    spread = sum(chance * ((push - mean) ** 2).sum() for chance, push in outcomes)
    assert arms.variance(pi, arms.PAY, 0.3, 0.0) == pytest.approx(spread, abs=1e-12)
