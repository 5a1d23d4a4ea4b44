"""Divisors that bring rewards to one scale before they become advantages, and what each does to a batch of mixed
sources. Closed form; no training here.

The group's deviation: Shao et al. (2024), arXiv:2402.03300; none: Liu et al. (2025), arXiv:2503.20783; the batch's: Liu
et al. (2025), arXiv:2508.08221. A source is whatever rewards the groups of a batch: a checker, a reward model. If
rewards are divided by the root mean square of their source's centered rewards, all sources have equal shares of the
squared advantage. A source's raw deviation, as PopArt tracks it over time, also includes the spread between prompts:
van Hasselt et al. (2016), arXiv:1602.07714.
"""

import numpy as np

from sim.estimators import group_baselines

GROUP, BATCH, SOURCE, NONE = PARTS = ("group", "batch", "source", "none")


def normalized(rewards, source, mean=GROUP, over=BATCH, eps=1e-6):
    """Advantages, (groups, K), of rewards whose groups come from `source` (groups,): minus the mean of one of PARTS,
    divided by the standard deviation of one of PARTS; for a source, the deviation within its groups. "none" subtracts 0
    and divides by 1.
    """
    centered = rewards - of_part(np.mean, rewards, source, mean, 0.0)
    if over == NONE:
        return centered
    if over == SOURCE:
        return centered / (of_part(root_mean_square, centered, source, over, 1.0) + eps)
    return centered / (of_part(deviation, rewards, source, over, 1.0) + eps)


def of_part(statistic, rewards, source, part, otherwise):
    """(groups, 1): a statistic of the rewards in the part of the batch to which each group belongs."""
    if part == NONE:
        return np.full((len(rewards), 1), otherwise)
    if part == GROUP:
        return np.array([[statistic(group)] for group in rewards])
    parts = np.asarray(source) if part == SOURCE else np.zeros(len(rewards))
    return np.array([[statistic(rewards[parts == one])] for one in parts])


def deviation(rewards):
    """The sample standard deviation, with n - 1, as torch.std computes it."""
    return rewards.std(ddof=1)


def root_mean_square(centered):
    """Of rewards centered by group: the deviation within groups, without the spread between them."""
    return np.sqrt(np.mean(np.square(centered)))


def clipped(rewards, limit):
    """Rewards clipped to -limit and limit; infinity leaves them unchanged."""
    return np.clip(rewards, -limit, limit)


def whitened(values, mask, shift_mean=True, eps=1e-8):
    """verl's masked_whiten, (N, T) each: minus the mean over the mask, divided by the standard deviation there, with n
    - 1. The mean is added back if only the scale is to change.
    """
    n = mask.sum()
    mean = (values * mask).sum() / n
    variance = ((values - mean) ** 2 * mask).sum() / (n - 1)
    shifted = (values - mean) / np.sqrt(variance + eps)
    return shifted if shift_mean else shifted + mean


def loudest(n):
    """The maximum that one of n whitened rewards can reach, if it alone differs from the others: (n - 1) / sqrt n."""
    return (n - 1) / np.sqrt(n)


def shares(advantage, source):
    """Each source's part of the squared advantage, (groups, K), in the order of source numbers; nan if every advantage
    is 0.
    """
    squares = (advantage**2).sum(axis=1)
    of_each = np.array([squares[source == one].sum() for one in np.unique(source)])
    return of_each / squares.sum() if squares.any() else np.full(len(of_each), np.nan)


def expected_shares(groups, deviations):
    """The same for rewards with these standard deviations within their groups, minus their mean and divided by one
    number: proportional to n times sigma squared.
    """
    squares = np.asarray(groups, float) * np.square(deviations)
    return squares / squares.sum()


def prompt_weight(p, K, over, number=1.0):
    """The mean push on a prompt with pass rate p, divided by the true gradient p (1 - p), (...). The push is divided by
    the group's own deviation, by one `number` for the batch or source, or by nothing. Rewards are 0 and 1.
    """
    if over == GROUP:
        return group_baselines.share_of_gradient(p, K, lambda rewards: group_baselines.z_score(rewards, eps=1e-12))
    divisor = 1.0 if over == NONE else number
    return group_baselines.share_of_gradient(p, K, group_baselines.less_mean) / divisor


def summed_first(rewards):
    """Several rewards per completion, (groups, K, rewards), are added up; then comes the group's z-score:
    (groups, K).
    """
    return group_baselines.z_score(rewards.sum(axis=2))


def summed_last(rewards):
    """Each reward's z-score within its group, then their sum. GDPO, arXiv:2601.05242, also whitens over the batch."""
    each = np.moveaxis(rewards, 2, 0)
    return sum(group_baselines.z_score(one) for one in each)


def scored_alone(rewards):
    """(groups, K) with nan where nothing could be scored -> minus the mean of the scored ones, and 0 where nan."""
    return np.nan_to_num(rewards - np.nanmean(rewards, axis=1, keepdims=True))
