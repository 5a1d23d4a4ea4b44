"""The divergence to be changed, and settings to be found in which a student learns."""

import numpy as np

from sim.estimators import distillation
from widgets.distillation.widget import ONCE, Knobs, done
from widgets.frame.contract.exercises import Challenge, Change, Exercise

PI, TAU = np.array([[0.7, 0.2, 0.08, 0.02]]), np.array([[0.1, 0.6, 0.25, 0.05]])
OTHER = np.array([[0.25, 0.25, 0.25, 0.25]])

CHANGE = Change(
    (distillation.reverse,),
    "the divergence",
    (
        Exercise(
            "Push even what the student never writes: keep the value, but return the slope of forward KL, which is π "
            "minus the teacher's τ. Try it on the student that answers at once.",
            ((np.log(PI), np.log(TAU)), (np.log(OTHER), np.log(TAU))),
            lambda logp, teacher_logp: (
                (np.exp(logp) * (logp - teacher_logp)).sum(axis=-1),
                np.exp(logp) - np.exp(teacher_logp),
            ),
            (
                "`np.exp(teacher_logp)` is τ.",
                "Only the last line changes: the value stays, and the slope is pi minus τ.",
            ),
            ("    return value, pi * (gap - value[..., None])", "    return value, pi - np.exp(teacher_logp)"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "Let the student that answers at once reach 58 correct texts of 100 after 100 updates of distillation.",
        lambda k, r: done(r) and k.student == ONCE and k.updates == 100 and r.last.right >= 0.58,
        Knobs(student=ONCE, cold=200),
    ),
    Challenge(
        "Let the student that thinks a little reach 50 of 100 with at most 1,300 own texts and no cold start.",
        lambda k, r: (
            done(r)
            and k.student == Knobs().student
            and not k.cold
            and r.last.own_texts <= 1_300
            and r.last.right >= 0.5
        ),
        Knobs(updates=40),
    ),
)
