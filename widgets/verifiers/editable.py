"""A verifier that the reader writes: run on both suites, then trained against as its lesson's simulator trains."""

from functools import cache

import numpy as np

from sim.verifiers import checkers, strategies
from sim.verifiers.draft import score
from widgets.frame.contract.exercises import Shown, Table
from widgets.frame.drawing.marks import by_update, each_run, label, line

ID, NAMED = "verifier", "A verifier"
PRIOR, LEARNING_RATE, UPDATES, RUNS = 0.05, 1.0, 400, 6  # the lesson's simulator at its defaults
EVERY = 4  # of the updates that are drawn
ROWS, CHARS = 6, 44  # of a table, of a completion in it


EDITED = score


def RETURNS(value):
    """The reward in what a verifier has returned: a number from 0 to 1, or a dict that has one."""
    reward = value.get("reward") if isinstance(value, dict) else value
    if not isinstance(reward, int | float | np.number | np.bool_) or not 0 <= reward <= 1:
        raise ValueError(f"it returned {repr(value)[:60]}, but a reward is a number from 0 to 1")
    return float(reward)


def called(function):
    """(the report on both suites, what it pays each of six ways of answering, how often they are right)."""
    proxy, true, _ = strategies.payoffs_of(function)
    return checkers.report(function), tuple(proxy), tuple(true)


def shown(called):
    """What it refused and paid, and a policy that was trained on its pay."""
    report, proxy, true = called
    trained = training(proxy, true)
    refused = table("Correct answers rejected", report.refused, report.correct)
    paid = table("Exploits accepted", report.paid, report.exploits)
    return Shown(said(report, trained), (refused, paid), (curves(trained),))


@cache
def training(proxy, true):
    pi0, rng = strategies.start("mathematics", PRIOR), np.random.default_rng(0)
    step = strategies.grouped(np.array(proxy), rng)
    return strategies.run_policy(np.array(proxy), np.array(true), pi0, step, LEARNING_RATE, UPDATES, RUNS)


def said(report, trained):
    reward, solved, peak = trained.proxy[-1].mean(), trained.true[-1].mean(), trained.true.max(axis=0).mean()
    return (
        f"{len(report.refused)} of {report.correct} correct answers are rejected, and "
        f"{len(report.paid)} of {report.exploits} exploits are accepted. "
        f"Training on this check ends with a reward of {reward:.2f} and {solved:.2f} solved"
        + (f", {peak:.2f} at the peak." if peak - solved > 0.05 else ".")
    )


def table(name, rows, of):
    """The Rows of a suite that the verifier got wrong."""
    caption = f"{name}: {len(rows)} of {of}" + (f", the first {ROWS} of them" if len(rows) > ROWS else "")
    return Table(
        caption, ("completion", "reward"), tuple((short(r.completion), f"{r.reward:.3g}") for r in rows[:ROWS])
    )


def short(text):
    """A completion as Python writes it, so that blanks and line breaks show."""
    written = repr(text[:CHARS])
    return f"{written} …" if len(text) > CHARS else written


def curves(trained):
    at = np.arange(0, UPDATES + 1, EVERY)
    proxy, true = trained.proxy[::EVERY], trained.true[::EVERY]
    apart = abs(proxy[-1, 0] - true[-1, 0]) > 0.08
    return by_update(
        "Reward and tasks solved",
        f"share; thick: the first of {RUNS} runs",
        line(at, true[:, 0], "solved", 1),
        each_run(at, true[:, 1:].T),
        line(at, proxy[:, 0], "reward", 2),
        label(UPDATES, float(proxy[-1, 0]) + 0.01, "reward" if apart else "reward and solved", 2 * apart, "right"),
        *([label(UPDATES, float(true[-1, 0]) + 0.01, "solved", 1, "right")] if apart else []),
        updates=UPDATES,
        y_range=(0, 1.1),
    )
