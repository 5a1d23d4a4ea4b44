"""Pairs of completions, and who says which is better: people, or a judge that has read a list of principles.

A completion is 17 numbers, each standard normal under the starting policy: two for each of eight principles, and one
for style, which should not be rewarded. assumed: gold is a sum with equal weights minus a parabola in style, and a
judge's score is that sum over the principles on its list plus a taste for style; nothing is fitted to a data set. A
model that compares by principles: Bai et al. (2022), arXiv:2212.08073; people choose by Bradley and Terry (1952),
doi:10.1093/biomet/39.3-4.324.
"""

from dataclasses import dataclass

import numpy as np

from sim.worlds.preferences import sigmoid

PRINCIPLES, EACH = 8, 2
D = PRINCIPLES * EACH + 1  # the last one is style
STYLE = D - 1
PRICE = 0.5  # the curvature in style: gold falls by PRICE / 2 times its square
SURE = 2.0  # nats per unit of gold; with 2 and FLIP, two people agree on 63 % of the pairs
FLIP = 0.15  # fraction of people's answers that are flipped
QUARTERS = np.sqrt(2) * np.array([-0.6744897501960817, 0.0, 0.6744897501960817])  # quartiles of a style difference
W = np.append(np.full(STYLE, 1 / np.sqrt(STYLE)), 0.0)  # |W| = 1: the unit of gold is its linear part's spread


def gold(x):
    """The gold value of a completion (…, 17), in standard deviations of its linear part under the start."""
    return x @ W - PRICE / 2 * x[..., STYLE] ** 2


def pairs(n, rng, alike=False):
    """n pairs of completions from the start, two arrays (n, 17); with `alike`, the second has the first one's style."""
    first, second = rng.standard_normal((2, n, D))
    if alike:
        second = np.column_stack([second[:, :STYLE], first[:, STYLE]])
    return first, second


def truth(first, second):
    """(n,) whether the first has the higher gold value."""
    return gold(first) > gold(second)


def people(first, second, rng, flip=FLIP):
    """(n,) whether a person prefers the first, by Bradley-Terry; a fraction `flip` of the answers is flipped."""
    preferred = rng.random(len(first)) < sigmoid(SURE * (gold(first) - gold(second)))
    return preferred ^ (rng.random(len(first)) < flip)


def principles(listed):
    """(17,) the weight of a list on each number of an answer.

    STYLE = 16 numbers for eight principles, EACH = 2 for each, in the order of the list; number 17 is style. Gold's
    weights W are a quarter for each of the 16 and 0 for style.
    """
    paid = np.where(np.arange(STYLE) < EACH * listed, W[:STYLE], 0.0)
    style = 0.0  # the list's weight on style
    return np.append(paid, style)


@dataclass(frozen=True)
class Judge:
    """A model that reads a list of principles and compares by it."""

    bias: float = 0.25  # its taste: the weight of style relative to gold's linear part
    listed: int = PRINCIPLES  # principles on its list
    noise: float = 1.0  # noise of a vote, in logistic units; at 1 it is as unsure as people who never flip an answer
    position: float = 0.0  # its bonus for the answer that is read first, in nats
    both_orders: bool = True  # asked in both orders and averaged, which cancels `position`
    K: int = 1  # votes per pair


def logits(judge, first, second):
    """(n,) the judge's preference for the first in nats: 2 (w_m Δ + bias Δstyle)."""
    apart = first - second
    return SURE * (apart @ principles(judge.listed) + judge.bias * apart[:, STYLE])


def votes(judge, first, second, rng):
    """(K, n) whether each vote prefers the first: the judge's logits plus the noise of that vote exceed 0.

    If the judge is asked in one order only, that order is random for each pair.
    """
    logit = logits(judge, first, second)
    if not judge.both_orders:
        logit = logit + judge.position * rng.choice([-1.0, 1.0], len(first))
    return logit + judge.noise * rng.logistic(size=(judge.K, len(first))) > 0


def verdict(votes):
    """(n,) the label of each pair, by majority of the votes (K, n)."""
    return votes.mean(axis=0) > 0.5


def quarter(first, second):
    """(n,) 0 to 3: the quarter of all pairs to which a pair belongs, by how much more style the worse answer has.

    Flipping the sign of both styles does not change gold, so the difference is normal with variance 2.
    """
    apart = np.where(truth(first, second), -1, 1) * (first - second)[:, STYLE]
    return np.digitize(apart, QUARTERS)
