"""TODO What readers are given to do. For now: a function to be changed, and a setting to be found."""

from sim.SIM_ROOM import SIM_MODEL
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.WIDGET_NAME.widget import Knobs

CHANGE = Change(
    (SIM_MODEL.informative,),
    "the share of groups with something to compare",
    (
        Exercise(  # TODO one or two of these
            "Let the function return the chance that at least one of K completions is correct.",
            ((0.01, 8), (0.5, 2)),
            lambda p, K: 1 - (1 - p) ** K,
            ("Only a group in which all are wrong does not count.", "All are wrong with probability (1 - p) ** K."),
            ("    return 1 - p**K - (1 - p) ** K", "    return 1 - (1 - p) ** K"),
        ),
    ),
)

CHALLENGES = (
    Challenge(  # TODO one to three of these
        "At a pass rate of 0.2 or less, leave something to compare in 95 % of the groups.",
        lambda k, r: bool(k.p <= 0.2 and r.here >= 0.95),
        Knobs(p=0.2, K=16),
    ),
)
