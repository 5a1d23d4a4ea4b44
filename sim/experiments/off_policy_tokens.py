"""Three tokens, the policy that sampled them, and a policy that has since moved on: what a plain mean and a weighted
mean say about the current policy, and how much of a batch the weights leave.

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
    policy: np.ndarray  # (3,) the current policy
    ratio: np.ndarray  # (3,) current over old
    earns: float  # the mean reward of the current policy
    plain: float  # the plain mean over the old policy's samples
    weighted: float  # the same, weighted by the ratio
    effective: float  # effective sample size of a long batch as a fraction


def read(moved):
    """The Read for a policy that has moved this fraction of the way from OLD to NOW in log-probabilities; beyond 1 it
    is farther.
    """
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
