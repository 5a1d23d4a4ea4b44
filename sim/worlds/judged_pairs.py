"""Pairs of completions, and who says which is better: people, or a judge that has read a list of principles.

A completion is 17 numbers, each standard normal in what the start writes: two for each of eight principles, and style,
for which nobody is to pay. assumed: gold is a sum with equal weights less a parabola in style, and a judge is that sum
over the principles of its list plus a taste for style; nothing is fitted to a data set. A model that compares by
principles: Bai et al. (2022), arXiv:2212.08073; people choose by Bradley and Terry (1952),
doi:10.1093/biomet/39.3-4.324.
"""

from dataclasses import dataclass

import numpy as np

from sim.worlds.preferences import sigmoid

PRINCIPLES, EACH = 8, 2
D = PRINCIPLES * EACH + 1  # the last one is style
STYLE = D - 1
PRICE = 0.5  # of style: gold falls by PRICE / 2 times its square
SURE = 2.0  # nats a unit of gold: at 2 and FLIP two people agree on 63 % of the pairs
FLIP = 0.15  # of people's answers that are turned round
QUARTERS = np.sqrt(2) * np.array([-0.6744897501960817, 0.0, 0.6744897501960817])  # of a difference of styles
W = np.append(np.full(STYLE, 1 / np.sqrt(STYLE)), 0.0)  # |W| = 1, so gold's unit is its linear part's spread


def gold(x):
    """What a completion (…, 17) is worth, in standard deviations of its linear part under the start."""
    return x @ W - PRICE / 2 * x[..., STYLE] ** 2


def pairs(n, rng, alike=False):
    """n pairs of what the start writes, two of (n, 17); `alike`: the second has the style of the first."""
    first, second = rng.standard_normal((2, n, D))
    if alike:
        second = np.column_stack([second[:, :STYLE], first[:, STYLE]])
    return first, second


def truth(first, second):
    """(n,) whether the first is worth more."""
    return gold(first) > gold(second)


def people(first, second, rng, flip=FLIP):
    """(n,) whether a person says that the first is better: by Bradley-Terry, a share of the answers turned round."""
    preferred = rng.random(len(first)) < sigmoid(SURE * (gold(first) - gold(second)))
    return preferred ^ (rng.random(len(first)) < flip)


def principles(listed):
    """(17,) what a list pays for each number of an answer.

    STYLE = 16 numbers for eight principles, EACH = 2 for one,
    in the order of the list; number 17 is style. Gold pays W:
    a quarter for each of the 16, nothing for style.
    """
    paid = np.where(np.arange(STYLE) < EACH * listed, W[:STYLE], 0.0)
    style = 0.0  # what the list pays for style
    return np.append(paid, style)


@dataclass(frozen=True)
class Judge:
    """A model that reads a list and compares by it."""

    bias: float = 0.25  # its taste: what style counts beside gold's linear part
    listed: int = PRINCIPLES  # principles on its list
    noise: float = 1.0  # of a vote, in logistic units: at 1 it is as unsure as people who turn nothing round
    position: float = 0.0  # what it pays for being read first, nats
    both_orders: bool = True  # asked in both orders and averaged, which leaves nothing of `position`
    K: int = 1  # votes on a pair


def logits(judge, first, second):
    """(n,) by how much a judge prefers the first: 2 (w_m Δ + bias Δstyle)."""
    apart = first - second
    return SURE * (apart @ principles(judge.listed) + judge.bias * apart[:, STYLE])


def votes(judge, first, second, rng):
    """(K, n) whether the first is better: the judge's logits plus noise of each vote, above 0.

    Where it is asked in one order, that one is drawn for each pair.
    """
    logit = logits(judge, first, second)
    if not judge.both_orders:
        logit = logit + judge.position * rng.choice([-1.0, 1.0], len(first))
    return logit + judge.noise * rng.logistic(size=(judge.K, len(first))) > 0


def verdict(votes):
    """(n,) the label of each pair, by the majority of votes (K, n)."""
    return votes.mean(axis=0) > 0.5


def quarter(first, second):
    """(n,) 0 to 3: in which quarter of all pairs of the start a pair lies by how much more style the worse one has.

    Turning the sign of both styles round changes no gold, so the difference is normal, with variance 2.
    """
    apart = np.where(truth(first, second), -1, 1) * (first - second)[:, STYLE]
    return np.digitize(apart, QUARTERS)
