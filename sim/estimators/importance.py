"""A gradient from completions of an older policy: the weight that each token gets, and how much of the batch is left
with such weights.

Per token, with ratio = exp(logp - old_logp). Truncation as in IMPALA, Espeholt et al. (2018), arXiv:1802.01561; the
clip as in PPO, Schulman et al. (2017), arXiv:1707.06347. Each correction is a surrogate: the objective of a token and
its d/dlogp.
"""

import numpy as np

from sim.estimators import surrogate

C, EPS = 2.0, 0.2


def uncorrected(logp, old_logp, advantage):
    """As if the present policy had written it."""
    return advantage * logp, advantage + 0 * logp


def weighted(logp, old_logp, advantage):
    """Importance sampling: the whole ratio."""
    ratio = np.exp(logp - old_logp)
    return ratio * advantage, ratio * advantage


def weighted_and_clipped(logp, old_logp, advantage):
    """The ratio, and no push on a token that has already moved far enough."""
    return surrogate.clipped(logp, old_logp, advantage, EPS, EPS)


def truncated(logp, old_logp, advantage):
    """The ratio, at most C, as a constant weight."""
    weight = np.minimum(np.exp(logp - old_logp), C)
    return weight * advantage * logp, weight * advantage


CORRECTIONS = {
    "none": uncorrected,
    "ratio": weighted,
    "ratio and clip": weighted_and_clipped,
    "truncated ratio": truncated,
}


def effective_sample_size(weight):
    """(sum w)^2 / sum w^2: as many equally weighted samples have the same variance (Kong (1992)); from 1 to
    len(weight).
    """
    return weight.sum() ** 2 / (weight * weight).sum()


def mean_under(pi, mu, reward, limit=np.inf):
    """Mean and variance of min(pi / mu, limit) * reward for one sample from mu: unbiased for the mean under pi when
    there is no limit.
    """
    value = np.minimum(pi / mu, limit) * reward
    mean = (mu * value).sum()
    return mean, (mu * value * value).sum() - mean**2
