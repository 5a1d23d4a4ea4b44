"""One update of a policy over five completions of `7 + 5 =`, sample by sample: what each sample adds to the logits, and
the probabilities after it.

REINFORCE of Williams (1992), doi:10.1007/BF00992696, on the bandit of sim/worlds/bandit.py.
"""

import numpy as np

from sim.worlds import bandit

ANSWERS = ("Final: 12", "Final: 13", "Final: 11", "12", "hmm …")
SHOWN = np.array([0.30, 0.15, 0.15, 0.25, 0.15])  # assumed: their shares among the demonstrations
REWARD = np.array([1.0, 0.0, 0.0, 0.0, 0.0])  # the checker wants the number, and the form
FOUR = np.array([0, 3, 3, 1])  # samples that can be followed by hand


def by_draw(pi, arms, advantage):
    """(pushes, policies), both (N + 1, arms): what the first n of N samples add to the logits at a learning rate of 1,
    and the resulting policy. Every sample is weighted at `pi`, as in one update.
    """
    each = advantage[:, None] * (np.eye(len(pi))[arms] - pi) / len(arms)
    pushes = np.vstack([np.zeros(len(pi)), each.cumsum(axis=0)])
    return pushes, bandit.softmax(np.log(pi) + pushes)


def first_batch(seed=0, runs=20, N=8):
    """The samples in the first update of the first of `runs` runs, (N,); the runs share a generator."""
    return bandit.draw(np.tile(SHOWN, (runs, 1)), N, np.random.default_rng(seed))[0]


def uncompared(offset, seed=0, runs=20, N=8, learning_rate=1.0, steps=200):
    """Policies of runs that learn from rewards with a constant added and without a baseline, (steps + 1,
    runs, arms).
    """
    rng = np.random.default_rng(seed)

    def step(pi):
        return bandit.sampled_gradient(pi, REWARD + offset, bandit.no_baseline, N, rng)

    return bandit.path(np.tile(np.log(SHOWN), (runs, 1)), step, learning_rate, steps)


def imitated(steps=200, learning_rate=1.0):
    """Imitation of the demonstrations, starting from equal probabilities, (steps + 1, arms)."""
    return bandit.path(np.zeros(5), lambda pi: bandit.imitation_gradient(pi, SHOWN), learning_rate, steps)


def rewarded(steps=200, learning_rate=1.0):
    """The exact policy gradient, starting where imitation ends, (steps + 1, arms)."""
    return bandit.path(np.log(SHOWN), lambda pi: bandit.policy_gradient(pi, REWARD), learning_rate, steps)
