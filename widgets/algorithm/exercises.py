"""GRPO's advantage and its weights to be changed into those of other files, and levels of the reward to be found."""

import numpy as np

from sim.algorithms import dapo, grpo, reinforce
from widgets.algorithm.widget import Knobs
from widgets.frame.contract.exercises import Challenge, Change, Exercise

GROUPS = np.array([[1.0, 0, 0, 0], [1, 1, 1, 0]])
MASK = np.array([[1.0, 0, 0], [1, 1, 1]])
LOUD, WELL = 3.8, 0.85

CHANGE = Change(
    (grpo.advantage, grpo.weights),
    "who gets credit in GRPO, and how tokens are averaged",
    (
        Exercise(
            "Remove the comparison: use the advantage of REINFORCE, which is the reward itself.",
            ((GROUPS, {}, {}), (GROUPS - 2, {}, {})),
            lambda R, hp, batch: reinforce.advantage(R, hp, batch),
            (
                "Two lines compare: one subtracts the group's mean, and one divides by its deviation.",
                "Only A = R remains.",
            ),
            (
                "    A = R - R.mean(1, keepdims=True)\n    A = A / (R.std(1, ddof=1, keepdims=True) + 1e-6)\n",
                "    A = R\n",
            ),
        ),
        Exercise(
            "Average as DAPO does: every token of the batch counts the same, however long its completion is.",
            ((MASK, {}, {}), (np.array([[1.0, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]]), {}, {})),
            lambda mask, hp, batch: dapo.weights(mask, hp, batch),
            (
                "GRPO divides by the completion's own length and then by the number of completions.",
                "Divide once, by the number of tokens in the whole mask.",
            ),
            ("    return mask / mask.sum(1, keepdims=True) / len(mask)", "    return mask / mask.sum()"),
            grpo.weights,
        ),
    ),
)

CHALLENGES = (
    Challenge(
        f"With REINFORCE and at least 1 added to every reward, reach a pass rate of at least {WELL:g}.",
        lambda k, r: bool(k.plugin == "REINFORCE" and k.offset >= 1 and r.pass_rate[:, -1].mean() >= WELL),
        Knobs(plugin="REINFORCE", offset=1.0, wrong=-1.0),
    ),
    Challenge(
        f"With GRPO, bring the largest |A| in the group to at least {LOUD:g}.",
        lambda k, r: bool(k.plugin == "GRPO" and np.abs(r.advantages["GRPO"]).max() >= LOUD),
        Knobs(K=16, right=1, ddof=0),
    ),
)
