"""A rule for tokens that moved, which the reader writes: sixteen passes over the batch that lost a prompt."""

from functools import cache

import numpy as np

from sim.algorithms import ppo
from sim.experiments import rare_token
from sim.experiments.standard_runs import modsum_run
from sim.worlds import modsum
from widgets.frame.contract.exercises import Shown, Table
from widgets.frame.drawing.marks import label, line, panel

ID, NAMED = "rule", "A rule for tokens that have moved"
BETTER = 0.002  # of the mean over four prompts: a smaller difference is none


def factor(ratio, advantage):
    """What a token's push is multiplied by, once its probability has changed."""
    return ratio


EDITED = factor


def RETURNS(value):
    """A factor: one finite number."""
    if not isinstance(value, int | float | np.number | np.bool_) or not np.isfinite(value):
        raise ValueError(f"it returned {repr(value)[:60]}, and a factor is a number")
    return float(value)


def clip(ratio, advantage):
    """Ours: PPO's, at 0.2."""
    outside = (advantage > 0 and ratio > 1.2) or (advantage < 0 and ratio < 0.8)
    return 0.0 if outside else ratio


def called(function):
    """(right completions of the prompt before and after each pass, its stop at a sum of 5, what it writes at the end,
    right completions of all four prompts at the end).
    """

    def surrogate(logp, old_logp, A, hp, batch):
        push, own = np.zeros(A.shape), batch.response_mask > 0
        ratio = np.exp(logp - old_logp)
        push[own] = [function(float(r), float(a)) * a for r, a in zip(ratio[own], A[own])]
        return push, push

    run = modsum_run(
        ppo,
        seed=rare_token.SEED,
        learning_rate=rare_token.LEARNING_RATE,
        hyper=dict(inner_epochs=1, eps=np.inf),
        hooks=dict(surrogate=surrogate),
    )
    story = rare_token.followed(run)
    every = modsum.exact(run.trainer.policy.params["theta"])["pass_rate"].mean()
    return tuple(story.pass_rate), tuple(story.stop), story.written[-1], float(every)


@cache
def ours():
    return called(clip)


def shown(called):
    right, stop, written, every = called
    rows = tuple((spelled(row), f"{rare_token.is_right(row):.0f}") for row in written)
    table = Table(
        "Eight answers after sixteen passes; a sum of 5, 12, 19, … is correct", ("completion", "reward"), rows
    )
    return Shown(said(right, stop, every), (table,), (by_pass(right),))


def said(right, stop, every):
    """What became of the batch, beside ours, and because of what."""
    _, _, _, best = ours()
    result = f"The mean pass rate of the four prompts is {every:.3f}, compared with {best:.3f} with the clip."
    because = f"at a sum of 5 the policy now stops {100 * stop[-1]:.0f} times in 100"
    if right[-1] < 0.1:
        return f"The prompt is lost, because {because}. {result}"
    if every > best + BETTER:
        return f"You beat ours on this batch: {because}. {result}"
    return f"The prompt is kept, because {because}. {result}"


def spelled(row):
    return " ".join("123"[token] if token < modsum.EOS else "stop" for token in row)


def by_pass(right):
    x = np.arange(rare_token.PASSES + 1)
    plain = ours()[0]
    return panel(
        "Pass rate of the prompt",
        "exact, after each pass over the batch",
        line(x, plain, "with the clip", 8, "reference"),
        line(x, right, "your rule", 1),
        label(rare_token.PASSES, float(plain[-1]) - 0.08, "with the clip", 8, "right", below=True),
        label(4, float(right[4]) + 0.02, "your rule", 1),
        x="pass",
        x_range=(0, rare_token.PASSES),
        y_range=(0, 1.05),
    )
