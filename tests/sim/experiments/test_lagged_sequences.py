"""What a lag of 32 updates costs short texts, by correction."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from sim.experiments import lagged_sequences as lagged

SEEDS = range(5)


@cache
def run(way, delay, seed):
    return lagged.rewards(way, delay, seed).mean()


def test_the_mean_reward_is_that_of_all_texts():
    right = np.array([0.1, 0.9, 0.5, 0.3, 0.7, 0.25])

    def chance(hits):
        return np.prod(np.where(hits, right, 1 - right))

    exact = sum(chance(np.array(hits)) * np.mean(hits) ** 2 for hits in product([0, 1], repeat=6))
    assert lagged.mean_reward(right) == pytest.approx(exact)


def test_the_gradient_is_that_of_the_log_probs():
    rng, h = np.random.default_rng(0), 1e-6
    logits = rng.standard_normal((6, 8))
    text, push = rng.integers(0, 8, (20, 6)), rng.standard_normal((20, 6))

    def policy(x):
        return np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)

    def objective(x):
        return (push * np.log(policy(x)[np.arange(6), text])).sum() / 20

    for p, v in ((0, 0), (3, 5)):
        step = np.zeros((6, 8))
        step[p, v] = h
        exact = (objective(logits + step) - objective(logits - step)) / (2 * h)
        assert lagged.gradient(text, push, policy(logits))[p, v] == pytest.approx(exact, abs=1e-7)


def test_without_a_lag_every_correction_is_the_same():
    runs = [lagged.rewards(way, 0, 0, updates=30) for way in lagged.WAYS]
    for rewards in runs[1:]:
        assert rewards == pytest.approx(runs[0], abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_a_lag_of_32_the_clip_stops_learning_and_the_whole_ratio_costs_least(seed):
    late = {way: run(way, 32, seed) for way in lagged.WAYS}
    assert late["ratio"] > max(late["none"], late["truncated ratio"]) > late["truncated ratio of the text"] + 0.05
    assert late["ratio and clip"] < 0.4 < late["truncated ratio of the text"]
    assert max(late.values()) < run("none", 0, seed)
