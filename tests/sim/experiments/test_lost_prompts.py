"""Lost sums: closed forms of what is counted, and the slope of the bonus by drawn tokens."""

from types import SimpleNamespace

import numpy as np
import pytest

from sim.estimators import entropy
from sim.experiments import lost_prompts
from sim.worlds import tasks


def test_a_sum_is_lost_where_it_is_right_less_than_one_time_in_a_hundred():
    assert lost_prompts.lost(np.array([0.0099, 0.01, 0.5])).tolist() == [True, False, False]


def test_pass_at_many_draws():
    assert lost_prompts.pass_at(np.array([0.5, 0.0]), 2) == pytest.approx(0.375)  # (1 − 1/4 + 0) / 2
    assert lost_prompts.pass_at(np.array([0.3, 0.7]), 1) == pytest.approx(0.5)


def test_before_training_no_sum_is_lost():
    assert not lost_prompts.lost(tasks.exact_pass(tasks.checkpoint("add"))).any()


def test_the_surprise_of_drawn_tokens_is_the_slope_of_the_entropy_in_the_mean():
    pi = np.array([0.6, 0.3, 0.1])
    drawn = np.random.default_rng(0).choice(3, size=(200_000, 1), p=pi)
    batch = SimpleNamespace(old_logp=np.log(pi)[drawn], response_mask=np.ones((200_000, 1)))
    extra = lost_prompts.surprise(batch)[:, 0]
    slope = [np.mean(extra * ((drawn[:, 0] == a) - pi[a])) for a in range(3)]
    np.testing.assert_allclose(slope, entropy.bonus(pi), atol=0.005)


def test_no_surprise_off_the_mask():
    batch = SimpleNamespace(old_logp=np.array([[-1.0, -3.0, -9.0]]), response_mask=np.array([[1.0, 1.0, 0.0]]))
    np.testing.assert_allclose(lost_prompts.surprise(batch), [[-1, 1, 0]])


@pytest.mark.slow
def test_without_a_clip_several_passes_lose_sums_and_a_price_keeps_them():
    # five seeds of another implementation, AdamW: 2 to 12 lost, with the price 0 to 1
    gone = [
        int(lost_prompts.lost(lost_prompts.trained(lost_prompts.WIDE, beta, 0.0, seed=3)).sum()) for beta in (0, 0.1)
    ]
    assert gone[0] >= 5 and gone[1] <= 1
