"""Labels of people and of a judge on the same pairs, a policy trained on each, and how often it beats its start.

The policy is the start moved by μ, so its KL from the start is |μ|²/2, and it goes where the reward of a Bradley-Terry
fit rises: the optimum at a price of KL for a linear reward and a Gaussian start, as in Gao et al. (2022),
arXiv:2210.10760, and lesson 15. Feedback of a model in the place of people's: Lee et al. (2023), arXiv:2309.00267.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from sim.estimators import bradley_terry, judging
from sim.worlds import judged_pairs
from sim.worlds.judged_pairs import PRICE, STYLE, SURE, W
from sim.worlds.preferences import sigmoid

SIZES = (30, 100, 300, 1000, 3000)  # labels of each
SEEDS = 6  # of a run
RIDGE, NODES = 1.0, 21
ASKED = 30_000  # fresh pairs on which labelers are compared with the truth


@dataclass(frozen=True)
class Taught:
    """What labels on pairs have led to."""

    wins: float  # against the start
    style: float  # share of style in the squared direction
    writes: tuple[float, float]  # how far its answers moved, in gold's linear part and in style


def trained(first, second, label, kl):
    """(17,) the mean of the policy that is kl nats from the start, in the direction of a reward fitted to labels."""
    n = len(label)
    rows = np.arange(n)
    win, lose = np.where(label, rows, rows + n), np.where(label, rows + n, rows)
    theta = bradley_terry.fit(np.concatenate([first, second]), win, lose, RIDGE)
    return np.sqrt(2 * kl) * theta / max(np.linalg.norm(theta), 1e-12)  # no direction: the start


def wins(mu):
    """How often people, asked often enough, prefer the policy of mean mu to the start: the mean of σ(2 Δgold).

    Gold depends on w·x and on style, so the mean is over three normal variables: Δw·x, and both styles.
    """
    at, weight = nodes()
    linear = W @ mu + np.sqrt(2) * at[:, 0]
    apart = linear - PRICE / 2 * ((mu[STYLE] + at[:, 1]) ** 2 - at[:, 2] ** 2)
    return float(weight @ sigmoid(SURE * apart))


@cache
def nodes():
    """Places (21³, 3) and weights (21³,) of Gauss and Hermite for three standard normal variables."""
    x, w = np.polynomial.hermite_e.hermegauss(NODES)
    w = w / w.sum()
    places = np.stack([axis.ravel() for axis in np.meshgrid(x, x, x, indexing="ij")], axis=1)
    return places, np.einsum("i,j,k->ijk", w, w, w).ravel()


def toward(b, m, kl):
    """(17,) the mean that any number of labels of a judge without noise leads to."""
    theta = judged_pairs.principles(m)
    theta[STYLE] += b
    return np.sqrt(2 * kl) * theta / np.linalg.norm(theta)


def taught(first, second, label, kl):
    mu = trained(first, second, label, kl)
    return Taught(wins(mu), float(mu[STYLE] ** 2 / (2 * kl)), (float(W @ mu), float(mu[STYLE])))


def of_people(n, seed, kl, alike=False, flip=judged_pairs.FLIP):
    """What n labels of people have led to."""
    rng = np.random.default_rng([seed, n])
    first, second = judged_pairs.pairs(n, rng, alike)
    return taught(first, second, judged_pairs.people(first, second, rng, flip), kl)


def of_judge(n, seed, kl, alike, judge):
    """The same of a judge, on the same pairs."""
    first, second = judged_pairs.pairs(n, np.random.default_rng([seed, n]), alike)
    votes = judged_pairs.votes(judge, first, second, np.random.default_rng([seed, n, 1]))
    return taught(first, second, judged_pairs.verdict(votes), kl)


@dataclass(frozen=True)
class Errors:
    """Of a labeler, on fresh pairs as they come."""

    agreement: float  # share of the pairs of which it puts the better one first
    wrong: np.ndarray  # (4,) share of wrong labels by judged_pairs.quarter


def errors_of_people(flip=judged_pairs.FLIP):
    """The mean over fresh pairs of the chance of an error, as judged_pairs.people draws it."""
    return errors(people_choose(*asked(), flip))


def errors_of_judge(judge):
    """The same of a judge, as judged_pairs.votes and verdict draw it."""
    return errors(judge_chooses(judge, *asked()))


def people_choose(first, second, flip=judged_pairs.FLIP):
    """(n,) the chance that a person calls the first better."""
    chosen = sigmoid(SURE * (judged_pairs.gold(first) - judged_pairs.gold(second)))
    return flip + (1 - 2 * flip) * chosen


def judge_chooses(judge, first, second):
    """(n,) the chance that a judge, with all its votes, does."""
    logit = judged_pairs.logits(judge, first, second)
    paid = [0.0] if judge.both_orders else [judge.position, -judge.position]
    return np.mean([judging.majority(chance(logit + one, judge.noise), judge.K) for one in paid], axis=0)


def chance(logit, noise):
    """(n,) that a vote is for the first."""
    return sigmoid(logit / noise) if noise else (logit > 0).astype(float)


def errors(first):
    """Of a labeler who calls the first better with (ASKED,) such chances."""
    wrong = np.where(judged_pairs.truth(*asked()), 1 - first, first)
    return Errors(float(1 - wrong.mean()), np.array([wrong[part].mean() for part in by_quarter()]))


@cache
def asked():
    return judged_pairs.pairs(ASKED, np.random.default_rng(1))


@cache
def by_quarter():
    """Four of (ASKED,): which pairs lie in each quarter."""
    quarter = judged_pairs.quarter(*asked())
    return [quarter == i for i in range(4)]


@dataclass(frozen=True)
class Look:
    """Seeds so far, (seeds, sizes) each."""

    people: np.ndarray  # wins of the policy that people's labels lead to
    judge: np.ndarray  # and of the judge's
    style: np.ndarray  # share of style in the judge's
    people_writes: np.ndarray  # (seeds, sizes, 2) how far the answers of people's policy moved, in quality and style
    judge_writes: np.ndarray  # and those of the judge's


def run(judge, kl, alike, flip, seed) -> Iterator[Look]:
    """A Look after each of SEEDS draws of pairs and labels."""
    looks = []
    for draw in range(SEEDS * seed, SEEDS * (seed + 1)):
        people = [of_people(n, draw, kl, alike, flip) for n in SIZES]
        judged = [of_judge(n, draw, kl, alike, judge) for n in SIZES]
        wins = [[one.wins for one in each] for each in (people, judged)]
        writes = [[one.writes for one in each] for each in (people, judged)]
        looks.append((*wins, [one.style for one in judged], *writes))
        yield Look(*(np.array(each) for each in zip(*looks)))
