"""The noise of a REINFORCE estimate where every answer can be enumerated: one prompt, five answers, a softmax over five
logits.

Closed form; the policy is that of sim/worlds/bandit.py, at other logits. One sample's estimate of the gradient is (R -
b) s with the score s = grad log pi = onehot - pi. Nothing is trained here. Williams (1992), doi:10.1007/BF00992696; the
least noisy constant b: Greensmith, Bartlett and Baxter (2004), JMLR 5.
"""

import numpy as np

from sim.worlds import bandit
from sim.worlds.bandit import softmax

LOGITS = np.array([0.0, 0.5, -0.3, 1.0, 0.2])
REWARD = np.array([0.0, 0.0, 1.0, 0.2, 0.5])


def expected_reward(logits, reward):
    return bandit.expected_reward(softmax(logits), reward)


def policy_gradient(logits, reward):
    """d expected_reward / d logits, (answers,): pi (R - J)."""
    return bandit.policy_gradient(softmax(logits), reward)


def estimates(logits, reward, baseline):
    """(answers, logits): the gradient estimate that each answer gives when it is the one that was sampled."""
    return (reward - baseline)[:, None] * (np.eye(len(logits)) - softmax(logits))


def noise(logits, reward, baseline):
    """Trace of the covariance of one sample's estimate: E[(R - b)^2 |s|^2] - |grad J|^2."""
    pi, estimate, mean = softmax(logits), estimates(logits, reward, baseline), policy_gradient(logits, reward)
    return pi @ (estimate**2).sum(axis=1) - mean @ mean


def best_baseline(logits, reward):
    """The constant with the least noise, E[R |s|^2] / E[|s|^2]: the mean reward with every answer weighted by its
    squared score.
    """
    return bandit.best_baseline(softmax(logits), reward)


def samples_for_signal(logits, reward, baseline):
    """How many samples it takes until signal and noise are equal."""
    mean = policy_gradient(logits, reward)
    return noise(logits, reward, baseline) / (mean @ mean)


def progress_along_gradient(logits, reward, baseline):
    """(answers,): how far each answer's estimate goes in the direction of the true gradient; its mean is |grad J|."""
    mean = policy_gradient(logits, reward)
    return estimates(logits, reward, baseline) @ mean / np.linalg.norm(mean)


def sampled_gradient(logits, reward, baseline, samples, rng):
    """The mean of the estimates of this many sampled answers, (logits,)."""
    counts = rng.multinomial(samples, softmax(logits))
    return counts / samples @ estimates(logits, reward, baseline)


def two_answer_noise(p, baseline):
    """Variance of one estimate d/d(logit of being right) where an answer is right (R = 1) with probability p: p (1 - p)
    (1 - p - b)^2.
    """
    return p * (1 - p) * (1 - p - baseline) ** 2
