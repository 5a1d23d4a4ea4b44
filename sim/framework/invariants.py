"""Invariants of a healthy loop, true in every iteration whatever it learns: one predicate for each connection that the
controller makes.

Each predicate compares the data of two roles; none looks at the loss or the pass rate. They are written for GRPO, Shao
et al. (2024), arXiv:2402.03300, where all tokens of a completion share one advantage, and for single-turn completions,
where the policy wrote every token.
"""

import numpy as np

ROUNDING = 1e-6  # a log-prob evaluated twice differs by 1e-15; a group's advantages sum to 1e-15 times K


def mask_is_the_sampled_tokens(batch, eos):
    """The mask covers every token up to the first stop and none after it, as recounted from the tokens."""
    ends = batch.tokens == eos
    behind = np.cumsum(ends, axis=1) - ends > 0
    return bool((batch.response_mask == ~behind).all())


def rewards_are_the_rows_own(batch):
    """Each row's reward is the scorer's verdict on that row, for tasks whose reward is the accuracy."""
    return bool((batch.reward == [said["reason"] == "ok" for said in batch.details]).all())


def reference_is_the_start(reference, start):
    """No weight of the reference has moved; true if there is no reference."""
    return reference is None or all(
        (array == start.params[name]).all() for name, array in reference.policy.params.items()
    )


def groups_sum_to_zero(batch):
    """The advantages of a prompt's K completions sum to 0, because their mean was the baseline."""
    return bool(np.abs(batch.advantage[:, 0].reshape(-1, batch.K).sum(axis=1)).max() < ROUNDING)


def advantage_rises_with_reward(batch):
    """Over the batch, completions with a higher reward are pushed up, not down."""
    return bool((batch.advantage[:, 0] * (batch.reward - batch.reward.mean())).sum() > -ROUNDING)


def first_ratio_is_one(batch, logp, version):
    """Before the first step, the sampling weights and the training weights give the same log-probs; rows from older
    weights are not checked.
    """
    fresh = batch.version == version
    return bool(np.abs((logp - batch.old_logp)[fresh]).max(initial=0.0) < ROUNDING)


def later_ratios_move(metrics, passes):
    """From the second pass on, the policy is no longer the one that sampled, so the ratios differ from each other."""
    return passes == 1 or metrics["grad_norm"] == 0 or metrics["ratio_max"] > metrics["ratio_min"]


def versions_agree(rollout, trainer):
    """The next batch will be sampled by the newest weights."""
    return rollout.version == trainer.version


def held(controller, batch, event):
    """{name: bool} of the invariants that can be checked once the stage of `event` is done."""
    match event.stage:
        case 3:
            return dict(
                rows=rewards_are_the_rows_own(batch), mask=mask_is_the_sampled_tokens(batch, controller.task.eos)
            )
        case 4:
            return dict(reference=reference_is_the_start(controller.reference, controller.start))
        case 5:
            policy, version = controller.trainer.policy, controller.trainer.version
            logp, _, _ = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
            return dict(
                centered=groups_sum_to_zero(batch),
                upward=advantage_rises_with_reward(batch),
                first_ratio=first_ratio_is_one(batch, logp, version),
            )
        case 6:
            passes = controller.algorithm.hp["inner_epochs"]
            return dict(later_ratios=later_ratios_move(event.summary, passes))
        case 7:
            return dict(versions=versions_agree(controller.rollout, controller.trainer))
    return {}
