"""How noisy the gradient estimate from one completion is when completions have tokens and are sampled: a tiny language
model while it learns sums.

E[(R - b)^2 |s|^2] with the score s = grad log pi of a whole completion, Williams (1992), doi:10.1007/BF00992696. This
is the part of the noise that a baseline b can change; the other part is the squared gradient. Model and task are those
of sim/worlds/tasks.py, trained by the plain runs of sim/experiments/standard_runs.py.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import reinforce
from sim.experiments.standard_runs import add_run
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import tasks


@dataclass(frozen=True)
class Noise:
    update: int
    right: float  # exact pass rate on the hundred sums
    none: float  # E[R^2 |s|^2]
    mean: float  # E[(R - p)^2 |s|^2], p the exact pass rate of the prompt


def squared_scores(policy, batch):
    """|s|^2 of each completion, (N,): the squared gradient of its log-probability, one completion at a time."""

    def squared(i):
        mask = batch.response_mask[i : i + 1]
        _, _, cache = policy.token_logp(batch.prompt[i : i + 1], batch.tokens[i : i + 1], mask)
        return sum((array**2).sum() for array in policy.backward(cache, mask.astype(float)).values())

    return np.array([squared(i) for i in range(len(batch.tokens))])


def moved(reward, square, baseline):
    """E[(R - b)^2 |s|^2] over sampled completions; `baseline` is one number, or one for each, (N,)."""
    return ((reward - baseline) ** 2 * square).mean()


def measured(policy, update, completions, rng):
    """The Noise of a policy, from completions of random prompts."""
    task, rates = tasks.Add(), tasks.exact_pass(policy)
    batch, _ = RolloutEngine(policy).generate(task, rng.choice(100, completions), 1, rng)
    reward, square = Verifier(task).verify(batch).accuracy, squared_scores(policy, batch)
    return Noise(
        update, rates.mean(), moved(reward, square, 0.0), moved(reward, square, rates[batch.example].reshape(-1))
    )


def while_it_learns(updates, every, completions=800, seed=0):
    """A Noise at the start and every `every` updates of REINFORCE with rewards of 1 and 0 and nothing subtracted."""
    run, rng = add_run(reinforce, seed=seed, exact_every=updates), np.random.default_rng(seed)
    yield measured(run.trainer.policy, 0, completions, rng)
    for frame in run.frames(updates):
        if (frame.step + 1) % every == 0:
            yield measured(run.trainer.policy, frame.step + 1, completions, rng)
