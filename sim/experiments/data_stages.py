"""The stages that a pool of prompts passes through before training, and what each stage leaves.

The order is that of published recipes; difficulty is measured by tries of the current policy and kept between two
bounds, as in He et al. (2025), arXiv:2505.22312. The pool is the assumed one of sim/worlds/prompt_pool.py.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators import attempts
from sim.worlds.prompt_pool import ACCIDENT, SOURCES, Pool, pass_rate

STAGES = ("collected", "may be used", "can be checked", "not seen twice", "both verdicts seen", "sources capped")


@dataclass(frozen=True)
class Stage:
    """What a stage leaves."""

    name: str
    n: int
    live: float  # fraction of groups of K with both verdicts
    variance: float  # mean p (1 - p)
    wrong_key: float  # share
    contaminated: float
    mix: np.ndarray  # (sources,)


@dataclass(frozen=True)
class Curated:
    stages: list
    asked: int  # completions sampled to stratify by difficulty
    never: np.ndarray  # (n,) which of the probed prompts were never solved
    pool: Pool
    rate: np.ndarray  # (n,) pass rates, 0 if nothing can check the prompt


def curated(pool, rng, ability=0.0, K=8, tries=8, low=0.0625, high=0.9375, cap=0.4):
    """The pool after each of the six stages of STAGES. Prompts are kept if their fraction of correct tries lies from
    `low` to `high`; `cap` is a source's largest share.
    """
    rate = np.where(pool.wrong_key, ACCIDENT, pass_rate(ability, pool.difficulty))
    right = rng.binomial(tries, rate)
    rate = np.where(pool.verifiable, rate, 0.0)
    kept, stages = np.ones(len(rate), bool), []
    stages.append(stage(STAGES[0], pool, rate, kept, K))
    for name, flag in zip(STAGES[1:4], (pool.licensed, pool.verifiable, ~pool.duplicate & ~pool.contaminated)):
        kept = kept & flag
        stages.append(stage(name, pool, rate, kept, K))
    asked, never = tries * int(kept.sum()), kept & (right == 0)
    kept = kept & (right >= low * tries) & (right <= high * tries)
    stages.append(stage(STAGES[4], pool, rate, kept, K))
    kept = capped(pool.source, kept, cap, rng)
    stages.append(stage(STAGES[5], pool, rate, kept, K))
    return Curated(stages, asked, never, pool, rate)


def capped(source, kept, cap, rng):
    """From a source with more than `cap` of the kept prompts, keeps as many as that share of all kept before, at
    random.
    """
    most, kept = int(cap * kept.sum()), kept.copy()
    for number in range(len(SOURCES)):
        of_source = np.flatnonzero(kept & (source == number))
        if len(of_source) > most:
            kept[rng.choice(of_source, len(of_source) - most, replace=False)] = False
    return kept


def stage(name, pool, rate, kept, K):
    p = rate[kept]
    mix = np.bincount(pool.source[kept], minlength=len(SOURCES)) / len(p)
    live = float(attempts.informative(p, K).mean())
    variance = float((p * (1 - p)).mean())
    return Stage(
        name, len(p), live, variance, float(pool.wrong_key[kept].mean()), float(pool.contaminated[kept].mean()), mix
    )
