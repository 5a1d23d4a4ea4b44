from itertools import pairwise

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.estimators import aggregation, microbatch
from sim.experiments.standard_runs import add_run
from sim.framework.algorithm import Algorithm
from tests.sim.estimators.test_aggregation import MASK, losses


def first_batch(mode="token-mean", seed=0):
    hooks = dict(weights=lambda mask, hp, batch: aggregation.MODES[mode](mask))
    controller = add_run(grpo, seed=seed, hyper=dict(inner_epochs=1, beta=0.0), hooks=hooks)
    for event in controller.iterate(1):
        if event.stage == 3:
            batch = event.summary["batch"]
        if event.stage == 5:
            return controller.trainer.policy, batch, controller.algorithm.compute_loss


POLICY, BATCH, LOSS = first_batch()
TRUTH = microbatch.gradient(POLICY, BATCH, LOSS, [np.arange(128)])


def local(count, by_length):
    return microbatch.gradient_of_local_means(
        POLICY, BATCH, LOSS, microbatch.slices(BATCH.response_mask, count, by_length)
    )


def test_every_row_is_in_one_slice_and_sorted_slices_grow_longer():
    parts = microbatch.slices(BATCH.response_mask, 4, by_length=True)
    assert sorted(np.concatenate(parts).tolist()) == list(range(128)) and [len(p) for p in parts] == [32] * 4
    lengths = BATCH.response_mask.sum(axis=1)
    assert all(lengths[a].max() <= lengths[b].min() for a, b in pairwise(parts))


@pytest.mark.parametrize("count", [2, 4, 8, 16])
@pytest.mark.parametrize("by_length", [True, False])
def test_with_the_count_of_the_batch_slicing_changes_nothing(count, by_length):
    sliced = microbatch.gradient(POLICY, BATCH, LOSS, microbatch.slices(BATCH.response_mask, count, by_length))
    assert microbatch.relative_error(sliced, TRUTH) < 1e-12


def test_with_counts_of_their_own_the_gradient_is_another_one():
    assert (
        0.15 < microbatch.relative_error(local(4, True), TRUTH) < 0.45
    )  # an independent prototype measured 0.286, cosine 0.964
    assert 0.94 < microbatch.cosine(local(4, True), TRUTH) < 0.99


def test_it_is_worse_when_short_completions_are_put_together_and_with_more_slices():
    sorted_, mixed = (
        [microbatch.relative_error(local(count, by), TRUTH) for count in (2, 4, 8, 16)] for by in (True, False)
    )
    assert all(a > 3 * b for a, b in zip(sorted_, mixed)) and sorted_ == sorted(sorted_) and mixed == sorted(mixed)


def test_a_mean_of_means_does_not_notice_while_slices_hold_equally_many_completions():
    policy, batch, loss = first_batch("seq-mean-token-mean")
    parts = microbatch.slices(batch.response_mask, 4, by_length=True)
    truth = microbatch.gradient(policy, batch, loss, [np.arange(128)])
    assert microbatch.relative_error(microbatch.gradient_of_local_means(policy, batch, loss, parts), truth) < 1e-12
    uneven = [np.arange(100), np.arange(100, 128)]
    assert microbatch.relative_error(microbatch.gradient_of_local_means(policy, batch, loss, uneven), truth) > 0.05


def test_the_mistake_is_a_fifth_way_to_weigh_the_tokens():
    parts = microbatch.slices(BATCH.response_mask, 4, by_length=True)

    def weights(mask, hp, batch):
        return microbatch.local_weights(mask, aggregation.token_mean, parts)

    weighed = Algorithm(grpo, dict(beta=0.0), dict(weights=weights))
    grads = microbatch.gradient(POLICY, BATCH, weighed.compute_loss, [np.arange(128)])
    assert microbatch.relative_error(local(4, True), grads) < 1e-12


def test_local_means_of_three_completions():
    weight = microbatch.local_weights(MASK, aggregation.token_mean, [np.array([0]), np.array([1, 2])])
    assert (weight * losses()[0]).sum() == pytest.approx(
        -0.3087363356, abs=1e-9
    )  # torch float64, two micro-batches, mean of their means


def test_error_and_cosine_of_two_vectors():
    a, b = {"w": np.array([3.0, 4])}, {"w": np.array([4.0, 3])}
    assert microbatch.relative_error(a, b) == pytest.approx(np.sqrt(2) / 5, abs=1e-12) and microbatch.cosine(
        a, b
    ) == pytest.approx(24 / 25, abs=1e-12)
