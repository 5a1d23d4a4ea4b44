"""A long answer with one decision in it: its first token picks one of four ways to answer, the tokens after it decide
nothing, and one reward comes at the end. How far does GAE carry that reward back?

The policy is a softmax over the four ways, uniform at first. The critic is a table over way and position; before the
first token no way has been chosen, so all ways share one value there. Advantages are GAE with λ, and the critic's
targets are λ-returns with a λ of their own, as in VAPO (Yue et al., 2025, arXiv:2504.05118). GAE: Schulman et al.
(2015), arXiv:1506.02438. Assumed: a way is correct as often as `RIGHT` says, whatever follows it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.estimators.advantages import gae_without_holes
from sim.worlds.bandit import softmax
from sim.worlds.optimizer import SGD, AdamW

RIGHT = np.array([0.2, 0.5, 0.3, 0.8])  # how often an answer with this beginning is correct
BEST = int(RIGHT.argmax())
CONFUSED = np.array([0.2, 0.8, 0.3, 0.5])  # a critic's initial opinion in which the second way and the best are swapped
NOTHING = np.zeros(len(RIGHT))  # a critic that expects nothing at first
LEARNING_RATES = dict(SGD=1.0, AdamW=0.1)
OPTIMIZERS = dict(SGD=SGD, AdamW=lambda rate: AdamW(rate, clip=None))
UPDATES, BATCH = 60, 64


@dataclass(frozen=True)
class Frame:
    """The state after an update, and the batch that it was made from."""

    policy: np.ndarray  # (4,) probability of each way
    values: np.ndarray  # (4, L) what the critic expects before each token
    push: np.ndarray  # (4, L) the batch's push on each way by position, from `pushes`
    size: np.ndarray  # (L,) mean |advantage| by position over all answers


class Critic:
    """V[way, position], (4, L), which moves by `rate` toward the mean return wherever answers passed."""

    def __init__(self, length, opinion, rate, policy):
        self.rate = rate
        self.table = np.repeat(opinion[:, None], length, axis=1).astype(float)
        self.table[:, 0] = policy @ opinion  # no way has been chosen yet

    def fit(self, way, returns):
        table = self.table.copy()
        for each in np.unique(way):
            table[each, 1:] += self.rate * (returns[way == each, 1:].mean(axis=0) - table[each, 1:])
        table[:, 0] += self.rate * (returns[:, 0].mean() - table[:, 0])
        self.table = table


def credit(reward, value, lam, target):
    """(advantages, returns), both (N, T): GAE with the policy's λ, and the critic's targets, λ-returns with a separate
    λ, computed as the advantage with that λ plus the value.
    """
    advantage = gae_without_holes(reward, value, 1.0, lam)
    returns = value + gae_without_holes(reward, value, 1.0, target)
    return advantage, returns


def run(length, lam, target, opinion, rate, optimizer, seed, updates=UPDATES) -> Iterator[Frame]:
    """Frames of a training run, one per update; `optimizer` is a name in OPTIMIZERS."""
    rng = np.random.default_rng(seed)
    params, step = {"logits": np.zeros(len(RIGHT))}, OPTIMIZERS[optimizer](LEARNING_RATES[optimizer])
    critic = Critic(length, opinion, rate, softmax(params["logits"]))
    for _ in range(updates):
        pi = softmax(params["logits"])
        way = rng.choice(len(RIGHT), size=BATCH, p=pi)
        reward = np.zeros((BATCH, length))
        reward[:, -1] = rng.random(BATCH) < RIGHT[way]
        advantage, returns = credit(reward, critic.table[way], lam, target)
        push = advantage[:, 0] @ (np.eye(len(RIGHT))[way] - pi) / BATCH
        step.step(params, {"logits": -push})
        critic.fit(way, returns)
        size = np.abs(advantage).mean(axis=0)
        yield Frame(softmax(params["logits"]), critic.table, pushes(way, advantage), size)


def right(policy):
    """Fraction of answers that are correct, exact."""
    return float(policy @ RIGHT)


def critic_error(values):
    """The critic's error right after the first token, averaged over the four ways with equal weights."""
    return float(np.abs(values[:, 1] - RIGHT).mean())


def pushes(way, advantage):
    """(4, L): the advantages of the answers that took a way, summed and divided by a quarter of the batch. This is
    their mean if all ways are equally frequent, and small for a way that is hardly taken.
    """
    took = np.eye(len(RIGHT))[way]  # (N, 4)
    return took.T @ advantage * len(RIGHT) / len(way)


def reach(lam, length):
    """The fraction of a reward at the end that GAE carries to the first token in one update: λ to the power of the
    tokens between. Closed form.
    """
    return float(lam) ** (length - 1)


def length_adaptive(length, alpha=0.05):
    """λ = 1 − 1 / (α l), which VAPO (2025) uses for the policy as a function of the length l of an answer; its critic
    uses 1.
    """
    return 1 - 1 / (alpha * length)
