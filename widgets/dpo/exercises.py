"""The loss of DPO to be changed, and policies to be trained that win at little distance."""

import numpy as np

from sim.estimators import preference_losses
from widgets.dpo.widget import SURE, Knobs
from widgets.frame.contract.exercises import Challenge, Change, Exercise

MARGINS = np.array([-1.0, 0.0, 3.0])
CALLS = ((MARGINS, 0.4), (np.linspace(-8, 8, 9), 0.1))
LINE = "    return bradley_terry.loss(beta * h), beta * bradley_terry.loss_slope(beta * h)"
WRONG = 0.1  # share of the labels that conservative DPO takes to be wrong


def conservative(h, beta):
    """cDPO: the loss of the label as it stands, and with the share WRONG that of the label turned round."""
    z, chance = beta * h, 1 / (1 + np.exp(-beta * h))
    return (1 - WRONG) * np.log1p(np.exp(-z)) + WRONG * np.log1p(np.exp(z)), beta * (chance - (1 - WRONG))


CHANGE = Change(
    (preference_losses.dpo,),
    "the loss of DPO",
    (
        Exercise(
            "Turn it into IPO. Return the squared difference between the margin and 1/(2β), and its derivative.",
            CALLS,
            preference_losses.ipo,
            (
                "IPO asks for a certain margin. A margin above it costs as much as one that falls short by as much.",
                "With d = h − 1/(2β) the loss is d², and its derivative is 2d.",
            ),
            (LINE, "    return (h - 1 / (2 * beta)) ** 2, 2 * (h - 1 / (2 * beta))"),
        ),
        Exercise(
            "Turn it into conservative DPO. A label is right with probability 0.9 and wrong with probability 0.1. "
            "Return the expected loss and its derivative.",
            CALLS,
            conservative,
            (
                "A wrong label means that the loser should have won, so its loss is that of the margin −h.",
                "Add 0.9 times the loss of βh and 0.1 times the loss of −βh. The slope of the second has the opposite "
                "sign.",
            ),
            (
                LINE,
                "    right, wrong = bradley_terry.loss(beta * h), bradley_terry.loss(-beta * h)\n"
                "    up, down = bradley_terry.loss_slope(beta * h), bradley_terry.loss_slope(-beta * h)\n"
                "    return 0.9 * right + 0.1 * wrong, beta * (0.9 * up - 0.1 * down)",
            ),
        ),
    ),
)


def won(k, r):
    return float(r.course.wins[-1])


CHALLENGES = (
    Challenge(
        "Reach a win rate of 0.77 at a KL of 2 nats or less, with 200 pairs or more.",
        lambda k, r: bool(k.n >= 200 and won(k, r) >= 0.77 and r.course.kl[-1] <= 2),
        Knobs(loss="KTO", beta=0.5),
    ),
    Challenge(
        "Reach a win rate of 0.7 while the winners of the pairs gain log-probability, with 200 pairs or more.",
        lambda k, r: bool(k.n >= 200 and won(k, r) >= 0.7 and r.course.chosen[-1] > 0),
        Knobs(loss="KTO", beta=2.0, labels=SURE),
    ),
    Challenge(
        "Reach a win rate of 0.72 with a labelers' bonus for length of 1, and with 200 pairs or more.",
        lambda k, r: bool(k.bias == 1 and k.n >= 200 and won(k, r) >= 0.72),
        Knobs(bias=1.0, beta=0.2, steps=40),
    ),
)
