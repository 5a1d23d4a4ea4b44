"""A reward from comparisons: the one under which the choices that people made are likeliest.

P(a preferred to b) = sigma(r_a - r_b): Bradley and Terry (1952), doi:10.1093/biomet/39.3-4.324; as the loss of a reward
model: Christiano et al. (2017), arXiv:1706.03741. Only differences count, and where one side wins every comparison the
likelihood has no maximum, hence `lam`.
"""

import numpy as np

from sim.worlds.preferences import sigmoid

STEPS, CLOSE = 60, 1e-12  # of Newton's method: at most, and when a step is small enough to stop


def loss(margin):
    """-log sigma(r_win - r_lose) of each comparison, nats; log 2 where the model cannot tell."""
    return np.logaddexp(0, -margin)


def loss_slope(margin):
    """Its derivative by the margin: minus the probability that the model gives to the answer that lost."""
    return -sigmoid(-margin)


def fit(features, win, lose, lam=0.1):
    """theta of the reward features @ theta, (k,): the least sum of losses plus lam/2 |theta|^2, by Newton's method.

    `features` (completions, k); `win` and `lose` (n,) are rows of it. An identity matrix gives each item a reward of
    its own; at lam = 0 these add up to 0.
    """
    difference = features[win] - features[lose]
    theta = np.zeros(features.shape[1])
    for _ in range(STEPS):
        margin = difference @ theta
        slope = loss_slope(margin)
        gradient = difference.T @ slope + lam * theta
        curvature = (difference * (-slope * (1 + slope))[:, np.newaxis]).T @ difference + lam * np.eye(len(theta))
        # least squares: without a ridge the constant that nothing identifies stays 0
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        theta = theta - step
        if np.abs(step).max() < CLOSE:
            break
    return theta


def odds(wins, losses):
    """r_a - r_b of two items compared wins + losses times: log(wins / losses), infinite if one of them never won."""
    return np.log(wins / losses) if wins and losses else np.inf * np.sign(wins - losses)
