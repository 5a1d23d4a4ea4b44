"""GRPO to be turned into other files by its advantage and weights, and rates to be found that suit two files."""

import numpy as np

from sim.algorithms import dr_grpo, grpo, rloo
from widgets.compare.widget import Knobs, ahead, finished, lost
from widgets.frame.contract.exercises import Challenge, Change, Exercise

GROUPS = np.array([[1.0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]])
MASK = np.array([[1.0, 0, 0, 0], [1, 1, 1, 0]])
DIVIDED = "    A = R - R.mean(1, keepdims=True)\n    A = A / (R.std(1, ddof=1, keepdims=True) + 1e-6)\n"

CHANGE = Change(
    (grpo.advantage, grpo.weights),
    "the advantage and the weights of GRPO",
    (
        Exercise(
            "Turn it into Dr.GRPO: remove the division from the advantage, and divide the weights by the longest "
            "length T instead of each completion's own. Only the weights are checked.",
            ((MASK, {}, {}), (np.tri(4), {}, {})),
            dr_grpo.weights,
            (
                "The sum over a row of the mask is the length of a completion; T is the same for all.",
                "mask.shape[1] is T. In the advantage, delete the second line.",
            ),
            ("    return mask / mask.sum(1, keepdims=True) / len(mask)", "    return mask / mask.shape[1] / len(mask)"),
            grpo.weights,
        ),
        Exercise(
            "Give it the advantage of RLOO: each reward minus the mean of the others in its group, without a division.",
            ((GROUPS[:1], {}, {}), (GROUPS, {}, {}), (GROUPS[:, :2], {}, {})),
            rloo.advantage,
            (
                "The sum of the others is the group's minus the reward itself. There are K − 1, with K = R.shape[1].",
                "A = R - (R.sum(1, keepdims=True) - R) / (R.shape[1] - 1)",
            ),
            (DIVIDED, "    A = R - (R.sum(1, keepdims=True) - R) / (R.shape[1] - 1)\n"),
            grpo.advantage,
        ),
    ),
)


def both_end_at(r, rate):
    """Whether both end at this pass rate or above, in the mean of the runs; nan is none."""
    return finished(r) and all(one.pass_rate[:, -1].mean() >= rate for one in r)


CHALLENGES = (
    Challenge(
        "With SGD and hard prompts, let GRPO and Dr.GRPO both end at a pass rate of 0.7 or more, with no prompt lost.",
        lambda k, r: bool(
            k.optimizer == "SGD"
            and k.start == "hard prompts"
            and {k.a, k.b} == {"GRPO", "Dr.GRPO"}
            and both_end_at(r, 0.7)
            and not any(map(lost, r))
        ),
        Knobs(optimizer="SGD", rate_a=2.0, rate_b=24.0, passes="16", start="hard prompts"),
    ),
    Challenge(
        "With hard prompts and one rate, lead DAPO (the second) by 0.2 at equal completions. Both end at 0.9 or more.",
        lambda k, r: bool(
            k.start == "hard prompts"
            and k.b == "DAPO"
            and k.rate_a == k.rate_b
            and both_end_at(r, 0.9)
            and ahead(r) <= -0.2
        ),
        Knobs(a="PPO", b="DAPO", rate_a=4.0, rate_b=4.0, start="hard prompts"),
    ),
)
