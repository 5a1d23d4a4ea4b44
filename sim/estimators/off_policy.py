"""How much an answer from a different policy counts: weights and masks, what they cost in bias and noise, and V-trace.

A ratio is the training policy's probability divided by the sampling policy's. Truncated: IMPALA, Espeholt et al.
(2018), arXiv:1802.01561. Masked per token: IcePop, Ling Team (2025), arXiv:2510.18855. Masked per completion: Liu et
al. (2025), and TRL 1.16.0's `sequence_mask`; only for negative advantages: DeepSeek-V3.2 (2025), arXiv:2512.02556,
equation 9. Arrays are (N, T), and `mask` is 1 at tokens that the policy sampled. Weights are constants: no gradient
flows through them.
"""

import numpy as np

from sim.estimators.importance import mean_under


# ── weights and masks ──
def token_truncated(log_ratio, mask, limit):
    """The ratio of each token, capped at `limit`."""
    return np.minimum(np.exp(log_ratio), limit) * mask


def token_masked(log_ratio, mask, low, high):
    """The ratio of each token if it lies from `low` to `high`, otherwise 0."""
    ratio = np.exp(log_ratio)
    return ratio * ((ratio >= low) & (ratio <= high)) * mask


def completion_truncated(log_ratio, mask, limit):
    """The product of a completion's ratios, capped at `limit`, at each of its tokens."""
    return np.exp(np.minimum((log_ratio * mask).sum(axis=1, keepdims=True), np.log(limit))) * mask


def completion_masked(log_ratio, mask, limit):
    """The product of a completion's ratios, or 0 if it exceeds `limit`."""
    product = np.exp((log_ratio * mask).sum(axis=1, keepdims=True))
    return product * (product <= limit) * mask


def mean_masked(log_ratio, mask, low, high):
    """The ratio of each token, or 0 if the geometric mean of the completion's ratios lies outside `low` to `high`."""
    mean = np.exp((log_ratio * mask).sum(axis=1, keepdims=True) / mask.sum(axis=1, keepdims=True))
    return np.exp(log_ratio) * ((mean >= low) & (mean <= high)) * mask


def negative_masked(log_ratio, mask, advantage, limit):
    """1, or 0 for completions with a negative advantage whose tokens have become less likely since sampling, by more
    than `limit` nats on average.
    """
    gap = -(log_ratio * mask).sum(axis=1, keepdims=True) / mask.sum(axis=1, keepdims=True)
    return mask * ~((advantage < 0) & (gap > limit))


# ── what a weight costs ──
def estimator(pi, mu, reward, weight, baseline):
    """(mean (A,), length of its bias, trace of its covariance) of weight (reward − baseline) (e_a − π), an estimate of
    the policy gradient from one sample a of `mu`. All arguments are (A,); the weight π/μ gives the true gradient.
    """
    score = np.eye(len(pi)) - pi
    drawn = (weight * (reward - baseline))[:, np.newaxis] * score  # (A, A), a row a draw
    mean, truth = mu @ drawn, (pi * (reward - baseline)) @ score
    return mean, float(np.linalg.norm(mean - truth)), float(mu @ (drawn**2).sum(axis=1) - mean @ mean)


def second_moment(pi, mu, length):
    """Variance of the product of `length` independent ratios, (1 + χ²)^length − 1, where χ² is the variance of one
    ratio.
    """
    return (1 + mean_under(pi, mu, 1.0)[1]) ** length - 1


def effective_share(sigma, length):
    """Effective share of samples weighted by products of `length` ratios whose log-ratios are independent and normal
    with standard deviation `sigma`, e^(−σ² length): Kong (1992) for log-normal weights.
    """
    return np.exp(-(sigma**2) * np.asarray(length, float))


# ── V-trace ──
def vtrace(rho, reward, value, bootstrap, gamma, rho_bar, c_bar):
    """(targets v, advantages), each (T,), from the ratios, rewards and values of one trajectory of the old policy.

    v_s − V_s = ρ_s δ_s + γ c_s (v_{s+1} − V_{s+1}), with ρ = min(ρ̄, ratio) and c = min(c̄, ratio); the advantage is
    ρ_s (r_s + γ v_{s+1} − V_s).
    """
    rho_cut, c = np.minimum(rho, rho_bar), np.minimum(rho, c_bar)
    after = np.append(value[1:], bootstrap)
    delta = rho_cut * (reward + gamma * after - value)
    ahead, targets = 0.0, np.zeros(len(value))
    for t in reversed(range(len(value))):
        ahead = delta[t] + gamma * c[t] * ahead
        targets[t] = value[t] + ahead
    return targets, rho_cut * (reward + gamma * np.append(targets[1:], bootstrap) - value)


def vtrace_fixed_point(pi, mu, rho_bar):
    """The policy whose value V-trace estimates: min(ρ̄ μ, π), normalized."""
    kept = np.minimum(rho_bar * mu, pi)
    return kept / kept.sum()
