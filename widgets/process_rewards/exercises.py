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
            "Ask for two: let a step be called good if at least two of its K endings are right. v is the chance that "
            "one ending is right.",
            ((np.array([0.62913688, 0.18543156]), 4), (np.array([0.3, 0.0]), 7), (np.array([0.6, 0.1]), 1)),
            lambda v, K: np.array([step_labels.more_than_rate(p, K, 1 / K) for p in v]),
            (
                "Take off one more case: exactly one of the K is right.",
                "Exactly one is right with chance K * v * (1 - v) ** (K - 1).",
            ),
            ("    return 1 - (1 - v) ** K", "    return 1 - (1 - v) ** K - K * v * (1 - v) ** (K - 1)"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "16 completions a step: let F1 be 0.75 or more, without a person.",
        lambda k, r: done(r) and k.K == 16 and k.rule not in ("a person says so", "both agree") and f1(k, r) >= 0.75,
        Knobs(K=16, rule="more than a part"),
    ),
    Challenge(
        "Of the flawed steps 0.2 rescued, 8 completions or more, no person: let F1 be 0.7 or more.",
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
        "Scores added up: let 90 % of the chains be solved.",
        lambda k, r: done(r) and k.form == SUM and r.solved[-1] >= 0.9,
        Knobs(form=SUM, less=0.95),
    ),
)


def f1(k, r):
    return in_force(k, r).F1
