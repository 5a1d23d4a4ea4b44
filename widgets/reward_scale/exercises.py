"""The divisor of rewards to be changed, and settings to be found that survive a loud answer, two scales, a price."""

import numpy as np

from sim.estimators import group_baselines, normalizers
from sim.estimators.normalizers import BATCH, GROUP
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.reward_scale.widget import Knobs, done, final

ROW = np.array([[1.0, 0.0] * 7 + [1.0, 100.0]])
TWO = np.array([[1.0, 0.0, 0.0, 0.0], [30.0, 30.0, 0.0, 0.0]])


def as_verl(rewards, source, mean, over):
    """reinforce_plus_plus_baseline, of completions of one length."""
    centered = group_baselines.less_mean(rewards)
    return normalizers.whitened(centered, np.ones_like(centered))


CHANGE = Change(
    (normalizers.normalized, normalizers.deviation),
    "the scale of rewards",
    (
        Exercise(
            "Take the standard deviation after the mean is subtracted, as verl's reinforce_plus_plus_baseline does. "
            "The spread between easy and hard prompts then no longer makes it larger.",
            ((TWO, np.array([0, 0]), GROUP, BATCH), (ROW.reshape(4, 4), np.zeros(4), GROUP, BATCH)),
            as_verl,
            (
                "The standard deviation is computed from rewards. The variable centered is defined further up.",
                "of_part(deviation, centered, source, over, 1.0)",
            ),
            (
                "    return centered / (of_part(deviation, rewards, source, over, 1.0) + eps)",
                "    return centered / (of_part(deviation, centered, source, over, 1.0) + eps)",
            ),
        ),
        Exercise(
            "Squares let the loudest reward decide alone. Return the mean absolute distance from the mean instead, and "
            "then give one answer a reward of 100.",
            ((ROW,), (TWO,), (ROW[0, :8],)),
            lambda rewards: 2 * np.maximum(rewards - rewards.mean(), 0).mean(),
            ("The distances are np.abs(rewards - rewards.mean()).", "Their mean is the whole function."),
            ("    return rewards.std(ddof=1)", "    return np.abs(rewards - rewards.mean()).mean()"),
            normalizers.deviation,
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "One answer in 128 gets 100, and nothing is clipped. Reach a pass rate of 0.85 on all sums.",
        lambda k, r: done(r) and k.outlier == "100" and k.limit == "off" and final(r) >= 0.85,
        Knobs(outlier="100", over="group"),
    ),
    Challenge(
        "The reward model gives 30, with noise just as large. Reach a pass rate of 0.75 on both halves.",
        lambda k, r: done(r) and k.scale == 30 and k.noise == 1 and r.right[-1].min() >= 0.75,
        Knobs(scale=30.0, noise=1.0, over="source"),
    ),
    Challenge(
        "All rewards are multiplied by 0.01, and the KL coefficient is above 0. Reach a pass rate of 0.8 on all sums.",
        lambda k, r: done(r) and k.c == 0.01 and k.price > 0 and final(r) >= 0.8,
        Knobs(c=0.01, price=0.0004),
    ),
)
