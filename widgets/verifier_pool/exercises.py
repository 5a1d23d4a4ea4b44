"""The reward of a job that was cut off, to be changed; and pools to be found that do no harm."""

import numpy as np

from sim.cluster import verifier_pool
from sim.cluster.verifier_pool import WALL
from sim.experiments.loaded_pool import COIN
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.verifier_pool.widget import CPU, Knobs, done, final

PASSED, CUT, USED = np.array([1.0, 1.0, 0.0]), np.array([False, True, True]), np.array([3.0, 4.0, 10.0])

CHANGE = Change(
    (verifier_pool.paid,),
    "the reward of a job",
    (
        Exercise(
            "Leave out (np.nan) each job that was cut off before it had used its limit of CPU seconds. A job that had "
            "used it still gets a reward of 0. Then look at 128 slots.",
            ((PASSED, CUT, USED, 10.0), (np.ones(2), np.array([True, False]), np.array([2.0, 2.0]), 5.0)),
            lambda passed, cut, used, limit: np.array(
                [0.0 if c and u >= limit else np.nan if c else p for p, c, u in zip(passed, cut, used)]
            ),
            (
                "`used < limit` says which jobs had not used up their limit.",
                "Put `np.where(cut & (used < limit), np.nan, …)` around the present expression.",
            ),
            (
                "    return np.where(cut, 0.0, passed)",
                "    return np.where(cut & (used < limit), np.nan, np.where(cut, 0.0, passed))",
            ),
        ),
    ),
)


def refused(k):
    """How often a right program is refused by its own tests."""
    return verifier_pool.flaky_fn(k.flake / 100, k.tests) ** k.tries


CHALLENGES = (
    Challenge(
        "With eight cores, end with at least 68 of 100 tasks solved.",
        lambda k, r: done(r) and k.cores == 8 and final(r) >= 0.68,
        Knobs(cores=8, clock=CPU),
    ),
    Challenge(
        "With 128 slots on 32 cores and the wall clock, end with at least 69 of 100 tasks solved.",
        lambda k, r: done(r) and (k.slots, k.cores, k.clock) == (128, 32, WALL) and final(r) >= 0.69,
        Knobs(slots=128, limit=30),
    ),
    Challenge(
        "With 100 tests that fail 0.1 % by chance, reject under 1 % of correct programs and end with under 2 % coins.",
        lambda k, r: done(r) and k.flake == 0.1 and k.tests == 100 and refused(k) < 0.01 and r.policy[-1, COIN] < 0.02,
        Knobs(flake=0.1, tries=2),
    ),
)
