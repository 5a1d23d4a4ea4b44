"""The six roles of the loop. None of them knows a policy, a task or an algorithm by name. The structure follows verl,
Sheng et al. (2024), arXiv:2409.19256.
"""
