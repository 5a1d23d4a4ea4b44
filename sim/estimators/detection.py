"""How many completions an audit must read, when two verifiers share a hole, and when a bonus outweighs the task.

Closed form: every sampled completion is an independent look, and every hole an independent coin toss.
"""

import numpy as np


def detect_probability(mass, n):
    """Probability that n completions include at least one of a kind with probability `mass`: 1 − (1 − mass)^n."""
    return 1 - (1 - mass) ** n


def audits_needed(mass, confidence):
    """The smallest number of completions that include one of that kind with at least this confidence."""
    return int(np.ceil(np.log(1 - confidence) / np.log(1 - mass)))


def shared_hole(overlap, holes):
    """Probability that a second verifier has at least one of `holes` holes, each with probability `overlap`."""
    return detect_probability(overlap, holes)


def whole_class_shared(overlap, holes, classes):
    """Probability that some class has all its holes shared, so the second verifier's audits never find that class."""
    return detect_probability(overlap ** (holes // classes), classes)


def bonus_wins(bonus, p_without, p_with):
    """Whether a bonus for form outweighs its cost: the reward is p_with + bonus with the form, p_without without it."""
    return p_with + bonus > p_without
