"""The baseline and the push of sampled RL to be changed, and settings that do without a baseline or with few draws."""

import numpy as np

from sim.worlds import bandit
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.what_rl_adds.widget import RL, Knobs

TWO, FOUR = np.array([1.0, 0.0]), np.array([[1.0, 0, 0, 0], [1, 1, 0, 0.5]])
PI = np.array([0.3, 0.7])
DRAWN = np.array([0, 1, 1, 1])  # of the four completions in FOUR


def imagined(rewards):
    """Mean of the others, one reward of 1 and one of 0."""
    rows = np.atleast_2d(rewards)
    return np.array([[np.mean([*np.delete(row, i), 1, 0]) for i in range(len(row))] for row in rows]).reshape(
        np.shape(rewards)
    )


def upward(pi, arms, advantage):
    """Draw by draw: those above the baseline push, the others do not."""
    pushes = [max(a, 0.0) * (np.eye(len(pi))[arm] - pi) for arm, a in zip(arms, advantage)]
    return np.mean(pushes, axis=0)


CHANGE = Change(
    (bandit.leave_one_out, bandit.push),
    "the baseline, and the push of a batch",
    (
        Exercise(
            "The mean of a few other rewards is noisy. Let the baseline be the mean of the others and two imagined "
            "rewards, a 1 and a 0.",
            ((TWO,), (FOUR,)),
            imagined,
            (
                "The imagined rewards change both the sum and the number of rewards that are averaged.",
                "The sum grows by 1, and the N − 1 others become N + 1.",
            ),
            (
                "    return (rewards.sum(axis=-1, keepdims=True) - rewards) / (N - 1)",
                "    return (rewards.sum(axis=-1, keepdims=True) - rewards + 1) / (N + 1)",
            ),
        ),
        Exercise(
            "Push nothing down: an advantage below 0 counts as 0, as if only above-average samples mattered.",
            ((PI, DRAWN[:2], np.array([1.0, -1 / 3])), (PI, DRAWN, np.array([1.0, 0.5, -0.25, -1.25]))),
            upward,
            (
                "Change the advantage before it multiplies the samples.",
                "Put np.maximum(advantage, 0) into the first line of push.",
            ),
            (
                "    one_hot = arms[..., None] == np.arange(pi.shape[-1])",
                "    advantage = np.maximum(advantage, 0)\n    one_hot = arms[..., None] == np.arange(pi.shape[-1])",
            ),
            bandit.push,
        ),
    ),
)


def mean_right(r):
    return r.right[-1].mean()


CHALLENGES = (
    Challenge(
        "RL, sampled, correct demonstrations 0.3, 10 added to rewards, no baseline: reach a mean pass rate of 0.95.",
        lambda k, r: bool((k.method, k.shown, k.offset, k.baseline) == (RL, 0.3, 10, "none") and mean_right(r) >= 0.95),
        Knobs(offset=10, baseline="none", samples=64, learning_rate=0.3),
    ),
    Challenge(
        "RL, sampled, correct demonstrations 0.01, 2 completions per update: reach a mean pass rate of 0.98.",
        lambda k, r: bool((k.method, k.shown, k.samples) == (RL, 0.01, 2) and mean_right(r) >= 0.98),
        Knobs(shown=0.01, samples=2, learning_rate=3.0),
    ),
)
