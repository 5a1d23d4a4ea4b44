"""A gradient that arrives late: where it comes to rest, what it does where it does not, and which correction helps."""

import numpy as np
import pytest

from sim.experiments import delayed_gradient


def last(course):
    return course.score[-200:].mean()


def test_the_limit_of_a_delayed_step():
    # 2 cos(Δπ/(2Δ+1)): 2, 1, and the golden ratio's reciprocal
    assert delayed_gradient.step_limit(0) == 2 and delayed_gradient.step_limit(1) == pytest.approx(1)
    assert delayed_gradient.step_limit(2) == pytest.approx((5**0.5 - 1) / 2)
    expected = {4: 0.3472963553, 8: 0.1845367189, 16: 0.0951638317}
    for delay, limit in expected.items():
        assert delayed_gradient.step_limit(delay) == pytest.approx(limit, abs=1e-9)


@pytest.mark.parametrize("delay", [0, 1, 2, 4, 8, 16])
def test_it_is_where_the_largest_root_of_the_recursion_leaves_the_unit_circle(delay):
    # z^(Δ+1) − z^Δ + a = 0
    def largest(a):
        return np.abs(np.roots([1, -1, *[0] * (delay - 1), a] if delay else [1, a - 1])).max()

    assert largest(0.999 * delayed_gradient.step_limit(delay)) < 1 < largest(1.001 * delayed_gradient.step_limit(delay))


def test_the_optimum_of_eight_answers():
    reward = np.arange(8) / 7
    weight = np.exp(reward / 0.2)
    policy, best = delayed_gradient.optimum(0.2)
    assert policy == pytest.approx(weight / weight.sum())
    assert best == pytest.approx(0.7179401501, abs=1e-9)  # 0.2 ln mean exp(R / 0.2)
    p = weight / weight.sum()
    fisher = np.diag(p) - p[:, None] * p
    assert delayed_gradient.curvature(0.2) == pytest.approx(np.linalg.norm(fisher, 2), rel=1e-9)
    assert delayed_gradient.curvature(0.2) == pytest.approx(0.3558494729, abs=1e-9)


@pytest.mark.parametrize("rate, wall", [(1.5, 14), (2.5, 8), (3.0, 6), (4.5, 4)])
def test_the_wall_is_a_product_not_a_number_of_updates(rate, wall):
    # 1.5 · 0.2 · 0.35585 = 0.1068 lies between the limits at 15, 0.1013, and 14, 0.1083; the others likewise
    assert delayed_gradient.freshness_wall(rate, 0.2, 0.3558494729) == wall


def test_no_lag_is_short_enough_for_a_step_of_two():
    assert delayed_gradient.freshness_wall(10.0, 0.5, 0.4) == -1
    assert delayed_gradient.freshness_wall(0.0, 0.2, 0.3) == np.inf


@pytest.mark.parametrize("rate, wall", [(2.5, 8), (3.0, 6), (4.5, 4)])
def test_the_simulated_policy_turns_where_the_formula_says(rate, wall):
    _, best = delayed_gradient.optimum()
    rests, swings = delayed_gradient.course(wall, rate), delayed_gradient.course(wall + 1, rate)
    assert last(rests) == pytest.approx(best, abs=1e-3)

    def late(c):
        return np.ptp(c.best[-100:])

    assert late(swings) > 0.1 and late(swings) > 2 * late(rests)


def test_far_beyond_the_wall_it_swings_for_good():
    c, (_, best) = delayed_gradient.course(16, 3.0), delayed_gradient.optimum()
    assert c.best[-200:].min() < 0.2 and c.best[-200:].max() > 0.9
    assert last(c) < best - 0.06


def test_with_a_large_step_it_ends_on_one_answer():
    c = delayed_gradient.course(8, 12.0)
    assert last(c) == pytest.approx(1 - 0.2 * np.log(8), abs=1e-3)  # reward 1, KL ln 8
    assert c.surest[-1] > 0.999


def test_the_gradient_is_that_of_the_score():
    rng, h, beta = np.random.default_rng(0), 1e-6, 0.2
    logits = rng.standard_normal(8)
    reward = np.linspace(0, 1, 8)

    def score(x):
        p = np.exp(x) / np.exp(x).sum()
        return p @ reward - beta * p @ np.log(8 * p)

    p = np.exp(logits) / np.exp(logits).sum()
    exact = np.array([(score(logits + h * e) - score(logits - h * e)) / (2 * h) for e in np.eye(8)])
    for weight_of in delayed_gradient.CORRECTIONS.values():
        weight = weight_of(p, p, p, reward, beta)
        assert weight - weight.sum() * p == pytest.approx(exact, abs=1e-7)


def test_the_ratio_and_a_fresh_kl_remove_the_wall():
    _, best = delayed_gradient.optimum()
    for delay, rate in ((16, 3.0), (32, 3.0), (8, 12.0)):
        by = {
            name: last(delayed_gradient.course(delay, rate, correction=name)) for name in delayed_gradient.CORRECTIONS
        }
        assert by["none"] < best - 0.06
        assert by["none"] < by["KL as a loss"]
        assert by["KL as a loss, and ratio"] == pytest.approx(best, abs=2e-3)


def test_with_the_ratio_the_old_policy_does_not_matter_in_expectation():
    fresh, stale = (delayed_gradient.course(delay, 3.0, correction="KL as a loss, and ratio") for delay in (0, 16))
    assert stale.score == pytest.approx(fresh.score, abs=1e-12)
    assert stale.effective.min() < 0.9 < fresh.effective.min()  # and is paid for in variance


def test_draws_scatter_around_the_exact_course():
    exact = delayed_gradient.course(4, 3.0)
    drawn = [last(delayed_gradient.course(4, 3.0, draws=512, seed=seed)) for seed in range(8)]
    assert np.mean(drawn) == pytest.approx(last(exact), abs=3 * np.std(drawn, ddof=1) / 8**0.5 + 2e-3)


def test_steering_by_an_old_sight_never_rests_from_the_wall_on():
    step = 3.0 * 0.2 * 0.3558494729  # 0.2135: the limit at lag 6 is 0.2411, at 7 0.2091

    def late(delay):
        return np.abs(delayed_gradient.steering(delay, step, 2000)[-100:]).max()

    assert late(6) < 1e-3 and late(7) > 1
    assert delayed_gradient.steering(0, 0.5, 3).tolist() == [1, 0.5, 0.25, 0.125]


def test_the_effective_share_of_old_samples():
    # w = exp(N(−s²/2, s²)): E[w]² / E[w²] = exp(−s²)
    assert delayed_gradient.effective_share(0.6) == pytest.approx(0.697676, abs=1e-6)
    w = np.exp(np.random.default_rng(0).normal(-0.18, 0.6, 2_000_000))
    assert delayed_gradient.effective_share(0.6) == pytest.approx(w.mean() ** 2 / (w**2).mean(), abs=0.005)
