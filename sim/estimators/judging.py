"""What a judge's labels lead to, in closed form: with any number of labels, with many votes, with many revisions.

The world is that of `sim/worlds/judged_pairs.py`. Majorities: Condorcet (1785), the binomial tail; a revised draft is a
Markov chain of two states, an idealization of critique and revision in Bai et al. (2022), arXiv:2212.08073.
"""

from math import comb

import numpy as np

from sim.worlds.judged_pairs import PRICE, PRINCIPLES


def style_share(b, m=PRINCIPLES):
    """b²/(m/8 + b²): the share of style in the squared direction that a judge with taste b and m principles teaches."""
    return b**2 / (m / PRINCIPLES + b**2)


def asymptote(b, kl, m=PRINCIPLES, ks=PRICE):
    """Gold, less the start's, at a distance of kl nats in the direction (w_m + b e) of any number of such labels."""
    paid = m / PRINCIPLES
    return np.sqrt(2 * kl) * paid / np.sqrt(paid + b**2) - ks * kl * style_share(b, m)


def agreement(b, m=PRINCIPLES):
    """How often a judge without noise puts the better of two first, where gold has no curvature: 1 − angle/π."""
    paid = m / PRINCIPLES
    return 1 - np.arccos(paid / np.sqrt(paid + b**2)) / np.pi


def majority(p, K):
    """That more than half of K independent votes are right, each with p; K odd."""
    return sum(comb(K, i) * p**i * (1 - p) ** (K - i) for i in range(K // 2 + 1, K + 1))


def common_cause(p, K, rho):
    """The same where with rho all K say the same, as voices of one model do."""
    return rho * p + (1 - rho) * majority(p, K)


def revised(h0, tpr, fpr, fix, damage, rounds):
    """The share of harmful drafts after rounds of critique and revision: a critic finds tpr of the harmful ones and
    takes fpr of the harmless ones for harmful; of what it names `fix` are mended and `damage` of the harmless spoiled.
    """
    h = h0
    for _ in range(rounds):
        h = h * (1 - tpr * fix) + (1 - h) * fpr * damage
    return h


def settled(tpr, fpr, fix, damage):
    """Where the revisions end, whatever they began with: the share that they leave as it is."""
    return fpr * damage / (fpr * damage + tpr * fix)
