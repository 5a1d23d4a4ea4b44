"""Which of eight causes makes a step slow, and in which order six tests separate them fastest.

Enumeration: a test has one outcome per cause and a price in minutes, and the expected bill of an order follows from the
priors. Priors, minutes and outcomes are assumed, and outcomes have no noise, which is a strong idealization: with this
table two tests separate all causes. It is a question of optimal search, as in Garey and Graham (1974).
"""

from typing import NamedTuple

CAUSES = {  # assumed: how often each is the cause of a slow step
    "long tail": 0.25,
    "memory reads": 0.20,
    "evictions": 0.12,
    "padding": 0.13,
    "weight sync": 0.10,
    "slow checker": 0.08,
    "launch gaps": 0.05,
    "mismatch": 0.07,
}


class Test(NamedTuple):
    minutes: int  # assumed
    outcomes: tuple  # of each cause


TESTS = {
    "wall clock": Test(5, ("rollout", "rollout", "rollout", "train", "sync", "verify", "train", "nothing")),
    "utilization": Test(5, ("idle", "busy", "sawtooth", "busy", "idle", "idle", "sawtooth", "busy")),
    "profiler": Test(30, ("-", "-", "-", "padding", "transfers", "-", "gaps", "-")),
    "memory": Test(15, ("-", "-", "evicted", "-", "-", "-", "-", "-")),
    "Nsight": Test(90, ("gap", "reads", "gap", "multiplies", "network", "gap", "gaps", "multiplies")),
    "ratios": Test(15, ("one", "one", "one", "one", "one", "one", "one", "off")),
}
PLAYBOOK = tuple(TESTS)


def left(cause, tests):
    """The causes that look like this one in all of these tests."""
    names = list(CAUSES)
    at = names.index(cause)
    return tuple(
        name
        for n, name in enumerate(names)
        if all(TESTS[test].outcomes[n] == TESTS[test].outcomes[at] for test in tests)
    )


def expected_left(test):
    """The expected number of causes left after this test alone, weighted by how often each cause occurs."""
    return sum(prior * len(left(cause, (test,))) for cause, prior in CAUSES.items())


def session(cause, order=PLAYBOOK):
    """[(minutes so far, causes left)], from the start until one cause is left."""
    out = [(0, tuple(CAUSES))]
    for n, test in enumerate(order):
        if len(out[-1][1]) == 1:
            break
        out.append((out[-1][0] + TESTS[test].minutes, left(cause, order[: n + 1])))
    return out


def minutes(cause, order=PLAYBOOK):
    """Minutes until one cause is left."""
    return session(cause, order)[-1][0]


def expected_minutes(order=PLAYBOOK):
    """The mean over the causes, weighted by how often each occurs."""
    return sum(prior * minutes(cause, order) for cause, prior in CAUSES.items())
