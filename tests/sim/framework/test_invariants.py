from types import SimpleNamespace

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.experiments import faults
from sim.experiments.standard_runs import add_run
from sim.framework import invariants
from sim.framework.rollout import Batch

EOS, PAD = 18, 19


def batch(reward=(1, 0, 0, 1), said=None, advantage=None, version=0):
    """Two prompts with two completions each, `7 <eos>` padded to three tokens."""
    tokens, mask = np.tile([7, EOS, PAD], (4, 1)), np.tile([1.0, 1.0, 0.0], (4, 1))
    details = [dict(reason="ok" if right else "wrong_value") for right in (reward if said is None else said)]
    reward = np.array(reward, float)
    advantage = np.zeros(4) if advantage is None else np.array(advantage, float)
    return Batch(
        2,
        np.array([0, 0, 1, 1]),
        tokens[:, :1],
        tokens,
        mask,
        mask.copy(),
        -0.5 * mask,
        np.ones(4, bool),
        np.full(4, version),
        accuracy=reward,
        reward=reward,
        details=details,
        advantage=advantage[:, None] * mask,
    )


def test_a_reward_belongs_to_the_row_that_earned_it():
    assert invariants.rewards_are_the_rows_own(batch())
    assert not invariants.rewards_are_the_rows_own(
        batch(reward=(1, 1, 0, 0), said=(1, 0, 0, 1))
    )  # (1, 0, 0, 1) rolled by one


def test_padding_behind_the_end_is_no_sampled_token():
    good, padded = batch(), batch()
    padded.response_mask = np.ones((4, 3))
    assert invariants.mask_is_the_sampled_tokens(good, EOS) and not invariants.mask_is_the_sampled_tokens(padded, EOS)


def test_a_completion_without_an_end_is_sampled_to_its_last_token():
    cut = batch()
    cut.tokens, cut.response_mask = np.full((4, 3), 7), np.ones((4, 3))
    assert invariants.mask_is_the_sampled_tokens(cut, EOS)


def test_advantages_of_a_group_add_up_to_zero():
    assert invariants.groups_sum_to_zero(batch(advantage=(0.7, -0.7, -0.7, 0.7)))
    assert not invariants.groups_sum_to_zero(
        batch(advantage=(0.7, 0.7, -0.7, -0.7))
    )  # 0 over the batch, not in a group


def test_a_flipped_sign_is_seen_in_the_direction():
    assert invariants.advantage_rises_with_reward(batch(advantage=(0.7, -0.7, -0.7, 0.7)))
    assert not invariants.advantage_rises_with_reward(batch(advantage=(-0.7, 0.7, 0.7, -0.7)))
    assert invariants.advantage_rises_with_reward(batch(reward=(1, 1, 1, 1)))  # nothing to push


def test_the_first_ratio_is_one_unless_older_weights_sampled():
    fresh, off = batch(), batch().old_logp + 0.1
    assert invariants.first_ratio_is_one(fresh, fresh.old_logp, version=0)
    assert not invariants.first_ratio_is_one(fresh, off, version=0)
    assert invariants.first_ratio_is_one(fresh, off, version=1)


@pytest.mark.parametrize(
    "passes, grad_norm, high, holds",
    [(1, 0.3, 1.0, True), (4, 0.3, 1.4, True), (4, 0.3, 1.0, False), (4, 0.0, 1.0, True)],
)
def test_later_ratios_move_when_there_is_a_gradient(passes, grad_norm, high, holds):
    assert invariants.later_ratios_move(dict(grad_norm=grad_norm, ratio_min=1.0, ratio_max=high), passes) == holds


def test_a_reference_that_learns_is_not_the_start():
    start, moved = (SimpleNamespace(params={"W": np.full(3, value)}) for value in (1.0, 1.1))
    assert invariants.reference_is_the_start(None, start) and invariants.reference_is_the_start(
        SimpleNamespace(policy=start), start
    )
    assert not invariants.reference_is_the_start(SimpleNamespace(policy=moved), start)


def test_versions_agree_when_the_newest_weights_were_delivered():
    def at(version):
        return SimpleNamespace(version=version)

    assert invariants.versions_agree(at(4), at(4)) and not invariants.versions_agree(at(3), at(4))


@pytest.mark.parametrize("passes, beta", [(1, 0.0), (4, 0.1)])
def test_in_a_healthy_loop_all_eight_hold_in_every_iteration(passes, beta):
    controller = add_run(grpo, hyper=dict(inner_epochs=passes, beta=beta))
    seen = [invariants.held(controller, b, event) for event, b in faults.stages(controller, 10)]
    assert all(all(checks.values()) for checks in seen)
    assert set().union(*seen) == {
        "rows",
        "mask",
        "reference",
        "centered",
        "upward",
        "first_ratio",
        "later_ratios",
        "versions",
    }
    assert [len(checks) for checks in seen[7:14]] == [0, 0, 2, 1, 3, 1, 1]


def test_the_ratios_before_the_first_step_are_one_to_the_last_bits():
    controller = add_run(grpo, hyper=dict(inner_epochs=1, beta=0.0))
    for event, b in faults.stages(controller, 5):
        if event.stage == 5:
            logp, _, _ = controller.trainer.policy.token_logp(b.prompt, b.tokens, b.response_mask)
            assert np.abs(logp - b.old_logp).max() < 1e-12  # float64 on both sides and nothing cast in between
            assert np.abs(b.advantage[:, 0].reshape(-1, b.K).sum(axis=1)).max() < 1e-9
