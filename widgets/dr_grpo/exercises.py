"""The two divisors to be changed, and settings to be found in which they do no harm."""

import numpy as np

from sim.estimators import length_bias
from widgets.dr_grpo.widget import UPDATES, Knobs, apart, prompt_weight
from widgets.frame.contract.exercises import Challenge, Change, Exercise

REWARDS = np.array([[[1.0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]]])
LENGTHS = np.array([[1.0, 3, 2, 4]])


def over_the_batch(R, std):
    """Lite PPO: the group's mean, the deviation of all rewards of a batch, seed by seed."""
    A = np.array([[group - np.mean(group) for group in batch] for batch in R])
    spread = np.array([np.std(batch.ravel(), ddof=1) for batch in R])[:, None, None]
    return A / (spread + 1e-6) if std else A


def prompt_mean(n, K, divisor):
    """A mean over the tokens of a prompt, then a mean over the prompts."""
    prompts = n.shape[1] // K
    return np.array([[prompts * row[i // K * K :][:K].sum() for i in range(len(row))] for row in n])


CHANGE = Change(
    (length_bias.divided_by, length_bias.advantage),
    "the two divisors",
    (
        Exercise(
            "Change the token mean: average over the tokens of one prompt (K adjacent completions), and then over the "
            "prompts. The divisor is the tokens of the prompt times the number of prompts.",
            ((LENGTHS, 2, "token mean"), (np.arange(1.0, 13).reshape(2, 6), 3, "token mean")),
            prompt_mean,
            (
                "ScaleRL calls it the prompt average. Reshape n so that the K completions of a prompt have an axis.",
                "own = n.reshape(len(n), -1, K).sum(axis=2) has the tokens of each prompt, and np.repeat copies them "
                "to each completion.",
            ),
            (
                "        return n.sum(axis=1, keepdims=True) * np.ones(n.shape)",
                "        own = n.reshape(len(n), -1, K).sum(axis=2)\n"
                "        return np.repeat(own * own.shape[1], K, axis=1)",
            ),
            length_bias.divided_by,
        ),
        Exercise(
            "Divide by one standard deviation for the whole batch of a seed, as Lite PPO does, not by one for each "
            "group. The rewards R have the axes seed, group, completion.",
            ((REWARDS, True), (REWARDS[:, :2], True), (REWARDS, False)),
            over_the_batch,
            (
                "One number then rescales the step, and no prompt gets more weight because it is hard or easy.",
                "Take the standard deviation over the axes (1, 2) instead of 2.",
            ),
            ("R.std(axis=2, ddof=1, keepdims=True)", "R.std(axis=(1, 2), ddof=1, keepdims=True)"),
            length_bias.advantage,
        ),
    ),
)


def at_most(r, times):
    return bool(r.lengths.updates == UPDATES and apart(r) <= times)


CHALLENGES = (
    Challenge(
        "Divide by the standard deviation, and give a pass rate of 0.02 at most 1.05 times the weight of 0.5.",
        lambda k, r: k.std and prompt_weight(k) <= 1.05,
        Knobs(K=2),
    ),
    Challenge(
        "With SGD, one prompt per batch and the token mean, keep wrong completions at most 1.3 times as long as "
        "correct ones.",
        lambda k, r: k.optimizer == "SGD" and k.groups == 1 and k.divisor == "token mean" and at_most(r, 1.3),
        Knobs(groups=1, K=64, learning_rate=0.5),
    ),
)
