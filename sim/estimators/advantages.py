"""Advantages over the tokens of a completion: from rewards and a critic's values. GAE: Schulman et al. (2015),
arXiv:1506.02438.
"""

import numpy as np


def at_the_end(reward, mask):
    """A reward a completion, (N,), as a reward a token, (N, T): paid at the last own token."""
    last = mask.shape[1] - 1 - np.argmax(mask[:, ::-1], axis=1)
    return (np.arange(mask.shape[1]) == last[:, None]) * reward[:, None]


def gae(reward, value, mask, gamma, lam):
    """Advantages and returns, (N, T): A_t = delta_t + gamma lam A_{t+1}, with delta_t = r_t + gamma V_{t+1} - V_t; 0
    off the mask.

    Tokens off the mask are stepped over, not filled with zeros: t+1 is the next own token. With gamma = lam = 1, A_t =
    reward still to come - V_t.
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
    """Advantages of completions whose tokens are all own, (N, T): what `gae` returns there, by log2 T sums over all
    tokens at once in place of a loop over T. Closed form: a sum of 2n terms is two sums of n, one of them moved by n.
    """
    following = np.concatenate([value[:, 1:], np.zeros((len(value), 1))], axis=1)
    advantage, n = reward + gamma * following - value, 1  # of one term each
    while n < advantage.shape[1]:
        moved = np.zeros_like(advantage)
        moved[:, :-n] = (gamma * lam) ** n * advantage[:, n:]
        advantage, n = advantage + moved, 2 * n
    return advantage
