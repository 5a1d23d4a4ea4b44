"""A scorer of steps is trained on labels that nobody checked, and then asked where chains go wrong first.

Logistic regression on one feature, the place and a constant, in place of a network: with enough chains it learns what
its labels say, so what it gets wrong is theirs. First errors as the test, the harmonic mean of two accuracies: Zheng et
al. (2024), arXiv:2412.06559.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators import step_labels
from sim.worlds import step_chain

CHAINS, KNOWN = 2_000, 300  # to train on, and as many to test on; chains with known errors, for the threshold
HALF = 0.5
THRESHOLDS = np.arange(0.02, 0.985, 0.01).round(2)
RIDGE, NEWTON_STEPS = 1e-2, 12


@dataclass(frozen=True)
class Scored:
    threshold: float
    F1: float  # of first errors
    found: float  # share of the flawed chains whose first error is named
    passed: float  # share of the clean chains in which no step is called flawed


def features(x):
    """(n, L) -> (n L, 3): what is read of a step, its place from 1/L to 1, a constant."""
    n, L = x.shape
    place = np.broadcast_to(np.arange(1, L + 1) / L, x.shape)
    return np.stack([x, place, np.ones(x.shape)], axis=-1).reshape(n * L, 3)


def trained(x, y):
    """(3,) the factors of a logistic scorer, by Newton's method with a ridge; x (N, 3), y (N,) from 0 to 1."""
    theta = np.zeros(x.shape[1])
    for _ in range(NEWTON_STEPS):
        prob = 1 / (1 + np.exp(-x @ theta))
        slope = x.T @ (prob - y) + RIDGE * theta
        curve = (x * (prob * (1 - prob))[:, None]).T @ x + RIDGE * np.eye(len(theta))
        theta = theta - np.linalg.lstsq(curve, slope, rcond=None)[0]
    return theta


def first(flawed):
    """The first True of each row, (n, L) -> (n,), L where there is none."""
    return np.where(flawed.any(axis=1), flawed.argmax(axis=1), flawed.shape[1])


def first_errors(prob, soundness, threshold):
    """How well the first step scored below the threshold is the first that is flawed."""
    L = soundness.shape[1]
    predicted, true = first(prob < threshold), first(~soundness)
    clean = true == L
    recall, passed = float((predicted == true)[~clean].mean()), float((predicted == L)[clean].mean())
    return Scored(threshold, 2 * recall * passed / (recall + passed) if recall + passed else 0.0, recall, passed)


def best_threshold(prob, soundness):
    """The threshold of the highest F1 on chains whose errors are known."""
    return max(THRESHOLDS, key=lambda threshold: first_errors(prob, soundness, threshold).F1)


@dataclass(frozen=True)
class Scorer:
    prob: np.ndarray  # (CHAINS, L) its scores of chains that it was not trained on
    soundness: np.ndarray  # (CHAINS, L) and what these are
    best: float  # threshold that suits it, by KNOWN other chains
    true_positives: float  # share of the sound steps, of those kept, that are labelled more sound than not
    false_positives: float  # and of the flawed ones
    kept: float  # share of the labels that it was trained on
    kept_flawed: float  # and of those of flawed steps

    def at(self, threshold):
        return first_errors(self.prob, self.soundness, threshold)


def run(rule, K, part=0.25, rescue=step_chain.RESCUE, chains=CHAINS, seed=0):
    """A scorer by one rule of labels, trained on so many chains, tested."""
    rng = np.random.default_rng(seed)
    V = step_chain.chain_values(rescue=rescue)
    soundness, x = step_chain.chains(chains, step_chain.STEPS, step_chain.SOUND, rescue, rng)
    fresh, fresh_x = step_chain.chains(CHAINS, step_chain.STEPS, step_chain.SOUND, rescue, rng)
    y, kept = step_labels.labels(soundness, V, rule, K, part, rng)
    theta = trained(features(x)[kept.ravel()], y.ravel()[kept.ravel()])

    def score(of):
        return (1 / (1 + np.exp(-features(of) @ theta))).reshape(of.shape)

    known, known_x = step_chain.chains(KNOWN, step_chain.STEPS, step_chain.SOUND, rescue, rng)
    called = y > HALF
    return Scorer(
        score(fresh_x),
        fresh,
        float(best_threshold(score(known_x), known)),
        float(called[soundness & kept].mean()),
        float(called[~soundness & kept].mean()),
        float(kept.mean()),
        float(kept[~soundness].mean()),
    )
