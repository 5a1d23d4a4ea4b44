"""The rate of a label to be changed, and settings to be found in which scorers find errors and sums do not pad."""

import numpy as np

from sim.estimators import step_labels
from sim.experiments.step_rewards import SUM
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.process_rewards.widget import Knobs, done, in_force

CHANGE = Change(
    (step_labels.any_rates,),
    "the chance of a label",
    (
        Exercise(
            "Ask for two: call a step good only if at least two of its K endings are correct. `v` is the "
            "probability that one ending is correct.",
            ((np.array([0.62913688, 0.18543156]), 4), (np.array([0.3, 0.0]), 7), (np.array([0.6, 0.1]), 1)),
            lambda v, K: np.array([step_labels.more_than_rate(p, K, 1 / K) for p in v]),
            (
                "Subtract one more case: exactly one of the K endings is correct.",
                "Exactly one is correct with probability `K * v * (1 - v) ** (K - 1)`.",
            ),
            ("    return 1 - (1 - v) ** K", "    return 1 - (1 - v) ** K - K * v * (1 - v) ** (K - 1)"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "With 16 completions per step and without a person, reach an F1 of 0.75.",
        lambda k, r: done(r) and k.K == 16 and k.rule not in ("a person says so", "both agree") and f1(k, r) >= 0.75,
        Knobs(K=16, rule="more than a part"),
    ),
    Challenge(
        "With 0.2 of flawed steps rescued, at least 8 completions and no person, reach an F1 of 0.7.",
        lambda k, r: (
            done(r)
            and k.rescue == 0.2
            and k.K >= 8
            and k.rule not in ("a person says so", "both agree")
            and f1(k, r) >= 0.7
        ),
        Knobs(K=16, rule="share right", rescue=0.2),
    ),
    Challenge(
        "With scores added up, end with 90 % of the chains solved.",
        lambda k, r: done(r) and k.form == SUM and r.solved[-1] >= 0.9,
        Knobs(form=SUM, less=0.95),
    ),
)


def f1(k, r):
    return in_force(k, r).F1
