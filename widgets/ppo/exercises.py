"""The clip of PPO to be changed, and settings to be found that do without it."""

import numpy as np

from sim.estimators import surrogate
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.ppo.widget import UPDATES, Knobs, finals

MOVED = np.array([0.5, 1.0, 1.5])  # ratios
CALLS = tuple((np.log(MOVED), np.zeros(3), sign * np.ones(3), 0.2, 0.2) for sign in (1, -1))


def outside(ratio, advantage, eps_low, eps_high):
    return np.abs(ratio - 1 + (eps_low - eps_high) / 2) > (eps_low + eps_high) / 2


def cispo(logp, old_logp, advantage, eps_low, eps_high, dual_clip=np.inf):
    """The weight of sim/algorithms/recipes.py between two bounds: it has the upper one alone."""
    low, high = np.log(1 - eps_low), np.log(1 + eps_high)
    weight = np.exp(np.minimum(np.maximum(logp - old_logp, low), high))
    return weight * advantage * logp, weight * advantage


CHANGE = Change(
    (surrogate.clipped, surrogate.removed),
    "the clipped surrogate",
    (
        Exercise(
            "Take the gradient from every token whose ratio is outside the range, whether it moved as wanted or not.",
            tuple((MOVED, sign * np.ones(3), 0.2, 0.2) for sign in (1, -1)),
            outside,
            (
                "This is the clip without the min: a token that moved the wrong way too far cannot come back.",
                "In removed, leave the two comparisons of the ratio and drop those of the advantage.",
            ),
            (
                "    return ((advantage > 0) & (ratio > 1 + eps_high)) | ((advantage < 0) & (ratio < 1 - eps_low))",
                "    return (ratio > 1 + eps_high) | (ratio < 1 - eps_low)",
            ),
            surrogate.removed,
        ),
        Exercise(
            "Make CISPO of it: the clipped ratio is a constant weight of the log-probability, and no token's gradient "
            "is removed. Return the weighted advantage times logp, and its slope.",
            CALLS,
            cispo,
            (
                "The clipped ratio stands there already, as inside. Held constant, it leaves logp alone to derive.",
                "The slope of inside * advantage * logp, with inside held constant, is inside * advantage.",
            ),
            (
                "    return objective, ratio * advantage * ~dead",
                "    return inside * advantage * logp, inside * advantage",
            ),
        ),
    ),
)


def reached(r, right, nats):
    """Whether the worst run ends at least so often right, with no update farther than this."""
    return bool(r.updates == UPDATES and finals(r).min() >= right and r.kl_step.max() <= nats)


CHALLENGES = (
    Challenge(
        "Make 16 passes or more without a clip: worst run right 0.9 of the time or more, no update above 1 nat.",
        lambda k, r: k.passes >= 16 and not k.clip and reached(r, 0.9, 1.0),
        Knobs(passes=16, clip=False, learning_rate=2.0),
    ),
    Challenge(
        "Let the worst run end right 0.93 of the time or more with no update above 0.05 nats.",
        lambda k, r: reached(r, 0.93, 0.05),
        Knobs(learning_rate=5.0),
    ),
)
