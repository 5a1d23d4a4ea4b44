"""What a completion is pushed by to be changed, and a price to be found that buys the most."""

import numpy as np

from sim.algorithms import reinforce
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.orientation.widget import Knobs

GROUPS = np.array([[1.0, 0, 0, 0], [0.5, 1, -0.5, 0]])

CHANGE = Change(
    (reinforce.advantage,),
    "what each completion is pushed by",
    (
        Exercise(
            "Compare: push each completion by its reward minus the mean reward of its group, a row of R.",
            ((GROUPS, {}, {}), (GROUPS[:, :3], {}, {})),
            lambda R, hp, batch: np.array([[r - sum(row) / len(row) for r in row] for row in R]),
            (
                "A completion below the mean is now pushed down.",
                "R.mean(axis=1, keepdims=True) is the mean of each row.",
            ),
            ("    A = R\n", "    A = R - R.mean(axis=1, keepdims=True)\n"),
        ),
        Exercise(
            "Imitate the best: push the completions with the largest reward in their group by 1, and all others by 0.",
            ((GROUPS, {}, {}), (np.array([[1.0, 1, 0], [0, 0, 0]]), {}, {})),
            lambda R, hp, batch: np.array([[1.0 if r == max(row) else 0.0 for r in row] for row in R]),
            (
                "Loop B keeps the best of a group, and here the policy learns from it. The size of the reward does not "
                "matter.",
                "1.0 * (R == R.max(axis=1, keepdims=True))",
            ),
            ("    A = R\n", "    A = 1.0 * (R == R.max(axis=1, keepdims=True))\n"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "Reach a pass rate of at least 0.77 with one completion, at most 1.25 nats from the start.",
        lambda k, r: bool(r.pass_rate[-1].mean() >= 0.77 and r.kl[-1] <= 1.25),
        Knobs(beta=0.2, K=64),
    ),
)
