from types import SimpleNamespace

import numpy as np
import pytest

from sim.algorithms import dapo, grpo, recipes
from sim.algorithms.recipes import RECIPES
from sim.experiments.standard_runs import modsum_run
from sim.framework.algorithm import Algorithm


@pytest.mark.parametrize(
    "name, rate",
    [
        ("GRPO, 2024", 0.61),
        ("TRL 1.16.0", 0.55),
        ("DeepSeek-V3.2", 0.88),
        ("OLMo 3", 0.93),
        ("Lite PPO", 0.98),
        ("RLOO in TRL", 0.70),
    ],
)
def test_every_recipe_trains(name, rate):
    row = RECIPES[name]
    ends = [list(modsum_run(row.file, seed=seed, hyper=row.hyper, hooks=row.hooks).frames(60))[-1] for seed in (0, 1)]
    assert np.mean([end.exact["pass_rate"].mean() for end in ends]) == pytest.approx(
        rate, abs=0.03
    )  # the same rows on another implementation; that of 2024: five seeds of this one
    assert all((end.completions > 5_000) == (name == "OLMo 3") for end in ends)  # the only one that draws again


@pytest.mark.parametrize("name", ["TRL 1.16.0", "GRPO, 2024"])
def test_one_pass_makes_the_clip_inert(name):
    row = RECIPES[name]
    rates = [
        [f.exact["pass_rate"] for f in modsum_run(row.file, hooks=row.hooks, hyper=dict(row.hyper, eps=eps)).frames(10)]
        for eps in (0.2, 5.0)
    ]
    np.testing.assert_array_equal(*rates)


def test_lite_ppo_divides_every_group_by_the_same_number():
    R = np.array([[1.0, 0, 0, 0], [1, 1, 0, 0]])
    less_mean = R - R.mean(1, keepdims=True)
    np.testing.assert_allclose(recipes.over_batch_std(R, {}, None) / less_mean, 1 / R.std(), rtol=1e-5)
    assert np.ptp(grpo.advantage(R, grpo.HP, None) / less_mean) > 0.1


def test_the_kl_of_v32_has_the_value_of_k3_and_the_slope_whose_mean_is_the_gradient_of_the_kl():
    pi, ref = np.array([0.1, 0.3, 0.6]), np.array([0.5, 0.3, 0.2])
    value, slope = recipes.k3_with_the_gradient_of_kl(np.log(pi), np.log(ref), grpo.HP, None)
    np.testing.assert_allclose(value, grpo.kl_term(np.log(pi), np.log(ref), grpo.HP, None)[0])
    score = np.eye(3) - pi  # d log pi(a) / d logits

    def kl(z):
        return (np.exp(z) / np.exp(z).sum() * (z - np.log(np.exp(z).sum()) - np.log(ref))).sum()

    central = [(kl(np.log(pi) + 1e-6 * e) - kl(np.log(pi) - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose((pi * slope) @ score, central, atol=1e-8)


def test_rloos_ratio_belongs_to_the_whole_completion():
    rng = np.random.default_rng(0)
    mask = np.array([[1.0, 1, 0], [1, 1, 1], [1, 0, 0]])
    old, logp, A = (
        rng.normal(size=(3, 3)) * 0.02 * mask,
        rng.normal(size=(3, 3)) * 0.02 * mask,
        np.array([[1.0], [-0.5], [2]]) * mask,
    )
    w = RECIPES["RLOO in TRL"].file.weights(mask, {}, None)

    def total(x):
        return (w * recipes.one_ratio_a_completion(x, old, A, {}, None)[0]).sum()

    _, slope = recipes.one_ratio_a_completion(logp, old, A, {}, None)
    for i, t in zip(*np.nonzero(mask)):
        step = np.zeros((3, 3))
        step[i, t] = 1e-6
        assert (total(logp + step) - total(logp - step)) / 2e-6 == pytest.approx((w * slope)[i, t], abs=1e-8)
    assert (
        recipes.one_ratio_a_completion(logp + 0.2 * mask, old, A, {}, None)[1][0] == 0
    ).all()  # two tokens at 1.22: 1.49 together


def test_the_rows_take_from_the_files_what_their_papers_say():
    olmo, lite = RECIPES["OLMo 3"], RECIPES["Lite PPO"]
    assert olmo.file is dapo and Algorithm(olmo.file, olmo.hyper, olmo.hooks).hp["eps_high"] == 0.272
    assert lite.hooks["weights"] is dapo.weights and lite.hyper["beta"] == 0


@pytest.mark.parametrize("name, rate", [("CISPO", 0.97), ("GSPO", 0.61)])
def test_every_successor_of_the_clip_trains(name, rate):
    row = recipes.SUCCESSORS[name]
    ends = [list(modsum_run(row.file, seed=seed, hyper=row.hyper, hooks=row.hooks).frames(60))[-1] for seed in range(5)]
    assert np.mean([end.exact["pass_rate"].mean() for end in ends]) == pytest.approx(rate, abs=0.03)


def test_cispo_cuts_the_weight_and_silences_no_token():
    """As verl 0.9.1's compute_policy_loss_cispo with TRL's cap alone: -sg(min(ratio, cap)) A logp."""
    logp, A = np.log([0.1, 0.5, 0.9]), np.array([1.0, -1, 1])
    old = np.log([0.1, 0.25, 0.1])  # ratios 1, 2 and 9
    objective, slope = recipes.cut_weight(logp, old, A, dict(cap=5.0), None)
    np.testing.assert_allclose(slope, [1, -2, 5])
    np.testing.assert_allclose(objective, slope * logp)


def test_gspos_ratio_is_the_geometric_mean_and_its_slope_is_the_derivative():
    """Zheng et al. (2025), equations 5 and 7; a completion is silent as a whole or not at all."""
    rng = np.random.default_rng(1)
    mask = np.array([[1.0, 1, 0], [1, 1, 1], [1, 0, 0]])
    old = rng.normal(size=(3, 3)) * mask
    logp, A = old + rng.normal(size=(3, 3)) * 0.02 * mask, np.array([[1.0], [-0.5], [2]]) * mask
    batch, hp = SimpleNamespace(response_mask=mask), dict(eps=0.2, eps_high=0.2)
    w = grpo.weights(mask, {}, None)
    ratio = np.exp((logp - old).sum(1) / mask.sum(1))

    def total(x):
        return (w * recipes.one_mean_ratio(x, old, A, hp, batch)[0] * mask).sum()

    assert total(logp) == pytest.approx(np.mean(ratio * A[:, 0]))
    _, slope = recipes.one_mean_ratio(logp, old, A, hp, batch)
    for i, t in zip(*np.nonzero(mask)):
        step = np.zeros((3, 3))
        step[i, t] = 1e-6
        assert (total(logp + step) - total(logp - step)) / 2e-6 == pytest.approx((w * slope)[i, t], abs=1e-8)
    moved = recipes.one_mean_ratio(old + 0.2 * mask, old, np.abs(A), hp, batch)[1]
    assert (moved == 0).all()  # every token at 1.22: the mean is 1.22 too
    one = recipes.one_mean_ratio(old + np.array([[0.3, 0, 0]] * 3) * mask, old, np.abs(A), hp, batch)[1]
    assert (one[0, :2] != 0).all() and (one[1] != 0).all() and (one[2, 0] == 0).all()  # 1.16, 1.11 and 1.35
