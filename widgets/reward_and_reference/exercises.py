"""The charge for leaving the reference to be changed, and prices to be found that keep a model right."""

import numpy as np

from sim.estimators import hacking
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.reward_and_reference.widget import COPY, Knobs

PAID, GONE = np.array([1.0, 0.0, 1.5]), np.array([0.5, -1.0, 3.0])
MORE, FARTHER = np.array([0.75, 0.0, 1.125, 2.0]), np.array([1.0, 1.5, -0.25, 0.0])

CHANGE = Change(
    (hacking.charged,),
    "what is charged for leaving the reference",
    (
        Exercise(
            "Make a fence of the price: the first nat is free, and each nat beyond it costs beta. Nothing is paid back "
            "for a negative log-ratio.",
            ((PAID, GONE, 0.1), (MORE, FARTHER, 1.0)),
            lambda reward, kl, beta: np.array([r if far <= 1 else r - beta * (far - 1) for r, far in zip(reward, kl)]),
            (
                "What is charged is the part of kl that lies beyond 1, and that part is never below 0.",
                "np.maximum(kl - 1, 0) stands where kl stood.",
            ),
            ("    return reward - beta * kl", "    return reward - beta * np.maximum(kl - 1, 0)"),
        ),
        Exercise(
            "Change the pay, not the price: whatever a completion is paid counts as at most 1, what a right answer "
            "earns. The charge stays.",
            ((PAID, GONE, 0.1), (MORE, FARTHER, 1.0)),
            lambda reward, kl, beta: np.array([(1.0 if r > 1 else r) - beta * far for r, far in zip(reward, kl)]),
            (
                "Cap the pay first, then take the charge off what is left.",
                "np.minimum(reward, 1) stands where reward stood.",
            ),
            ("    return reward - beta * kl", "    return np.minimum(reward, 1) - beta * kl"),
        ),
    ),
)


def ended(r):
    return r.points[-1]


CHALLENGES = (
    Challenge(
        "Reward model, pay of the hack 0.9 or more: train to a true reward of 0.65 or more.",
        lambda k, r: bool(k.source == "reward model" and k.hack >= 0.9 and ended(r).gold >= 0.65),
        Knobs(hack=0.9, beta=0.2),
    ),
    Challenge(
        "Train to a true reward of 0.82 or more while the model stays within 0.9 nats of its start.",
        lambda k, r: bool(ended(r).gold >= 0.82 and ended(r).kl <= 0.9),
        Knobs(source="verifier", beta=0.3),
    ),
    Challenge(
        "Reward model, frozen copy, hack paid 3 at a share of 0.001: a best policy with a true reward of 0.7 or more.",
        lambda k, r: bool(
            (k.source, k.reference, k.mass) == ("reward model", COPY, 0.001) and k.hack > 2.95 and r.gold >= 0.7
        ),
        Knobs(hack=3.0, mass=0.001, beta=0.5),
    ),
)
