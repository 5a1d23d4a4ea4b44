"""A gradient from completions of an older policy: the weight that each token gets, and how much of the batch such
weights leave.

Everything is per token, with ratio = exp(logp - old_logp). Truncation is IMPALA's, Espeholt et al. (2018),
arXiv:1802.01561; the clip is PPO's, Schulman et al. (2017), arXiv:1707.06347. Each correction is a surrogate that
returns a token's objective and its d/dlogp.
"""

import numpy as np

from sim.estimators import surrogate

C, EPS = 2.0, 0.2


def uncorrected(logp, old_logp, advantage):
    """Treats the token as if the current policy had written it."""
    return advantage * logp, advantage + 0 * logp


def weighted(logp, old_logp, advantage):
    """Importance sampling: the whole ratio is the weight."""
    ratio = np.exp(logp - old_logp)
    return ratio * advantage, ratio * advantage


def weighted_and_clipped(logp, old_logp, advantage):
    """The ratio is the weight, and a token that has already moved far enough gets no gradient."""
    return surrogate.clipped(logp, old_logp, advantage, EPS, EPS)


def truncated(logp, old_logp, advantage):
    """The ratio, capped at C, as a constant weight."""
    weight = np.minimum(np.exp(logp - old_logp), C)
    return weight * advantage * logp, weight * advantage


CORRECTIONS = {
    "none": uncorrected,
    "ratio": weighted,
    "ratio and clip": weighted_and_clipped,
    "truncated ratio": truncated,
}


def effective_sample_size(weight):
    """(sum w)^2 / sum w^2, the number of equally weighted samples with the same variance (Kong (1992)); from 1 to
    len(weight).
    """
    return weight.sum() ** 2 / (weight * weight).sum()


def mean_under(pi, mu, reward, limit=np.inf):
    """Mean and variance of min(pi / mu, limit) * reward for one sample from mu. Without a limit it is an unbiased
    estimate of the mean under pi.
    """
    value = np.minimum(pi / mu, limit) * reward
    mean = (mu * value).sum()
    return mean, (mu * value * value).sum() - mean**2
