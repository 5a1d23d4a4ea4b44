"""How much gold reward a policy gains while it is optimized for a learned reward, as a function of its distance from
the reference.

The optimum under a KL penalty: Korbak et al. (2022), arXiv:2205.11275. Gold against distance, and both laws: Gao et al.
(2022), arXiv:2210.10760. For a linear reward and a Gaussian reference, the law of best-of-n has a closed form:
`coefficients`. The controller: Ziegler et al. (2019), arXiv:1909.08593, as in verl 0.9.1, core_algos.py.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators import hacking, kl

DEAREST, HALVINGS = (1e-3, 1e4), 20  # the range of beta that `at_distance` searches, and its number of bisections
ROUNDING = 1e-12  # rounding error in nats of the KL between the reference and itself


@dataclass(frozen=True)
class Outcome:
    """What a policy on the map of `sim/worlds/preferences.py` has arrived at."""

    kl: float  # from the reference, nats
    proxy: float  # mean of the reward that was optimized
    gold: float  # mean gold reward in nats; 0 is the reference
    wins: float  # probability that its completion is preferred to one from the reference
    entropy: float  # nats; e^entropy is its effective number of completions
    length: float  # mean log-length, in the reference's standard deviations
    off: float  # mass where the reference had almost none
    edge: bool  # more than 1 % of the mass lies at the edge of the map, so the numbers are no longer reliable


def outcome(world, reward, policy):
    """The Outcome of a policy, by exact sums over the map; the reward is relative to its mean under the reference."""
    given = policy > 0
    return Outcome(
        kl=kl if (kl := float(hacking.distance(policy, world.ref))) > ROUNDING else 0.0,
        proxy=float((policy - world.ref) @ reward),
        gold=float(policy @ world.gold),
        wins=float(policy @ world.wins),
        entropy=float(-(policy[given] @ np.log(policy[given]))),
        length=float(policy @ world.l),
        off=float(policy @ world.off),
        edge=bool(policy @ world.at_the_edge > 0.01),
    )


def tilt(ref, reward, beta):
    """The policy that maximizes E[reward] - beta KL, and its KL in nats: ref e^(reward/beta) / Z."""
    policy = kl.reverse_kl_optimum(reward, ref, beta)
    return policy, float(hacking.distance(policy, ref))


def at_distance(ref, reward, kl_nats):
    """The best policy for a reward at a given KL in nats. Its beta is found by bisection, since KL falls as
    beta rises.
    """
    low, high = np.log(DEAREST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        policy, distance = tilt(ref, reward, np.exp(middle))
        low, high = (middle, high) if distance > kl_nats else (low, middle)
    return policy


def curve(world, reward, betas):
    """The results for every beta, one Outcome each."""
    return [outcome(world, reward, tilt(world.ref, reward, beta)[0]) for beta in betas]


def best_of_n(ref, score, N):
    """The exact distribution of the best of N samples by score, and its KL in nats.

    The probability that no sample lies above a completion is F^N, where F is the reference's cumulative probability in
    the order of the score; of two completions with equal scores, the later counts as better. KL is at most log N - (N -
    1)/N.
    """
    order = np.argsort(score, kind="stable")
    below = np.minimum(np.concatenate([[0], np.cumsum(ref[order])]), 1) ** N
    policy = np.empty_like(ref)
    policy[order] = np.diff(below)
    return policy, float(hacking.distance(policy, ref))


def mirror_step(logp, reward, logref, beta, learning_rate):
    """One exact step of mirror ascent on E[reward] - beta KL, from log-probabilities to log-probabilities.

    Starting at the reference, t steps give the optimum for the coefficient 1 / (t learning_rate) if beta is 0, and for
    beta / (1 - (1 - learning_rate beta)^t) otherwise.
    """
    moved = logp + learning_rate * (reward - beta * (logp - logref))
    top = moved.max()
    return moved - top - np.log(np.exp(moved - top).sum())


def controlled(beta, kl_nats, target, gain):
    """The next KL coefficient: raised by `gain` times the relative excess of the KL over its target, clipped to +-0.2.

    `gain` is the batch size over the horizon in the code of Ziegler et al.
    """
    return beta * (1 + gain * np.clip(kl_nats / target - 1, -0.2, 0.2))


def coefficients(world, theta):
    """alpha and b of gold = alpha d - b d^2 for the reward phi @ theta, with d = sqrt(KL): the law of best-of-n.

    The optimum for any beta is the reference shifted along theta by mu, and its KL is |mu|^2 / 2. Closed form.
    """
    quality, length = theta / np.sqrt(theta @ theta)
    return float(np.sqrt(2) * (quality + world.c * length)), float(world.kq * quality**2 + world.kappa * length**2)


def shifted(world, theta, beta):
    """KL and gold of the optimum for phi @ theta at this beta, in closed form on a map without an edge."""
    mu_q, mu_l = theta / beta
    gold = mu_q - world.kq / 2 * mu_q**2 + world.c * mu_l - world.kappa / 2 * mu_l**2
    return float(theta @ theta / (2 * beta**2)), float(gold)


def gao_best_of_n(d, alpha, b):
    """Gold at d = sqrt(KL) by the law of best-of-n; its maximum is alpha^2 / 4b, at alpha / 2b."""
    return d * (alpha - b * d)
