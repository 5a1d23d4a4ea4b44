from functools import cache

import numpy as np
import pytest

from sim.algorithms import grpo, reinforce
from sim.experiments import tool_masking
from sim.worlds import tasks
from sim.worlds.tinylm import EOS, FINAL, PAD
from tests import skips


@cache
def run(length=8, seed=0, steps=60, **settings):
    skips.not_in_a_page()
    return list(tool_masking.tool_run(length, seed=seed, steps=steps, **settings))


def right(steps):
    """(at the start, lowest, last) mean of five updates."""
    means = np.convolve([step.accuracy for step in steps], np.ones(5) / 5, "valid")
    return means[0], means.min(), means[-1]


def test_two_turns_of_a_tool_leave_a_third_of_the_tokens():
    response, valid = tool_masking.built_mask(
        [("policy", 12), ("tool", 30), ("policy", 8), ("tool", 50), ("policy", 20)]
    )
    assert response.sum() == 40 and valid.sum() == 120  # 12 + 8 + 20 of 12 + 30 + 8 + 50 + 20
    assert tool_masking.dilution(response, valid) == pytest.approx(1 / 3, abs=1e-12)
    assert response[:12].all() and not response[12:42].any() and response[42:50].all()


def test_an_unexpected_token_pushes_thirty_times_as_hard_as_the_policys_own():
    pi = np.array([[0.97, 0.01, 0.01, 0.01]])
    assert tool_masking.expected_squared_push(pi)[0] == pytest.approx(0.0588, abs=1e-12)  # 1 - 0.9409 - 3 * 0.0001
    assert tool_masking.squared_push(pi, np.array([1]))[0] == pytest.approx(1.9212, abs=1e-12)  # 1 - 0.02 + 0.9412
    assert tool_masking.expected_squared_push(np.full((1, 20), 0.05))[0] == pytest.approx(0.95, abs=1e-12)


def test_the_push_is_the_length_of_the_derivative_at_the_logits():
    rng = np.random.default_rng(0)
    pi = rng.dirichlet(np.ones(7), 5)
    token = rng.integers(7, size=5)
    gradient = np.eye(7)[token] - pi
    np.testing.assert_allclose(tool_masking.squared_push(pi, token), (gradient**2).sum(axis=1), atol=1e-12)
    expected = sum(pi[:, a] * tool_masking.squared_push(pi, np.full(5, a)) for a in range(7))
    np.testing.assert_allclose(expected, tool_masking.expected_squared_push(pi), atol=1e-12)


def test_an_unmasked_token_without_a_log_prob_silences_itself():
    logp, zero = np.array([-6.3, -3.0]), np.zeros(2)

    def slope(A):
        return grpo.surrogate(logp, zero, A, grpo.HP, None)[1]

    assert (slope(-np.ones(2)) == 0).all()  # below 0.8: clipped
    np.testing.assert_allclose(slope(np.ones(2)), [0.0018363048, 0.0497870684], atol=1e-10)  # exp(-6.3), exp(-3)


# bounds on one side: two independent implementations, five seeds each, lie well within
@pytest.mark.parametrize("length", [2, 8, 16])
def test_with_the_mask_the_length_of_the_reply_makes_no_difference(length):
    start, _, end = right(run(length))
    assert start < 0.75 and end > 0.9 and run(length)[-1].call_rate > 0.95
    assert all(step.tool_share == 0 for step in run(length))


@pytest.mark.when_changed()
@pytest.mark.parametrize("length, seed", [(8, 0), (8, 1), (12, 0), (16, 0), (16, 1)])
def test_without_the_mask_long_replies_do_damage(length, seed):
    start, lowest, _ = right(run(length, seed, masked=False))
    assert lowest < start - 0.1


def test_without_the_mask_a_short_reply_goes_unnoticed():
    assert (
        right(run(2, masked=False))[2] > 0.95 and np.mean([step.tool_share for step in run(2, masked=False)[:10]]) > 0.3
    )


