"""The six roles of the loop, none of which knows a policy, a task or an algorithm by name. Shape after verl, Sheng et
al. (2024), arXiv:2409.19256.
"""
