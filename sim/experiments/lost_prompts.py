"""Sums that a language model could solve and never solves again: what several passes over a batch do to prompts whose
correct answers are no longer sampled.

GRPO (Shao et al., 2024, arXiv:2402.03300) with four passes on the sums of `tasks.Add`, with or without its clip, with a
KL penalty to the start (k3), and with an entropy bonus estimated from sampled tokens: the surprise −log π of a token,
minus the mean over the batch, is added to its advantage.
"""

import numpy as np

from sim.algorithms import grpo
from sim.experiments.standard_runs import add_run
from sim.worlds import tasks

UPDATES, PASSES = 100, 4
WIDE = 1e9  # a clip range that no ratio leaves
LOST = 0.01  # a prompt that is answered correctly less often than this is lost
OFTEN = 64  # samples in pass@64


def trained(eps, beta, alpha, seed=0, optimizer=None):
    """(100,): the exact probability that each sum is answered correctly after training."""

    def advantage(R, hp, batch):
        plain = grpo.advantage(R, hp, batch)[..., None]
        return plain + alpha * surprise(batch).reshape(*R.shape, -1)

    run = add_run(
        grpo,
        seed=seed,
        hyper=dict(inner_epochs=PASSES, eps=eps, beta=beta),
        hooks=dict(advantage=advantage) if alpha else {},
        optimizer=optimizer,
        exact_every=UPDATES,
    )
    for _ in run.frames(UPDATES):
        pass
    return tasks.exact_pass(run.trainer.policy)


def surprise(batch):
    """(N, T): −log π of each own token when it was sampled, minus the mean over all own tokens; 0 outside the mask."""
    mask = batch.response_mask
    rare = -batch.old_logp * mask
    return (rare - rare.sum() / mask.sum()) * mask


def lost(chances):
    """(100,) whether a sum is almost never answered correctly."""
    return chances < LOST


def pass_at(chances, draws):
    """Mean probability that at least one of `draws` samples is correct."""
    return float(np.mean(1 - (1 - chances) ** draws))
