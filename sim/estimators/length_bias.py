"""A model with two branches, correct and wrong, whose lengths are not rewarded: what the loss's divisor alone does to
the lengths.

A completion is correct with probability p and then goes on for N tokens. After each token it stops with a probability
h, one for each branch; at T it is cut off. The length does not change the reward, so the true gradient of the pass rate
with respect to either stop logit is 0. If both branches shared one stop probability, the two drifts below would cancel:
the bias needs a policy that can tell its wrong answers from its correct ones. The bias: Liu et al. (2025),
Understanding R1-Zero-Like Training, arXiv:2503.20783. The model was made for this purpose; closed form.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators import std_weight

T = 64
# assumed: SGD learning rates at which a token's mean weight is about the same; AdamW needs no such matching
RATES = {"1/|o|": 1.0, "token mean": 2.6, "constant": 16.0}


@dataclass(frozen=True)
class Lengths:
    right: np.ndarray  # (seeds, updates + 1) expected tokens in a correct completion
    wrong: np.ndarray
    pass_rate: np.ndarray

    @property
    def updates(self):
        return self.right.shape[1] - 1


def expected_length(h):
    """Mean of min(N, T) for a geometric N with stop probability h: (1 - (1 - h)^T) / h."""
    return -np.expm1(T * np.log1p(-h)) / h


def distribution(h, longest=T):
    """Probability and score d log(probability) / d(stop logit) of N = 1 ... longest, each (longest,)."""
    n = np.arange(1, longest + 1)
    ends = n < longest
    return (1 - h) ** (n - 1) * np.where(ends, h, 1), np.where(ends, 1 - n * h, -(longest - 1) * h)


def expected_drift(p, h, K, std, divisor, groups=16, longest=T):
    """Expected ascent direction of the correct branch's stop logit at equal stop probabilities; the wrong branch's is
    minus that. The true value is 0.

    The advantage does not depend on the lengths, so the mean factorizes: E[A 1{correct}] times the mean of score over
    divisor.
    """
    probability, score = distribution(h, longest)
    n = np.arange(1, longest + 1)
    push = p * (1 - p) * (std_weight.std_weight(p, K) if std else (K - 1) / K)
    if divisor == "1/|o|":
        return push * (probability * score / n).sum()
    if divisor == "constant":
        return push * (probability * score).sum() / longest
    B = groups * K  # 1 / sum of B lengths = the integral of exp(-u sum) over u
    u = np.linspace(0, 60, 4001)[:, None] / (B * (probability * n).sum())
    lower = np.exp(-u * n) * probability
    integrand = (lower * score).sum(axis=1) * lower.sum(axis=1) ** (B - 1)
    return push * B * np.trapezoid(integrand, u[:, 0])


def train(p, h, K, std, divisor, answer_learns, groups, updates, seeds, rng, every, optimizer):
    """Yields the Lengths so far, after the first update and after every `every` updates, one row per seed. Batches are
    sampled, and the recorded expectations are exact. The optimizer must not clip the gradient norm, because one step is
    made for all seeds together.
    """
    # answer, stop when right, stop when wrong
    params = {"logit": np.log([p / (1 - p), h / (1 - h), h / (1 - h)]) * np.ones((seeds, 1))}
    seen = [params["logit"]]
    for update in range(1, updates + 1):
        p_now, stop_right, stop_wrong = (1 / (1 + np.exp(-params["logit"]))).T[:, :, None]  # (seeds, 1) each
        right = rng.random((seeds, groups * K)) < p_now
        stop = np.where(right, stop_right, stop_wrong)
        n = np.minimum(1 + np.floor(np.log(rng.random(right.shape)) / np.log1p(-stop)), T)
        A = advantage(right.reshape(seeds, groups, K).astype(float), std).reshape(right.shape)
        weight = A / divided_by(n, K, divisor)
        score = np.where(n < T, 1 - n * stop, -(T - 1) * stop)
        pushes = weight * (right - p_now) * answer_learns, weight * score * right, weight * score * ~right
        optimizer.step(params, {"logit": -np.stack([push.sum(axis=1) for push in pushes], axis=1)})
        seen.append(params["logit"])
        if update == 1 or update % every == 0:
            rate, when_right, when_wrong = np.moveaxis(1 / (1 + np.exp(-np.array(seen))), (0, 1, 2), (2, 1, 0))
            yield Lengths(expected_length(when_right), expected_length(when_wrong), rate)


def divided_by(n, K, divisor):
    """The divisors for completions of n tokens, (seeds, completions); K in a row share a prompt."""
    completions = n.shape[1]
    if divisor == "1/|o|":
        return n * completions
    if divisor == "token mean":
        return n.sum(axis=1, keepdims=True) * np.ones(n.shape)
    return T * completions * np.ones(n.shape)


def advantage(R, std):
    """(seeds, groups, K): the reward minus the group's mean, divided by the group's standard deviation if `std`."""
    A = R - R.mean(axis=2, keepdims=True)
    return A / (R.std(axis=2, ddof=1, keepdims=True) + 1e-6) if std else A
