"""What an audit sees and what a patch closes, to be changed, and settings to be found in which a red team wins."""

import numpy as np

from sim.verifiers import redteam
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.red_team.widget import INSTANCE, Knobs

DRAWN, OPEN = np.array([3, 0, 1, 2, 5]), np.array([True, True, True, False, True])
SHARED = np.array([False, False, True, False, True])

CHANGE = Change(
    (redteam.found, redteam.closed),
    "what an audit sees, and what a patch closes",
    (
        Exercise(
            "Read what the policy writes instead of comparing two verifiers: let an audit find every open hole that "
            "was sampled, shared or not. Then let patches close instances.",
            ((DRAWN, OPEN, SHARED), (np.zeros(5, int), OPEN, SHARED)),
            lambda drawn, is_open, shared: np.array([bool(n) and bool(o) for n, o in zip(drawn, is_open)]),
            ("A reader does not ask what the held-out verifier says.", "Leave out `& ~shared`."),
            ("(drawn > 0) & is_open & ~shared", "(drawn > 0) & is_open"),
            redteam.found,
        ),
        Exercise(
            "Patch the string and not the mechanism: let a patch close only the holes that were found, whatever their "
            "class.",
            ((np.arange(24) == 3, redteam.CLASS_OF), (np.arange(24) % 13 == 0, redteam.CLASS_OF)),
            lambda found, classes: np.array([bool(hole) for hole in found]),
            (
                "Like the result, `found` has a truth value for every hole.",
                "Return a copy of `found`, whatever `classes` says.",
            ),
            ("return np.isin(classes, classes[found])", "return found.copy()"),
            redteam.closed,
        ),
    ),
)


def few_rounds_hacked(r):
    """Rounds that end with more than half of the completions through a hole."""
    return sum(redteam.hacked(this)[-1] > 0.5 for this in r.rounds)


CHALLENGES = (
    Challenge(
        "With instance patches, end at most one round with more than half hacks, and solve 0.55 of the tasks.",
        lambda k, r: k.patch == INSTANCE and few_rounds_hacked(r) <= 1 and r.solved >= 0.55,
        Knobs(patch=INSTANCE, audit=256, overlap=0.0),
    ),
    Challenge(
        "With the held-out verifier in the reward, solve 0.55 of the tasks.",
        lambda k, r: k.heldout and r.solved >= 0.55,
        Knobs(heldout=True, overlap=0.0),
    ),
    Challenge(
        "Never let more than 0.35 of the completions be hacks, and solve 0.55 of the tasks.",
        lambda k, r: r.hacked.max() <= 0.35 and r.solved >= 0.55,
        Knobs(learning_rate=0.1),
    ),
)
