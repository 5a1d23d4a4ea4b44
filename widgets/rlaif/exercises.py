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
            "Set the taste to 0.75, so that the run breaks. Then add a ninth principle, by which the plainer answer is "
            "better: let the list add −0.5 for each unit of style. This leaves 0.25 of the taste.",
            ((8,), (2,), (5,)),
            with_a_ninth,
            (
                "Leave the weights of the eight principles as they are and change one number.",
                "The number is in the line that begins with style =.",
            ),
            ("    style = 0.0  # the list's weight on style", "    style = -0.5  # the list's weight on style"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "Keep a taste of 0.5 and pairs as they come. Make the judge's policy win 90 of 100 comparisons.",
        lambda k, r: done(r) and k.taste == 0.5 and k.pairs == AS_THEY_COME and won(k, r)[1] >= 0.9,
        Knobs(taste=0.5, kl=8.0),
    ),
    Challenge(
        "Find a judge that labels fewer pairs correctly than people but whose policy wins 93.5 of 100 at 4 nats.",
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
