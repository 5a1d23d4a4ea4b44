"""The six algorithm files by their names in the book, in its order: from REINFORCE (Williams, 1992) to Dr.GRPO (2025).

Apart from the package, so that who imports one file does not depend on all six.
"""

from sim.algorithms import dapo, dr_grpo, grpo, ppo, reinforce, rloo

FILES = {"REINFORCE": reinforce, "PPO": ppo, "GRPO": grpo, "RLOO": rloo, "DAPO": dapo, "Dr.GRPO": dr_grpo}
