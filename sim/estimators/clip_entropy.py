"""Coin flips as rewards: a softmax over a few actions has nothing to learn, so only noise and the clip change its
entropy.

The setting follows Park et al. (2025), arXiv:2509.26114, who train language models on random rewards; the softmax
stands for one token position. Unlike a language model it has no shared weights, so a rare action gains nothing from the
common ones.
"""

import numpy as np

from sim.estimators import surrogate
from sim.worlds.tinylm import log_softmax

ACTIONS, COMPLETIONS, K = 20, 64, 8  # a batch is eight groups of eight samples


def coin_entropy(eps_low, eps_high, passes, optimizer, updates, seeds, rng):
    """(seeds, updates + 1) entropy in nats, starting from the uniform policy. Rewards are fair coin flips, advantages
    are z-scores within the group, and the loss is the clipped surrogate.
    """
    params = {"logits": np.zeros((seeds, ACTIONS))}
    seen = [entropy(params["logits"])]
    for _ in range(updates):
        start = log_softmax(params["logits"])
        drawn = np.exp(start).cumsum(axis=1)[:, None, :] < rng.random((seeds, COMPLETIONS, 1))
        action = np.minimum(drawn.sum(axis=2), ACTIONS - 1)  # (seeds, completions)
        reward = (rng.random((seeds, COMPLETIONS // K, K)) < 0.5).astype(float)
        advantage = (reward - reward.mean(axis=2, keepdims=True)) / (reward.std(axis=2, ddof=1, keepdims=True) + 1e-6)
        old, advantage = np.take_along_axis(start, action, axis=1), advantage.reshape(seeds, COMPLETIONS)
        for _ in range(passes):
            logp = log_softmax(params["logits"])
            _, slope = surrogate.clipped(np.take_along_axis(logp, action, axis=1), old, advantage, eps_low, eps_high)
            at = (np.arange(seeds)[:, None] * ACTIONS + action).ravel()
            push = np.bincount(at, slope.ravel(), logp.size).reshape(logp.shape)
            gradient = (np.exp(logp) * slope.sum(axis=1, keepdims=True) - push) / COMPLETIONS  # of the loss
            optimizer.step(params, {"logits": gradient})
        seen.append(entropy(params["logits"]))
    return np.stack(seen, axis=1)


def entropy(logits):
    logp = log_softmax(logits)
    return -(np.exp(logp) * logp).sum(axis=-1)
