"""Three tokens, the policy that drew them and one that has moved on since: what a plain mean and a weighted one say of
the present policy, and how much of a batch the weights leave.

Importance sampling in closed form; the effective sample size is that of Kong (1992).
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators import importance

OLD = np.array([0.5, 0.3, 0.2])
NOW = np.array([0.2, 0.3, 0.5])
REWARD = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Read:
    policy: np.ndarray  # (3,) the present one
    ratio: np.ndarray  # (3,) present over old
    earns: float  # what the present policy earns
    plain: float  # the mean of what the old one drew
    weighted: float  # the same with the ratio as a weight
    effective: float  # effective sample size of a long batch, a share


def read(moved):
    """Read of a policy that has gone this part of the way from OLD to NOW in log-probabilities; beyond 1 farther."""
    policy = OLD ** (1 - moved) * NOW**moved
    policy = policy / policy.sum()
    return Read(
        policy,
        policy / OLD,
        policy @ REWARD,
        importance.mean_under(OLD, OLD, REWARD)[0],
        importance.mean_under(policy, OLD, REWARD)[0],
        1 / (policy**2 / OLD).sum(),
    )
