"""Dynamic sampling draws what is missing, counts all of it, and stops when the batch is full or after eight rounds."""

import numpy as np
import pytest

from sim.algorithms import dapo, grpo
from sim.experiments import refill
from sim.experiments.standard_runs import modsum_run
from sim.worlds import modsum


def run(**hooks):
    return modsum_run(dapo, seed=0, c=modsum.HARD, learning_rate=4.0, hooks=hooks)


def test_what_was_drawn_adds_up_to_what_was_paid_and_to_what_is_live():
    before = 0
    for frame, what in refill.updates(run(), 12):
        assert what.right.size == frame.completions - before
        before = frame.completions
        many = what.right.sum(axis=1)
        np.testing.assert_array_equal(what.kept, (many > 0) & (many < 8))
        assert what.kept.sum() == frame.live_groups <= 8
        told = refill.rounds(what.kept, 8)
        assert [i for groups in told for i in groups] == list(range(len(what.kept)))
        assert len(told) <= 8 and (len(told) == 8 or what.kept.sum() == 8)


def test_a_run_that_never_draws_again_keeps_all_of_one_round():
    for _, what in refill.updates(run(keep_group=grpo.keep_group), 3):
        assert what.right.shape == (8, 8) and what.kept.all() and refill.rounds(what.kept, 8) == [range(8)]


@pytest.mark.parametrize("lengths, kept", [((3, 5, 8, 8), False), ((3, 5, 8, 9), True), ((12, 12, 12, 12), False)])
def test_by_reward_a_length_alone_keeps_a_group(lengths, kept):
    class Batch:
        T, reward, length = 12, np.zeros(4), np.array(lengths)

    assert refill.by_reward(dapo.shape_reward)(np.zeros((1, 4)), dapo.HP, Batch) == [kept]
    assert not refill.by_reward(grpo.shape_reward)(np.zeros((1, 4)), dapo.HP, Batch)


@pytest.mark.parametrize("drawn, gained, nothing", [(257, 0.009, True), (256, 0.009, False), (257, 0.011, False)])
def test_nothing_is_more_than_four_batches_for_less_than_a_point(drawn, gained, nothing):
    completions, rate = drawn * np.arange(11), np.linspace(0.9, 0.9 + gained, 11)
    assert refill.for_nothing(completions, rate, 64) is nothing
    assert not refill.for_nothing(completions[1:], rate[1:], 64)
