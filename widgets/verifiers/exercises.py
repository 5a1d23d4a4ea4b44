"""Policies to be trained by a check that pays what is wrong, and what is solved by them nevertheless."""

from widgets.frame.contract.exercises import Challenge
from widgets.verifiers.widget import NATURAL, Knobs, end


def exact(k):
    """No chance errors, and the learning rate of the default."""
    return k.passed == 0 and k.failed == 0 and k.learning_rate == 1


CHALLENGES = (
    Challenge(
        "On mathematics at strictness 1, rarest way 0.05, learning rate 1 and no random errors, solve 0.4 at the end.",
        lambda k, r: bool(
            k.archetype == "mathematics" and k.check == 1 and k.prior == 0.05 and exact(k) and end(r) >= 0.4
        ),
        Knobs(check=1, beta=0.3),
    ),
    Challenge(
        "On tool use at strictness 4, unsealed, learning rate 1 and no random errors, solve 0.6 at the end.",
        lambda k, r: bool(k.archetype == "tool use" and k.check == 4 and not k.sealed and exact(k) and end(r) >= 0.6),
        Knobs(archetype="tool use", prior=0.01),
    ),
    Challenge(
        "Pass 60 % of wrong answers, fail 30 % of correct ones, and solve 0.68 of mathematics at the end.",
        lambda k, r: bool(k.archetype == "mathematics" and k.passed == 60 and k.failed == 30 and end(r) >= 0.68),
        Knobs(check=3, passed=60, failed=30, method=NATURAL),
    ),
)
