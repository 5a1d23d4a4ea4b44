"""GRPO's advantage to be changed, and goals to be reached with groups of the right size."""

import numpy as np

from sim.estimators import group_baselines
from sim.experiments.group_batches import RARE
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.grpo.widget import Knobs

GROUPS = np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]])
DIVIDED = "    return less_mean(rewards) / (rewards.std(axis=1, ddof=ddof, keepdims=True) + eps)"

CHANGE = Change(
    (group_baselines.z_score,),
    "the advantage of GRPO",
    (
        Exercise(
            "Turn it into Dr. GRPO: the advantage is the reward minus the mean of its group, and nothing else.",
            ((GROUPS,), (GROUPS[:, :2],)),
            lambda rewards: rewards - rewards.mean(axis=1, keepdims=True),
            (
                "The paper leaves out GRPO's division, because it weights prompts by their difficulty.",
                "Only one line changes. Keep what is to the left of the /.",
            ),
            (DIVIDED, "    return less_mean(rewards)"),
        ),
        Exercise(
            "Turn it into RLOO by changing one line: subtract from each reward the mean of the other rewards.",
            ((GROUPS,), (GROUPS[:, :2],)),
            lambda rewards: np.array([[r - np.delete(row, i).mean() for i, r in enumerate(row)] for row in rewards]),
            (
                "The sum of the others is the sum of the group minus the reward itself. There are K − 1 of them.",
                "The mean of the group contains 1/K of the reward itself. To leave it out, multiply by K/(K − 1).",
            ),
            (DIVIDED, "    K = rewards.shape[1]\n    return less_mean(rewards) * K / (K - 1)"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "Reach a pass rate of 0.98 on the mixed sums with groups of 16 or more.",
        lambda k, r: k.prompts == "mixed" and k.K >= 16 and r.pass_rate[:, -1].mean() >= 0.98,
        Knobs(K=16, learning_rate=0.2),
    ),
    Challenge(
        "Reach a pass rate of 0.30 on the hard sums with groups of 4 and SGD.",
        lambda k, r: k.prompts == RARE and k.K == 4 and k.optimizer == "SGD" and r.pass_rate[:, -1].mean() >= 0.3,
        Knobs(K=4, prompts=RARE, learning_rate=0.2),
    ),
)
