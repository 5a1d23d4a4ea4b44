import numpy as np
import pytest

from sim.estimators.importance import effective_sample_size
from sim.experiments import off_policy_tokens


def test_at_the_start_nothing_is_weighed_and_at_one_the_policy_is_there():
    start, there = off_policy_tokens.read(0), off_policy_tokens.read(1)
    assert start.ratio == pytest.approx([1, 1, 1]) and start.effective == pytest.approx(1)
    assert there.policy == pytest.approx(off_policy_tokens.NOW) and there.ratio == pytest.approx([0.4, 1, 2.5])


@pytest.mark.parametrize("moved", [0, 0.5, 1, 2])
def test_the_weighted_mean_is_what_the_present_policy_earns_and_the_plain_one_never_moves(moved):
    read = off_policy_tokens.read(moved)
    assert read.policy.sum() == pytest.approx(1) and read.weighted == pytest.approx(read.earns)
    assert read.plain == 0.2  # the probability of the third token when it was drawn


def test_the_share_is_that_of_a_batch_with_every_token_as_often_as_it_is_drawn():
    counts = (1000 * off_policy_tokens.OLD).astype(np.int32)
    batch = np.repeat(off_policy_tokens.read(1).ratio, counts)
    assert off_policy_tokens.read(1).effective == pytest.approx(effective_sample_size(batch) / len(batch))


def test_the_farther_the_policy_has_moved_the_less_is_left():
    left = [off_policy_tokens.read(moved).effective for moved in (0, 0.5, 1, 1.5, 2)]
    assert left == sorted(left, reverse=True)