@pytest.mark.when_changed()
def test_longer_replies_take_more_of_the_gradient_and_leave_fewer_own_tokens():
    share = [np.mean([step.tool_share for step in run(length, masked=False)[:10]]) for length in (2, 4, 8, 12)]
    assert share == sorted(share) and share[2] > 0.5  # 0.68 to 0.74 at L = 8
    own = [
        np.mean([run(length, seed, steps=1, diluted=True)[0].dilution for seed in range(8)]) for length in (2, 4, 8, 16)
    ]
    standard_error = np.array([0.0037, 0.0052, 0.0042, 0.0054])
    assert own == sorted(own, reverse=True)
    assert (np.abs(own - np.array([0.76, 0.62, 0.45, 0.29])) < 3 * standard_error).all()


def test_without_a_baseline_the_policy_imitates_the_tool_and_stops_calling_it():
    steps = run(masked=False, file=reinforce)
    assert right(steps)[2] < 0.2 and steps[-1].call_rate < 0.2
    assert steps[0].tool_nll > 8 and min(step.tool_nll for step in steps) < 3.0  # below ln 20, a uniform guess


@pytest.mark.when_changed()
def test_the_wrong_denominator_and_the_missing_log_probs_do_no_visible_harm():
    assert right(run(diluted=True))[2] > 0.95
    hidden = run(masked=False, recomputed=False)
    assert right(hidden)[2] > 0.95 and np.mean([step.tool_share for step in hidden[:10]]) < 0.01
    assert hidden[-1].mean_ratio < 0.6 and run()[-1].mean_ratio == pytest.approx(1, abs=1e-12)


def test_the_start_is_right_half_of_the_time_and_calls_seven_times_in_ten():
    steps = [run(8, seed, steps=1)[0] for seed in range(30)]  # 1,920 completions
    assert np.mean([s.accuracy for s in steps]) == pytest.approx(0.495, abs=0.035)
    assert np.mean([s.call_rate for s in steps]) == pytest.approx(0.69, abs=0.035)


def test_what_the_tool_says_is_no_answer():
    task = tasks.Lookup(4)
    tokens = np.array([[14, 3, 15, FINAL, 7, 7, EOS, PAD, PAD, PAD, PAD, PAD]])
    own = np.array([[1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.0]])
    assert task.answers(tokens, own, np.array([True])) == [""]


def test_a_shifted_mask_counts_a_token_of_the_tool_and_no_row_is_left_empty():
    own = np.array([[1, 1, 0, 0, 1, 1, 0], [1, 0, 0, 0, 0, 0, 0]], float)  # a call, a reply, an answer; one token
    valid = np.array([[1, 1, 1, 1, 1, 1, 0], [1, 0, 0, 0, 0, 0, 0]], float)
    assert tool_masking.shifted(own, valid, 1).tolist() == [[0, 1, 1, 0, 0, 1, 0], own[1].tolist()]
    assert tool_masking.shifted(own, valid, -1).tolist() == [[1, 0, 0, 1, 1, 0, 0], own[1].tolist()]
    np.testing.assert_array_equal(tool_masking.shifted(own, valid, 0), own)


@pytest.mark.when_changed()
def test_one_to_the_right_forgets_the_answer_and_one_to_the_left_what_to_ask_for():
    for seed in range(5):
        right_on, left_on = run(8, seed, shift=1)[-1], run(8, seed, shift=-1)[-1]
        assert right_on.answered < 0.3 and left_on.answered > 0.9
        assert right_on.asked > 0.9 and left_on.asked < 0.75
        assert right(run(8, seed, shift=1))[2] < right(run(8, seed, masked=False))[2] - 0.2


def test_the_same_trajectory_read_again_is_quiet_where_the_policy_wrote_it():
    first, *_, last = tool_masking.reread(20)
    step = next(tool_masking.tool_run(8, steps=1))
    np.testing.assert_allclose(first.logp, step.logp[step.valid > 0], atol=1e-12)
    np.testing.assert_allclose(first.push, step.push[step.valid > 0], atol=1e-12)
    own = first.own > 0
    assert last.push[own].max() < 0.2 < first.push[own].max() and min(last.push[~own]) > 1
