"""The KL between a policy and its reference, estimated from sampled tokens: three estimators, the gradient that each
gives when it is trained on, and where that leads.

Everything is for one token position; a token's effect on later positions is left out. Estimators: Schulman (2020),
joschu.net/blog/kl-approx.html. Gradients: Tang and Munos (2025), arXiv:2506.09477; Liu et al. (2025), arXiv:2510.01555.
Everything is closed form or an exact sum over the vocabulary, except `train`, which samples.
"""

from dataclasses import dataclass

import numpy as np

LOG_RATIO_CLAMP = 20.0  # verl 0.9.1, core_algos.py: clamp(ref_logp - logp, -20, 20) before the exponential
K3_CLAMP = 10.0  # the same place: clamp(k3, -10, 10)
MOST_NEGATIVE_LOGIT = -300.0  # keeps probabilities above 1e-131, so that their logarithms and e^(−r) are finite


def divergence(p, q):
    """KL(p‖q) in nats, the exact sum over the last axis."""
    return (p * (np.log(p) - np.log(q))).sum(axis=-1)


def k1(logp, ref_logp):
    """The log-ratio r: unbiased, but negative wherever the reference gives the token a higher probability."""
    return logp - ref_logp


def k2(logp, ref_logp):
    """r²/2: never negative, but biased."""
    return 0.5 * (logp - ref_logp) ** 2


def k3(logp, ref_logp):
    """e^(−r) − 1 + r: k1 plus a term with mean zero, never negative."""
    r = logp - ref_logp
    return np.expm1(-r) + r  # expm1 keeps the digits that exp(-r) - 1 loses near r = 0


def k1_slope(logp, ref_logp):
    """d k1 / d logp = 1: the reference has dropped out."""
    return np.ones_like(logp - ref_logp)


def k2_slope(logp, ref_logp):
    """d k2 / d logp = r."""
    return logp - ref_logp


def k3_slope(logp, ref_logp):
    """d k3 / d logp = 1 − e^(−r): at most 1 for r > 0, exponential for r < 0."""
    return -np.expm1(ref_logp - logp)


VALUE = dict(k1=k1, k2=k2, k3=k3)
SLOPE = dict(k1=k1_slope, k2=k2_slope, k3=k3_slope)
PLACEMENTS = ("reward", "loss", "loss × ratio", "loss+")


def clamped_k3(logp, ref_logp):
    """k3 and its slope with verl's two clamps: a clamped token has slope 0, so the penalty no longer pulls on it."""
    r = logp - ref_logp
    held = np.clip(r, -LOG_RATIO_CLAMP, LOG_RATIO_CLAMP)
    value = k3(held, 0.0)
    free = (np.abs(r) <= LOG_RATIO_CLAMP) & (value <= K3_CLAMP)
    return np.minimum(value, K3_CLAMP), np.where(free, k3_slope(held, 0.0), 0.0)


@dataclass(frozen=True)
class Moments:
    """Mean and variance of one sample of k1, k2 and k3, (3,) each."""

    mean: np.ndarray
    variance: np.ndarray


def k_moments(policy, ref, old):
    """Moments of k1, k2 and k3 between policy and ref for tokens sampled from `old`, summed over the vocabulary."""
    logp, ref_logp = np.log(policy), np.log(ref)
    k = np.array([value(logp, ref_logp) for value in VALUE.values()])  # (3, V)
    mean = (k * old).sum(axis=-1)
    return Moments(mean, ((k - mean[:, np.newaxis]) ** 2 * old).sum(axis=-1))


def gaussian_moments(mu):
    """The same moments for N(mu, 1) against N(0, 1), sampled from N(mu, 1): the KL is mu²/2."""
    m = mu * mu
    return Moments(np.array([m / 2, (m + m * m / 4) / 2, m / 2]), np.array([m, m * m / 2 + m**3 / 4, np.expm1(m) - m]))


def gaussian_table(mu):
    """N(mu, 1) as a vocabulary of 401 tokens at (401,) positions from −10 to 10: (positions, probabilities)."""
    x = np.linspace(-10.0, 10.0, 401)
    density = np.exp(-0.5 * (x - mu) ** 2)
    return x, density / density.sum()


