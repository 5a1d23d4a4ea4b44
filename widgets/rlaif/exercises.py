"""A list to be rewritten, and judges to be found whose labels teach."""

import numpy as np

from sim.worlds import judged_pairs
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.rlaif.widget import AS_THEY_COME, Knobs, done, won


def with_a_ninth(listed):
    """A quarter for each of the first 2 listed numbers, nothing for the others, -0.5 for style."""
    return np.array([0.25 if i < 2 * listed else 0.0 for i in range(16)] + [-0.5])


CHANGE = Change(
    (judged_pairs.principles,),
    "the list",
    (
        Exercise(
            "Set the taste to 0.75, which breaks. Then write a ninth principle, that the plainer answer is better: let "
            "the list pay −0.5 for style. That leaves 0.25 of the taste.",
            ((8,), (2,), (5,)),
            with_a_ninth,
            (
                "What the list pays for the principles stays as it is: one number is to be changed.",
                "It is the one in the line that begins with style =.",
            ),
            ("    style = 0.0  # what the list pays for style", "    style = -0.5  # what the list pays for style"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "A taste of 0.5, pairs as they come: let the judge's policy win 90 of 100 comparisons with the start.",
        lambda k, r: done(r) and k.taste == 0.5 and k.pairs == AS_THEY_COME and won(k, r)[1] >= 0.9,
        Knobs(taste=0.5, kl=8.0),
    ),
    Challenge(
        "A judge that is right less often than people: let its policy win 93.5 of 100 at a distance of 4 nats.",
        lambda k, r: (
            done(r)
            and k.kl == 4
            and r.judge.agreement < r.people.agreement
            and won(k, r)[1] >= 0.935
            and k.flip >= 0.15
        ),
        Knobs(taste=0.0, noise=2.0),
    ),
)
