"""The average over a batch to be changed, and steps to be found that learn with a small rate or without AdamW."""

import numpy as np

from sim.estimators import aggregation
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.trainer.widget import Knobs, error_now

SHORT_AND_LONG = np.array([[1.0, 0, 0, 0], [1, 1, 1, 1]])
THREE = np.array([[1.0, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]])
WHOLE = "    return mask / mask.sum(axis=1, keepdims=True) / len(mask)"


def by_root(mask):
    """Token by token: one over the root of the completion's length, over the sum of all of these."""
    lengths = [int(sum(row)) for row in mask]
    total = sum(n * n**-0.5 for n in lengths)
    return np.array([[m * n**-0.5 / total for m in row] for row, n in zip(mask, lengths)])


CHANGE = Change(
    (aggregation.seq_mean_token_mean,),
    "how tokens are averaged into one loss",
    (
        Exercise(
            "Find a middle way between mean and sum: divide the weights of each completion's tokens by the square root "
            "of its length, and then scale all weights so that they add up to 1.",
            ((SHORT_AND_LONG,), (THREE,)),
            by_root,
            (
                "A completion of four tokens then counts twice as much as one of a single token.",
                "w = mask / mask.sum(axis=1, keepdims=True) ** 0.5, and then w divided by its own sum.",
            ),
            (WHOLE, "    w = mask / mask.sum(axis=1, keepdims=True) ** 0.5\n    return w / w.sum()"),
        ),
        Exercise(
            "Average as Dr.GRPO does: divide every completion by the same number, the number of positions in a row of "
            "the mask, however many of them the completion fills.",
            ((SHORT_AND_LONG,), (THREE,)),
            aggregation.seq_mean_token_sum_norm,
            (
                "There are two divisions. Change the division by the completion's own length.",
                "mask.shape[1] is the number of positions.",
            ),
            (WHOLE, "    return mask / mask.shape[1] / len(mask)"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "With a learning rate of 0.003, end at a pass rate of 0.88 or more.",
        lambda k, r: bool(k.learning_rate == 0.003 and r.pass_rate[-1] >= 0.88),
        Knobs(learning_rate=0.003, passes=4, minibatches=2),
    ),
    Challenge(
        "With SGD and 1 step per batch, end at a pass rate of 0.83 or more.",
        lambda k, r: bool(k.optimizer == "SGD" and k.passes * k.minibatches == 1 and r.pass_rate[-1] >= 0.83),
        Knobs(optimizer="SGD", learning_rate=0.3, max_norm="off", scale=10.0, advantage="reward − mean"),
    ),
    Challenge(
        "With token-mean and 4 or more micro-batches that divide by their own count, limit the gradient error to 8 %.",
        lambda k, r: bool(
            k.mode == "token-mean" and k.micro >= 4 and k.divisor == "its own count" and error_now(r) <= 0.08
        ),
        Knobs(mode="token-mean", micro=4, divisor="its own count", by_length=False),
    ),
)
