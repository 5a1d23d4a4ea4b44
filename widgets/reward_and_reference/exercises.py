"""The charge for leaving the reference to be changed, and prices to be found that keep a model right."""

import numpy as np

from sim.estimators import hacking
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.reward_and_reference.widget import COPY, Knobs

PAID, GONE = np.array([1.0, 0.0, 1.5]), np.array([0.5, -1.0, 3.0])
MORE, FARTHER = np.array([0.75, 0.0, 1.125, 2.0]), np.array([1.0, 1.5, -0.25, 0.0])

CHANGE = Change(
    (hacking.charged,),
    "the penalty for leaving the reference",
    (
        Exercise(
            "Turn the price into a fence: the first nat is free, and each nat beyond it costs beta. A negative "
            "log-ratio gets no refund.",
            ((PAID, GONE, 0.1), (MORE, FARTHER, 1.0)),
            lambda reward, kl, beta: np.array([r if far <= 1 else r - beta * (far - 1) for r, far in zip(reward, kl)]),
            (
                "Charge only the part of kl that lies beyond 1. That part is never below 0.",
                "Write np.maximum(kl - 1, 0) in place of kl.",
            ),
            ("    return reward - beta * kl", "    return reward - beta * np.maximum(kl - 1, 0)"),
        ),
        Exercise(
            "Change the reward instead of the penalty: cap every reward at 1, which a correct answer earns.",
            ((PAID, GONE, 0.1), (MORE, FARTHER, 1.0)),
            lambda reward, kl, beta: np.array([(1.0 if r > 1 else r) - beta * far for r, far in zip(reward, kl)]),
            ("Cap the reward first, and then subtract the penalty.", "Write np.minimum(reward, 1) in place of reward."),
            ("    return reward - beta * kl", "    return np.minimum(reward, 1) - beta * kl"),
        ),
    ),
)


def ended(r):
    return r.points[-1]


CHALLENGES = (
    Challenge(
        "Reward model, hack reward 0.9 or more: train to a true reward of at least 0.65.",
        lambda k, r: bool(k.source == "reward model" and k.hack >= 0.9 and ended(r).gold >= 0.65),
        Knobs(hack=0.9, beta=0.2),
    ),
    Challenge(
        "Train to a true reward of at least 0.82 within 0.9 nats of the start.",
        lambda k, r: bool(ended(r).gold >= 0.82 and ended(r).kl <= 0.9),
        Knobs(source="verifier", beta=0.3),
    ),
    Challenge(
        "Reward model, frozen copy, hack reward 3, share 0.001: find a best policy with a true reward of at least 0.7.",
        lambda k, r: bool(
            (k.source, k.reference, k.mass) == ("reward model", COPY, 0.001) and k.hack > 2.95 and r.gold >= 0.7
        ),
        Knobs(hack=3.0, mass=0.001, beta=0.5),
    ),
)
