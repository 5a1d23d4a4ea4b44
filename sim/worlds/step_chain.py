"""Chains of steps, each sound or flawed, and the probability that a chain ends correctly, step by step.

A sound chain stays sound with a fixed probability; a flawed chain is repaired, "rescued", with another probability. The
answer is correct if the last step is sound. Values: closed form, computed backward from the end.
"""

import numpy as np

STEPS, SOUND, RESCUE = 8, 0.9, 0.05
FEATURE = 1.5  # assumed: a network's reading of a step lies this far above or below 0, with noise of 1


def chain_values(L=STEPS, sound=SOUND, rescue=RESCUE):
    """Probability that a chain ends correctly after t steps, (L + 1, 2): if the last of them is flawed, and if it is
    sound.
    """
    V = np.zeros((L + 1, 2))
    V[L] = 0, 1
    for t in reversed(range(L)):
        V[t, 1] = sound * V[t + 1, 1] + (1 - sound) * V[t + 1, 0]
        V[t, 0] = rescue * V[t + 1, 1] + (1 - rescue) * V[t + 1, 0]
    return V


def chains(n, L, sound, rescue, rng):
    """n chains: whether each step is sound, (n, L), and a network's reading of each step, (n, L)."""
    u = rng.random((n, L))
    soundness, before = np.zeros((n, L), bool), np.ones(n, bool)
    for t in range(L):
        before = u[:, t] < np.where(before, sound, rescue)
        soundness[:, t] = before
    return soundness, FEATURE * np.where(soundness, 1, -1) + rng.normal(size=(n, L))


def values_of(soundness, V):
    """Probability that a continuation from each step ends correctly, (n, L): V after that step."""
    return np.where(soundness, V[1:, 1], V[1:, 0])
