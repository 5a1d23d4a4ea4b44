"""Goals for the path through the stages: how few of them, and how few updates, a score needs."""

from widgets.frame.contract.exercises import Challenge
from widgets.pipeline.widget import Knobs, first


def ended(r):
    return r.ended and bool(r.reports)


CHALLENGES = (
    Challenge(
        "End with a pass@1 of 0.68 or more after at most 50 RL updates.",
        lambda k, r: bool(ended(r) and k.rl_steps <= 50 and first(r.reports[-1]) >= 0.68),
        Knobs(order="RL", rare=0.03, rl_steps=50),
    ),
    Challenge(
        "Without worked answers in the corpus, end with a pass@1 of 0.8 or more.",
        lambda k, r: bool(ended(r) and k.rare == 0 and first(r.reports[-1]) >= 0.8),
        Knobs(rl_steps=300),
    ),
)
