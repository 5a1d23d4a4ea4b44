"""Completions with a quality and a length, what a person would think of each, and the pairs that people have compared.

A completion is a cell of a map. Its coordinates are its quality q and its log-length l, in the reference's standard
deviations, so a policy is 9,409 probabilities and every mean is an exact sum. assumed: two features, a Gaussian
reference, and a gold reward that is a parabola in each, rising at first and then falling; nothing is fitted to a data
set. People choose by Bradley and Terry (1952), doi:10.1093/biomet/39.3-4.324. Optimizing a learned reward while
measuring a gold one: Gao et al. (2022), arXiv:2210.10760.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

SIDE, EDGE = 97, 12.0  # cells per side, and the largest coordinate; a smaller map would cut off policies that move far
SEEN = 13.815510557964274  # -2 log 0.001; the reference has 99.9 % of its mass where q^2 + l^2 is below this
NODES, FAR = 801, 20.0  # points at which the win rate is computed before interpolation; beyond 20 nats it is 0 or 1


@dataclass(frozen=True)
class GridWorld:
    """The map, (9409,) each, and the gold reward q - kq/2 q^2 + c l - kappa/2 l^2, in nats of preference log-odds."""

    c: float = 1.0  # how much people like length at the reference's mean
    kappa: float = 1.0  # how fast people's liking for length fades
    kq: float = 0.2  # how fast people's liking for quality fades

    @cached_property
    def phi(self):
        """The two features of each completion, (9409, 2): quality and log-length."""
        side = np.linspace(-EDGE, EDGE, SIDE)
        return np.stack([axis.ravel() for axis in np.meshgrid(side, side, indexing="ij")], axis=1)

    @property
    def q(self):
        return self.phi[:, 0]

    @property
    def l(self):  # noqa: E743
        return self.phi[:, 1]

    @cached_property
    def phi5(self):
        """q, l, q^2, l^2 and ql, (9409, 5): the features of a quadratic reward model."""
        return np.stack([self.q, self.l, self.q**2, self.l**2, self.q * self.l], axis=1)

    @cached_property
    def logref(self):
        """Log-probabilities of the reference, the model before training: a standard normal divided into cells."""
        density = -(self.q**2 + self.l**2) / 2
        return density - np.log(np.exp(density).sum())

    @cached_property
    def ref(self):
        return np.exp(self.logref)

    @cached_property
    def gold(self):
        """The reward that people would give if all of them were asked, minus its mean under the reference, in nats."""
        raw = self.q - self.kq / 2 * self.q**2 + self.c * self.l - self.kappa / 2 * self.l**2
        return raw - self.ref @ raw

    @property
    def tokens(self):
        """Length in tokens: 40 at the reference's mean, and twice that two standard deviations above it."""
        return 40 * 2 ** (self.l / 2)

    @cached_property
    def off(self):
        """The completions to which the reference, and so the set of labeled pairs, gives almost no mass."""
        return self.q**2 + self.l**2 > SEEN

    @cached_property
    def at_the_edge(self):
        """The completions at the edge of the map, where a policy that wants to go farther piles up."""
        return np.abs(self.phi).max(axis=1) > EDGE - 0.5

    @cached_property
    def wins(self):
        """Probability that each completion is preferred to one from the reference, (9409,): the mean of sigma(gold -
        gold').

        It is computed at 801 values of gold and interpolated between them.
        """
        nodes, shares, weight = self._against_the_reference
        return np.interp(self.gold, nodes, shares @ weight)

    @cached_property
    def tossed(self):
        """E[p (1 - p)] over pairs from the reference, a measure of how undecided people are; 1/4 if every pair were a
        coin toss.
        """
        nodes, shares, weight = self._against_the_reference
        return float(self.ref @ np.interp(self.gold, nodes, (shares * (1 - shares)) @ weight))

    @cached_property
    def _against_the_reference(self):
        nodes = np.linspace(max(self.gold.min(), -FAR), min(self.gold.max(), FAR), NODES)
        seen = self.ref > 1e-9  # the others have a total mass of 1e-7
        return nodes, sigmoid(nodes[:, np.newaxis] - self.gold[seen]), self.ref[seen]


def sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -700, 700)))  # because exp(710) is inf


def sample_prefs(world, n, rng, flip=0.0, bias=0.0, deterministic=False):
    """n pairs of the reference's completions as people compared them, (win, lose): two arrays (n,) of indices into the
    map.

    `bias` is the labelers' bonus for length beyond gold, in nats per standard deviation; `deterministic` lets the
    better one always win; `flip` flips that fraction of the answers.
    """
    total = np.cumsum(world.ref)
    drawn = np.searchsorted(total / total[-1], rng.random((n, 2)))
    first, second = drawn.T
    p = sigmoid(world.gold[first] - world.gold[second] + bias * (world.l[first] - world.l[second]))
    chosen = p > 0.5 if deterministic else rng.random(n) < p
    if flip > 0:
        chosen = chosen ^ (rng.random(n) < flip)
    return np.where(chosen, first, second), np.where(chosen, second, first)


def accuracy(reward, win, lose):
    """Fraction of pairs in which the reward puts the winner strictly above the loser; a tie counts as an error."""
    return (reward[win] > reward[lose]).mean()


def agreement(world, flip=0.0):
    """How often two labelers who flip this fraction of answers agree on a pair from the reference: E[p^2 + (1
    - p)^2].
    """
    # after flipping, p becomes flip + (1 - 2 flip) p, so p (1 - p) is this mixture
    return 1 - 2 * (flip * (1 - flip) + (1 - 2 * flip) ** 2 * world.tossed)
