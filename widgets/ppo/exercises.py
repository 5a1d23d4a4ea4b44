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
            "Remove the gradient of every token whose ratio is outside the range, whichever way it moved.",
            tuple((MOVED, sign * np.ones(3), 0.2, 0.2) for sign in (1, -1)),
            outside,
            (
                "This is the clip without the min: a token that moved too far the wrong way is not pulled back.",
                "In removed, keep the two comparisons of the ratio and delete those of the advantage.",
            ),
            (
                "    return ((advantage > 0) & (ratio > 1 + eps_high)) | ((advantage < 0) & (ratio < 1 - eps_low))",
                "    return (ratio > 1 + eps_high) | (ratio < 1 - eps_low)",
            ),
            surrogate.removed,
        ),
        Exercise(
            "Turn it into CISPO: the clipped ratio becomes a constant weight of the log-probability, and no token "
            "loses its gradient. Return the weighted advantage times logp, and its slope.",
            CALLS,
            cispo,
            (
                "The clipped ratio is already there: it is called inside. If it is constant, only logp has a slope.",
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
        "With 16 passes or more and no clip, bring the worst run to a pass rate of 0.9, with no update above 1 nat.",
        lambda k, r: k.passes >= 16 and not k.clip and reached(r, 0.9, 1.0),
        Knobs(passes=16, clip=False, learning_rate=2.0),
    ),
    Challenge(
        "Bring the worst run to a pass rate of 0.93, with no update above 0.05 nats.",
        lambda k, r: reached(r, 0.93, 0.05),
        Knobs(learning_rate=5.0),
    ),
)
