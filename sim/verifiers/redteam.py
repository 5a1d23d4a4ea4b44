"""A verifier with holes, a policy trained on it, and a red team that audits the policy's completions and patches the
holes.

The policy chooses among honest work, lazy work and 24 undeserving ways in six classes: two honest logits, and one logit
per hole. Its steps are exact natural ones, as in strategies.py. A second verifier, which is never trained on, has some
of the same holes. An audit compares the two, so it misses what both miss. All numbers here are assumed; the loop of
training, audit and patch follows Wang et al. (2026), arXiv:2606.26300. Not a language model, and no hole is found by
thinking: a way that is never sampled is never seen.
"""

from dataclasses import dataclass

import numpy as np

from sim.verifiers import strategies
from sim.worlds import bandit

HOLES, CLASSES = 24, 6
HONEST, LAZY = 0, 1  # ways before the holes
SOLVES = np.array([0.6, 0.15])  # assumed: how often honest and lazy work is correct
SHARES = np.array([0.45, 0.45])  # assumed: their shares at the start; the holes have the rest
ZIPF = 1.3  # assumed: the hole of rank n is tried in proportion to n^-1.3
CLASS_OF = np.arange(HOLES) % CLASSES  # hole j is of class j mod 6
EACH_ITS_OWN = np.arange(HOLES)  # the classes of an instance patch
LOWEST = -30.0  # no logit falls farther below the largest, so that a way may come back


@dataclass(frozen=True)
class Wall:
    """How often each hole is tried at first, (holes,), and which of them the held-out verifier shares."""

    tried: np.ndarray
    shared: np.ndarray


def wall(rng, overlap):
    """A Wall in which each hole is shared with the held-out verifier with probability `overlap`."""
    rank = np.arange(1, HOLES + 1)
    tried = (1 - SHARES.sum()) * rank**-ZIPF / (rank**-ZIPF).sum()
    rng.shuffle(tried)
    return Wall(tried, rng.random(HOLES) < overlap)


@dataclass(frozen=True)
class Round:
    """Some updates against one state of the verifier, followed by an audit and its patches."""

    policies: np.ndarray  # (updates + 1, 2 + holes); the audit samples from the last
    open: np.ndarray  # (holes,) during training
    paid: np.ndarray  # (2 + holes,) the training verifier's reward for each way
    refused: float  # fraction of correct work that the patches so far refuse
    drawn: np.ndarray  # (2 + holes,) completions that the audit read, by way
    found: np.ndarray  # (holes,) by the audit
    closed: np.ndarray  # (holes,) by the patches of this round


def run(rng, rounds, updates, eta, audit, overlap, classes, refuses, heldout_pays=False):
    """(Wall, Rounds). `classes` (holes,) says which holes a patch closes together, CLASS_OF or EACH_ITS_OWN; it is None
    if nothing is patched. Each patch refuses the fraction `refuses` of the correct work that was rewarded before it.
    With `heldout_pays`, a completion is rewarded only if both verifiers reward it.
    """
    holes = wall(rng, overlap)
    logits = np.log(np.append(SHARES, holes.tried))
    is_open, refused, made = np.ones(HOLES, bool), 0.0, []
    for _ in range(rounds):
        pays = is_open & holes.shared if heldout_pays else is_open
        reward = np.append(SOLVES * (1 - refused), pays.astype(float))
        policies, logits = trained(logits, reward, eta, updates)
        drawn = np.bincount(rng.choice(HOLES + 2, audit, p=policies[-1]), minlength=HOLES + 2)
        seen = found(drawn[2:], is_open, holes.shared)
        shut = np.zeros(HOLES, bool) if classes is None else closed(seen, classes) & is_open
        made.append(Round(policies, is_open, reward, refused, drawn, seen, shut))
        patches = 0 if classes is None else len(np.unique(classes[seen]))
        is_open, refused = is_open & ~shut, 1 - (1 - refused) * (1 - refuses) ** patches
    return holes, tuple(made)


def trained(logits, reward, eta, updates):
    """(policies (updates + 1, ways), logits) along exact natural steps."""
    step, policies = strategies.natural(reward), [bandit.softmax(logits)]
    for _ in range(updates):
        logits = logits + eta * step(policies[-1])
        logits = np.maximum(logits, logits.max() + LOWEST)
        policies.append(bandit.softmax(logits))
    return np.array(policies), logits


def found(drawn, is_open, shared):
    """(holes,) what an audit reports: sampled, still rewarded by the training verifier, and not by the held-out one."""
    return (drawn > 0) & is_open & ~shared


def closed(found, classes):
    """(holes,) what the patches close: every hole in a class that was found."""
    return np.isin(classes, classes[found])


# ── what a log shows, and what it does not show ──
def proxy(this):
    """Mean reward from the training verifier during a Round, (updates + 1,)."""
    return this.policies @ this.paid


def heldout(this, shared):
    """Mean reward from the held-out verifier, which is never patched, (updates + 1,)."""
    return this.policies @ np.append(SOLVES, shared.astype(float))


def solved(this):
    """Fraction of tasks that are solved correctly, (updates + 1,)."""
    return this.policies[:, :2] @ SOLVES


def hacked(this):
    """Fraction of completions that use a hole, open or closed, (updates + 1,)."""
    return this.policies[:, 2:].sum(axis=-1)


def along(rounds, measure):
    """A measure before every update of a run and after the last, (rounds * updates + 1,)."""
    return np.concatenate([*(measure(this)[:-1] for this in rounds), measure(rounds[-1])[-1:]])
