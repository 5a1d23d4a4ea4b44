"""M1: what its numbers are computed by, and what its sentences say of the draws without a number."""

import numpy as np

from sim.lab import arms
from sim.worlds import bandit
from widgets.lab_m1 import figures

pushes = figures.pushes(figures.WITH)
after = pushes[-1].after
cold = sorted({push.advantage for seed in range(50) for push in arms.pushes(seed, 0.4, arms.running_mean, 1, 10.0)})
mean_push = bandit.policy_gradient(np.full(4, 0.25), arms.PAY)


def one_push(reward):
    """The probability of the drawn arm after a first push of this size."""
    return next(
        push.after[push.arm]
        for seed in range(50)
        for push in arms.pushes(seed, figures.RATE, arms.running_mean, 1, 10.0)
        if push.reward == reward
    )


def variance(baseline, offset):
    return arms.variance(np.full(4, 0.25), arms.PAY, baseline, offset)


def mean_end(setting):
    return float(np.mean(figures.ends(setting)))


def test_five_of_ten_draws_are_paid_and_the_pile_of_arm_4_grows_from_25_to_38():
    assert sum(push.reward for push in pushes) == 5
    assert [figures.many(figures.WITH, draw)[3] for draw in (0, 10)] == [25, 38]


def test_without_a_baseline_five_draws_leave_every_pile_alone():
    many = [figures.many(figures.WITHOUT, draw) for draw in range(11)]
    assert [t for t in range(1, 11) if many[t] == many[t - 1]] == [1, 3, 4, 7, 10]
    assert [push.arm for push in figures.pushes(figures.WITHOUT)] == [push.arm for push in pushes]


def test_the_last_draw_of_the_best_arm_costs_it_dots():
    assert (pushes[-1].arm, pushes[-1].reward) == (3, 0) and np.argmax(arms.PAY) == 3
    assert figures.many(figures.WITH, 10)[3] < figures.many(figures.WITH, 9)[3]


def test_the_means_and_variances_of_a_push():
    np.testing.assert_allclose(mean_push, [-0.08125, -0.03125, 0.01875, 0.09375], atol=1e-12)
    seen = [variance(0, 0), variance(0.525, 0), variance(0, 10)]
    np.testing.assert_allclose(seen, [0.37703125, 0.1703125, 83.25203125], atol=1e-10)


def test_with_ten_subtracted_the_first_push_takes_most_of_the_arm():
    for seed in range(50):
        first = arms.pushes(seed, figures.RATE, arms.running_mean, 1, -10.0)[0]
        assert first.advantage in (-10, -9) and first.after[first.arm] < 0.05
