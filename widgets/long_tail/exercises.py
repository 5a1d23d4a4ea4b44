"""The race for a place in the batch to be changed, and shorter steps to be found whose batch is still fair."""

from dataclasses import replace

import numpy as np

from sim.cluster import straggler
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.long_tail.widget import FAIR, UNCAPPED, Knobs

Z = straggler.Z
SHORT_ONLY = np.where(Z < 0, 1.0, 0.01)  # the shorter half always, of the longer one in a hundred
FADING = 1 / (1 + np.exp(3 * Z))
MEAN = "    return mean_over(trained, p_right(slope))"
LOST = "    trained = 1 - cumulative(kth_density(K, launched - 1))  # at e, the part of z beyond its prompt"


def weighted(slope, trained):
    """The mean of correct answers, each sample kept with 1 over its chance, at most 20, summed over the grid."""
    many = [t * min(1 / max(t, 1e-300), 20.0) * np.exp(-z * z / 2) for z, t in zip(Z, trained)]
    return sum(m / (1 + np.exp(-slope * z)) for z, m in zip(Z, many)) / sum(many)


CHANGE = Change(
    (straggler.race_in_prompts, straggler.trained_accuracy),
    "the race, and the accuracy of its batch",
    (
        Exercise(
            "Correct the batch's accuracy: weight each answer by one over its probability of being kept, and let no "
            "weight exceed 20.",
            ((-1.0, SHORT_ONLY), (-1.0, FADING), (2.0, FADING)),
            weighted,
            (
                "mean_over weights each z by its probability t of being kept. Multiply this: t · min(1/t, 20).",
                "t · min(1/t, 20) equals min(1, 20 t), and np.minimum takes arrays.",
            ),
            (MEAN, "    return mean_over(np.minimum(20 * trained, 1.0), p_right(slope))"),
            straggler.trained_accuracy,
        ),
        Exercise(
            "Let chance choose instead of the clock: the step waits for all answers that were started, and keeps K of "
            "them at random.",
            ((8, 12), (8, 8), (8, 10, 0.5)),
            lambda K, launched, between=0.0: np.full(Z.shape, K / launched),
            (
                "Whether an answer is kept no longer depends on its length: the probability is the same at every z.",
                "That probability is K / launched, as an array of the shape of Z.",
            ),
            (LOST, "    trained = np.full(Z.shape, K / launched)"),
            straggler.race_in_prompts,
        ),
    ),
)


def off(r):
    return abs(r.accuracy_trained - FAIR)


def of_all(k, r):
    """A step, as a part of one that waits for all."""
    return r.waits[k.rule] / r.waits["wait for all"]


def dropping(k):
    """Whether unfinished answers are dropped, with no limit on length, at the slope of the default."""
    return not k.log and k.rule != "partial rollout" and k.cap == UNCAPPED and k.slope == -1.0


CHALLENGES = (
    Challenge(
        "Drop at slope −1 without a limit: a step of at most 0.4 of waiting for all, an error of at most 1.5 points.",
        lambda k, r: bool(dropping(k) and of_all(k, r) <= 0.4 and off(r) <= 0.015),
        Knobs(launched=10, rule="drop prompts"),
    ),
    Challenge(
        "Drop at v = 0.75 without a limit: a step of at most 0.8 of waiting for all, an error of at most 2.5 points.",
        lambda k, r: bool(dropping(k) and k.between >= 0.749 and of_all(k, r) <= 0.8 and off(r) <= 0.025),
        Knobs(launched=9, between=0.75),
    ),
    Challenge(
        "Limit only the length of answers: a step of at most 5,000 tokens, with an error of at most 1 point.",
        lambda k, r: bool(
            replace(k, cap=UNCAPPED, cut="masked") == Knobs() and k.median * r.waits[k.rule] <= 5000 and off(r) <= 0.01
        ),
        Knobs(cap=4096, cut="scored wrong"),
    ),
)
