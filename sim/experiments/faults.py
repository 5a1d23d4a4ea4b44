"""Eight wiring faults of the loop, one or two lines each: what a controller can get wrong while every role is correct.

None of them raises an error. A fault is a function (controller, batch, stage) that is called whenever the generator of
stages pauses after `stage`. One process sees the whole dataflow, as in the single controller of verl, Sheng et al.
(2024), arXiv:2409.19256, so it can also corrupt all of it.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import grpo
from sim.experiments.standard_runs import add_run
from sim.framework import invariants
from sim.framework.algorithm import Algorithm
from sim.worlds import tasks


def no_sync(controller, batch, stage):
    """Fresh weights never reach the rollout."""
    controller.sync.every = 10**9


def reward_shift(controller, batch, stage):
    """Every row gets the reward of the row before it."""
    if stage == 3:
        batch.reward = np.roll(batch.reward, 1)


def reward_shuffle(controller, batch, stage):
    """Rewards arrive in the order in which the checks happened to finish."""
    if stage == 3:
        batch.reward = controller.rng.permutation(batch.reward)


def sign_flip(controller, batch, stage):
    """The objective is minimized instead of maximized."""
    if stage == 5:
        batch.advantage = -batch.advantage


def wrong_groups(controller, batch, stage):
    """Rows are grouped by stride, so each is compared with completions of other prompts."""
    if stage == 5:
        strangers = np.arange(len(batch.reward)).reshape(-1, batch.K).T.ravel()
        regrouped, _ = controller.algorithm.compute_advantages(batch.rows(strangers))
        batch.advantage[strangers] = regrouped


def ref_alias(controller, batch, stage):
    """The reference is the trainer's policy itself instead of a copy of the start."""
    if controller.reference:
        controller.reference.policy = controller.trainer.policy


def old_recomputed(controller, batch, stage):
    """old_logp is recomputed from the current weights in every pass instead of being recorded."""

    def compute_loss(logp, mini):
        mini.old_logp = logp
        return Algorithm.compute_loss(controller.algorithm, logp, mini)

    controller.algorithm.compute_loss = compute_loss


def mask_off(controller, batch, stage):
    """The padding after the stop counts as sampled text."""
    if stage == 2:
        batch.response_mask = batch.valid_mask = np.ones(batch.tokens.shape)


def stages(controller, n, fault=None):
    """(event, batch) of n iterations, with `fault` applied at every pause; None leaves the loop unchanged."""
    batch = None
    for event in controller.iterate(n):
        batch = event.summary.get("batch", batch)
        if fault:
            fault(controller, batch, event.stage)
        yield event, batch


@dataclass(frozen=True)
class Followed:
    """A run with a fault: what a curve shows of it, and which invariants reveal it."""

    at: tuple  # iterations; 0 is the start
    trainer: tuple  # exact pass rate under the trainer's weights
    rollout: tuple  # under the rollout's weights
    violated: frozenset  # names of sim/framework/invariants.py, in the first iterations


def followed(fault, iterations=100, *, every=10, checked=3, passes=1, beta=0.0, seed=0):
    """A Followed of GRPO on sums of two digits, starting from the supervised policy."""
    run = add_run(grpo, seed=seed, hyper=dict(inner_epochs=passes, beta=beta), exact_every=iterations + 1)
    at, violated = [0], set()
    trainer = [tasks.exact_pass(run.start).mean()]
    rollout = [*trainer]
    for event, batch in stages(run, iterations, fault):
        if event.iteration < checked and batch is not None:
            violated |= {name for name, holds in invariants.held(run, batch, event).items() if not holds}
        if event.stage == 7 and (event.iteration + 1) % every == 0:
            at.append(event.iteration + 1)
            trainer.append(tasks.exact_pass(run.trainer.policy).mean())
            fresh = invariants.versions_agree(run.rollout, run.trainer)
            rollout.append(trainer[-1] if fresh else tasks.exact_pass(run.rollout.policy).mean())
    return Followed(tuple(at), tuple(trainer), tuple(rollout), frozenset(violated))
