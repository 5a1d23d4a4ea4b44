"""The late gradient to be changed, and lags to be borne by what is corrected or dropped."""

from dataclasses import replace

import numpy as np

from sim.experiments import delayed
from widgets.asynchrony import Knobs, best, fair, final
from widgets.frame.contract import Challenge, Change, Exercise

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


def cut_at_two(pi, mu, drawn, reward, beta):
    """Each answer's value times its ratio, at most 2, less the mean of that over the draws; answer by answer."""
    ratio = [min(p / m, 2.0) for p, m in zip(pi, mu)]
    worth = [w * (r - beta * np.log(m * len(mu))) for w, r, m in zip(ratio, reward, mu)]
    mean = sum(d * v for d, v in zip(drawn, worth))
    return np.array([d * (v - w * mean) for d, v, w in zip(drawn, worth, ratio)])


CHANGE = Change(
    (delayed.reward_with_kl, delayed.kl_gradient),
    "the late gradient",
    (
        Exercise(
            "Take the price of KL out of the reward and make it a term of the loss, of the present policy pi.",
            (TWO, THREE),
            delayed.kl_as_loss,
            (
                "What is late is whatever is computed from mu. kl_gradient computes the price from pi.",
                "value is the reward alone, and kl_gradient(pi, beta) is subtracted from what is returned.",
            ),
            (f"{VALUE}\n{RETURNED}", "    return drawn * (reward - drawn @ reward) - kl_gradient(pi, beta)"),
        ),
        Exercise(
            "Weigh each answer by the ratio pi/mu, at most 2: drawn · ratio · (value − mean), with the mean that of "
            "ratio · value over the draws.",
            (TWO, THREE),
            cut_at_two,
            (
                "The correction of the widget is weighted; this one cuts its ratio, and keeps the KL in the reward.",
                "ratio = np.minimum(pi / mu, 2.0), then drawn * ratio * (value - drawn @ (ratio * value)).",
            ),
            (
                RETURNED,
                "    ratio = np.minimum(pi / mu, 2.0)\n    return drawn * ratio * (value - drawn @ (ratio * value))",
            ),
        ),
    ),
)


def short_of(k, r):
    """Score below the best that there is."""
    return best(k) - final(r)


CHALLENGES = (
    Challenge(
        "With all times, lengths and chips as they are: a step under 33 s, no lag above 4 updates, 94 % of the length.",
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
        "Rate 6 or more, lag 8 or more, price 0.2 or more: without the ratio, end at most 0.002 below the best score.",
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
