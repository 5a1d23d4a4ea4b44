"""One group of completions handed to an algorithm file as the trainer hands it a batch: what each algorithm makes of
the same rewards.

No model and no task: rewards and lengths are given, and the log-probs are those of a first pass (every ratio is 1). The
two calls are those of sim/framework/algorithm.py; the split is verl's, Sheng et al. (2024), arXiv:2409.19256.
"""

import numpy as np

from sim.framework.rollout import Batch

T = 16  # maximum tokens
LOGP = -1.0  # assumed: every token had probability 1/e; at ratio 1, no algorithm's gradient depends on it


def batch_of(rewards, lengths, value=0.0):
    """A batch with one prompt: (K,) rewards and lengths; `value` is the critic's prediction at every token."""
    K = len(rewards)
    mask = (np.arange(T) < np.asarray(lengths)[:, None]).astype(float)
    return Batch(
        K,
        np.zeros(K, int),
        np.zeros((K, 1), int),
        np.zeros((K, T), int),
        mask,
        mask,
        LOGP * mask,
        np.ones(K, bool),
        np.zeros(K, int),
        accuracy=np.asarray(rewards, float),
        reward=np.asarray(rewards, float),
        value=value * mask,
    )


def advantages(algorithm, batch):
    """(K,): the advantage of each completion, shared by all of its tokens. This holds for PPO with lam 1, too, because
    the critic's prediction is the same everywhere.
    """
    return algorithm.compute_advantages(batch)[0][:, 0]


def token_push(algorithm, batch):
    """(K,): minus dL/dlogp at each completion's tokens, i.e. how hard one of them is pushed up."""
    batch = batch.rows(np.arange(len(batch.tokens)))
    batch.advantage, batch.returns = algorithm.compute_advantages(batch)
    return -algorithm.compute_loss(batch.old_logp, batch).dlogp[:, 0]


def total_push(advantage):
    """The mean of |A| over the group: how much the prompt moves the policy before directions cancel."""
    return np.abs(advantage).mean(axis=-1)


def informative(rewards):
    """Whether the rewards in a group differ at all, (..., K) -> (...)."""
    return np.ptp(rewards, axis=-1) > 0
