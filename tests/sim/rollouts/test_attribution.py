import time
from dataclasses import replace

import numpy as np
import pytest

from sim.rollouts import advantages
from sim.rollouts.attribution import NAMED, Trial, attribution, paid
from tests.sim.rollouts.shipped import rollouts, small


def made(name, scores, weights, group, step):
    """A rule's advantages of scores with weights."""
    if name == advantages.GDPO:
        return advantages.gdpo(advantages.total(advantages.each_alone(scores, group, step), weights), group, step)
    return advantages.RULES[name](advantages.total(scores, weights), group, step)


def logged(name, weights, seed=0, groups=40, K=4, noise=0.0):
    """A file whose advantages were made by a rule from three scores."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), K)
    step = group // 8
    scores = np.array([rng.integers(0, 2, len(group)), rng.random(len(group)), rng.integers(0, 4, len(group)) / 3])
    A = made(name, scores, weights, group, step) + noise * rng.normal(size=len(group))
    file = small(np.zeros((groups, K)), step=np.arange(groups) // 8)
    return replace(file, scores=dict(zip("abc", scores)), advantage=A)


@pytest.mark.parametrize(
    "name, error, unpaid",  # README of the runs: which advantages, and the largest error
    [("sound", 4.4e-7, []), ("verifier", 4.4e-7, ["exact"]), ("length", 1.2e-3, ["exact"]), ("one-text", 6.0e-4, [])],
)
def test_trl_runs_are_recognized_with_their_unpaid_scores(name, error, unpaid):
    found = attribution(rollouts(name))
    assert (found.rule, found.near, found.unpaid(rollouts(name).scores)) == ("GRPO", False, unpaid)
    assert found.error == pytest.approx(error, rel=0.02)
    assert [w for w in found.weights.values() if w] == [1]


def test_a_file_in_which_nothing_varies_fits_any_rule():
    found = attribution(rollouts("cut-off"))
    assert (found.rule, found.varies) == (None, False)
    np.testing.assert_array_equal(paid(rollouts("cut-off"), found).reward, np.zeros(320))


@pytest.mark.parametrize("name", [*advantages.RULES, advantages.GDPO])
@pytest.mark.parametrize("weights", [(1, 1, 1), (0, 1, 0), (1, 0.25, 0), (1, -0.5, 0.2)])
def test_rule_and_weights_are_recovered(name, weights):
    found = attribution(logged(name, weights))
    assert found.rule == name and found.error < NAMED
    np.testing.assert_allclose(list(found.weights.values()), weights, atol=1e-6)
    assert "-0.0" not in map(str, found.weights.values())


@pytest.mark.parametrize("name", [*advantages.RULES, advantages.GDPO])
def test_a_trial_makes_the_advantages_of_its_rule_whatever_is_missing(name):
    file = logged("RLOO", (1, 0, 0))
    S = np.array(list(file.scores.values()))
    S[np.random.default_rng(1).random(S.shape) < 0.4] = np.nan  # in some rows all three
    trial = Trial(S, file.advantage, file.group, file.step)
    expected = made(name, S, [1, -0.5, 0.2], file.group, file.step)
    np.testing.assert_allclose(trial.made(name, np.array([1, -0.5, 0.2])), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_forty_scores_take_seconds():
    file = logged("RLOO", (1, 0, 0), groups=4096)  # 16,384 completions
    rng = np.random.default_rng(1)
    scores = {f"score {i}": rng.random(len(file)) for i in range(40)}
    start = time.process_time()
    assert attribution(replace(file, scores=scores, advantage=rng.normal(size=len(file)))).rule is None
    assert time.process_time() - start < 6  # some 2 s on one core


def test_of_equally_good_fits_the_one_with_round_weights_is_named():
    # with K = 5 the weights 0.8 and 0.2 make RLOO what 1 and 0.25 make Dr. GRPO
    assert attribution(logged("Dr. GRPO", (1, 0.25, 0), K=5)).rule == "Dr. GRPO"
    assert attribution(logged("RLOO", (1, 0.25, 0), K=5)).rule == "RLOO"


def test_a_logged_reward_has_weight_1():
    # with one right completion of K = 64, its z-score of 0.984 / 0.125 is 8 times its distance from the mean
    file = small(40 * [[1] + 63 * [0]])
    z = np.tile([63 / 8] + 63 * [-1 / 8], 40)
    one = attribution(replace(file, reward=file.scores["paid"], advantage=z))
    assert (one.rule, one.weights) == ("GRPO, epsilon 1e-6", {"paid": 1})
    assert attribution(replace(file, reward=file.scores["paid"], advantage=3 * z)).near  # no rule pays 24


def test_a_term_that_is_not_logged_leaves_the_rule_near():
    found = attribution(logged("RLOO", (0, 1, 0), noise=0.05))
    assert (found.rule, found.near, found.weights) == ("RLOO", True, {"a": 0, "b": 1, "c": 0})


def test_advantages_that_no_score_explains_name_no_rule():
    file = logged("RLOO", (1, 0, 0))
    found = attribution(replace(file, advantage=np.random.default_rng(1).normal(size=len(file))))
    assert (found.rule, found.near, found.weights) == (None, False, None)
    assert found.unpaid(file.scores) == ["a", "b", "c"] and paid(file, found).reward is None


def test_a_file_that_logs_no_advantage_is_asked_what_its_reward_is_made_of():
    file = logged("RLOO", (1, 0, 0))
    reward = 2 * file.scores["a"] - 0.5 * file.scores["b"] - 1
    found = attribution(replace(file, reward=reward, advantage=None))
    assert found.rule is None and found.error < 1e-9
    np.testing.assert_allclose(list(found.weights.values()), [2, -0.5, 0], atol=1e-9)
    assert found.unpaid(file.scores) == ["c"]


def test_a_score_that_is_often_missing_hides_no_other():
    file = logged("RLOO", (1, 0, 0))
    a, b = file.scores["a"].copy(), file.scores["b"]
    a[3] = np.nan
    rare = np.where(np.arange(len(file)) < 9, 1.0, np.nan)
    scores = {"never": np.full(len(file), np.nan), "rare": rare, "a": a, "b": b, "c": file.scores["c"]}
    found = attribution(replace(file, reward=0.6 * file.scores["a"] + 0.4 * b, scores=scores, advantage=None))
    assert found.told and found.unpaid(scores) == ["c"]
    np.testing.assert_allclose(list(found.weights.values()), [np.nan, np.nan, 0.6, 0.4, 0], atol=1e-9)


def test_a_score_that_was_not_paid_is_told_from_one_that_nothing_is_known_of():
    file = logged("RLOO", (1, 0, 0))
    a, b, _ = file.scores.values()
    paid_a = attribution(replace(file, reward=a, advantage=None))
    neither = attribution(replace(file, reward=np.maximum(a, 0.6 * b), advantage=None))
    assert paid_a.told and not neither.told
    assert (paid_a.unpaid(file.scores), neither.unpaid(file.scores)) == (["b", "c"], ["a", "b", "c"])


def test_of_two_equal_scores_one_explains_the_reward():
    file = logged("RLOO", (1, 0, 0))
    file = replace(file, scores={"a": file.scores["a"], "again": file.scores["a"]}, reward=file.scores["a"])
    assert attribution(replace(file, advantage=None)).weights == {"a": 1, "again": 0}


def test_without_reward_and_advantage_nothing_is_said():
    file = replace(rollouts("verifier"), advantage=None)
    found = attribution(file)
    assert (found.rule, found.weights) == (None, None) and paid(file, found).reward is None


def test_a_score_that_varies_in_no_group_may_or_may_not_have_been_paid():
    file = logged("GRPO", (1, 0, 0))
    file = replace(file, scores={"a": file.scores["a"], "b": np.ones(len(file))})
    found = attribution(file)
    assert found.rule == "GRPO" and np.isnan(found.weights["b"]) and found.unpaid(file.scores) == []


def test_a_single_completion_is_no_reason_to_stop():
    assert not attribution(small([[1.0]], advantage=np.zeros(1))).varies
    assert attribution(small([[np.nan, np.nan]], advantage=np.zeros(2))).rule is None
