"""The cut of a sampler to be changed, and settings that keep groups alive under a narrow cut or in a trained model."""

import numpy as np

from sim.framework import rollout
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.rollout.widget import Knobs, late

LOGP = np.log([[0.5, 0.3, 0.16, 0.04]])
ROWS = np.log([[0.9, 0.06, 0.03, 0.01], [0.05, 0.4, 0.2, 0.35]])
SORTED = """\
    if top_p >= 1:
        return logp
    order = np.argsort(-logp, axis=1)
    p = np.exp(np.take_along_axis(logp, order, axis=1))
    outside = np.take_along_axis(np.cumsum(p, axis=1) - p >= top_p, np.argsort(order, axis=1), axis=1)
"""


def renormalized(logp, kept):
    """Log of the kept probabilities over their sum, row by row; -inf elsewhere."""
    out = np.full(logp.shape, -np.inf)
    for row, mask, into in zip(np.exp(logp), kept, out):
        into[mask] = np.log(row[mask] / row[mask].sum())
    return out


CHANGE = Change(
    (rollout.nucleus,),
    "which tokens a sampler may choose",
    (
        Exercise(
            "Cut by min-p, whatever top_p is: keep the tokens that are at least a tenth as probable as the most "
            "probable token of their row.",
            ((LOGP, 1.0), (ROWS, 0.5)),
            lambda logp, top_p: renormalized(logp, [row >= row.max() / 10 for row in np.exp(logp)]),
            (
                "No sorting is needed: compare each log-prob with the largest of its row. A tenth is a difference of "
                "log 10.",
                "outside = logp < logp.max(axis=1, keepdims=True) - np.log(10); the last two lines stay.",
            ),
            (SORTED, "    outside = logp < logp.max(axis=1, keepdims=True) - np.log(10)\n"),
        ),
        Exercise(
            "Cut by top-k with k = 2, whatever top_p is: keep the two most probable tokens of each row.",
            ((LOGP, 1.0), (ROWS, 0.5)),
            lambda logp, top_p: renormalized(logp, [row >= sorted(row)[-2] for row in np.exp(logp)]),
            (
                "A token is outside if it comes third or later in the order of its row.",
                "np.argsort(order, axis=1) is each token's place in that order, 0 for the most probable token.",
            ),
            (SORTED, "    order = np.argsort(-logp, axis=1)\n    outside = np.argsort(order, axis=1) >= 2\n"),
        ),
    ),
)


def end(r):
    return r.pass_rate[-1][1]


CHALLENGES = (
    Challenge(
        "With a top-p of at most 0.5, reach a pass rate of at least 0.8 after training.",
        lambda k, r: bool(k.top_p <= 0.5 and end(r) >= 0.8),
        Knobs(top_p=0.5, temperature=2.0),
    ),
    Challenge(
        "Reach a pass rate of 0.78 with at most 15 % dead groups in the last ten batches.",
        lambda k, r: bool(end(r) >= 0.78 and late(r) <= 15),
        Knobs(temperature=2.0),
    ),
)
