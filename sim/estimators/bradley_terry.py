"""A reward fitted to comparisons: the reward that makes people's choices most likely.

P(a preferred to b) = sigma(r_a - r_b): Bradley and Terry (1952), doi:10.1093/biomet/39.3-4.324; as the loss of a reward
model: Christiano et al. (2017), arXiv:1706.03741. Only differences count. If one side wins every comparison, the
likelihood has no maximum, which is why there is a `lam`.
"""

import numpy as np

from sim.worlds.preferences import sigmoid

STEPS, CLOSE = 60, 1e-12  # of Newton's method: maximum iterations, and the step size at which to stop


def loss(margin):
    """-log sigma(r_win - r_lose) of each comparison in nats; log 2 if the model cannot tell the two apart."""
    return np.logaddexp(0, -margin)


def loss_slope(margin):
    """The derivative with respect to the margin: minus the model's probability that the loser would win."""
    return -sigmoid(-margin)


def fit(features, win, lose, lam=0.1):
    """The theta (k,) of the reward features @ theta that minimizes the sum of losses plus lam/2 |theta|^2, by Newton's
    method.

    `features` is (completions, k); `win` and `lose` (n,) are row indices. With an identity matrix each item has its own
    reward; at lam = 0 these rewards sum to 0.
    """
    difference = features[win] - features[lose]
    theta = np.zeros(features.shape[1])
    for _ in range(STEPS):
        margin = difference @ theta
        slope = loss_slope(margin)
        gradient = difference.T @ slope + lam * theta
        curvature = (difference * (-slope * (1 + slope))[:, np.newaxis]).T @ difference + lam * np.eye(len(theta))
        # least squares: without a ridge, the constant that the data cannot identify stays 0
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        theta = theta - step
        if np.abs(step).max() < CLOSE:
            break
    return theta


def odds(wins, losses):
    """r_a - r_b for two items compared wins + losses times: log(wins / losses), infinite if one of them never won."""
    return np.log(wins / losses) if wins and losses else np.inf * np.sign(wins - losses)
