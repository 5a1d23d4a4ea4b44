"""A model that learns sums of two digits, and the same run with one line deleted from its loss: the clip.

PPO on the tiny language model, with sixteen passes over each batch of 256 completions. The objective is that of
Schulman et al. (2017), arXiv:1707.06347; without the clip it is the ratio times the advantage.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import ppo
from sim.experiments.batch_reuse import free
from sim.experiments.standard_runs import add_run
from sim.framework.rollout import RolloutEngine
from sim.worlds import tasks

SUMS = tuple(range(100))  # 0 + 0, 0 + 1, … 9 + 9: the whole addition table
PASSES, LEARNING_RATE, GROUPS, SEED = 16, 0.01, 32, 1
DRAWN = 172  # seeds the random numbers of what is looked at, so that as many are right as the pass rate says


@dataclass(frozen=True)
class Answers:
    """What a policy writes for each of SUMS, always from the same random numbers."""

    rows: tuple  # rows of tokens, including the stop if there is one
    right: tuple  # bool
    pass_rate: float  # exact mean over all 100 sums


def asked(policy):
    drawn, _ = RolloutEngine(policy).generate(tasks.Add(), np.array(SUMS), 1, np.random.default_rng(DRAWN))
    given = tasks.Add().answers(drawn.tokens, drawn.response_mask, drawn.finished)
    return Answers(
        tuple(tuple(int(t) for t in row[own > 0]) for row, own in zip(drawn.tokens, drawn.response_mask)),
        tuple(answer == f"Final: {sum(divmod(pair, 10))}" for answer, pair in zip(given, SUMS)),
        float(tasks.exact_pass(policy).mean()),
    )


def controller(deleted, seed=SEED, passes=PASSES):
    """The run before its first update, with the line or without it."""
    return add_run(
        ppo,
        seed=seed,
        learning_rate=LEARNING_RATE,
        groups=GROUPS,
        hyper=dict(inner_epochs=passes),
        hooks=dict(surrogate=free) if deleted else None,
        exact_every=1000,
    )


def run(deleted, updates):
    """updates + 1 Answers: before training and after each update."""
    made = controller(deleted)
    return [asked(made.trainer.policy), *(asked(made.trainer.policy) for _ in made.frames(updates))]
