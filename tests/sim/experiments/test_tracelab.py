"""Eight kinds of run: what is exact in them, what their tests find, and what only a held-out score finds."""

from collections import Counter
from functools import cache
from math import log
from pathlib import Path

import numpy as np
import pytest

from sim.experiments import tracelab
from sim.experiments.tracelab import KINDS, LENGTHS, Setting

LESSONS = Path(__file__).parents[3] / "lessons"


@cache
def traced(seed, **changed):
    return tracelab.trace(Setting(**changed), seed)


def features(kind, seed):
    return tracelab.features(traced(seed, **KINDS[kind]))


def ends(seeds, **changed):
    """Right answers at the end, by seed."""
    return np.array([tracelab.features(traced(seed, **changed))["held_out"] for seed in range(seeds)])


# ── the world, by hand ──
def test_where_every_run_begins():
    p, q = tracelab.REFERENCE
    long_enough = 0.05 * 0.6 + 0.15 * 0.8 + 0.8
    # .80 × generic + .04 × specialist + .04 × 3 × .02, by type
    by_type = [0.8 * g + 0.04 * 0.95 + 0.12 * 0.02 for g in (0.70, 0.50, 0.35, 0.25)]
    assert tracelab.right(p, q) == pytest.approx(np.dot((0.4, 0.3, 0.2, 0.1), by_type) * long_enough)
    assert tracelab.right(p, q) == pytest.approx(0.43738)
    assert tracelab.entropy(p) == pytest.approx(-0.8 * log(0.8) - 0.2 * log(0.04))
    assert q @ LENGTHS == pytest.approx(771.84)
    assert tracelab.kl(p, q) == pytest.approx(0, abs=2e-11)  # 1e-12 in each of twelve logarithms


def test_what_the_best_policies_reach():
    generic, specialists = np.zeros((4, 6)), np.eye(4, 6, k=1)
    generic[:, 0] = 1
    long = np.array([0, 0, 1.0, 0, 0, 0])
    assert tracelab.right(generic, long) == pytest.approx(0.4 * 0.7 + 0.3 * 0.5 + 0.2 * 0.35 + 0.1 * 0.25)
    assert tracelab.right(specialists, long) == pytest.approx(0.95)
    assert [tracelab.ceiling(scale) for scale in (1, 0.3, 60)] == pytest.approx([0.95, 0.285, 1])
    assert tracelab.kl(specialists, tracelab.REFERENCE[1]) == pytest.approx(log(25), abs=1e-9)
    assert tracelab.right(specialists, long, pass_scale=60) == pytest.approx(1)
    assert tracelab.success()[:, tracelab.HACK].sum() == 0


def test_the_gradient_is_the_derivative_of_the_clipped_objective_with_its_bonus_and_its_price():
    rng = np.random.default_rng(0)
    setting = Setting(entropy_bonus=0.3, beta=0.2, eps_low=0.1, eps_high=0.15)
    logits, lengths = rng.normal(size=(4, 6)), rng.normal(size=6)
    at = rng.integers(0, 4, (5, 7)), rng.integers(0, 6, (5, 7)), rng.integers(0, 6, (5, 7))
    old, A = np.log(rng.uniform(0.02, 0.05, (5, 7))), rng.normal(size=(5, 7))

    def objective(logits, lengths):
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        q = np.exp(lengths) / np.exp(lengths).sum()
        ratio = np.exp(np.log(p[at[:2]] * q[at[2]]) - old)
        surrogate = np.minimum(ratio * A, np.clip(ratio, 0.9, 1.15) * A).mean()
        return surrogate + 0.3 * tracelab.entropy(p) - 0.2 * tracelab.kl(p, q)

    p, q = tracelab.softmax(logits), tracelab.softmax(lengths)
    _, weight = tracelab.surrogate.clipped(tracelab.log_prob(p, q, *at), old, A, 0.1, 0.15)
    on_strategy, on_length = tracelab.gradient(setting, p, q, *at, weight)
    h = 1e-6
    for i, j in np.ndindex(4, 6):
        step = np.zeros((4, 6))
        step[i, j] = h
        slope = (objective(logits + step, lengths) - objective(logits - step, lengths)) / (2 * h)
        assert on_strategy[i, j] == pytest.approx(slope, abs=1e-7)
    for j in range(6):
        step = h * np.eye(6)[j]
        slope = (objective(logits, lengths + step) - objective(logits, lengths - step)) / (2 * h)
        assert on_length[j] == pytest.approx(slope, abs=1e-7)


def test_a_step_moves_the_shared_logits_by_the_sum_of_the_types():
    strategy, length = np.arange(24.0).reshape(4, 6), np.arange(6.0)
    policy = tracelab.Policy().after(strategy, length, 0.5)
    np.testing.assert_allclose(policy.shared - tracelab.START, 0.5 * strategy.sum(axis=0))
    np.testing.assert_allclose(policy.own, 0.5 * strategy)
    np.testing.assert_allclose(policy.length - tracelab.START_LENGTH, 0.5 * length)


def test_tokens_a_right_answer_are_a_length_over_a_share():
    last = dict(length=np.full(20, 600.0), right=np.concatenate([np.zeros(10), np.full(10, 0.5)]))
    assert tracelab.tokens_per_right_answer(last) == pytest.approx(1200)


