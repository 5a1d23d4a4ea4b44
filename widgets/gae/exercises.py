"""The credit of a token to be changed, and settings to be found that bring a reward far with λ below 1."""

import numpy as np

from sim.estimators.advantages import gae
from sim.experiments import long_answer
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.gae.widget import TWO, UPDATES, WHOLE, Knobs

REWARD, VALUE = np.array([[0.0, 0, 0, 1]]), np.array([[0.2, 0.4, 0.5, 0.7]])


def decoupled(reward, value, lam, target):
    """By the loop over tokens: the policy's λ for the advantages, 1 for what the critic learns from."""
    own = np.ones(reward.shape)
    return gae(reward, value, own, 1.0, lam)[0], gae(reward, value, own, 1.0, 1.0)[1]


def two_ahead(reward, value, lam, target):
    """The n-step advantage for n = 2: two rewards and the value after them, less the value before."""

    def later(values, n):
        return np.concatenate([values[:, n:], np.zeros((len(values), n))], axis=1)

    advantage = reward + later(reward, 1) + later(value, 2) - value
    return advantage, gae(reward, value, np.ones(reward.shape), 1.0, target)[1]


CHANGE = Change(
    (long_answer.credit,),
    "the credit of a token",
    (
        Exercise(
            "Let the critic learn from the whole return, whatever the λ of the policy is, as in VAPO.",
            ((REWARD, VALUE, 0.95, 0.95), (REWARD, VALUE, 0.0, 0.0)),
            decoupled,
            (
                "The policy's λ affects only the advantages. With which λ is a return the sum of all later rewards?",
                "The last argument of the second sum is 1.",
            ),
            (
                "    returns = value + gae_without_holes(reward, value, 1.0, target)",
                "    returns = value + gae_without_holes(reward, value, 1.0, 1.0)",
            ),
        ),
        Exercise(
            "Look exactly two tokens ahead: the advantage is the next two rewards plus the value after them, minus the "
            "value before them. The returns stay as they are.",
            ((REWARD, VALUE, 0.95, 0.95), (REWARD + 0.1, VALUE, 0.5, 1.0)),
            two_ahead,
            (
                "At λ = 0, GAE looks one token ahead. Two such surprises in a row look two tokens ahead.",
                "Compute the advantage at λ = 0, and add the same array moved one token to the left.",
            ),
            (
                "    advantage = gae_without_holes(reward, value, 1.0, lam)",
                "    one = gae_without_holes(reward, value, 1.0, 0.0)\n"
                "    advantage = one.copy()\n"
                "    advantage[:, :-1] += one[:, 1:]",
            ),
        ),
    ),
)


def right(r):
    return r.updates == UPDATES and r.right[-1] >= 0.75


CHALLENGES = (
    Challenge(
        "With SGD, 1,000 tokens and λ at most 0.98, get 75 of 100 answers correct.",
        lambda k, r: bool(k.optimizer == "SGD" and k.length == 1000 and k.lam <= 0.98 and right(r)),
        Knobs(lam=0.98, length=1000, target=WHOLE),
    ),
    Challenge(
        "The critic confuses two ways and never learns (rate 0). With λ below 1, get 75 of 100 answers correct.",
        lambda k, r: bool(k.opinion == TWO and k.rate == 0 and k.lam < 1 and right(r)),
        Knobs(lam=0.998, opinion=TWO, rate=0.0),
    ),
)
