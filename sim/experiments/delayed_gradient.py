"""A policy gradient from completions that are Δ updates old, on the smallest possible policy: a softmax over A answers.

Rewards rise evenly from 0 to 1, the reference is uniform, and an update adds learning rate × gradient to the logits.
Near the optimum, the gradient with the KL in the reward is a linear system with a delay, x ← x − lr β F x(Δ updates
ago), whose exact limit is that of Levin and May (1976). It is deterministic unless `draws` are asked for.
"""

from dataclasses import dataclass
from math import cos, inf, log, pi

import numpy as np

from sim.estimators.importance import mean_under

ANSWERS = 8
UPDATES = 600


@dataclass(frozen=True)
class Course:
    """One training run; each entry is the policy before an update, and the last one the policy after all of them."""

    score: np.ndarray  # (updates + 1,) J = E[R] − β KL
    kl: np.ndarray  # (updates + 1,) KL to the reference in nats
    best: np.ndarray  # (updates + 1,) probability of the best answer
    surest: np.ndarray  # (updates + 1,) probability of the most likely answer
    policies: np.ndarray  # (updates + 1, answers)
    effective: np.ndarray  # (updates,) effective share of a batch from the old policy, weighted toward the current one


def reward_with_kl(pi, mu, drawn, reward, beta):
    """The weight of each answer's log-prob if the KL is part of the reward, evaluated where the batch was sampled."""
    value = reward + -beta * np.log(mu * len(mu))
    return drawn * (value - drawn @ value)


def kl_as_loss(pi, mu, drawn, reward, beta):
    """The same if the KL is a separate loss, evaluated at the current policy."""
    return drawn * (reward - drawn @ reward) - kl_gradient(pi, beta)


def weighted(pi, mu, drawn, reward, beta):
    """The KL as a loss, with each reward weighted by the current policy's ratio to the old one."""
    ratio = pi / mu
    return drawn * ratio * (reward - drawn @ (ratio * reward)) - kl_gradient(pi, beta)


def kl_gradient(pi, beta):
    log_ratio = np.log(pi * len(pi))
    return beta * pi * (log_ratio - pi @ log_ratio)


CORRECTIONS = {"none": reward_with_kl, "KL as a loss": kl_as_loss, "KL as a loss, and ratio": weighted}


def course(delay, learning_rate, beta=0.2, correction="none", draws=0, updates=UPDATES, answers=ANSWERS, seed=0):
    """A Course of training on what the policy of `delay` updates ago would write: the exact expectation, or `draws`
    samples.
    """
    reward, rng = np.linspace(0, 1, answers), np.random.default_rng(seed)
    logits, policies, effective = np.zeros(answers), [np.full(answers, 1 / answers)], []
    for t in range(updates):
        pi, mu = policies[t], policies[max(t - delay, 0)]
        drawn = rng.multinomial(draws, mu) / draws if draws else mu
        weight = CORRECTIONS[correction](pi, mu, drawn, reward, beta)
        logits = logits + learning_rate * (weight - weight.sum() * pi)
        effective.append(1 / (1 + mean_under(pi, mu, 1.0)[1]))  # weights have mean 1
        exp = np.exp(logits - logits.max())
        policies.append(np.maximum(exp / exp.sum(), 1e-300))
    policies = np.array(policies)
    kl = (policies * np.log(policies * answers)).sum(axis=1)
    score = policies @ reward - beta * kl
    return Course(score, kl, policies[:, -1], policies.max(axis=1), policies, np.array(effective))


def optimum(beta=0.2, answers=ANSWERS):
    """(π*, J*): π* ∝ exp(R/β) under a uniform reference, and J* = β ln mean exp(R/β)."""
    weight = np.exp(np.linspace(0, 1, answers) / beta)
    return weight / weight.sum(), beta * log(weight.mean())


def curvature(beta=0.2, answers=ANSWERS):
    """Largest eigenvalue of the Fisher matrix F = diag(π) − π πᵀ at the optimum."""
    policy, _ = optimum(beta, answers)
    return float(np.linalg.eigvalsh(np.diag(policy) - np.outer(policy, policy))[-1])


def step_limit(delay):
    """2 cos(Δπ / (2Δ + 1)): x ← x − a x(Δ updates ago) converges if and only if a > 0 lies below it. Levin and May
    (1976).
    """
    return 2 * cos(delay * pi / (2 * delay + 1))


def freshness_wall(learning_rate, beta, largest):
    """The largest lag at which the delayed gradient converges; −1 if it converges at none."""
    if learning_rate * beta * largest <= 0:
        return inf
    delay = -1
    while learning_rate * beta * largest < step_limit(delay + 1):
        delay += 1
    return delay


def steering(delay, step, updates=60):
    """The distance from the goal, starting at 1, if each update corrects it by `step` times the distance `delay`
    updates ago; (updates + 1,).
    """
    x = [1.0]
    for t in range(updates):
        x.append(x[t] - step * x[max(t - delay, 0)])
    return np.array(x)


def effective_share(spread):
    """Effective share of many samples whose log-ratios are normal with this standard deviation, exp(−s²)."""
    return float(np.exp(-(spread**2)))
