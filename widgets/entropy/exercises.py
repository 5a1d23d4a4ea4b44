"""The bonus to be changed, and settings to be found in which the prize is found."""

import numpy as np

from sim.estimators import entropy
from widgets.entropy.widget import Knobs, done, final, many_found
from widgets.frame.contract.exercises import Challenge, Change, Exercise


def probabilities(*logits):
    exp = np.exp(np.array(logits))
    return exp / exp.sum()


SURE, UNSURE = probabilities(0.6, -0.4, 2.0, 0.0), probabilities(0.3, -0.2, 1.0, 0.0)
BOTH = np.stack([SURE, UNSURE])


def below_a_nat(pi):
    """By cases: the slope where the entropy is below 1 nat, else nothing."""
    rows = []
    for p in pi.reshape(-1, 4):
        H = -np.dot(p, np.log(p))
        rows.append(-p * (np.log(p) + H) if H < 1 else 0 * p)
    return np.array(rows).reshape(pi.shape)


def toward_level(pi):
    """Minus the slope of KL(level ‖ π): what π lacks of one part in `actions`."""
    return 1 / pi.shape[-1] - pi


CHANGE = Change(
    (entropy.bonus,),
    "the bonus",
    (
        Exercise(
            "Let the bonus act only where the entropy is below 1 nat, as adaptive bonuses do. It then stops paying "
            "where entropy is high enough. Try it at a bonus of 0.5.",
            ((SURE,), (UNSURE,), (BOTH,)),
            below_a_nat,
            (
                "entropy(pi)[..., None] < 1 is true or false for each policy.",
                "Multiplying by True keeps a number, and multiplying by False makes it 0.",
            ),
            (
                "    return -pi * (np.log(pi + TINY) + entropy(pi)[..., None])",
                "    H = entropy(pi)[..., None]\n    return -pi * (np.log(pi + TINY) + H) * (H < 1)",
            ),
        ),
        Exercise(
            "The push fades with a way's probability. Return a push that does not fade: 1 divided by the number of "
            "ways, minus the probability of each way. It points toward equal probabilities. Try it at a bonus of 0.05.",
            ((SURE,), (BOTH,)),
            toward_level,
            ("pi.shape[-1] is the number of ways.", "One line is enough: 1 / pi.shape[-1] - pi"),
            ("    return -pi * (np.log(pi + TINY) + entropy(pi)[..., None])", "    return 1 / pi.shape[-1] - pi"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "The prize is one sample in 500. Let 20 of 24 runs find it, with 80 of 100 answers correct.",
        lambda k, r: done(r) and k.odds == 500 and many_found(r) >= 20 and final(r) >= 0.8,
        Knobs(alpha=0.2, odds=500),
    ),
    Challenge(
        "The prize is one sample in 200, and the bonus is at most 0.05. Let 20 of 24 runs find it.",
        lambda k, r: done(r) and k.odds == 200 and k.alpha <= 0.05 and many_found(r) >= 20,
        Knobs(alpha=0.05, optimizer="AdamW"),
    ),
)
