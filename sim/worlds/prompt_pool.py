"""Forty thousand prompts from four sources, as collected.

Every number in SOURCES is assumed; no real data set is described here. The pass rate of a prompt follows a Rasch model,
Rasch (1960): the logistic function of ability minus difficulty. There is one ability for everything, whereas real
skills are many. A prompt with a wrong answer key is solved only by accident, and a prompt that nothing can check is
never solved.
"""

from dataclasses import dataclass

import numpy as np

ACCIDENT = 0.002  # assumed: the pass rate of a prompt whose answer key is wrong


@dataclass(frozen=True)
class Source:
    """Prompts of one origin: the fractions that may be used, that a program can check, whose answer key is wrong, that
    are duplicates within the pool, and that occur in an evaluation; and the difficulty in logits.
    """

    name: str
    n: int
    licensed: float
    verifiable: float
    wrong_key: float
    duplicate: float
    contaminated: float
    mean: float
    deviation: float


SOURCES = (  # all assumed
    Source("competition", 6_000, 0.95, 0.90, 0.03, 0.25, 0.08, 3.0, 1.5),
    Source("textbook", 10_000, 0.60, 0.75, 0.05, 0.15, 0.03, -1.0, 1.5),
    Source("synthetic", 16_000, 1.0, 0.95, 0.15, 0.40, 0.01, -2.0, 2.0),
    Source("code", 8_000, 0.85, 0.80, 0.06, 0.20, 0.04, 1.5, 2.0),
)


@dataclass(frozen=True)
class Pool:
    """One row per prompt, (n,) each."""

    source: np.ndarray
    licensed: np.ndarray
    verifiable: np.ndarray
    wrong_key: np.ndarray
    duplicate: np.ndarray
    contaminated: np.ndarray
    difficulty: np.ndarray


def pass_rate(ability, difficulty):
    """σ(ability − difficulty), with the shape of the difficulty."""
    return 1 / (1 + np.exp(difficulty - ability))


def collected(rng):
    """The pool before any stage of curation, source by source."""
    parts = []
    for number, source in enumerate(SOURCES):
        rates = source.licensed, source.verifiable, source.wrong_key, source.duplicate, source.contaminated
        flags = [rng.random(source.n) < rate for rate in rates]
        difficulty = source.mean + source.deviation * rng.standard_normal(source.n)
        parts.append((np.full(source.n, number), *flags, difficulty))
    return Pool(*map(np.concatenate, zip(*parts)))
