"""Chains of steps, each sound or flawed, and the chance that a chain ends right, step by step.

A sound chain goes on sound with a fixed chance; a flawed one is mended, "rescued", with another. The answer is right
where the last step is sound. Values: closed form, backwards from the end.
"""

import numpy as np

STEPS, SOUND, RESCUE = 8, 0.9, 0.05
FEATURE = 1.5  # assumed: what a network reads of a step lies this far above or below 0, with noise of 1


def chain_values(L=STEPS, sound=SOUND, rescue=RESCUE):
    """Chance that a chain ends right after t steps, (L + 1, 2): where the last of them is flawed, where it is sound."""
    V = np.zeros((L + 1, 2))
    V[L] = 0, 1
    for t in reversed(range(L)):
        V[t, 1] = sound * V[t + 1, 1] + (1 - sound) * V[t + 1, 0]
        V[t, 0] = rescue * V[t + 1, 1] + (1 - rescue) * V[t + 1, 0]
    return V


def chains(n, L, sound, rescue, rng):
    """n chains: whether each step is sound, (n, L), and what a network reads of it, (n, L)."""
    u = rng.random((n, L))
    soundness, before = np.zeros((n, L), bool), np.ones(n, bool)
    for t in range(L):
        before = u[:, t] < np.where(before, sound, rescue)
        soundness[:, t] = before
    return soundness, FEATURE * np.where(soundness, 1, -1) + rng.normal(size=(n, L))


def values_of(soundness, V):
    """Chance that an ending from each step is right, (n, L): V after that step."""
    return np.where(soundness, V[1:, 1], V[1:, 0])
