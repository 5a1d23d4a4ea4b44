"""Which groups DAPO keeps and what a token weighs, to be changed, and what a pass rate costs."""

import numpy as np

from sim.algorithms import dapo, dr_grpo
from widgets.dapo.widget import Knobs, drawn_lately, last_rate
from widgets.frame.contract.exercises import Challenge, Change, Exercise

GROUPS = np.array([[0.0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]])
MASK = np.array([[1.0, 0, 0, 0], [1, 1, 1, 0]])

CHANGE = Change(
    (dapo.keep_group, dapo.weights),
    "the groups that are kept and the weight of a token",
    (
        Exercise(
            "Replace only the groups that are all correct, and keep those that are all wrong.",
            ((GROUPS, {}, {}), (GROUPS[:, :2], {}, {})),
            lambda accuracy, hp, batch: np.array([0 in row for row in accuracy]),
            (
                "A group with a wrong completion is kept, whether or not it also has a correct one.",
                "The mean accuracy of such a group, along axis 1, is below 1.",
            ),
            ("    return accuracy.std(1) > 0", "    return accuracy.mean(1) < 1"),
            dapo.keep_group,
        ),
        Exercise(
            "Give each token the weight that it has in Dr.GRPO: one, divided by the longest length T and by the number "
            "of completions. The mask has one row per completion.",
            ((MASK, {}, {}), (np.tri(4), {}, {})),
            dr_grpo.weights,
            (
                "A constant takes the place of the sum over the tokens, however long the completions are.",
                "mask.shape[1] is T, and len(mask) is the number of completions.",
            ),
            ("    return mask / mask.sum()", "    return mask / mask.shape[1] / len(mask)"),
            dapo.weights,
        ),
    ),
)


def ended(k, r):
    return r.updates == k.updates and r.coin is not None


CHALLENGES = (
    Challenge(
        "Start with hard prompts, and reach a pass rate of 0.95 in 15 updates of DAPO.",
        lambda k, r: bool(k.start == "hard prompts" and k.updates == 15 and ended(k, r) and last_rate(r.dapo) >= 0.95),
        Knobs(updates=15, optimizer="AdamW", learning_rate=10.0),
    ),
    Challenge(
        "Start with hard prompts, and reach a pass rate of 0.9 with at most 100 completions per update in the last 10.",
        lambda k, r: bool(
            k.start == "hard prompts" and ended(k, r) and last_rate(r.dapo) >= 0.9 and drawn_lately(r) <= 100
        ),
        Knobs(updates=60, redraw="never", learning_rate=10.0),
    ),
)
