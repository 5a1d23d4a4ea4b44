from dataclasses import replace

import numpy as np
import pytest

from sim.synthesis import forces
from sim.synthesis.forces import ASSUMED


def test_moments_are_those_of_the_beta_distribution():
    # Beta(1, 1): 1/2, 1/12, 1/2 · 1/2 − 1/12; Beta(2, 6): mean 1/4, variance 12 / (64 · 9)
    assert forces.moments(1, 1) == pytest.approx((0.5, 1 / 12, 1 / 6))
    assert forces.moments(2, 6) == pytest.approx((0.25, 12 / 576, 0.1875 - 12 / 576))


@pytest.mark.parametrize(
    "baseline, foreseen, expected",
    [
        ("none", 0, 0.5),
        ("batch", 0, 0.25),
        ("group", 0, 1 / 6 * 16 / 15),
        ("critic", 0, 0.2 / 12 + 1 / 6),
        ("critic", 0.6, 0.2 / 12 + 0.4 / 6),
    ],
)
def test_a_baseline_leaves_what_it_does_not_know(baseline, foreseen, expected):
    assert forces.variance(baseline, 16, foreseen) == pytest.approx(expected, abs=1e-12)


def test_the_group_s_variance_is_that_of_a_sample_less_the_mean_of_its_siblings():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 1, (200_000, 1))
    rewards = (rng.random((200_000, 4)) < p).astype(float)
    without = (rewards.sum(1, keepdims=True) - rewards) / 3
    assert np.mean((rewards - without) ** 2) == pytest.approx(forces.variance("group", 4), rel=0.01)


def test_wrong_labels_shrink_the_mean_of_the_label_by_one_less_twice_their_share():
    rng = np.random.default_rng(1)
    truth = rng.random(400_000) < 0.3
    label = truth ^ (rng.random(400_000) < 0.28)
    slope = label[truth].mean() - label[~truth].mean()
    assert slope == pytest.approx(forces.signal("reward model"), abs=0.01)


@pytest.mark.parametrize(
    "source, baseline, anchored, foreseen, expected",
    [
        ("verifier", "group", False, 0, 8 * (1 / 6 * 16 / 15) / 0.96**2),
        ("reward model", "group", True, 0, 14 * (1 / 6 * 16 / 15) / 0.44**2),
        ("reward model", "critic", True, 0.8, 22 * 0.05 / 0.44**2),
        ("judge", "group", True, 0, 14 * (1 / 6 * 16 / 15) / 0.4**2),
        ("pairs", "group", False, 0, 10 * (1 / 3) / (0.44 * 0.7) ** 2),
        ("reward model", "group", False, 0, 12 * (1 / 6 * 16 / 15) / (0.44 * 0.4) ** 2),
    ],
)
def test_effort_is_cost_times_variance_over_signal_squared(source, baseline, anchored, foreseen, expected):
    assert forces.effort(source, baseline, anchored, foreseen=foreseen) == pytest.approx(expected, rel=1e-9)


def test_sgd_with_wrong_labels_needs_the_samples_that_the_formula_says():
    """A line of steps on a quadratic, step chosen best: progress goes as signal² / variance where noise dominates."""
    rng = np.random.default_rng(2)

    def progress(signal, variance, draws=400_000):
        # from x = 1 on x²/2 with gradients signal · x + noise: the best step gains signal² / (2 (signal² + variance))
        step = signal / (signal**2 + variance)
        g = signal + np.sqrt(variance) * rng.standard_normal(draws)
        return 0.5 - np.mean((1 - step * g) ** 2) / 2

    many = 50.0  # noise dominates
    gained = progress(1.0, many) / progress(0.5, many)
    assert gained == pytest.approx(4, rel=0.2)


@pytest.mark.parametrize(
    "checkable, foreseen, room, compute, memory, recipe",
    [
        (0.5, 0.2, 48, (14 * (8 / 45) / 0.44**2 + 8 * (8 / 45) / 0.96**2) / 2, 24, "R1’s last stage"),
        (0.5, 0, 22, 18.340594, 20, "Tülu 3.1 (DPO, verifier)"),
        (0, 0.8, 48, 5.681818, 42, "RLHF (InstructGPT)"),
        (1, 0.9, 48, 0.578704, 38, "PPO, verifier (ORZ, VAPO)"),
        (0, 0, 18, 35.138022, 18, "DPO alone (Zephyr)"),
        (1, 0, 24, 1.543210, 20, "R1-Zero, DAPO"),
    ],
)
def test_named_recipes_are_the_least_compute_somewhere(checkable, foreseen, room, compute, memory, recipe):
    best = forces.solve(checkable, foreseen, room)[0]
    assert (best.compute, best.memory) == pytest.approx((compute, memory), rel=1e-5)
    assert forces.name(best) == recipe


def test_a_judge_wins_where_labels_are_dear_at_the_price_that_makes_both_equal():
    # (12 + price) / .44² = 14 / .4²
    price = 14 * 0.44**2 / 0.4**2 - 12
    assert price == pytest.approx(4.94)
    names = [forces.name(forces.solve(0, 0, 24, assumed=replace(ASSUMED, labels=price + d))[0]) for d in (-0.01, 0.01)]
    assert names == ["GRPO, reward model (Qwen2.5)", "RLAIF (judge)"]


def test_a_critic_comes_back_where_it_foresees_enough():
    # 14 · W 16/15 = 22 (.2 B + (1 − s) W) with B = W / 2, and the same with 8 and 16
    assert forces.crossing("reward model", True) == pytest.approx(1.1 - 14 / 22 * 16 / 15)
    assert forces.crossing("verifier", False) == pytest.approx(1.1 - 0.5 * 16 / 15)
    for v, s in ((0, forces.crossing("reward model", True)), (1, forces.crossing("verifier", False))):
        baselines = [forces.solve(v, s + d, 48)[0] for d in (-0.01, 0.01)]
        assert [(one.unchecked or one.checked).baseline for one in baselines] == ["group", "critic"]


def test_memory_opens_one_recipe_after_the_other():
    found = {room: forces.solve(0.5, 0.8, room) for room in range(14, 50, 2)}
    assert not found[14] and not found[16]
    changes = [(room, found[room][0].memory) for room in (18, 20, 24, 42)]
    assert changes == [(18, 18), (20, 20), (24, 24), (42, 42)]
    least = [found[room][0].compute for room in range(18, 50, 2)]
    assert sorted(least, reverse=True) == least and len({round(c, 6) for c in least}) == 4


def test_leaving_prompts_out_never_counts_as_a_recipe_without_prompts():
    assert all(s.dropped == 0 for s in forces.solve(0, 0.2, 48))
    assert all(s.dropped == 0 for s in forces.solve(1, 0.2, 48))


def test_a_scorer_at_chance_is_never_chosen():
    chance = replace(ASSUMED, reward_model=0.5, judge=0.5, pairs=0.5)
    assert forces.solve(0, 0.2, 48, assumed=chance) == []
    assert forces.solve(0.5, 0.2, 48, assumed=chance)[0].dropped == 0.5


def test_twice_the_siblings_hardly_matter():
    # 32/31 over 16/15
    assert forces.variance("group", 32) / forces.variance("group", 16) == pytest.approx(0.9677, abs=1e-4)


def test_the_map_is_solve_at_every_point():
    compute, names = forces.compute_map([0, 0.5, 1], [16, 22, 48], 0.2)
    assert compute[0] == [float("inf")] * 3 and names[0] == [""] * 3
    best = forces.solve(0.5, 0.2, 22)[0]
    assert compute[1][1] == best.compute and names[1][1] == forces.name(best)
