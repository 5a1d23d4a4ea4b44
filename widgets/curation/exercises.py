"""What a group teaches and which groups count as live to be changed, and pools to be solved with few rollouts."""

import numpy as np

from sim.experiments import curation
from widgets.curation.widget import LIST, Knobs, ahead, solved
from widgets.frame.contract.exercises import Challenge, Change, Exercise

CALLS = ((np.array([0, 1, 4, 8]), 8), (np.array([0, 1, 2, 3]), 3))
LEAST, MOST = 0.2, 0.8  # of a group's completions that are right: Cui et al. (2025), arXiv:2502.01456


def standardized(right, K):
    """The mean over a group of its rewards times GRPO's advantages, from the rewards themselves."""
    rewards = (np.arange(K) < right[:, np.newaxis]).astype(float)
    deviation = rewards.std(axis=1, keepdims=True)
    advantage = (rewards - rewards.mean(axis=1, keepdims=True)) / np.where(deviation > 0, deviation, 1)
    return (rewards * advantage).mean(axis=1)


CHANGE = Change(
    (curation.ability_gradient, curation.is_live),
    "what a group teaches",
    (
        Exercise(
            "Compute GRPO's estimate: each reward minus the mean of its group, divided by the group's standard "
            "deviation. A dead group still teaches 0.",
            CALLS,
            standardized,
            (
                "s (1 − s) is the variance of a group's rewards. GRPO divides by its root, and has no K / (K − 1).",
                "A variance divided by its root is the root: the square root of s (1 − s).",
            ),
            ("    return share * (1 - share) * K / (K - 1)", "    return np.sqrt(share * (1 - share))"),
        ),
        Exercise(
            "Call a group live if at least 0.2 and at most 0.8 of its completions are correct, as in PRIME's filter.",
            CALLS,
            lambda right, K: np.array([LEAST <= r / K <= MOST for r in right]),
            (
                "One of eight is now too few, and seven of eight are too many.",
                "`right / K` is the share, and `&` joins two conditions on an array.",
            ),
            ("    return (right > 0) & (right < K)", "    return (right / K >= 0.2) & (right / K <= 0.8)"),
            curation.is_live,
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "Solve 74 % with 90,000 rollouts at difficulty 6, spread 3 and learning rate 0.5.",
        lambda k, r: bool(
            k.budget == 90_000 and k.mean == 6 and k.deviation == 3 and k.rate == 0.5 and solved(k, r.run) >= 74
        ),
        Knobs(way=LIST, tries=2, renew="20000", budget=90_000),
    ),
    Challenge(
        "In a pool with a spread of 3 or more, at learning rate 0.5, end 55 points ahead of prompts at random.",
        lambda k, r: bool(k.deviation >= 3 and k.rate == 0.5 and ahead(k, r) >= 55),
        Knobs(way=LIST, tries=2, renew="20000", mean=8.0, deviation=4.0),
    ),
)
