"""Labels from people and from a judge on the same pairs, a policy trained on each, and how often it beats its start.

The policy is the start moved by μ, so its KL from the start is |μ|²/2. It moves in the direction in which the reward of
a Bradley-Terry fit rises, which is the optimum under a KL penalty for a linear reward and a Gaussian start, as in Gao
et al. (2022), arXiv:2210.10760, and lesson 15. A model's feedback in place of people's: Lee et al. (2023),
arXiv:2309.00267.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from sim.estimators import bradley_terry, judging
from sim.worlds import judged_pairs
from sim.worlds.judged_pairs import PRICE, STYLE, SURE, W
from sim.worlds.preferences import sigmoid

SIZES = (30, 100, 300, 1000, 3000)  # labels from each labeler
SEEDS = 6  # of a run
RIDGE, NODES = 1.0, 21
ASKED = 30_000  # fresh pairs on which labelers are compared with the truth


@dataclass(frozen=True)
class Taught:
    """What labels on pairs have led to."""

    wins: float  # win rate against the start
    style: float  # share of style in the squared direction
    writes: tuple[float, float]  # how far the answers moved in gold's linear part and in style


def trained(first, second, label, kl):
    """(17,) the mean of the policy that lies kl nats from the start in the direction of a reward fitted to labels."""
    n = len(label)
    rows = np.arange(n)
    win, lose = np.where(label, rows, rows + n), np.where(label, rows + n, rows)
    theta = bradley_terry.fit(np.concatenate([first, second]), win, lose, RIDGE)
    return np.sqrt(2 * kl) * theta / max(np.linalg.norm(theta), 1e-12)  # no direction: the start


def wins(mu):
    """How often people, asked often enough, prefer the policy with mean mu to the start: the mean of σ(2 Δgold).

    Gold depends on w·x and on style, so the mean is taken over three normal variables: Δw·x and both styles.
    """
    at, weight = nodes()
    linear = W @ mu + np.sqrt(2) * at[:, 0]
    apart = linear - PRICE / 2 * ((mu[STYLE] + at[:, 1]) ** 2 - at[:, 2] ** 2)
    return float(weight @ sigmoid(SURE * apart))


@cache
def nodes():
    """Gauss-Hermite points (21³, 3) and weights (21³,) for three standard normal variables."""
    x, w = np.polynomial.hermite_e.hermegauss(NODES)
    w = w / w.sum()
    places = np.stack([axis.ravel() for axis in np.meshgrid(x, x, x, indexing="ij")], axis=1)
    return places, np.einsum("i,j,k->ijk", w, w, w).ravel()


def toward(b, m, kl):
    """(17,) the mean that any number of labels from a noiseless judge leads to."""
    theta = judged_pairs.principles(m)
    theta[STYLE] += b
    return np.sqrt(2 * kl) * theta / np.linalg.norm(theta)


def taught(first, second, label, kl):
    mu = trained(first, second, label, kl)
    return Taught(wins(mu), float(mu[STYLE] ** 2 / (2 * kl)), (float(W @ mu), float(mu[STYLE])))


def of_people(n, seed, kl, alike=False, flip=judged_pairs.FLIP):
    """What n labels from people lead to."""
    rng = np.random.default_rng([seed, n])
    first, second = judged_pairs.pairs(n, rng, alike)
    return taught(first, second, judged_pairs.people(first, second, rng, flip), kl)


def of_judge(n, seed, kl, alike, judge):
    """The same for a judge, on the same pairs."""
    first, second = judged_pairs.pairs(n, np.random.default_rng([seed, n]), alike)
    votes = judged_pairs.votes(judge, first, second, np.random.default_rng([seed, n, 1]))
    return taught(first, second, judged_pairs.verdict(votes), kl)


@dataclass(frozen=True)
class Errors:
    """Of a labeler, on fresh pairs as they come."""

    agreement: float  # fraction of pairs in which it prefers the better one
    wrong: np.ndarray  # (4,) fraction of wrong labels by judged_pairs.quarter


def errors_of_people(flip=judged_pairs.FLIP):
    """The mean probability of an error over fresh pairs, as judged_pairs.people samples it."""
    return errors(people_choose(*asked(), flip))


def errors_of_judge(judge):
    """The same for a judge, as judged_pairs.votes and verdict sample it."""
    return errors(judge_chooses(judge, *asked()))


def people_choose(first, second, flip=judged_pairs.FLIP):
    """(n,) the probability that a person prefers the first."""
    chosen = sigmoid(SURE * (judged_pairs.gold(first) - judged_pairs.gold(second)))
    return flip + (1 - 2 * flip) * chosen


def judge_chooses(judge, first, second):
    """(n,) the probability that a judge, with all its votes, prefers the first."""
    logit = judged_pairs.logits(judge, first, second)
    paid = [0.0] if judge.both_orders else [judge.position, -judge.position]
    return np.mean([judging.majority(chance(logit + one, judge.noise), judge.K) for one in paid], axis=0)


def chance(logit, noise):
    """(n,) the probability that a vote prefers the first."""
    return sigmoid(logit / noise) if noise else (logit > 0).astype(float)


def errors(first):
    """For a labeler who prefers the first with these probabilities, (ASKED,)."""
    wrong = np.where(judged_pairs.truth(*asked()), 1 - first, first)
    return Errors(float(1 - wrong.mean()), np.array([wrong[part].mean() for part in by_quarter()]))


@cache
def asked():
    return judged_pairs.pairs(ASKED, np.random.default_rng(1))


@cache
def by_quarter():
    """Four arrays of (ASKED,): which pairs lie in each quarter."""
    quarter = judged_pairs.quarter(*asked())
    return [quarter == i for i in range(4)]


@dataclass(frozen=True)
class Look:
    """Seeds so far, (seeds, sizes) each."""

    people: np.ndarray  # win rate of the policy trained on people's labels
    judge: np.ndarray  # and on the judge's
    style: np.ndarray  # share of style in the policy trained on the judge's labels
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
