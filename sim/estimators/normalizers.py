"""Divisors that bring rewards to one scale before they become advantages, and what each leaves of a mixed batch. Closed
form; no training here.

The group's deviation: Shao et al. (2024), arXiv:2402.03300; none: Liu et al. (2025), arXiv:2503.20783; the batch's: Liu
et al. (2025), arXiv:2508.08221. A source is what pays the groups of a batch: a checker, a reward model. Divided by
the root mean square of its centered rewards, all sources have even shares of the squared advantage: closed
form. Its raw deviation, as PopArt keeps it over time, also holds the spread between prompts: van Hasselt et al. (2016),
arXiv:1602.07714.
"""

import numpy as np

from sim.estimators import group_baselines

GROUP, BATCH, SOURCE, NONE = PARTS = ("group", "batch", "source", "none")


def normalized(rewards, source, mean=GROUP, over=BATCH, eps=1e-6):
    """Advantages, (groups, K) and the source of each group (groups,) -> (groups, K): less the mean of one of PARTS,
    over the standard deviation of one of PARTS, for a source within its groups; "none" takes 0 away and divides by 1.
    """
    centered = rewards - of_part(np.mean, rewards, source, mean, 0.0)
    if over == NONE:
        return centered
    if over == SOURCE:
        return centered / (of_part(root_mean_square, centered, source, over, 1.0) + eps)
    return centered / (of_part(deviation, rewards, source, over, 1.0) + eps)


def of_part(statistic, rewards, source, part, otherwise):
    """(groups, 1): a statistic of the rewards of that part of the batch to which each group belongs."""
    if part == NONE:
        return np.full((len(rewards), 1), otherwise)
    if part == GROUP:
        return np.array([[statistic(group)] for group in rewards])
    parts = np.asarray(source) if part == SOURCE else np.zeros(len(rewards))
    return np.array([[statistic(rewards[parts == one])] for one in parts])


def deviation(rewards):
    """The sample's, with n - 1, as torch.std computes it."""
    return rewards.std(ddof=1)


def root_mean_square(centered):
    """Of rewards from which their groups' means were taken: the deviation within groups, without what lies between."""
    return np.sqrt(np.mean(np.square(centered)))


def clipped(rewards, limit):
    """Rewards cut at -limit and limit; infinity leaves them as they are."""
    return np.clip(rewards, -limit, limit)


def whitened(values, mask, shift_mean=True, eps=1e-8):
    """verl's masked_whiten, (N, T) each: less the mean over the mask, over the standard deviation there, with n - 1.
    The mean is added again where only the scale is wanted.
    """
    n = mask.sum()
    mean = (values * mask).sum() / n
    variance = ((values - mean) ** 2 * mask).sum() / (n - 1)
    shifted = (values - mean) / np.sqrt(variance + eps)
    return shifted if shift_mean else shifted + mean


def loudest(n):
    """What one of n whitened rewards can reach at most, where it alone differs from the others: (n - 1) / sqrt n."""
    return (n - 1) / np.sqrt(n)


def shares(advantage, source):
    """The part of the squared advantage, (groups, K), that each source has, in the order of their numbers; nan where
    every advantage is 0.
    """
    squares = (advantage**2).sum(axis=1)
    of_each = np.array([squares[source == one].sum() for one in np.unique(source)])
    return of_each / squares.sum() if squares.any() else np.full(len(of_each), np.nan)


def expected_shares(groups, deviations):
    """The same of rewards with these standard deviations within their groups, less their mean and divided by one
    number: n times sigma squared.
    """
    squares = np.asarray(groups, float) * np.square(deviations)
    return squares / squares.sum()


def prompt_weight(p, K, over, number=1.0):
    """The mean push on a prompt that is right with probability p, over the true gradient p (1 - p), (...): divided by
    its own group's deviation, by one `number` for the batch or the source, or by nothing. Rewards are 0 and 1.
    """
    if over == GROUP:
        return group_baselines.share_of_gradient(p, K, lambda rewards: group_baselines.z_score(rewards, eps=1e-12))
    divisor = 1.0 if over == NONE else number
    return group_baselines.share_of_gradient(p, K, group_baselines.less_mean) / divisor


def summed_first(rewards):
    """Several rewards of a completion, (groups, K, rewards), added up and then the group's z-score: (groups, K)."""
    return group_baselines.z_score(rewards.sum(axis=2))


def summed_last(rewards):
    """The z-score of each reward in its group, and then their sum. GDPO, arXiv:2601.05242, which whitens over the batch
    besides.
    """
    each = np.moveaxis(rewards, 2, 0)
    return sum(group_baselines.z_score(one) for one in each)


def scored_alone(rewards):
    """(groups, K) with nan where nothing could be scored -> less the mean of the others, 0 there."""
    return np.nan_to_num(rewards - np.nanmean(rewards, axis=1, keepdims=True))
