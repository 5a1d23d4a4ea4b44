"""The weight to be changed into a mask, and settings to be found in which old or foreign answers still teach."""

import numpy as np

from sim.estimators import off_policy
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.off_policy.widget import HOT, SAME, Knobs, done, final

LOG_RATIO = np.array([[0, 0.5, -1, 1.2], [0.1, -0.2, 0.9, 0.3]])
MASK = np.array([[1.0, 1, 1, 1], [1, 1, 1, 0]])


def one_by_one(log_ratio, mask, limit):
    """By cases: the ratio of a token where it lies within the limit either way, else 0."""
    weight = np.zeros(log_ratio.shape)
    for at in np.ndindex(log_ratio.shape):
        ratio = np.exp(log_ratio[at])
        if mask[at] and 1 / limit <= ratio <= limit:
            weight[at] = ratio
    return weight


CHANGE = Change(
    (off_policy.token_truncated,),
    "the weight of a token",
    (
        Exercise(
            "Mask instead of truncating. A token whose ratio lies between 1/limit and limit keeps it, and every other "
            "token counts 0, as in TRL's token_mask and IcePop.",
            ((LOG_RATIO, MASK, 2.0), (2 * LOG_RATIO, MASK, 3.0)),
            one_by_one,
            (
                "abs(log_ratio) <= np.log(limit) is true where the ratio lies between 1/limit and limit.",
                "Multiplying by True keeps a number, and multiplying by False makes it 0.",
            ),
            (
                "    return np.minimum(np.exp(log_ratio), limit) * mask",
                "    return np.exp(log_ratio) * (np.abs(log_ratio) <= np.log(limit)) * mask",
            ),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "With SGD and an engine like the trainer’s but 8 updates late, reach 83 correct of 100 with no weight above 2.",
        lambda k, r: (
            done(r)
            and (k.engine, k.lag, k.optimizer) == (SAME, 8, "SGD")
            and final(r) >= 0.83
            and r.largest <= 2 + 1e-9
        ),
        Knobs(correction="answer ratio, at most 2", engine=SAME, lag=8, optimizer="SGD"),
    ),
    Challenge(
        "With the engine at temperature 1.5 and four passes over each batch, reach 97 correct of 100.",
        lambda k, r: done(r) and k.engine == HOT and k.passes == 4 and final(r) >= 0.97,
        Knobs(correction="answer mask, at most 3", passes=4),
    ),
)
