"""RLOO's baseline to be changed, and runs to be found that keep their variety or fall together."""

import numpy as np

from sim.algorithms import dr_grpo
from sim.estimators import group_baselines
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.rloo.widget import UPDATES, Knobs, apart, left

GROUPS = np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]])
BASELINE = "    return rewards - (rewards.sum(axis=1, keepdims=True) - rewards) / (K - 1)"


def over_the_best(rewards):
    """What a sorted group says: the best of the others is the second where the completion is the best itself."""
    *_, second, best = np.sort(rewards, axis=1).T[:, :, None]
    return rewards - np.where(rewards == best, second, best)


CHANGE = Change(
    (group_baselines.leave_one_out,),
    "the baseline of RLOO",
    (
        Exercise(
            "Let the baseline be the mean of the whole group, including the completion itself. Then run: what is still "
            "different between RLOO and its twin?",
            ((GROUPS[:1],), (GROUPS,), (GROUPS[:, :2],)),
            lambda rewards: dr_grpo.advantage(rewards, {}, None),
            (
                "Divide the sum of the group by K, instead of the sum of the others by K − 1.",
                "rewards.mean(axis=1, keepdims=True) is the whole baseline.",
            ),
            (BASELINE, "    return rewards - rewards.mean(axis=1, keepdims=True)"),
        ),
        Exercise(
            "Let the baseline be the best of the others in the group, instead of their mean. It does not contain the "
            "completion itself, so the gradient stays correct on average. See what it costs in noise.",
            ((GROUPS[:1],), (GROUPS,), (GROUPS[:, :2],)),
            over_the_best,
            (
                "np.delete(rewards, i, axis=1) leaves completion i out of every group.",
                "Take .max(axis=1) of that for each i in range(K), and np.stack the K columns with axis=1.",
            ),
            (
                BASELINE,
                "    best = [np.delete(rewards, i, axis=1).max(axis=1) for i in range(K)]\n"
                "    return rewards - np.stack(best, axis=1)",
            ),
        ),
    ),
)


def right(r):
    """Right completions of RLOO at the end, mean of the runs."""
    return r.pass_rate[0, :, -1].mean() if r.updates == UPDATES else 0.0


CHALLENGES = (
    Challenge(
        "Make 16 passes over each batch, and end with a pass rate of at least 0.9 and 4 or more different completions.",
        lambda k, r: bool(k.passes == 16 and right(r) >= 0.9 and left(r) >= 4),
        Knobs(passes=16, learning_rate=1.0, ratio="per completion"),
    ),
    Challenge(
        "Under SGD with 2 completions per prompt, keep the twins within 0.001, and reach a pass rate of 0.7.",
        lambda k, r: bool(k.optimizer == "SGD" and k.K == 2 and right(r) >= 0.7 and apart(r) <= 0.001),
        Knobs(K=2, rescaled=True),
    ),
)
