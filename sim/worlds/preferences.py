"""Completions with a quality and a length, what a person would think of each, and the pairs that people have compared.

A completion is a cell of a map: its quality q and its log-length l, both in standard deviations of what the reference
writes, so a policy is 9,409 probabilities and every mean is an exact sum. assumed: two features, a Gaussian
reference, and a gold reward that rises with both and then falls, a parabola in each; nothing is fitted to a data set.
People choose by Bradley and Terry (1952), doi:10.1093/biomet/39.3-4.324. Optimizing a learned reward and measuring a
gold one: Gao et al. (2022), arXiv:2210.10760.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

SIDE, EDGE = 97, 12.0  # cells a side and the last coordinate: a smaller map would cut off policies that went far
SEEN = 13.815510557964274  # -2 log 0.001: the reference has 99.9 % of its mass where q^2 + l^2 is below this
NODES, FAR = 801, 20.0  # where the win rate is computed before it is interpolated; beyond 20 nats it is 0 or 1


@dataclass(frozen=True)
class GridWorld:
    """The map, (9409,) each, and the gold reward q - kq/2 q^2 + c l - kappa/2 l^2, in nats of preference log-odds."""

    c: float = 1.0  # how much people like length at the reference's mean
    kappa: float = 1.0  # how fast length stops to please
    kq: float = 0.2  # how fast quality stops to please

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
        """q, l, q^2, l^2 and ql, (9409, 5): what a quadratic reward model sees."""
        return np.stack([self.q, self.l, self.q**2, self.l**2, self.q * self.l], axis=1)

    @cached_property
    def logref(self):
        """Log-probabilities of the reference, the model before training: a standard normal cut into cells."""
        density = -(self.q**2 + self.l**2) / 2
        return density - np.log(np.exp(density).sum())

    @cached_property
    def ref(self):
        return np.exp(self.logref)

    @cached_property
    def gold(self):
        """What people would pay if all of them were asked, less its mean under the reference, nats."""
        raw = self.q - self.kq / 2 * self.q**2 + self.c * self.l - self.kappa / 2 * self.l**2
        return raw - self.ref @ raw

    @property
    def tokens(self):
        """Length in tokens: 40 at the reference's mean, twice as long two standard deviations above it."""
        return 40 * 2 ** (self.l / 2)

    @cached_property
    def off(self):
        """Which completions the reference, and with it every labeled pair, as good as never shows."""
        return self.q**2 + self.l**2 > SEEN

    @cached_property
    def at_the_edge(self):
        """Which completions lie at the end of the map, where a policy that goes farther would pile up."""
        return np.abs(self.phi).max(axis=1) > EDGE - 0.5

    @cached_property
    def wins(self):
        """Chance that each completion is preferred to one of the reference, (9409,): the mean of sigma(gold - gold').

        Computed at 801 values of gold and interpolated between them.
        """
        nodes, shares, weight = self._against_the_reference
        return np.interp(self.gold, nodes, shares @ weight)

    @cached_property
    def tossed(self):
        """E[p (1 - p)] over pairs of the reference: how undecided people are, 1/4 if every pair were a coin."""
        nodes, shares, weight = self._against_the_reference
        return float(self.ref @ np.interp(self.gold, nodes, (shares * (1 - shares)) @ weight))

    @cached_property
    def _against_the_reference(self):
        nodes = np.linspace(max(self.gold.min(), -FAR), min(self.gold.max(), FAR), NODES)
        seen = self.ref > 1e-9  # the others weigh 1e-7 in all
        return nodes, sigmoid(nodes[:, np.newaxis] - self.gold[seen]), self.ref[seen]


def sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -700, 700)))  # exp(710) is inf


def sample_prefs(world, n, rng, flip=0.0, bias=0.0, deterministic=False):
    """n pairs of the reference's completions as people compared them, (win, lose): two (n,) of indices into the map.

    `bias` is what labelers pay for length beyond gold, nats a standard deviation; `deterministic` lets the better one
    always win; `flip` turns that share of the answers round.
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
    """Share of pairs whose winner the reward puts strictly above the loser; a tie counts as an error."""
    return (reward[win] > reward[lose]).mean()


def agreement(world, flip=0.0):
    """How often two labelers who flip a coin of this bias agree on a pair of the reference: E[p^2 + (1 - p)^2]."""
    # after flipping p is flip + (1 - 2 flip) p, so p (1 - p) is this mixture
    return 1 - 2 * (flip * (1 - flip) + (1 - 2 * flip) ** 2 * world.tossed)
