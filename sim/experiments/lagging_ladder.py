"""Three answers on a ladder with rewards 0, 0.5 and 1, of which the best is rare: training on samples from an older
policy, and on samples that are used more than once.

The policy is a softmax that starts with probabilities of 0.90, 0.09 and 0.01. An update moves its logits along the mean
of w (R − b)(e_a − π) over 64 samples, where b is the weighted mean reward: a policy gradient with a baseline, Williams
(1992), and importance sampling as in Precup, Sutton and Singh (2000). All runs train side by side.
"""

import numpy as np

from sim.worlds.bandit import softmax
from sim.worlds.optimizer import SGD

REWARD = np.array([0.0, 0.5, 1.0])
START = np.array([0.90, 0.09, 0.01])
DRAWS, RUNS = 64, 32
ON_IT = 0.9  # a run with this probability of an answer has settled on it
WEIGHTS = {
    "none": lambda ratio: np.ones_like(ratio),
    "at most 2": lambda ratio: np.minimum(ratio, 2.0),
    "whole": lambda ratio: ratio,
}


def draw(pi, rng):
    """(runs, DRAWS) sampled answers, 0 to 2."""
    above = rng.random((len(pi), DRAWS, 1)) > pi.cumsum(axis=1)[:, np.newaxis]
    return above.sum(axis=2).clip(0, 2)


def gradient(pi, drawn, weight):
    """(runs, 3), the gradient of the mean reward in the logits, from answers (runs, DRAWS) and their weights."""
    reward = REWARD[drawn]
    baseline = (weight * reward).sum(axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True).clip(1e-300)
    push = weight * (reward - baseline)
    by_answer = np.stack([(push * (drawn == a)).sum(axis=1) for a in range(3)], axis=1)
    return (by_answer - push.sum(axis=1, keepdims=True) * pi) / DRAWS


def ratios(pi, mu, drawn):
    """(runs, DRAWS) the probability now over that at sampling time."""
    at = np.arange(len(pi))[:, np.newaxis]
    return pi[at, drawn] / mu[at, drawn]


def lagged(lag, way, rng, optimizer=None, steps=300):
    """((runs, 3) the policies after `steps` updates on samples from `lag` updates ago, (runs,) their smallest effective
    share of a batch).
    """
    optimizer = optimizer or SGD(1.0)
    params = dict(logits=np.log(START) * np.ones((RUNS, 1)))
    seen, least = [softmax(params["logits"])], np.ones(RUNS)
    for step in range(steps):
        pi, mu = seen[-1], seen[max(step - lag, 0)]
        drawn = draw(mu, rng)
        ratio = ratios(pi, mu, drawn)
        least = np.minimum(least, ratio.sum(axis=1) ** 2 / (ratio**2).sum(axis=1).clip(1e-300) / DRAWS)
        optimizer.step(params, dict(logits=-gradient(pi, drawn, WEIGHTS[way](ratio))))
        seen.append(softmax(params["logits"]).clip(1e-300))
    return seen[-1], least


def on_the_second(pi):
    """(runs,) whether a run has settled on the second answer."""
    return pi[:, 1] > ON_IT


def replayed(uses, kept, way, rng, optimizer=None, batches=60):
    """(batches, runs) mean reward after each fresh batch, with `uses` updates per batch, each on one of the last `kept`
    batches.
    """
    optimizer = optimizer or SGD(1.0)
    params = dict(logits=np.log(START) * np.ones((RUNS, 1)))
    buffer, earned = [], []
    for _ in range(batches):
        mu = softmax(params["logits"]).clip(1e-300)
        buffer = [*buffer, (mu, draw(mu, rng))][-kept:]
        for _ in range(uses):
            old, drawn = buffer[rng.integers(len(buffer))]
            pi = softmax(params["logits"])
            optimizer.step(params, dict(logits=-gradient(pi, drawn, WEIGHTS[way](ratios(pi, old, drawn)))))
        earned.append(softmax(params["logits"]) @ REWARD)
    return np.array(earned)
