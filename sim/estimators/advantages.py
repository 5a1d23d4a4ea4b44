"""Advantages for the tokens of a completion, from rewards and a critic's values. GAE: Schulman et al. (2015),
arXiv:1506.02438.
"""

import numpy as np


def at_the_end(reward, mask):
    """Rewards per completion, (N,), as rewards per token, (N, T): each arrives at the last own token."""
    last = mask.shape[1] - 1 - np.argmax(mask[:, ::-1], axis=1)
    return (np.arange(mask.shape[1]) == last[:, None]) * reward[:, None]


def gae(reward, value, mask, gamma, lam):
    """Advantages and returns, (N, T): A_t = delta_t + gamma lam A_{t+1}, with delta_t = r_t + gamma V_{t+1} - V_t; 0
    outside the mask.

    Tokens outside the mask are skipped, not filled with zeros, so t+1 is the next own token. With gamma = lam = 1, A_t
    is the reward still to come minus V_t.
    """
    advantage, next_value, running = np.zeros(reward.shape), np.zeros(len(reward)), np.zeros(len(reward))
    for t in reversed(range(reward.shape[1])):
        own = mask[:, t] > 0
        delta = reward[:, t] + gamma * next_value - value[:, t]
        running = np.where(own, delta + gamma * lam * running, running)
        next_value = np.where(own, value[:, t], next_value)
        advantage[:, t] = running * own
    return advantage, advantage + value * mask


def gae_without_holes(reward, value, gamma, lam):
    """The advantages, (N, T), that `gae` returns for completions whose tokens are all own, computed by log2 T sums over
    all tokens at once instead of a loop over T. A sum of 2n terms is two sums of n terms, one of them shifted by n.
    """
    following = np.concatenate([value[:, 1:], np.zeros((len(value), 1))], axis=1)
    advantage, n = reward + gamma * following - value, 1  # of one term each
    while n < advantage.shape[1]:
        moved = np.zeros_like(advantage)
        moved[:, :-n] = (gamma * lam) ** n * advantage[:, n:]
        advantage, n = advantage + moved, 2 * n
    return advantage
