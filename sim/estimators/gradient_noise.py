"""The noise of a REINFORCE estimate when every answer can be enumerated: one prompt, five answers, a softmax over five
logits.

Closed form, with the policy of sim/worlds/bandit.py at different logits. The gradient estimate from one sample is (R -
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
    """(answers, logits): the gradient estimate that each answer gives if it is the sampled one."""
    return (reward - baseline)[:, None] * (np.eye(len(logits)) - softmax(logits))


def noise(logits, reward, baseline):
    """Trace of the covariance of the estimate from one sample: E[(R - b)^2 |s|^2] - |grad J|^2."""
    pi, estimate, mean = softmax(logits), estimates(logits, reward, baseline), policy_gradient(logits, reward)
    return pi @ (estimate**2).sum(axis=1) - mean @ mean


def best_baseline(logits, reward):
    """The least noisy constant, E[R |s|^2] / E[|s|^2]: the mean reward, every answer weighted by its squared score."""
    return bandit.best_baseline(softmax(logits), reward)


def samples_for_signal(logits, reward, baseline):
    """The number of samples at which signal and noise are equal."""
    mean = policy_gradient(logits, reward)
    return noise(logits, reward, baseline) / (mean @ mean)


def progress_along_gradient(logits, reward, baseline):
    """(answers,): how far each answer's estimate moves along the true gradient; its mean is |grad J|."""
    mean = policy_gradient(logits, reward)
    return estimates(logits, reward, baseline) @ mean / np.linalg.norm(mean)


def sampled_gradient(logits, reward, baseline, samples, rng):
    """The mean of the estimates from `samples` sampled answers, (logits,)."""
    counts = rng.multinomial(samples, softmax(logits))
    return counts / samples @ estimates(logits, reward, baseline)


def two_answer_noise(p, baseline):
    """Variance of one estimate of d/d(logit of the correct answer), where an answer is correct (R = 1) with probability
    p: p (1 - p) (1 - p - b)^2.
    """
    return p * (1 - p) * (1 - p - baseline) ** 2