def test_what_is_drawn_has_its_probabilities():
    rng = np.random.default_rng(1)
    p = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    seen = tracelab.drawn(rng, np.broadcast_to(p[:, None], (2, 40_000, 3)))
    shares = np.array([np.bincount(row, minlength=3) / 40_000 for row in seen])
    assert np.abs(shares - p).max() < 3 * 0.5 / 40_000**0.5


def test_a_reward_is_the_right_answer_and_what_is_paid_besides():
    types = np.zeros((1, 200_000), np.int64)

    def always(**changed):
        return tracelab.scored(Setting(**changed), types, types + tracelab.HACK, types + 3, np.random.default_rng(2))

    assert set(always(hack=1.5).ravel()) == {1.5} and set(always(length_reward=0.2).ravel()) == {0.2}  # one doubling
    noisy = always(noise=0.3)
    assert noisy.std() == pytest.approx(0.3, rel=0.01) and abs(noisy.mean()) < 0.01
    honest = tracelab.scored(Setting(), types, types + 1, types, np.random.default_rng(3))  # .95 × .6, 128 tokens
    assert honest.mean() == pytest.approx(0.57, abs=3 * 0.5 / 200_000**0.5)


# ── what the logs show ──
def test_without_lag_and_error_sampler_and_trainer_agree_at_every_step():
    assert traced(0)["gap"].max() == 0
    assert traced(0, lag=16)["gap"][0] == 0 and traced(0, lag=16)["gap"][5:].mean() > 0.1
    assert traced(0, mismatch=0.3)["gap"][0] > 0.02


def test_a_curve_has_an_entry_a_step_and_a_run_is_the_same_twice():
    once, again = tracelab.trace(Setting(steps=5), 3), tracelab.trace(Setting(steps=5), 3)
    for name in tracelab.QUANTITIES:
        assert once[name].shape == (5,)
        np.testing.assert_array_equal(once[name], again[name])
    assert not np.array_equal(once["proxy"], tracelab.trace(Setting(steps=5), 4)["proxy"])


def test_the_clip_silences_more_where_it_is_narrow():
    assert traced(0, eps_high=0.05)["clip_fraction"].mean() > traced(0)["clip_fraction"].mean() > 0
    assert traced(0, epochs=1, minibatches=1)["clip_fraction"].max() == 0  # every ratio is 1


@pytest.mark.when_changed()
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "reward_hacking"])
def test_each_kind_of_run_is_told_with_a_held_out_score_and_without(kind):
    for seed in range(8):
        for use_held_out in (True, False):
            assert tracelab.classify(features(kind, seed), use_held_out).verdict == kind


@pytest.mark.when_changed()
def test_a_hacked_run_is_told_only_by_the_held_out_score():
    found = [features("reward_hacking", seed) for seed in range(30)]
    assert {tracelab.classify(each).verdict for each in found} == {"reward_hacking"}
    hidden = Counter(tracelab.classify(each, use_held_out=False).verdict for each in found)
    assert set(hidden) == {"healthy", "kl_explosion"}
    assert 9 <= hidden["healthy"] <= 21  # two other programs for the same world: 16 and 18 of 30
    assert all(each["held_out"] < 0.002 and 0.6 < each["gain"] < 0.86 for each in found)


@pytest.mark.when_changed()
def test_the_best_policy_is_the_one_farthest_from_its_start():
    kl = {
        kind: [traced(seed, **KINDS[kind])["kl"][-1] for seed in range(8)] for kind in ("healthy", "entropy_collapse")
    }
    assert min(kl["healthy"]) > 3 and max(kl["entropy_collapse"]) < 1.5
    assert max(traced(seed, hack=1.5)["kl"][-1] for seed in range(8)) < 3.5


@pytest.mark.when_changed()
def test_dividing_by_the_deviation_makes_a_cliff_where_a_wrong_answer_pays_as_much_as_a_right_one():
    assert ends(8, hack=0.999).min() > 0.6
    assert ends(8, hack=1.0).max() < 0.01 and ends(8, hack=1.001).max() < 0.01


@pytest.mark.when_changed()
def test_without_the_division_the_crossing_is_gradual_and_near_the_best_honest_rate():
    means = [ends(8, hack=payoff, advantage="mean").mean() for payoff in (0.8, 0.9, 0.95, 0.98)]
    assert means == sorted(means, reverse=True)
    assert 0.2 < means[1] < 0.6 and means[2] < 0.25 and means[3] < 0.02


def test_the_division_makes_a_thousandth_a_doubling_worth_the_longest_answers():
    def of(advantage):
        return traced(0, length_reward=0.001, advantage=advantage)["length"][-1]

    assert of("deviation") > 4000 and of("mean") < 1000


@pytest.mark.when_changed()
def test_an_entropy_bonus_lets_a_slow_run_find_the_specialists():
    slow = dict(learning_rate=1.5, epochs=1)
    assert ends(8, **slow, entropy_bonus=0.0).max() < 0.65 and ends(8, **slow, entropy_bonus=0.1).min() > 0.9


@pytest.mark.when_changed()
def test_older_samples_end_lower():
    means = [ends(8, lag=lag).mean() for lag in (0, 4, 8, 16)]
    assert means == sorted(means, reverse=True) and means[0] > 0.94 and means[3] < 0.72


def test_kl_to_the_start_has_a_price():
    assert traced(0, beta=0.3)["kl"][-1] < traced(0)["kl"][-1]


def test_a_fault_leads_to_a_lesson():
    for test in tracelab.TESTS:
        assert list(LESSONS.glob(f"{test.lesson}-*.md")), test
        assert test.verdict in KINDS
