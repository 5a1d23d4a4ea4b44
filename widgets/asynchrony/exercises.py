"""The late gradient to be changed, and lags to be borne by what is corrected or dropped."""

from dataclasses import replace

import numpy as np

from sim.experiments import delayed_gradient
from widgets.asynchrony.widget import Knobs, best, fair, final
from widgets.frame.contract.exercises import Challenge, Change, Exercise

TWO = (np.array([0.5, 0.5]), np.array([0.2, 0.8]), np.array([0.2, 0.8]), np.array([0.0, 1.0]), 0.1)
THREE = (
    np.array([0.7, 0.2, 0.1]),
    np.array([0.1, 0.3, 0.6]),
    np.array([0.25, 0.25, 0.5]),
    np.array([0.0, 0.5, 1.0]),
    0.2,
)
VALUE = "    value = reward + -beta * np.log(mu * len(mu))"
RETURNED = "    return drawn * (value - drawn @ value)"


def in_deviations(pi, mu, drawn, reward, beta):
    """Each answer's value minus the mean, over the deviation of the values among the draws; answer by answer."""
    value = [r - beta * np.log(m * len(mu)) for r, m in zip(reward, mu)]
    mean = sum(d * v for d, v in zip(drawn, value))
    deviation = sum(d * (v - mean) ** 2 for d, v in zip(drawn, value)) ** 0.5
    return np.array([d * (v - mean) / (deviation + 1e-6) for d, v in zip(drawn, value)])


CHANGE = Change(
    (delayed_gradient.reward_with_kl, delayed_gradient.kl_gradient),
    "the late gradient",
    (
        Exercise(
            "Take the KL penalty out of the reward. Make it a term of the loss instead, computed for pi, the present "
            "policy. A lag of 16 shows what that changes.",
            (TWO, THREE),
            delayed_gradient.kl_as_loss,
            (
                "Everything that is computed from mu is late. kl_gradient computes the penalty from pi.",
                "value is the reward alone, and kl_gradient(pi, beta) is subtracted from the result.",
            ),
            (f"{VALUE}\n{RETURNED}", "    return drawn * (reward - drawn @ reward) - kl_gradient(pi, beta)"),
        ),
        Exercise(
            "Divide as GRPO does: value minus its mean, divided by the standard deviation of the sampled values plus "
            "1e-6. Does the policy still come to rest?",
            (TWO, THREE),
            in_deviations,
            (
                "Near the best policy all values are nearly equal, so dividing by a small deviation makes large steps.",
                "centered = value - drawn @ value; the deviation is np.sqrt(drawn @ centered**2).",
            ),
            (
                RETURNED,
                "    centered = value - drawn @ value\n"
                "    return drawn * centered / (np.sqrt(drawn @ centered**2) + 1e-6)",
            ),
        ),
    ),
)


def short_of(k, r):
    """Score below the best that there is."""
    return best(k) - final(r)


CHALLENGES = (
    Challenge(
        "Get a step below 33 s, no lag above 4 and 94 % of the mean length, with the same times, lengths and chip.",
        lambda k, r: bool(
            replace(k, overlap="async", head=2, slots=256, hard_cap="never", in_place=True) == Knobs()
            and not r.misfits
            and r.run.step_seconds < 33
            and r.run.lag.max() <= 4
            and fair(r) >= 0.94
        ),
        Knobs(hard_cap="4", in_place=False),
    ),
    Challenge(
        "End within 0.002 of the best score without the ratio, with rate ≥ 6, lag ≥ 8 and β ≥ 0.2.",
        lambda k, r: bool(
            not r.misfits
            and k.learning_rate >= 6
            and r.delay >= 8
            and k.beta >= 0.2
            and k.correction in ("none", "KL as a loss")
            and short_of(k, r) <= 0.002
        ),
        Knobs(learning_rate=6.0, delay="8", correction="KL as a loss"),
    ),
)
