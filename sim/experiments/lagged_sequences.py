"""Short texts that are some updates old, and what each correction of their ratio achieves.

A policy of independent softmaxes, one per position, is rewarded with (matches / positions)² against one target. The
corrections are those of sim/estimators/importance.py, and the truncated ratio of the whole text, as in Huang et al.
(2026), arXiv:2602.17616.
"""

import numpy as np

from sim.estimators.importance import CORRECTIONS, C

POSITIONS, TOKENS, PROMPTS, K = 6, 8, 64, 8
LEARNING_RATE, UPDATES = 20.0, 200


def truncated_product(logp, old_logp, advantage):
    """The ratio of the whole text, capped at C, as a constant weight for each of its tokens, (texts, positions)."""
    weight = np.minimum(np.exp((logp - old_logp).sum(axis=1, keepdims=True)), C)
    return weight * advantage * logp, weight * advantage


WAYS = CORRECTIONS | {"truncated ratio of the text": truncated_product}


def rewards(way, delay, seed, updates=UPDATES):
    """Exact mean reward after each update, (updates,), when training on texts from `delay` updates ago."""
    rng, at = np.random.default_rng(seed), np.arange(POSITIONS)
    logits, policies, earned = np.zeros((POSITIONS, TOKENS)), [np.full((POSITIONS, TOKENS), 1 / TOKENS)], []
    for t in range(updates):
        pi, mu = policies[t], policies[max(t - delay, 0)]
        text = drawn(mu, PROMPTS * K, rng)
        reward = ((text == 0).mean(axis=1) ** 2).reshape(PROMPTS, K)
        advantage = (reward - reward.mean(axis=1, keepdims=True)).reshape(-1, 1)
        _, push = WAYS[way](np.log(pi[at, text]), np.log(mu[at, text]), advantage * np.ones(POSITIONS))
        logits = logits + LEARNING_RATE * gradient(text, push, pi)
        exp = np.exp(logits - logits.max(axis=1, keepdims=True))
        policies.append(np.maximum(exp / exp.sum(axis=1, keepdims=True), 1e-300))
        earned.append(mean_reward(policies[-1][:, 0]))
    return np.array(earned)


def drawn(policy, n, rng):
    """n texts, (n, positions); the target is token 0 everywhere."""
    above = rng.random((n, POSITIONS, 1)) > policy.cumsum(axis=1)
    return above.sum(axis=2).clip(0, TOKENS - 1)


def gradient(text, push, pi):
    """Mean over the texts of push · (one-hot − π), (positions, tokens)."""
    hit = np.stack([np.bincount(text[:, p], push[:, p], minlength=TOKENS) for p in range(POSITIONS)])
    return (hit - push.sum(axis=0)[:, np.newaxis] * pi) / len(text)


def mean_reward(right):
    """E[(matches / positions)²] from the probability that each position is correct: (variance + mean²) / positions²."""
    return ((right * (1 - right)).sum() + right.sum() ** 2) / POSITIONS**2
