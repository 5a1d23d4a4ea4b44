"""The tiny language model trained on a reward that can be gamed, with a KL penalty in the reward and a reference that
is a copy of the start, or is not.

The penalty is subtracted from each completion's reward, as in Ziegler et al. (2019), arXiv:1909.08593. The advantage is
the reward minus the group's mean, without division by the standard deviation (Liu et al. (2025), arXiv:2503.20783), so
beta keeps its unit: reward per nat.
"""

from dataclasses import dataclass

from sim.algorithms import dr_grpo
from sim.estimators import hacking
from sim.experiments.standard_runs import add_run
from sim.worlds import tasks

EVERY = 4  # updates between two measurements
THOUGHTS = tasks.Add.T  # a completion that never answers is this many `hmm `


@dataclass(frozen=True)
class Point:
    """Where a run stands after this many updates; the rewards and KLs are means over one batch of 128 completions."""

    update: int
    proxy: float  # what is paid
    gold: float  # exact pass rate over the 100 prompts
    kl: float  # KL from the start, nats per completion
    kl_logged: float  # KL from whatever the loop uses as its reference; nan without one


def train(hack_reward, beta, alias, seed, updates):
    """The Points of one run. Each `hmm ` earns hack_reward / 8, so a completion of nothing else earns hack_reward.

    With `alias`, the reference is the policy itself instead of a copy.
    """
    controller = add_run(
        dr_grpo,
        seed=seed,
        task=tasks.GradedAdd(hack_reward / THOUGHTS),
        hyper=dict(beta=beta, inner_epochs=1),
        hooks=dict(shape_reward=lambda reward, hp, batch: hacking.charged(reward, batch.kl, beta)),
        exact_every=updates + 1,
    )
    if alias and controller.reference:
        controller.reference.policy = controller.trainer.policy
    for event in controller.iterate(updates + 1):
        if event.role == "env":
            batch = event.summary["batch"]
        if event.role == "algorithm" and event.iteration % EVERY == 0:
            yield measured(event.iteration, batch, controller)


def measured(update, batch, controller):
    start_logp = controller.start.token_logp(batch.prompt, batch.tokens, batch.response_mask)[0]
    logged = float("nan") if batch.ref_logp is None else nats(batch.old_logp, batch.ref_logp)
    return Point(
        update,
        batch.reward.mean(),
        tasks.exact_pass(controller.rollout.policy).mean(),
        nats(batch.old_logp, start_logp),
        logged,
    )


def nats(logp, ref_logp):
    """The mean of k1 over completions: the sum of their tokens' log-ratios; (N, T) twice -> nats."""
    return (logp - ref_logp).sum(axis=1).mean()
