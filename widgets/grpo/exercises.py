"""GRPO's advantage to be changed, and runs to be found with groups of the right size."""

import numpy as np

from sim.estimators import group_baselines
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.grpo.widget import GAIN, Knobs, gain

GROUPS = np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]])
DIVIDED = "    return less_mean(rewards) / (rewards.std(axis=1, ddof=ddof, keepdims=True) + eps)"

CHANGE = Change(
    (group_baselines.z_score,),
    "the advantage of GRPO",
    (
        Exercise(
            "Make Dr.GRPO of it: the reward less the mean of its group, and nothing else.",
            ((GROUPS,), (GROUPS[:, :2],)),
            lambda rewards: rewards - rewards.mean(axis=1, keepdims=True),
            (
                "What the paper leaves out of GRPO is the division, for it weighs prompts by how hard they are.",
                "One line changes: what stands before the / remains.",
            ),
            (DIVIDED, "    return less_mean(rewards)"),
        ),
        Exercise(
            "Make RLOO of it by changing one line: each reward less the mean of the others in its group.",
            ((GROUPS,), (GROUPS[:, :2],)),
            lambda rewards: np.array([[r - np.delete(row, i).mean() for i, r in enumerate(row)] for row in rewards]),
            (
                "The others' sum is the group's sum less the reward itself; they are K − 1.",
                "The group's mean holds a share 1/K of the reward itself: to leave it out, multiply by K/(K − 1).",
            ),
            (DIVIDED, "    K = rewards.shape[1]\n    return less_mean(rewards) * K / (K - 1)"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "Reach a pass rate of 0.99 on mixed prompts with groups of 16 or more.",
        lambda k, r: k.prompts == "mixed" and k.K >= 16 and r.pass_rate[:, -1].mean() >= 0.99,
        Knobs(K=16, learning_rate=10.0),
    ),
    Challenge(
        f"Let prompts that are almost never right gain {GAIN:g} with at most 16 completions each, by SGD.",
        lambda k, r: k.prompts == "almost never right" and k.K <= 16 and k.optimizer == "SGD" and gain(k, r) >= GAIN,
        Knobs(K=16, prompts="almost never right"),
    ),
)
