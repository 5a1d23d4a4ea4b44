"""What ways to answer are paid, and what a policy over them becomes. Expected values: closed forms, worked out beside
them, and an independent program's (oracle values of lesson 18).
"""

import math

import numpy as np
import pytest

from sim.verifiers import strategies
from sim.verifiers.checkers import CHECKERS
from sim.verifiers.strategies import grouped, lost, natural, payoffs, payoffs_of, run_policy, start

MATH = np.array([0.12, 0.25, 0.30, 0.27, 0.05, 0.01])
TRUE = np.array([0.55, 0.70, 0, 0, 0, 0])
CONTAINS, SYMBOLIC = np.array([0.55, 0.7, 0, 0, 0, 1]), np.array([0.55, 0, 0, 0, 1, 0])
STRICT = np.array([0.55, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    "check, paid", [("strict", STRICT), ("last_int", TRUE), ("substring", CONTAINS), ("eval_expr", SYMBOLIC)]
)
def test_mathematics(check, paid):
    proxy, true = payoffs("mathematics", check)
    np.testing.assert_allclose(proxy, paid, atol=1e-12)
    np.testing.assert_allclose(true, TRUE, atol=1e-12)


@pytest.mark.parametrize(
    "archetype, check, paid",
    [
        ("code", "exit_code", [0.55, 0, 1, 1, 1, 1, 1]),
        ("code", "asserts", [0.55, 0, 1, 1, 1, 0, 0]),
        ("code", "strict", [0.55, 0, 1, 1, 0, 0, 0]),
        ("code", "strict+hidden", [0.55, 0, 0, 0, 0, 0, 0]),
        ("tool use", "says_done", [1, 1, 1, 1, 1]),
        ("tool use", "tool_called", [1, 0, 1, 1, 1]),
        ("tool use", "final_contains", [0.65, 0, 0, 1, 1]),
        ("tool use", "exact_state", [0.65, 0, 0, 0, 1]),
        ("web", "url", [0.5, 0, 1, 1, 0, 1]),
        ("web", "text", [0.5, 0, 1, 1, 1, 0]),
        ("web", "order_exists", [0.5, 0, 1, 1, 0, 0]),
        ("web", "exact_order", [0.5, 0, 0, 0, 0, 0]),
        ("judge", "naive", [0.55, 0.80, 0, 1]),
        ("judge", "with a reference", [0.70, 0.20, 0.6, 0.9]),
        ("judge", "hardened", [0.70, 0.05, 0, 0]),
    ],
)
def test_the_other_archetypes(archetype, check, paid):
    proxy, true = payoffs(archetype, check)
    np.testing.assert_allclose(proxy, paid, atol=1e-12)
    assert (true > 0).sum() == 1 and true[0] == max(proxy[0], true[0]) if archetype == "judge" else true[0] > 0


def test_only_sealing_takes_its_pay_from_reading_the_expected_state():
    assert payoffs("tool use", "exact_state", True)[0].tolist() == [0.65, 0, 0, 0, 0]


def test_the_strictest_check_of_an_archetype_pays_no_dishonest_way_but_one_in_tool_use():
    for archetype, checks in strategies.CHECKS.items():
        proxy, true = payoffs(archetype, checks[-1])
        assert ((proxy > 0.1) & (true == 0)).sum() == (archetype == "tool use")


def test_shares_before_training():
    np.testing.assert_allclose(start("mathematics"), MATH, atol=1e-12)
    for archetype, ways in strategies.STRATEGIES.items():
        shares = [way.share for way in ways]
        assert min(shares) > 0 and sum(shares) == pytest.approx(1, abs=1e-12) and shares[-1] == min(shares) == 0.01
        for prior in (0.001, 0.01, 0.2):
            share = start(archetype, prior)
            assert share.sum() == pytest.approx(1, abs=1e-12) and share[-1] == prior
    # (0.12 * 0.55 + 0.25 * 0.70) * 0.95 / 0.99
    assert start("mathematics", 0.05) @ TRUE == pytest.approx(0.241 * 0.95 / 0.99, abs=1e-12)


def test_no_right_answer_is_in_a_wrong_one_and_every_answer_is_in_the_list():
    for _, _, example, completion in strategies.completions():
        if completion == strategies.EVERY_ANSWER:
            assert f" {example['expected_answer']} " in completion
    # every product of two of the factors that a prompt may have, 12 to 98
    assert strategies.EVERY_ANSWER.split()[1:] == [str(n) for n in range(144, 9605)]
    a, b = strategies.math_prompts().T
    assert a.min() >= 12 and b.max() <= 98 and len(a) == 64 and (a * b).max() < 98 * 98  # the list ends with 9604


def test_any_callable_is_paid_by_running_it():
    proxy, true, names = payoffs_of(lambda example, completion: example["expected_answer"] in completion)
    np.testing.assert_allclose(proxy, CONTAINS, atol=1e-12)
    assert true.tolist() == TRUE.tolist() and len(names) == 6
    assert payoffs_of(CHECKERS["last_int"])[0] == pytest.approx(TRUE)


def test_a_callable_that_raises_is_paid_nothing():
    def raising(example, completion):
        if "answer is" in completion:
            raise RuntimeError("no")
        return 1.0

    np.testing.assert_allclose(payoffs_of(raising)[0], [1, 0, 1, 1, 1, 1], atol=1e-12)


# ── closed forms ──
def replicated(pi0, proxy, eta, updates):
    """Shares after so many exact natural steps, (S,): pi0 e^(eta r t), normalized."""
    grown = pi0 * np.exp(eta * updates * proxy)
    return grown / grown.sum()


@pytest.mark.parametrize(
    "t, proxy, true",
    [
        (0, 0.251, 0.241),
        (20, 0.631974, 0.546130),
        (40, 0.765325, 0.488825),
        (60, 0.867813, 0.292330),
        (100, 0.981892, 0.041556),
    ],
)
def test_the_curve_of_a_containment_check(t, proxy, true):
    policy = replicated(MATH, CONTAINS, 0.2, t)
    assert (policy @ CONTAINS, policy @ TRUE) == pytest.approx((proxy, true), abs=1e-6)
    run = run_policy(CONTAINS, TRUE, MATH, natural(CONTAINS, MATH), 0.2, 100)
    assert (run.proxy[t, 0], run.true[t, 0]) == pytest.approx((proxy, true), abs=1e-6)


@pytest.mark.parametrize(
    "proxy, peak, at, end", [(CONTAINS, 0.5568969259, 25, 0.0129549181), (SYMBOLIC, 0.2465232143, 5, 2.69e-5)]
)
def test_the_true_score_rises_and_falls(proxy, peak, at, end):
    run = run_policy(proxy, TRUE, MATH, natural(proxy, MATH), 0.2, 120)
    assert run.true[:, 0].max() == pytest.approx(peak, abs=1e-8) and run.true[:, 0].argmax() == at
    assert run.true[-1, 0] == pytest.approx(end, abs=1e-7)
    assert lost(run) == pytest.approx([peak - end], abs=1e-7)


def test_when_an_exploit_overtakes():
    # ln 25 / (0.2 * 0.3)
    assert strategies.crossover_time(0.25, 0.01, 0.7, 1, 0.2) == pytest.approx(math.log(25) / 0.06, abs=1e-9)
    policy = replicated(MATH, CONTAINS, 0.2, 53.6479304145)
    assert policy[1] == pytest.approx(policy[5], rel=1e-9)


def test_one_step_of_the_softmax_gradient_hardly_moves_what_is_rare():
    run = run_policy(CONTAINS, TRUE, MATH, strategies.softmax_gradient(CONTAINS), 1.0, 1)
    assert run.proxy[1, 0] == pytest.approx(0.2759079317, abs=1e-7)
    assert run.policies[1, 0] == pytest.approx(
        [0.12512433, 0.2813634, 0.27989615, 0.25381055, 0.0496704, 0.01013517], abs=1e-7
    )


def test_the_softmax_gradient_is_that_of_reward_less_the_price_of_distance():
    logits, pi0 = np.array([0.3, -0.2, 0.1]), np.array([0.2, 0.5, 0.3])
    paid, beta = np.array([1.0, 0.4, 0.0]), 0.3

    def objective(z):
        pi = np.exp(z) / np.exp(z).sum()
        return pi @ paid - beta * pi @ np.log(pi / pi0)

    pi = np.exp(logits) / np.exp(logits).sum()
    by_differences = [(objective(logits + h) - objective(logits - h)) / 2e-5 for h in 1e-5 * np.eye(3)]
    step = strategies.softmax_gradient(paid, pi0, beta)(pi[None])[0]
    np.testing.assert_allclose(step, by_differences, atol=1e-8)


def test_the_softmax_gradient_locks_onto_the_honest_way_first():
    run = run_policy(CONTAINS, TRUE, MATH, strategies.softmax_gradient(CONTAINS), 0.2, 3000)
    assert run.policies[-1, 0].argmax() == 1 and run.true[-1, 0] > 0.6


@pytest.mark.parametrize("beta, true", [(0.1, 0.3967545726), (0.2, 0.5568969259)])
def test_a_price_of_distance_holds_the_true_score(beta, true):
    assert strategies.anchored(MATH, CONTAINS, beta) @ TRUE == pytest.approx(true, abs=1e-9)
    run = run_policy(CONTAINS, TRUE, MATH, natural(CONTAINS, MATH, beta), 0.5, 400)
    assert run.true[-1, 0] == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize(
    "tpr, fpr, share", [(0.9, 0.05, 0.9460228359), (0.7, 0.3, 0.6487856443), (0.5, 0.5, 0.2), (0.3, 0.5, 0.0842238084)]
)
def test_chance_errors_rescale_time(tpr, fpr, share):
    assert strategies.noise_two_mode(0.2, tpr, fpr, 0.1, 50) == pytest.approx(share, abs=1e-9)
    two = strategies.noisy(np.array([1.0, 0.0]), tpr, fpr)
    run = run_policy(two, np.array([1.0, 0.0]), np.array([0.2, 0.8]), natural(two), 0.1, 50)
    assert run.policies[-1, 0, 0] == pytest.approx(share, abs=1e-9)


# ── sampled groups ──
def test_a_grouped_step_is_the_mean_of_advantage_times_score():
    # four completions of one prompt, by a program of its own
    pi, proxy = np.array([[0.5, 0.3, 0.2]]), np.array([1.0, 0.0, 0.0])
    step = grouped(proxy, np.random.default_rng(5), prompts=1, K=4)(pi)
    rng = np.random.default_rng(5)
    arms = [int(np.searchsorted(np.cumsum(pi[0]), u)) for u in rng.random(4)]
    paid = np.array([float(arm == 0) for arm in arms])
    assert 0 < paid.sum() < 4
    advantage = (paid - paid.mean()) / (paid.std(ddof=1) + 1e-6)
    by_hand = np.mean([a * (np.eye(3)[arm] - pi[0]) for a, arm in zip(advantage, arms)], axis=0)
    np.testing.assert_allclose(step[0], by_hand, atol=1e-12)


def test_groups_are_not_compared_with_one_another():
    # of two ways each group holds one only: no group has both verdicts, so nothing moves
    class Script:
        def __init__(self):
            self.draws = [np.array([[[0.1]] * 4 + [[0.9]] * 4]).reshape(1, 8, 1), np.full((1, 8), 0.5)]

        def random(self, shape):
            return self.draws.pop(0).reshape(shape)

    step = grouped(np.array([1.0, 0.0]), Script(), prompts=2, K=4)(np.array([[0.5, 0.5]]))
    np.testing.assert_allclose(step, 0, atol=1e-12)


def trained(check, prior, noise=(1.0, 0.0), archetype="mathematics", sealed=False, beta=0.0, runs=10):
    proxy, true = payoffs(archetype, check, sealed)
    proxy, pi0 = strategies.noisy(proxy, *noise), start(archetype, prior)
    rng = np.random.default_rng(1)
    return run_policy(proxy, true, pi0, grouped(proxy, rng, pi0, beta), 1.0, 400, runs=runs)


def test_sampled_groups_rise_and_collapse_where_the_exploit_is_drawn():
    run = trained("substring", 0.05)
    peak = run.true.max(axis=0)
    assert peak.min() > 0.63 and peak.max() < 0.70 and run.true[-1].max() < 0.01 and run.proxy[-1].min() > 0.99
    below = (run.true < 0.1).argmax(axis=0)
    assert 80 < np.median(below) < 203  # the range over ten seeds of an independent program


def test_sampled_groups_never_find_what_is_too_rare():
    run = trained("substring", 0.001)
    assert run.true[-1].min() > 0.69 and lost(run).max() < 0.01


def test_chance_errors_of_three_tenths_hardly_change_the_end():
    assert trained("strict", 0.05, (0.7, 0.3)).true[-1].min() > 0.53
    assert trained("strict", 0.05).true[-1].min() > 0.54


def test_a_check_that_pays_wrong_more_often_than_right_turns_training_round():
    assert trained("last_int", 0.05, (0.3, 0.6)).true[-1].max() < 0.06


def test_sealing_is_what_holds_the_score_of_tool_use():
    run = trained("exact_state", 0.05, archetype="tool use")
    assert run.true.max(axis=0).min() > 0.6 and run.true[-1].max() < 0.01
    assert trained("exact_state", 0.05, archetype="tool use", sealed=True).true[-1].min() > 0.64


def test_a_price_of_distance_holds_sampled_groups_too():
    assert trained("substring", 0.05, beta=0.3).true[-1].mean() > trained("substring", 0.05).true[-1].mean() + 0.2
