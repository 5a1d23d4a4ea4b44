"""What a judge's labels lead to with any number of labels, votes and revisions. Closed form.

The world is that of `sim/worlds/judged_pairs.py`. Majorities: Condorcet (1785), the binomial tail. A revised draft is a
Markov chain with two states, an idealization of critique and revision in Bai et al. (2022), arXiv:2212.08073.
"""

from math import comb

import numpy as np

from sim.worlds.judged_pairs import PRICE, PRINCIPLES


def style_share(b, m=PRINCIPLES):
    """b²/(m/8 + b²): the share of style in the squared direction taught by a judge with taste b and m principles."""
    return b**2 / (m / PRINCIPLES + b**2)


def asymptote(b, kl, m=PRINCIPLES, ks=PRICE):
    """Gold minus the start's gold at a distance of kl nats in the direction (w_m + b e) of unlimited labels."""
    paid = m / PRINCIPLES
    return np.sqrt(2 * kl) * paid / np.sqrt(paid + b**2) - ks * kl * style_share(b, m)


def agreement(b, m=PRINCIPLES):
    """How often a noiseless judge prefers the better of two answers, if gold has no curvature: 1 − angle/π."""
    paid = m / PRINCIPLES
    return 1 - np.arccos(paid / np.sqrt(paid + b**2)) / np.pi


def majority(p, K):
    """Probability that more than half of K independent votes are correct, each with probability p; K is odd."""
    return sum(comb(K, i) * p**i * (1 - p) ** (K - i) for i in range(K // 2 + 1, K + 1))


def common_cause(p, K, rho):
    """The same if all K votes agree with probability rho, like several votes of one model."""
    return rho * p + (1 - rho) * majority(p, K)


def revised(h0, tpr, fpr, fix, damage, rounds):
    """The share of harmful drafts after rounds of critique and revision. A critic flags tpr of the harmful drafts and
    fpr of the harmless ones; of the flagged drafts, `fix` of the harmful are repaired and `damage` of the harmless
    become harmful.
    """
    h = h0
    for _ in range(rounds):
        h = h * (1 - tpr * fix) + (1 - h) * fpr * damage
    return h


def settled(tpr, fpr, fix, damage):
    """The share of harmful drafts that further revisions leave unchanged, whatever the starting share."""
    return fpr * damage / (fpr * damage + tpr * fix)
