"""One file an algorithm, six functions a file, in one order: the difference of two files is the difference of two
algorithms.

Each file names its paper; the split into such functions follows verl's core_algos.py (Sheng et al. (2024),
arXiv:2409.19256).
"""

# names alone: `python -m sim.algorithms.ppo` would load a file twice that is imported here
NAMES = {"REINFORCE": "reinforce", "PPO": "ppo", "GRPO": "grpo", "RLOO": "rloo", "DAPO": "dapo", "Dr.GRPO": "dr_grpo"}
