"""Fifty ways to answer one prompt: the common one is correct half of the time, and a rare one always. Is the rare one
found before the policy is certain of the other?

A softmax over the ways stands for the policy at that prompt. Sampling, group z-scores and clipped passes are GRPO's
(Shao et al., 2024, arXiv:2402.03300); the two sides of the clip are DAPO's (Yu et al., 2025, arXiv:2503.14476). Each
pass also adds the exact slopes of an entropy bonus and of a KL penalty to the start. A language model shares weights
between its answers, whereas here a rare way gains nothing from the others. What is common and what is correct are our
assumptions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.estimators import entropy, group_baselines, surrogate
from sim.worlds.bandit import softmax
from sim.worlds.optimizer import SGD, AdamW

COMMON, PRIZE = 0, 1  # the first two ways
WAYS, COINS = 50, 20
DRAWS, K, PASSES = 64, 8, 8  # a batch has eight groups of eight samples; and the passes over it
UPDATES, RUNS = 60, 24
LEARNING_RATES = dict(SGD=2.0, AdamW=0.02)


@dataclass(frozen=True)
class World:
    start: np.ndarray  # (ways,) probabilities before training
    right: np.ndarray  # (ways,) how often each is correct, with a reward of 1; otherwise 0


def prize(odds):
    """The common way has 60 of 100 samples and is correct half of the time, the prize has one sample in `odds` and is
    always correct, and 48 others share the rest and are never correct.
    """
    rest = np.full(WAYS - 2, (0.4 - 1 / odds) / (WAYS - 2))
    return World(np.array([0.6, 1 / odds, *rest]), np.array([0.5, 1.0, *np.zeros(WAYS - 2)]))


def coins():
    """Twenty equally likely ways, each rewarded by a coin flip: there is nothing to learn."""
    return World(np.full(COINS, 1 / COINS), np.full(COINS, 0.5))


@dataclass(frozen=True)
class Frame:
    """The state after an update."""

    pi: np.ndarray  # (runs, ways)
    entropy: np.ndarray  # (runs,) nats
    right: np.ndarray  # (runs,) exact fraction of samples that are correct


def frame(world, pi):
    return Frame(pi, entropy.entropy(pi), pi @ world.right)


def optimizer(name, rate=None):
    rate = LEARNING_RATES[name] if rate is None else rate
    return SGD(rate) if name == "SGD" else AdamW(rate, clip=None)


def run(world, alpha, beta, eps_low, eps_high, optimizer, rng, updates=UPDATES, runs=RUNS) -> Iterator[Frame]:
    """Frames of `runs` independent training runs side by side; the first is the start."""
    params = {"logits": np.tile(np.log(world.start), (runs, 1))}
    yield frame(world, softmax(params["logits"]))
    for _ in range(updates):
        old = softmax(params["logits"])
        action, advantage = batch(world, old, rng)
        old_logp = np.log(np.take_along_axis(old, action, axis=1))
        for _ in range(PASSES):
            pi = softmax(params["logits"])
            slope = clipped_slope(pi, action, advantage, old_logp, eps_low, eps_high)
            slope = slope + alpha * entropy.bonus(pi) - beta * entropy.price(pi, world.start)
            optimizer.step(params, {"logits": -slope})
        yield frame(world, softmax(params["logits"]))


def batch(world, pi, rng):
    """(actions, advantages), both (runs, DRAWS): z-scores within groups of K samples."""
    runs, ways = pi.shape
    drawn = pi.cumsum(axis=1)[:, None, :] < rng.random((runs, DRAWS, 1))
    action = np.minimum(drawn.sum(axis=2), ways - 1)
    reward = (rng.random((runs, DRAWS)) < world.right[action]).astype(float)
    z = group_baselines.z_score(reward.reshape(-1, K), 1e-6, 1)
    return action, z.reshape(runs, DRAWS)


def clipped_slope(pi, action, advantage, old_logp, eps_low, eps_high):
    """(runs, ways): the slope of the mean clipped surrogate in the logits."""
    logp = np.log(np.take_along_axis(pi, action, axis=1))
    _, push = surrogate.clipped(logp, old_logp, advantage, eps_low, eps_high)
    runs, ways = pi.shape
    at = (np.arange(runs)[:, None] * ways + action).ravel()
    landed = np.bincount(at, push.ravel(), pi.size).reshape(pi.shape)
    return (landed - pi * push.sum(axis=1, keepdims=True)) / action.shape[1]


def found(frame):
    """(runs,) whether the prize is sampled more often than not."""
    return frame.pi[:, PRIZE] > 0.5


def ways_left(frame):
    """e to the mean entropy: the effective number of ways among which a run still chooses."""
    return float(np.exp(frame.entropy.mean()))
