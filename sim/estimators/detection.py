"""How much reading an audit takes, when two verifiers share a hole, and when a bonus wins against the task.

Closed form: each drawn completion is one independent look, each hole one independent toss.
"""

import numpy as np


def detect_probability(mass, n):
    """The chance that n completions hold at least one of a kind that has the share `mass`: 1 − (1 − mass)^n."""
    return 1 - (1 - mass) ** n


def audits_needed(mass, confidence):
    """The fewest completions that hold one of them with at least that confidence."""
    return int(np.ceil(np.log(1 - confidence) / np.log(1 - mass)))


def shared_hole(overlap, holes):
    """The chance that a second verifier has at least one of `holes` holes, each with probability `overlap`."""
    return detect_probability(overlap, holes)


def whole_class_shared(overlap, holes, classes):
    """The chance that of at least one class all holes are shared, so that no audit by the second verifier finds it."""
    return detect_probability(overlap ** (holes // classes), classes)


def bonus_wins(bonus, p_without, p_with):
    """Whether a bonus for form pays for what it costs: the reward is p_with + bonus with it, p_without without."""
    return p_with + bonus > p_without
