"""The value of a lesson to be changed, and plans to be found where order and needs decide."""

import numpy as np

from sim.synthesis import gaps
from sim.synthesis.gaps import GAPS, IDS, JOBS
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.gaps.widget import BEST, BY_MINUTE, FAMOUS, Knobs

EACH = tuple((job,) for job in JOBS)
VALUES = "    return np.array([g.values[JOBS.index(job)] for g in GAPS], float)"


CHANGE = Change(
    (gaps.value_of,),
    "what a lesson is worth",
    (
        Exercise(
            "Plan for somebody whose work may change. For every job, let a lesson be worth its mean value over the "
            "five kinds of work.",
            EACH,
            lambda job: sum(np.array([g.values[n] for g in GAPS], float) for n in range(len(JOBS))) / len(JOBS),
            (
                "g.values has a number for each kind of work, and their mean needs no index.",
                "Write np.mean(g.values) instead of g.values[JOBS.index(job)].",
            ),
            (VALUES, "    return np.array([np.mean(g.values) for g in GAPS], float)"),
        ),
        Exercise(
            "Count only what can be read today. Let a lesson that is not in the book yet be worth 0, and leave the "
            "others as they are.",
            EACH,
            lambda job: np.where(
                np.isin(IDS, [g.id for g in GAPS if g.written]),
                np.array([g.values for g in GAPS])[:, JOBS.index(job)],
                0.0,
            ),
            ("Each gap knows whether it is written.", "True counts as 1 and False as 0, so multiply by g.written."),
            (VALUES, VALUES.replace("JOBS.index(job)] for", "JOBS.index(job)] * g.written for")),
        ),
    ),
)


def plain(k):
    """Whether the three forces weigh as much as by default."""
    return k.signal == k.estimator == k.cost == 1.0


CHALLENGES = (
    Challenge(
        "With all weights at 1 and 200 minutes or more, make the plan by value per minute 1 point worse than the best.",
        lambda k, r: bool(
            plain(k) and k.minutes >= 200 and k.order == BY_MINUTE and r.best.value - r.plan.value > 0.999
        ),
        Knobs(work="rewards and data", minutes=230, order=BY_MINUTE),
    ),
    Challenge(
        "For kernels and serving with weights at 1, know one lesson, so that the best 120-minute plan is worth 13.",
        lambda k, r: bool(
            k.work == "kernels and serving"
            and plain(k)
            and len(r.known) == 1
            and k.minutes == 120
            and k.order == BEST
            and r.plan.value > 12.999
        ),
        Knobs(work="kernels and serving", k28a=True),
    ),
    Challenge(
        "For kernels and serving, 30 to 210 minutes, weights at 1 and nothing known, begin with GAE and lose nothing.",
        lambda k, r: bool(
            k.work == "kernels and serving"
            and 30 <= k.minutes <= 210
            and plain(k)
            and not r.known
            and k.order == FAMOUS
            and r.plan.value > r.best.value - 1e-6
        ),
        Knobs(work="kernels and serving", minutes=205, order=FAMOUS),
    ),
)
