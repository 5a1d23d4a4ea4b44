"""Batches of GRPO on prompts that are almost never right."""

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.experiments import group_batches
from sim.experiments.standard_runs import modsum_run
from sim.worlds import modsum


def test_the_start_is_right_about_twice_in_a_thousand_times():
    rate = modsum.exact(modsum.Policy(group_batches.RARE).params["theta"])["pass_rate"]
    assert rate.mean() == pytest.approx(0.0018, abs=0.00005)


def test_the_first_batch_does_not_depend_on_the_size_of_its_groups_but_the_push_does():
    fours, sixteens = group_batches.run(4, 1)[0], group_batches.run(16, 1)[0]
    np.testing.assert_array_equal(fours.right, sixteens.right)
    assert fours.right.shape == (4, 16) and fours.right.sum() == 1
    for update, K in ((fours, 4), (sixteens, 16)):  # one right of K: (1 - 1/K) over the deviation 1/sqrt(K)
        assert update.advantage.max() == pytest.approx((K - 1) / np.sqrt(K), abs=1e-4)
        assert (np.abs(update.advantage) > 1e-9).sum() == K


def test_the_batches_are_those_that_the_frames_count():
    def run():
        return modsum_run(grpo, seed=1, groups=8, K=8, hyper=dict(beta=0.0))

    frames = list(run().frames(3))
    for wanted, (frame, batch) in zip(frames, group_batches.followed(run(), 3), strict=True):
        right, advantage = group_batches.by_prompt(batch)
        groups = right.reshape(-1, 8)
        assert frame.live_groups == wanted.live_groups == (groups.any(axis=1) & ~groups.all(axis=1)).sum()
        assert right.mean() == pytest.approx(wanted.accuracy)
        np.testing.assert_allclose(advantage.reshape(-1, 8).sum(axis=1), 0, atol=1e-9)


def test_in_sixteens_a_prompt_is_solved_and_in_fours_none():
    fours, sixteens = (group_batches.run(K)[-1].pass_rate for K in (4, 16))
    assert fours < 0.01 < 0.2 < sixteens < 0.26
