"""The best policy at a KL coefficient to be changed, and policies to be found that people prefer to their start."""

import numpy as np

from sim.estimators import overoptimization
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.rlhf.widget import BEST, Knobs, lowest

REF = np.array([0.5, 0.3, 0.2])
CALLS = ((REF, np.array([0.0, 1.0, 3.0]), 1.0), (REF, np.array([-2.0, 2.0, 0.5]), 0.4))
LINE = "    policy = kl.reverse_kl_optimum(reward, ref, beta)"
CAP = 1.0


def tilted(ref, score):
    """ref e^score, normalized, and its KL."""
    weight = [p * np.exp(s) for p, s in zip(ref, score)]
    policy = np.array(weight) / sum(weight)
    return policy, float(sum(q * np.log(q / p) for q, p in zip(policy, ref)))


def standardized(ref, reward, beta):
    mean = sum(p * R for p, R in zip(ref, reward))
    deviation = np.sqrt(sum(p * R**2 for p, R in zip(ref, reward)) - mean**2)
    return tilted(ref, [(R - mean) / deviation / beta for R in reward])


CHANGE = Change(
    (overoptimization.tilt,),
    "the best policy at a KL coefficient",
    (
        Exercise(
            "Clip the reward, so that any score above 1 counts as 1.",
            CALLS,
            lambda ref, reward, beta: tilted(ref, [min(R, CAP) / beta for R in reward]),
            (
                "Only the reward changes. The tilt of the reference and the coefficient stay.",
                "Use np.minimum(reward, 1) in place of the reward.",
            ),
            (LINE, LINE.replace("(reward,", "(np.minimum(reward, 1),")),
        ),
        Exercise(
            "Standardize the reward first: subtract its mean under the reference, and divide by its standard deviation "
            "there. A KL coefficient then means the same for every reward model.",
            CALLS,
            standardized,
            (
                "Use the probabilities of the reference for both. The mean is ref @ reward.",
                "The variance is ref @ (reward - ref @ reward) ** 2. Divide by its root.",
            ),
            (LINE, "    reward = reward - ref @ reward\n    reward = reward / np.sqrt(ref @ reward**2)\n" + LINE),
        ),
    ),
)


def wins(k, r):
    return lowest(k, r.here, r.path)


CHALLENGES = (
    Challenge(
        "Reach a win rate of 0.8 with a reward learned on q and length, 200 pairs, saturation of length 1 and seed 0.",
        lambda k, r: bool(
            not k.perfect
            and k.features == "q and length"
            and k.pairs == 200
            and k.kappa == 1
            and k.seed == 0
            and wins(k, r) >= 0.8
        ),
        Knobs(how=BEST, N=256),
    ),
    Challenge(
        "With a perfect reward and saturation of length 1, reach a win rate of 0.9 and keep 60 different completions.",
        lambda k, r: bool(k.perfect and k.kappa == 1 and wins(k, r) >= 0.9 and np.exp(r.here.entropy) >= 60),
        Knobs(perfect=True, beta=0.15),
    ),
    Challenge(
        "Flip 0.3 of the labels and reach a win rate of 0.75 without a perfect reward, at saturation of length 1.",
        lambda k, r: bool(round(k.flip, 9) == 0.3 and not k.perfect and k.kappa == 1 and wins(k, r) >= 0.75),
        Knobs(flip=0.3, pairs=3000, beta=0.15),
    ),
)
