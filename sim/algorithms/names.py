"""The six algorithm files by their names in the book, in its order: from REINFORCE (Williams, 1992) to Dr.GRPO (2025),
and in which of their functions two of them differ.

Apart from the package, so that who imports one file does not depend on all six.
"""

from inspect import getsource

from sim.algorithms import dapo, dr_grpo, grpo, ppo, reinforce, rloo

FILES = {"REINFORCE": reinforce, "PPO": ppo, "GRPO": grpo, "RLOO": rloo, "DAPO": dapo, "Dr.GRPO": dr_grpo}
FUNCTIONS = ("shape_reward", "keep_group", "advantage", "surrogate", "weights", "kl_term")


def differing(file, other):
    """The names of the functions that are not written alike in both files, in their order there."""
    return [name for name in FUNCTIONS if getsource(getattr(file, name)) != getsource(getattr(other, name))]
