"""Five completions of one prompt and five logits: imitation, the exact policy gradient, and its sampled estimate with
and without a baseline.

REINFORCE and its baseline: Williams (1992), doi:10.1007/BF00992696. Gradients, variances and the best baseline are
closed form. Unlike in a language model, every completion has its own logit, so a push on one moves the others only
through the sum of the probabilities.
"""

import numpy as np


def softmax(logits):
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))  # the maximum is subtracted first, because exp(800) is inf
    return e / e.sum(axis=-1, keepdims=True)


def expected_reward(pi, reward):
    """J, the mean reward of the policy's completions, (..., arms) -> (...)."""
    return pi @ reward


def imitation_gradient(pi, shown):
    """Minus the gradient of the cross-entropy to the demonstrations with respect to the logits: shown minus pi."""
    return shown - pi


def policy_gradient(pi, reward):
    """The gradient of J with respect to the logits: pi_a (r_a - J). Arms above the average rise, arms below it fall,
    and an arm with probability 0 stays there.
    """
    return pi * (reward - expected_reward(pi, reward)[..., None])


def sampled_gradient(pi, reward, baseline, N, rng):
    """Its estimate from N completions: the reward is looked up, never differentiated."""
    arms = draw(pi, N, rng)
    rewards = reward[arms]
    return push(pi, arms, rewards - baseline(rewards))


def draw(pi, N, rng):
    """Samples N arms from each policy, (..., arms) -> (..., N)."""
    cumulative = pi.cumsum(axis=-1)[..., None, :]
    return (cumulative < rng.random((*pi.shape[:-1], N, 1)) * cumulative[..., -1:]).sum(axis=-1)


def push(pi, arms, advantage):
    """Mean of advantage * (one-hot of the arm - pi), which is the gradient of log pi; (..., N) -> (..., arms)."""
    one_hot = arms[..., None] == np.arange(pi.shape[-1])
    on_the_drawn = (advantage[..., None] * one_hot).mean(axis=-2)
    return on_the_drawn - advantage.mean(axis=-1, keepdims=True) * pi


def no_baseline(rewards):
    return np.zeros_like(rewards)


def batch_mean(rewards):
    """The mean of the batch, including the sample's own reward; it shortens the expected step by the factor
    (N - 1)/N.
    """
    return rewards.mean(axis=-1, keepdims=True)


def leave_one_out(rewards):
    """The mean of the other N - 1 rewards. It excludes the sample's own reward, so the estimate stays unbiased."""
    N = rewards.shape[-1]
    if N < 2:
        raise ValueError("N must be at least 2: one completion has no others to be compared with")
    return (rewards.sum(axis=-1, keepdims=True) - rewards) / (N - 1)


def path(logits, gradient, learning_rate, steps):
    """The policies along steps of logits + learning_rate * gradient(pi), (steps + 1, ..., arms)."""
    policies = [softmax(logits)]
    for _ in range(steps):
        logits = logits + learning_rate * gradient(policies[-1])
        policies.append(softmax(logits))
    return np.array(policies)


def gradient_variance(pi, reward, baseline=0.0):
    """Variance of the push from one sample, summed over the logits: E[(r - b)^2 |g|^2] - |grad J|^2, where g is the
    gradient of log pi.
    """
    return (pi * (reward - baseline) ** 2 * score_norm(pi)).sum() - (policy_gradient(pi, reward) ** 2).sum()


def best_baseline(pi, reward):
    """The constant with the least variance, E[r |g|^2] / E[|g|^2]: the mean reward, weighted by how hard each arm
    pushes.
    """
    weight = pi * score_norm(pi)
    return (weight * reward).sum() / weight.sum()


def score_norm(pi):
    """|g|^2 of every arm, with g = one-hot - pi."""
    return 1 - 2 * pi + (pi**2).sum()


def leave_one_out_variance(pi, reward, N):
    """Variance of the mean push of N samples, each relative to the mean of the others, summed over the logits.

    The estimate is the mean over pairs of h = (r_i - r_j)(g_i - g_j)/2, a U-statistic. Hoeffding (1948),
    doi:10.1214/aoms/1177730196, gives its variance, 2/(N(N-1)) * (2(N-2) Var E[h | i] + Var h).
    """
    one_hot = np.eye(len(pi))
    # (arms, arms, logits); pi cancels in g_i - g_j
    h = (reward[:, None] - reward)[..., None] * (one_hot[:, None] - one_hot) / 2
    pair, mean = pi[:, None] * pi, policy_gradient(pi, reward)
    of_one = ((h * pi[:, None]).sum(axis=1) - mean) ** 2
    of_pair = (h - mean) ** 2
    return 2 / (N * (N - 1)) * (2 * (N - 2) * (pi[:, None] * of_one).sum() + (pair[..., None] * of_pair).sum())


def cross_entropy(shown, pi):
    """-E log pi over the demonstrations in nats: their entropy plus KL(shown || pi)."""
    return -(shown * np.log(pi)).sum()
