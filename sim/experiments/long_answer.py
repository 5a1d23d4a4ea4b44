"""A long answer with one decision in it: its first token picks one of four ways to answer, all tokens after that decide
nothing, and one reward comes at the end. How far does GAE carry that reward back?

The policy is a softmax over the four ways, level at first. The critic is a table over way and position; before the
first token no way was chosen, so there all ways share one value. Advantages are GAE with λ, returns for the critic are
the λ-return with a λ of its own, as in VAPO (Yue et al., 2025, arXiv:2504.05118). GAE: Schulman et al. (2015),
arXiv:1506.02438. Assumed: a way is right as often as `RIGHT` says, whatever is written after it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.estimators.advantages import gae_without_holes
from sim.worlds.bandit import softmax
from sim.worlds.optimizer import SGD, AdamW

RIGHT = np.array([0.2, 0.5, 0.3, 0.8])  # how often an answer that begins so is right
BEST = int(RIGHT.argmax())
CONFUSED = np.array([0.2, 0.8, 0.3, 0.5])  # a first opinion of the critic: the second way and the best changed over
NOTHING = np.zeros(len(RIGHT))  # a critic that expects nothing
LEARNING_RATES = dict(SGD=1.0, AdamW=0.1)
OPTIMIZERS = dict(SGD=SGD, AdamW=lambda rate: AdamW(rate, clip=None))
UPDATES, BATCH = 60, 64


@dataclass(frozen=True)
class Frame:
    """After an update; what it was made of belongs to the same batch."""

    policy: np.ndarray  # (4,) probability of each way
    values: np.ndarray  # (4, L) what the critic expects before each token
    push: np.ndarray  # (4, L) what the batch pushes a way by at each position, as `pushes` has it
    size: np.ndarray  # (L,) mean |advantage| by position, all answers


class Critic:
    """V[way, position], (4, L), which moves by `rate` toward the mean return where answers came by."""

    def __init__(self, length, opinion, rate, policy):
        self.rate = rate
        self.table = np.repeat(opinion[:, None], length, axis=1).astype(float)
        self.table[:, 0] = policy @ opinion  # no way is chosen yet

    def fit(self, way, returns):
        table = self.table.copy()
        for each in np.unique(way):
            table[each, 1:] += self.rate * (returns[way == each, 1:].mean(axis=0) - table[each, 1:])
        table[:, 0] += self.rate * (returns[:, 0].mean() - table[:, 0])
        self.table = table


def credit(reward, value, lam, target):
    """(advantages, returns), both (N, T): GAE with the policy's λ, and what the critic learns from, the λ-return with a
    λ of its own: the advantage with that λ, plus the value.
    """
    advantage = gae_without_holes(reward, value, 1.0, lam)
    returns = value + gae_without_holes(reward, value, 1.0, target)
    return advantage, returns


def run(length, lam, target, opinion, rate, optimizer, seed, updates=UPDATES) -> Iterator[Frame]:
    """Frames of a training, one an update; `optimizer` is a name of OPTIMIZERS."""
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
    """Share of the answers that are right, exact."""
    return float(policy @ RIGHT)


def critic_error(values):
    """How far the critic is off right after the first token, mean over the four ways, each as much as the others."""
    return float(np.abs(values[:, 1] - RIGHT).mean())


def pushes(way, advantage):
    """(4, L): the advantages of the answers that took a way, added up, over a quarter of the batch: their mean, as long
    as all ways are taken alike, and little where a way is hardly taken.
    """
    took = np.eye(len(RIGHT))[way]  # (N, 4)
    return took.T @ advantage * len(RIGHT) / len(way)


def reach(lam, length):
    """The share of a reward at the end that GAE brings to the first token at once: λ to the number of tokens between.
    Closed form.
    """
    return float(lam) ** (length - 1)


def length_adaptive(length, alpha=0.05):
    """λ = 1 − 1 / (α l), which VAPO (2025) gives the policy by the length l of an answer; its critic has 1."""
    return 1 - 1 / (alpha * length)
