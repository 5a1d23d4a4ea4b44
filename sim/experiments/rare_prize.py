"""Fifty ways to answer one prompt: the common one is right half the time, a rare one always. Is the rare one found
before the policy is certain of the other?

A softmax over the ways stands for the policy at that prompt. Draws, z-scores of groups and clipped passes are GRPO's
(Shao et al., 2024, arXiv:2402.03300), the two sides of the clip DAPO's (Yu et al., 2025, arXiv:2503.14476); to each
pass the exact slopes of a bonus for entropy and of a price of KL to the start are added. A language model shares
weights between its answers; here a rare way gains nothing from the others. What is common and what is right are
assumptions of ours.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.estimators import entropy, group_baselines, surrogate
from sim.worlds.bandit import softmax
from sim.worlds.optimizer import SGD, AdamW

COMMON, PRIZE = 0, 1  # the first two ways
WAYS, COINS = 50, 20
DRAWS, K, PASSES = 64, 8, 8  # a batch: eight groups of eight draws, and how often it is gone over
UPDATES, RUNS = 60, 24
LEARNING_RATES = dict(SGD=2.0, AdamW=0.02)


@dataclass(frozen=True)
class World:
    start: np.ndarray  # (ways,) probability of each before training
    right: np.ndarray  # (ways,) how often each is right, and paid 1; else 0


def prize(odds):
    """The common way is 60 of 100 draws and right half the time, the prize is one draw in `odds` and always right, 48
    others share what is left and are never right.
    """
    rest = np.full(WAYS - 2, (0.4 - 1 / odds) / (WAYS - 2))
    return World(np.array([0.6, 1 / odds, *rest]), np.array([0.5, 1.0, *np.zeros(WAYS - 2)]))


def coins():
    """Twenty ways, all as likely and each paid by the flip of a coin: there is nothing to learn."""
    return World(np.full(COINS, 1 / COINS), np.full(COINS, 0.5))


@dataclass(frozen=True)
class Frame:
    """After an update."""

    pi: np.ndarray  # (runs, ways)
    entropy: np.ndarray  # (runs,) nats
    right: np.ndarray  # (runs,) share of the draws that are right, exact


def frame(world, pi):
    return Frame(pi, entropy.entropy(pi), pi @ world.right)


def optimizer(name, rate=None):
    rate = LEARNING_RATES[name] if rate is None else rate
    return SGD(rate) if name == "SGD" else AdamW(rate, clip=None)


def run(world, alpha, beta, eps_low, eps_high, optimizer, rng, updates=UPDATES, runs=RUNS) -> Iterator[Frame]:
    """Frames of `runs` trainings side by side, which share nothing; the first is the start."""
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
    """(actions, advantages), both (runs, DRAWS): the z-scores of groups of K draws."""
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
    """(runs,) whether the prize is drawn more often than not."""
    return frame.pi[:, PRIZE] > 0.5


def ways_left(frame):
    """e to the mean entropy: between how many equally likely ways a run still chooses."""
    return float(np.exp(frame.entropy.mean()))
