"""REINFORCE's weight to be changed, and constants to be found that undo what was added."""

from types import SimpleNamespace

import numpy as np

from sim.algorithms import dr_grpo, reinforce
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.reinforce.widget import UPDATES, Knobs, ends

GROUPS = np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]])
WEIGHT = "    A = R\n"
FOUR, TWELVE = (SimpleNamespace(length=np.array(n)) for n in ([2, 1, 1, 1], [1, 2, 3, 4, 2, 2, 1, 1, 5, 1, 1, 1]))


def by_length(R, hp, batch):
    """OPO, completion by completion."""
    lengths = iter(np.array_split(batch.length, len(R)))
    return np.array([row - np.average(row, weights=next(lengths)) for row in R])


CHANGE = Change(
    (reinforce.advantage,),
    "the weight of a completion",
    (
        Exercise(
            "Subtract the mean of the group: a row of R holds the rewards of one prompt's completions.",
            ((GROUPS[:1], {}, FOUR), (GROUPS, {}, TWELVE)),
            dr_grpo.advantage,
            (
                "The mean is taken along a row, and must keep its axis to be subtracted from it.",
                "R.mean(1, keepdims=True) has one number per row.",
            ),
            (WEIGHT, "    A = R - R.mean(1, keepdims=True)\n"),
        ),
        Exercise(
            "Turn it into OPO: subtract a group mean in which each completion is weighted by its number of tokens. "
            "batch.length has one number per completion, row after row.",
            ((GROUPS[:1], {}, FOUR), (GROUPS, {}, TWELVE)),
            by_length,
            (
                "A long completion has a large squared score and should count more. First give the lengths R's shape.",
                "With L = batch.length.reshape(R.shape), the mean is (L * R).sum(1, keepdims=True) over the sum of L.",
            ),
            (
                WEIGHT,
                "    L = batch.length.reshape(R.shape)\n"
                "    A = R - (L * R).sum(1, keepdims=True) / L.sum(1, keepdims=True)\n",
            ),
        ),
    ),
)


def wrong(r):
    return ends(r)[0] if r.updates == UPDATES else np.inf


CHALLENGES = (
    Challenge(
        "With 10 added to every reward and no mean subtracted, end with at most 3 of 100 sums wrong.",
        lambda k, r: bool(k.offset == 10 and k.baseline in ("none", "constant") and wrong(r) <= 3),
        Knobs(offset=10.0, baseline="constant", constant=10.0),
    ),
    Challenge(
        "At a learning rate of 0.01 or below, end with at most 4 of 100 sums wrong.",
        lambda k, r: bool(k.learning_rate <= 0.01 and wrong(r) <= 4),
        Knobs(learning_rate=0.01, K=2),
    ),
)
