"""A scorer of steps is trained on unchecked labels and then asked where chains first go wrong.

Logistic regression on one feature, the position and a constant, in place of a network. With enough chains it learns
what its labels say, so its mistakes are theirs. First errors are the test, measured as the harmonic mean of two
accuracies: Zheng et al. (2024), arXiv:2412.06559.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators import step_labels
from sim.worlds import step_chain

CHAINS, KNOWN = 2_000, 300  # chains to train on, and as many to test on; chains with known errors for the threshold
HALF = 0.5
THRESHOLDS = np.arange(0.02, 0.985, 0.01).round(2)
RIDGE, NEWTON_STEPS = 1e-2, 12


@dataclass(frozen=True)
class Scored:
    threshold: float
    F1: float  # of first errors
    found: float  # fraction of flawed chains whose first error is found
    passed: float  # fraction of sound chains in which no step is called flawed


def features(x):
    """(n, L) -> (n L, 3): the reading of a step, its position from 1/L to 1, a constant."""
    n, L = x.shape
    place = np.broadcast_to(np.arange(1, L + 1) / L, x.shape)
    return np.stack([x, place, np.ones(x.shape)], axis=-1).reshape(n * L, 3)


def trained(x, y):
    """(3,) the coefficients of a logistic scorer, by Newton's method with a ridge; x (N, 3), y (N,) from 0 to 1."""
    theta = np.zeros(x.shape[1])
    for _ in range(NEWTON_STEPS):
        prob = 1 / (1 + np.exp(-x @ theta))
        slope = x.T @ (prob - y) + RIDGE * theta
        curve = (x * (prob * (1 - prob))[:, None]).T @ x + RIDGE * np.eye(len(theta))
        theta = theta - np.linalg.lstsq(curve, slope, rcond=None)[0]
    return theta


def first(flawed):
    """The index of the first True in each row, (n, L) -> (n,), L if there is none."""
    return np.where(flawed.any(axis=1), flawed.argmax(axis=1), flawed.shape[1])


def first_errors(prob, soundness, threshold):
    """How often the first step with a score below the threshold is the first flawed one."""
    L = soundness.shape[1]
    predicted, true = first(prob < threshold), first(~soundness)
    clean = true == L
    recall, passed = float((predicted == true)[~clean].mean()), float((predicted == L)[clean].mean())
    return Scored(threshold, 2 * recall * passed / (recall + passed) if recall + passed else 0.0, recall, passed)


def best_threshold(prob, soundness):
    """The threshold with the highest F1 on chains with known errors."""
    return max(THRESHOLDS, key=lambda threshold: first_errors(prob, soundness, threshold).F1)


@dataclass(frozen=True)
class Scorer:
    prob: np.ndarray  # (CHAINS, L) its scores on chains that it was not trained on
    soundness: np.ndarray  # (CHAINS, L) whether those steps are sound
    best: float  # its best threshold on KNOWN other chains
    true_positives: float  # fraction of the kept sound steps that are labelled more sound than not
    false_positives: float  # and of the flawed ones
    kept: float  # fraction of labels that were kept for training
    kept_flawed: float  # and of those of flawed steps

    def at(self, threshold):
        return first_errors(self.prob, self.soundness, threshold)


def run(rule, K, part=0.25, rescue=step_chain.RESCUE, chains=CHAINS, seed=0):
    """A scorer trained on `chains` chains with one labeling rule, and tested."""
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
