"""What a lesson is worth to be changed, and plans to be found where order and needs decide."""

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
            "Plan for somebody whose work may change: a lesson is worth its mean over the five kinds of work, whatever "
            "the job.",
            EACH,
            lambda job: sum(np.array([g.values[n] for g in GAPS], float) for n in range(len(JOBS))) / len(JOBS),
            (
                "values has a number for each kind of work, and the mean needs no index.",
                "np.mean(g.values) in place of g.values[JOBS.index(job)].",
            ),
            (VALUES, "    return np.array([np.mean(g.values) for g in GAPS], float)"),
        ),
        Exercise(
            "Count only what can be read today: a lesson that is not in the book yet is worth 0, the others what they "
            "were.",
            EACH,
            lambda job: np.where(
                np.isin(IDS, [g.id for g in GAPS if g.written]),
                np.array([g.values for g in GAPS])[:, JOBS.index(job)],
                0.0,
            ),
            ("Each gap says of itself whether it is written.", "A truth counts as 1 or 0: multiply by g.written."),
            (VALUES, VALUES.replace("JOBS.index(job)] for", "JOBS.index(job)] * g.written for")),
        ),
    ),
)


def plain(k):
    """Whether the three forces weigh as much as by default."""
    return k.signal == k.estimator == k.cost == 1.0


CHALLENGES = (
    Challenge(
        "All weights at 1, 200 minutes or more: chosen by value a minute, let the plan be worth 1 less than the best.",
        lambda k, r: bool(
            plain(k) and k.minutes >= 200 and k.order == BY_MINUTE and r.best.value - r.plan.value > 0.999
        ),
        Knobs(work="rewards and data", minutes=230, order=BY_MINUTE),
    ),
    Challenge(
        "Kernels and serving, weights at 1: know one lesson, so that the best plan of 120 minutes is worth 13.",
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
        "Kernels and serving, 30 to 210 minutes, weights at 1, nothing known: the famous one first, and nothing lost.",
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
