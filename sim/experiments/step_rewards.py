"""A policy is rewarded by the scores of its steps in one of four forms, and learns whatever earns most: finished work,
or steps.

A chain needs four pieces of work and then a stop; filler changes nothing. The scorer gives a piece of work 0.8 and
filler 0.95 or less: assumed, with noise of 0.05. The four forms of step reward: only the outcome; the sum of the
scores; their minimum (Cheng et al., 2025, arXiv:2504.15275); the progress, a difference of potentials, which preserves
the best policy (Ng, Harada and Russell, 1999). REINFORCE with a mean for each step, tabular.
"""

from dataclasses import dataclass

import numpy as np

from sim.worlds import bandit

UPDATES, B, H, NEED = 400, 64, 12, 4
WORK, FILLER, FINISH = range(3)
RATED, NOISE = 0.8, 0.05  # the score of a piece of work, and its noise
OUTCOME, SUM, MIN, PROGRESS = "outcome alone", "scores, added up", "least score", "progress"
FORMS = (OUTCOME, SUM, MIN, PROGRESS)


@dataclass(frozen=True)
class Batch:
    actions: np.ndarray  # (B, H) WORK, FILLER or FINISH; -1 after the stop
    scores: np.ndarray  # (B, H) scores of the steps, 0 if there is none
    works: np.ndarray  # (B, H + 1) pieces of work done before each step, at most NEED
    solved: np.ndarray  # (B,) stopped with all of the work done

    @property
    def steps(self):
        """(B,) pieces of work and filler of each chain."""
        return ((self.actions == WORK) | (self.actions == FILLER)).sum(axis=1)


@dataclass(frozen=True)
class Update:
    number: int
    batch: Batch  # sampled by the policy before this update
    reward: float  # mean over chains, by the form of reward
    logits: np.ndarray  # (NEED + 1, 3) by the amount of work done, before this update


def drawn(logits, filler, rng):
    """A batch sampled from a policy with logits (NEED + 1, 3)."""
    u, noise = rng.random((B, H)), rng.normal(size=(B, H))
    until = bandit.softmax(logits).cumsum(axis=1)
    actions, works = np.full((B, H), -1), np.zeros((B, H + 1), np.int64)
    alive, solved = np.ones(B, bool), np.zeros(B, bool)
    for t in range(H):
        choice = (u[:, t, None] > until[works[:, t], :-1]).sum(axis=1)
        actions[alive, t] = choice[alive]
        works[:, t + 1] = np.minimum(works[:, t] + (alive & (choice == WORK)), NEED)
        stops = alive & (choice == FINISH)
        solved |= stops & (works[:, t] == NEED)
        alive = alive & ~stops
    stepped = (actions == WORK) | (actions == FILLER)
    rated = np.where(actions == FILLER, filler, RATED) + NOISE * noise
    return Batch(actions, rated * stepped, works, solved)


def outlook(logits):
    """(fraction solved, mean steps) of a policy, exactly, from the probability of each amount of work, step by step."""
    pi, at_steps = bandit.softmax(logits), np.eye(NEED + 1)[0]
    solved = steps = 0.0
    for _ in range(H):
        solved += at_steps[NEED] * pi[NEED, FINISH]
        writing = at_steps * (1 - pi[:, FINISH])
        steps += writing.sum()
        worked = at_steps * pi[:, WORK]
        at_steps = writing - worked
        at_steps[1:] += worked[:-1]
        at_steps[NEED] += worked[NEED]
    return float(solved), float(steps)


def paid(form, batch, less):
    """(B, H) the reward of each step by its form, without the outcome; for min, the minimum is placed at the end."""
    stepped = (batch.actions == WORK) | (batch.actions == FILLER)
    if form == SUM:
        return (batch.scores - less) * stepped
    if form == MIN:
        least = np.where(stepped, batch.scores, 1.0).min(axis=1)
        return np.eye(H)[-1] * least[:, None]
    if form == PROGRESS:
        return np.diff(batch.works, axis=1) / NEED
    return np.zeros(batch.scores.shape)


def credit(form, batch, less):
    """(B, H) the credit of each step: the rewards from it on, and the outcome."""
    still = paid(form, batch, less)[:, ::-1].cumsum(axis=1)[:, ::-1]
    return still + batch.solved[:, None]


def slope(logits, batch, G):
    """(NEED + 1, 3) the policy gradient; each step's credit is taken relative to the mean of the chains still
    writing.
    """
    own = batch.actions >= 0
    baseline = (G * own).sum(axis=0) / np.maximum(own.sum(axis=0), 1)
    advantage = (G - baseline) * own
    at = batch.works[:, :-1]
    one_hot = (batch.actions[..., None] == np.arange(3)) * 1.0
    push = advantage[..., None] * (one_hot - bandit.softmax(logits)[at])
    gradient = np.zeros(logits.shape)
    np.add.at(gradient, at.ravel(), push.reshape(-1, 3))
    return gradient / len(G)


def train(form, rng, optimizer, filler=0.95, less=0.0, updates=UPDATES):
    """Yields an Update for each batch, and one for a final batch after the last update."""
    params = dict(logits=np.zeros((NEED + 1, 3)))
    for number in range(updates + 1):
        logits = params["logits"]
        batch = drawn(logits, filler, rng)
        G = credit(form, batch, less)
        yield Update(number, batch, float(G[:, 0].mean()), logits)
        optimizer.step(params, dict(logits=-slope(logits, batch, G)))
