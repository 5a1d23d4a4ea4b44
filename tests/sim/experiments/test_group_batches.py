"""Batches of GRPO on sums that a model has never seen."""

import numpy as np
import pytest

from sim.experiments import group_batches
from sim.experiments.group_batches import RARE, SUMS


def test_the_hard_sums_are_answered_correctly_about_once_in_a_hundred_times():
    rates = group_batches.start(RARE)
    assert rates.shape == (4,) and (rates > 0.005).all() and (rates < 0.012).all()


def test_the_mixed_sums_go_from_easy_to_hard():
    rates = group_batches.start("mixed")
    assert (np.diff(rates) < 0).all() and rates[0] > 0.7 and rates[-1] < 0.05


def test_the_first_batch_does_not_depend_on_the_size_of_its_groups_but_the_push_does():
    fours, sixteens = (group_batches.run(K, 1, seed=2)[0] for K in (4, 16))
    np.testing.assert_array_equal(fours.answers, sixteens.answers)
    np.testing.assert_array_equal(fours.right, sixteens.right)
    assert fours.right.shape == (4, 16) and fours.right.sum() == 1
    for update, K in ((fours, 4), (sixteens, 16)):  # one right of K: (1 - 1/K) over the deviation 1/sqrt(K)
        assert update.advantage.max() == pytest.approx((K - 1) / np.sqrt(K), abs=1e-4)
        assert (np.abs(update.advantage) > 1e-9).sum() == K


def test_an_answer_is_correct_if_it_is_the_sum():
    update = group_batches.run(16, 1)[0]
    for example, answers, right in zip(SUMS[RARE], update.answers, update.right, strict=True):
        np.testing.assert_array_equal(answers == str(example // 10 + example % 10), right)


def test_the_batches_are_those_that_the_frames_count():
    def run():
        return group_batches.trained(8, "mixed", groups=8, seed=1)

    frames = list(run().frames(3))
    for wanted, (frame, batch) in zip(frames, group_batches.followed(run(), 3), strict=True):
        _, right, advantage = group_batches.by_prompt(batch)
        groups = right.reshape(-1, 8)
        assert frame.live_groups == wanted.live_groups == (groups.any(axis=1) & ~groups.all(axis=1)).sum()
        assert right.mean() == pytest.approx(wanted.accuracy)
        np.testing.assert_allclose(advantage.reshape(-1, 8).sum(axis=1), 0, atol=1e-9)


def test_adamw_gets_a_hundredth_of_the_rate():
    assert group_batches.rate("SGD", 0.04) == 0.04 and group_batches.rate("AdamW", 0.04) == pytest.approx(0.0004)
    assert group_batches.optimizer("AdamW", 0.04).learning_rate == pytest.approx(0.0004)


def test_in_sixteens_sums_are_learned_and_in_fours_none():
    fours, sixteens = (group_batches.run(K, seed=2)[-1].pass_rate for K in (4, 16))
    assert fours < 0.03 < 0.3 < sixteens
