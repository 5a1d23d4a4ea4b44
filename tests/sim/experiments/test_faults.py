from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.experiments import faults
from sim.experiments.standard_runs import add_run
from sim.framework import invariants
from sim.worlds import tasks
from tests import skips


@cache
def trained(fault=None, seed=0, passes=1, beta=0.0, iterations=100):
    """Pass rate of the trainer's weights, of the rollout's, and the names of the invariants that were violated."""
    skips.not_in_a_page()
    controller, violated = add_run(grpo, seed=seed, hyper=dict(inner_epochs=passes, beta=beta), exact_every=1000), set()
    for event, batch in faults.stages(controller, iterations, fault):
        violated |= {name for name, holds in invariants.held(controller, batch, event).items() if not holds}
    return (
        tasks.exact_pass(controller.trainer.policy).mean(),
        tasks.exact_pass(controller.rollout.policy).mean(),
        violated,
    )


def test_a_shift_by_one_row_pays_each_row_for_the_one_before_it():
    batch = SimpleNamespace(reward=np.array([1.0, 0.0, 0.0, 1.0]))
    faults.reward_shift(None, batch, 3)
    assert batch.reward.tolist() == [1, 1, 0, 0]


# bounds on one side: two independent implementations of this loop, three seeds each, have .900 to .923 when healthy
@pytest.mark.when_changed()
@pytest.mark.parametrize(
    "fault, low, high, invariant",
    [
        (None, 0.87, 1.0, set()),
        (faults.no_sync, 0.0, 0.72, {"versions"}),
        (faults.reward_shift, 0.0, 0.1, {"rows"}),
        (faults.reward_shuffle, 0.0, 0.25, {"rows"}),
        (faults.sign_flip, 0.0, 0.01, {"upward"}),
        (faults.wrong_groups, 0.87, 1.0, {"centered"}),
        (faults.mask_off, 0.87, 1.0, {"mask", "first_ratio"}),
    ],
)
def test_no_fault_raises_an_error_and_each_has_its_invariant(fault, low, high, invariant):
    for seed in (0, 1):
        pass_rate, _, violated = trained(fault, seed)
        assert low <= pass_rate <= high and violated == invariant


def test_without_the_sync_the_trainer_learns_and_the_sampler_does_not():
    trainer, rollout, _ = trained(faults.no_sync)
    assert (
        rollout == pytest.approx(tasks.exact_pass(tasks.checkpoint("add")).mean(), abs=1e-12)
        and trainer > rollout + 0.2
    )


def test_without_the_sync_the_lag_is_the_number_of_updates():
    controller = add_run(grpo, hyper=dict(inner_epochs=1, beta=0.0), exact_every=1000)
    events = [event for event, _ in faults.stages(controller, 7, faults.no_sync)]
    assert [event.summary["frame"].lag for event in events if event.stage == 7] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.when_changed()
def test_a_reference_that_is_the_policy_makes_beta_mean_nothing():
    alias, without = trained(faults.ref_alias, beta=0.1), trained(beta=0.0)
    assert alias[0] == pytest.approx(
        without[0], abs=1e-12
    )  # one pass: the penalty's slope is 0 where the two are equal
    assert alias[2] == {"reference"} and trained(beta=0.1)[0] < alias[0] - 0.002


@pytest.mark.when_changed()
def test_recomputed_log_probs_show_only_from_the_second_pass_on():
    assert trained(faults.old_recomputed)[2] == set() and trained(faults.old_recomputed)[0] == pytest.approx(
        trained()[0], abs=1e-12
    )
    for seed in (0, 1):
        pass_rate, _, violated = trained(faults.old_recomputed, seed, passes=4)
        assert violated == {"later_ratios"} and pass_rate < 0.7 < 0.8 < trained(None, seed, passes=4)[0]


def test_a_fault_ends_with_its_controller():
    trained(faults.old_recomputed, iterations=2)
    assert trained(passes=4, iterations=3)[2] == set()


def test_a_run_that_is_followed_is_the_run_itself():
    seen = faults.followed(faults.no_sync, 10, every=5)
    skips.not_in_a_page()
    trainer, rollout, violated = trained(faults.no_sync, iterations=10)
    assert seen.at == (0, 5, 10) and seen.violated == violated
    assert seen.trainer[-1] == pytest.approx(trainer, abs=1e-12)
    assert seen.rollout[-1] == pytest.approx(rollout, abs=1e-12) == seen.rollout[0]