def between(policy, ref, gap):
    """The policy after going the fraction `gap` of the way back to the reference: policy^(1−gap) · ref^gap, normalized.

    assumed: this stands for an older policy that sampled the tokens. An older policy is on this path for Gaussians and
    for a reward tilt that is less far advanced.
    """
    logits = (1 - gap) * np.log(policy) + gap * np.log(ref)
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def gradient_weight(logp, ref_logp, old_logp, estimator, placement):
    """The factor of ∇log π for a token sampled from the old policy when the penalty is minimized.

    In the reward, the estimator is a number computed with the old policy, and the policy gradient multiplies it by the
    ratio π/π_old. As a loss it is differentiated; multiplied by the ratio, it yields both terms of the product rule.
    loss+ (verl's k1+, k3+) keeps the value and takes k2's slope.
    """
    value, slope, ratio = VALUE[estimator], SLOPE[estimator], np.exp(logp - old_logp)
    if placement == "reward":
        return ratio * value(old_logp, ref_logp)
    if placement == "loss":
        return slope(logp, ref_logp)
    if placement == "loss × ratio":
        return ratio * (value(logp, ref_logp) + slope(logp, ref_logp))
    return k2_slope(logp, ref_logp)


def softmax_score(policy):
    """∇log π of every token with respect to the logits, (V, V): row a is onehot(a) − policy."""
    return np.eye(len(policy)) - policy


def gaussian_score(x, mu):
    """∇log N(x; mu, σ) with respect to (mu, log σ) at σ = 1, (positions, 2)."""
    return np.stack([x - mu, (x - mu) ** 2 - 1], axis=-1)


def penalty_gradient(policy, ref, old, score, estimator, placement):
    """The exact expected gradient of the penalty when tokens come from `old`, one number per parameter."""
    weight = gradient_weight(np.log(policy), np.log(ref), np.log(old), estimator, placement)
    return ((old * weight)[:, np.newaxis] * score).sum(axis=0)


def reverse_kl_gradient(policy, ref, score):
    """∇KL(policy‖ref) = E_policy[r ∇log π]."""
    return ((policy * (np.log(policy) - np.log(ref)))[:, np.newaxis] * score).sum(axis=0)


def forward_kl_gradient(policy, ref, score):
    """∇KL(ref‖policy) = −E_ref[∇log π]; for logits it is policy − ref."""
    return -(ref[:, np.newaxis] * score).sum(axis=0)


def cosine(a, b):
    """Cosine of the angle between two gradients; NaN if one of them is zero."""
    norms = np.sqrt((a * a).sum() * (b * b).sum())
    return (a * b).sum() / norms if norms > 1e-12 else np.nan


def reverse_kl_optimum(reward, ref, beta):
    """The policy that maximizes E[reward] − beta KL(policy‖ref): ref · e^(reward/beta), normalized."""
    tilted = ref * np.exp((reward - reward.max()) / beta)  # the maximum is subtracted first, because exp(800) is inf
    return tilted / tilted.sum()


def forward_kl_optimum(reward, ref, beta):
    """The policy that maximizes E[reward] − beta KL(ref‖policy): beta · ref / (lam − reward), with lam chosen so that
    it sums to 1.
    """
    # at lam = max + beta no term exceeds its ref, so the sum is at most 1
    low, high = reward.max(), reward.max() + beta
    for _ in range(60):
        lam = (low + high) / 2
        low, high = (lam, high) if (beta * ref / (lam - reward)).sum() > 1 else (low, lam)
    return beta * ref / (high - reward)


def train(reward, ref, beta, estimator, placement, gap, samples, learning_rate, updates, runs, rng):
    """Softmax policies trained from the reference on E[reward] − beta · penalty: the policy before each update and
    after the last, (updates + 1, runs, V).

    Each update takes a policy gradient from `samples` tokens. A penalty in the reward passes through the baseline and
    the ratio like the reward; a penalty in the loss does not.
    """
    in_reward, ref_logp = placement == "reward", np.log(ref)
    policies = np.empty((updates + 1, runs, len(ref)))
    policies[0], logits = ref, np.tile(ref_logp, (runs, 1))
    for update in range(updates):
        policy = policies[update]
        logp = np.log(policy)
        old = between(policy, ref, gap) if gap else policy
        old_logp = np.log(old) if gap else logp
        share = rng.multinomial(samples, old) / samples  # (runs, V): of the batch
        shaped = reward - beta * VALUE[estimator](old_logp, ref_logp) if in_reward else reward
        advantage = shaped - (old * shaped).sum(axis=1, keepdims=True)  # assumed: a perfect critic as baseline
        weight = np.exp(logp - old_logp) * advantage
        if not in_reward:
            weight = weight - beta * gradient_weight(logp, ref_logp, old_logp, estimator, placement)
        push = share * weight
        logits = logits + learning_rate * (push - policy * push.sum(axis=1, keepdims=True))
        p = np.exp(np.maximum(logits - logits.max(axis=1, keepdims=True), MOST_NEGATIVE_LOGIT))
        policies[update + 1] = p / p.sum(axis=1, keepdims=True)
    return policies
