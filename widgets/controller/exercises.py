"""Batches to be found for a healthy loop that is short, and for one whose ratios never move."""

from widgets.controller.widget import Knobs, weaker
from widgets.frame.contract.exercises import Challenge

FEW = 3_840  # completions: thirty iterations of 128

CHALLENGES = (
    Challenge(
        f"Without a fault, in at most 30 iterations and {FEW:,} completions, bring both copies to a pass rate of 0.83.",
        lambda k, r: bool(
            k.fault == "none" and k.iterations <= 30 and k.iterations * k.groups * k.K <= FEW and weaker(k, r) >= 0.83
        ),
        Knobs(iterations=30, groups=32, K=4, passes=4),
    ),
    Challenge(
        "With the fault “old_logp recomputed” and 4 passes or more, bring both copies to a pass rate of 0.75.",
        lambda k, r: bool(k.fault == "old_logp recomputed" and k.passes >= 4 and weaker(k, r) >= 0.75),
        Knobs(fault="old_logp recomputed", passes=4, groups=32, K=16),
    ),
)
