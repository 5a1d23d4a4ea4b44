"""The six algorithm files by their names in the book and in its order, from REINFORCE, Williams (1992), to Dr.GRPO
(2025), and the functions in which two of them differ.

This module is separate from the package so that importing one algorithm does not import all six.
"""

from inspect import getsource

from sim.algorithms import dapo, dr_grpo, grpo, ppo, reinforce, rloo

FILES = {"REINFORCE": reinforce, "PPO": ppo, "GRPO": grpo, "RLOO": rloo, "DAPO": dapo, "Dr.GRPO": dr_grpo}
FUNCTIONS = ("shape_reward", "keep_group", "advantage", "surrogate", "weights", "kl_term")


def differing(file, other):
    """The names of the functions whose source differs between the two files, in the order of the files."""
    return [name for name in FUNCTIONS if getsource(getattr(file, name)) != getsource(getattr(other, name))]
