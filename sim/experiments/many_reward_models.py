"""Several reward models fitted to comparisons and combined into one reward, and the best policy for it at a given
distance, repeated for each seed. The designs: Coste et al. (2023), arXiv:2310.02743. Removing the length from a reward
model: ODIN, Chen et al. (2024), arXiv:2402.07319, which learns a second head for it. assumed: here the features are
known, so their weights are set to 0, and members differ by the pairs that they were fitted to.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from sim.estimators import bradley_terry, overoptimization, reward_ensemble
from sim.estimators.overoptimization import Outcome
from sim.worlds import preferences
from sim.worlds.preferences import GridWorld

ONE, OUT = "one model", "length taken out"
HOWS = (ONE, "mean", "lowest", "uncertainty", OUT)
STRAIGHT, SQUARES = "q and length", "their squares too"
MEMBER_SEEDS, PAIR_SEEDS = 1000, 2000  # first seeds for the members' bootstraps and for the judged pairs
JUDGED = 1000  # pairs on which members are compared


@dataclass(frozen=True)
class Run:
    outcome: Outcome
    theta: np.ndarray  # (members, k) weights of the fitted models; one row for a single model
    centre: np.ndarray  # (2,) mean quality and log-length of the policy
    agree_start: float  # fraction of pairs from the start that all members order alike
    agree_policy: float  # the same for pairs of one completion from the policy and one from the start


@cache
def world() -> GridWorld:
    return GridWorld()


def seen(features: str) -> np.ndarray:
    """The features that a reward model has of each completion, (9409, 2) or (9409, 5)."""
    return world().phi if features == STRAIGHT else world().phi5


def fitted(how: str, features: str, pairs: int, bias: float, E: int, seed: int) -> np.ndarray:
    """(1, k) for one model or (E, k) for the members, fitted to the pairs of this seed."""
    compared = preferences.sample_prefs(world(), pairs, np.random.default_rng(seed), bias=bias)
    if how in (ONE, OUT):
        theta = bradley_terry.fit(seen(features), *compared)
        return (reward_ensemble.without_length(theta) if how == OUT else theta)[np.newaxis]
    return reward_ensemble.members(seen(features), *compared, E, np.random.default_rng(MEMBER_SEEDS + seed))


def rewards(theta: np.ndarray) -> np.ndarray:
    """(members, 9409) each member's reward, with mean 0 under the start."""
    features = world().phi if theta.shape[1] == 2 else world().phi5
    return reward_ensemble.centered(theta @ features.T, world().ref)


def made_into_one(paid: np.ndarray, how: str, lam: float) -> np.ndarray:
    """(9409,) the reward that the policy is optimized for."""
    return paid[0] if how in (ONE, OUT) else reward_ensemble.aggregate(paid, how, lam)


def all_agree(paid: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Fraction of pairs that all members order alike; 1 for a single model."""
    better = paid[:, first] > paid[:, second]
    return float((better == better[0]).all(axis=0).mean())


def drawn(policy: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    total = np.cumsum(policy)
    return np.searchsorted(total / total[-1], rng.random(JUDGED))


def run(
    how: str, features: str, pairs: int, bias: float, kl_nats: float, E: int, lam: float, seeds: Iterable[int]
) -> Iterator[Run]:
    """One run per seed: fit, combine, optimize, measure."""
    for seed in seeds:
        theta = fitted(how, features, pairs, bias, E, seed)
        paid = rewards(theta)
        reward = made_into_one(paid, how, lam)
        policy = overoptimization.at_distance(world().ref, reward, kl_nats)
        rng = np.random.default_rng(PAIR_SEEDS + seed)
        first, second, new = (drawn(p, rng) for p in (world().ref, world().ref, policy))
        yield Run(
            overoptimization.outcome(world(), reward, policy),
            theta,
            policy @ world().phi,
            all_agree(paid, first, second),
            all_agree(paid, new, second),
        )
