import numpy as np
import pytest

from sim.experiments import running_batch as batch
from sim.worlds import modsum


def test_two_are_right_two_are_wrong_and_the_sums_say_which():
    assert batch.sums().tolist() == [5, 2, 12, 3]
    assert (batch.sums() % modsum.MODULUS == modsum.TARGETS[batch.PROMPT]).astype(
        float
    ).tolist() == batch.RIGHT.tolist()


def test_log_probabilities_are_those_of_the_start_in_its_own_rows():
    """Each by hand: the softmax of the row of theta where the running sum stands before the token."""
    policy = modsum.Policy()
    theta, logp = policy.params["theta"], batch.drawn_logp(policy)
    for i, row in enumerate(batch.ROWS):
        total = 0
        for t, token in enumerate(row):
            logits = theta[batch.PROMPT, total % 7]
            assert logp[i, t] == pytest.approx(logits[token] - np.log(np.exp(logits).sum()), abs=1e-12)
            total += token + 1
        assert (logp[i, len(row) :] == 0).all()


def test_another_temperature_divides_the_logits_of_the_same_rows():
    policy = modsum.Policy()
    policy.params["theta"] = policy.params["theta"] / 1.5
    np.testing.assert_allclose(batch.drawn_logp(modsum.Policy(), 1.5), batch.drawn_logp(policy), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_some_updates_later_the_right_rows_are_likelier_and_the_wrong_ones_rarer(seed):
    gone = (batch.drawn_logp(batch.later(100, seed)) - batch.drawn_logp(modsum.Policy())).sum(axis=1)
    assert (gone[batch.RIGHT > 0] > 1).all() and (gone[batch.RIGHT == 0] < -1).all()


def test_the_advantage_is_the_reward_less_the_exact_chance_of_being_right_from_there():
    policy = modsum.Policy()
    A = batch.advantage(policy)
    at_first = 1 - A[0, 0]  # what was to be expected before the first token: the pass rate of the prompt
    assert at_first == pytest.approx(modsum.exact(policy.params["theta"])["pass_rate"][batch.PROMPT], abs=1e-12)
    assert A[1, 0] == pytest.approx(-at_first, abs=1e-12)
    assert (A[:2][batch.tokens()[1][:2] == 0] == 0).all()


def test_before_the_first_step_every_ratio_is_one_and_after_four_passes_the_clip_holds_some():
    first, *_, last = batch.passes(4)
    np.testing.assert_allclose(first.ratio, 1, atol=1e-12)
    assert not first.dead.any() and last.dead.any()
    assert last.pass_rate > first.pass_rate


def test_without_a_clip_no_push_ends():
    assert not any(step.dead.any() for step in batch.passes(4, eps=np.inf))


def test_one_step_along_the_rewards_makes_what_was_paid_likelier_and_a_step_along_nothing_moves_nothing():
    ratio, rate = batch.one_step(batch.RIGHT, 5.0)
    mask = batch.tokens()[1]
    paid = batch.RIGHT > 0
    start = modsum.exact(modsum.Policy().params["theta"])["pass_rate"][batch.PROMPT]
    assert np.prod(ratio[paid], axis=1, where=mask[paid] > 0).min() > 1 and rate > start
    still, same = batch.one_step(np.zeros(4), 5.0)
    np.testing.assert_allclose(still, mask, atol=1e-12)
    assert same == pytest.approx(start, abs=1e-15)


def test_one_short_step_gains_what_the_slope_says():
    """A short step back loses as much as a step forward gains."""
    theta = modsum.Policy().params["theta"]
    start, h = modsum.exact(theta)["pass_rate"][batch.PROMPT], 1e-4
    gains = [(batch.one_step(sign * batch.RIGHT, h)[1] - start) / h for sign in (1, -1)]
    assert gains[0] == pytest.approx(-gains[1], rel=1e-2) and gains[0] > 0


def test_one_step_moves_each_logit_by_the_weight_of_the_tokens_drawn_there():
    """By hand: where a running sum stands, onehot less probabilities of every token drawn there, times weight / 4."""
    weights, rate = np.array([2.0, -1.0, 0.5, 3.0]), 0.7
    before, after = modsum.Policy().params["theta"], batch.after_one_step(weights, rate).params["theta"]
    moved = np.zeros_like(before)
    for row, weight in zip(batch.ROWS, weights):
        total = 0
        for token in row:
            pi = np.exp(before[batch.PROMPT, total % 7])
            moved[batch.PROMPT, total % 7] += rate * weight / 4 * (np.eye(4)[token] - pi / pi.sum())
            total += token + 1
    np.testing.assert_allclose(after - before, moved, atol=1e-12)


def test_without_a_weight_nothing_moves():
    assert batch.pass_rate(batch.after_one_step(np.zeros(4))) == pytest.approx(batch.pass_rate(modsum.Policy()))


def test_a_token_without_a_push_is_moved_by_the_others_alone():
    for now in batch.carried(16):
        own = batch.tokens()[1] > 0
        np.testing.assert_array_equal((now.own == 0) & own, now.dead)
        assert not now.own[~own].any() and not now.others[~own].any()


def test_a_token_goes_where_its_own_push_and_the_others_send_it():
    """To first order: the error of a step falls with the square of its rate."""

    def error(rate):
        first, then = batch.carried(1, learning_rate=rate)
        return np.abs(np.log(first.ratio) + first.own + first.others - np.log(then.ratio)).max()

    assert error(0.2) < 0.001
    assert error(0.1) == pytest.approx(error(0.2) / 4, rel=0.02)


def test_its_passes_are_those_of_the_batch():
    for told, plain in zip(batch.carried(5), batch.passes(5, learning_rate=2.0)):
        np.testing.assert_allclose(told.ratio, plain.ratio, rtol=1e-12)
        np.testing.assert_array_equal(told.dead, plain.dead)
