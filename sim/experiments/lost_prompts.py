"""Sums that a language model could solve and never solves again: what several passes over a batch do to prompts whose
answers are not drawn any more.

GRPO (Shao et al., 2024, arXiv:2402.03300) at four passes on the sums of `tasks.Add`, with or without its clip, with a
price of KL to the start (k3), and with a bonus for entropy as it is estimated from drawn tokens: the surprise −log π of
a token, less the mean of the batch, is added to its advantage.
"""

import numpy as np

from sim.algorithms import grpo
from sim.experiments.standard_runs import add_run
from sim.worlds import tasks

UPDATES, PASSES = 100, 4
WIDE = 1e9  # a clip range that nothing leaves
LOST = 0.01  # a prompt that is answered rightly less often than this
OFTEN = 64  # draws of pass@64


def trained(eps, beta, alpha, seed=0, optimizer=None):
    """(100,): the exact chance of each sum to be answered rightly, after training."""

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
    """(N, T): −log π of each own token when it was drawn, less the mean of all own tokens; 0 off the mask."""
    mask = batch.response_mask
    rare = -batch.old_logp * mask
    return (rare - rare.sum() / mask.sum()) * mask


def lost(chances):
    """(100,) whether a sum is as good as never answered rightly."""
    return chances < LOST


def pass_at(chances, draws):
    """Mean chance that one of so many draws is right."""
    return float(np.mean(1 - (1 - chances) ** draws))
