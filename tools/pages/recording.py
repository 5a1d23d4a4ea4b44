"""One recorded iteration of the framework, run when the pages are built: the data that each arrow of the map carried,
and the time that each role took.

The third iteration is recorded, because the first two warm numpy up. It is GRPO on sums of two digits, whose
completions can be read, with a reference policy, so that every role has work. All maps of the book show the same one,
but for that of lesson 00, which follows the four completions of its page.
"""

from collections import Counter
from functools import cache
from time import perf_counter

import numpy as np

from sim.algorithms import grpo, reinforce
from sim.experiments import cut_arrows, running_batch
from sim.experiments.standard_runs import add_run, modsum_run
from sim.framework.iteration import carried, weight
from sim.framework.rollout import Batch
from sim.worlds import modsum, tinylm

WARM_UP = 2
SETTING = "128 answers to sums of two digits, by a model of 8,708 parameters that learns with GRPO"


@cache
def iteration():
    """({role: milliseconds}, {arrow: bytes}, {role or arrow: {what: words}}): shapes, and the first row of each
    array.
    """
    spent, batch, controller, metrics = recorded(add_run(grpo, hyper={"beta": 0.1, "inner_epochs": 1}))
    edges, K, own = carried(batch, controller.trainer.policy), batch.K, int(batch.response_mask[0].sum())
    prompt, completion = tinylm.decode(batch.prompt[0].tolist()), tinylm.decode(batch.tokens[0, :own].tolist())
    answer = controller.task.answers(batch.tokens[:1], batch.response_mask[:1], batch.finished[:1])[0]
    first = dict(
        controller=f"prompt {row(batch.prompt[0])}, which reads “{prompt}”",
        rollout=f"“{prompt}{completion}”, old_logp {row(batch.old_logp[0, :own])}",
        trajs=f"tokens {row(batch.tokens[0])}, response_mask {row(batch.response_mask[0])}, finished "
        f"{bool(batch.finished[0])}",
        env=f"“{answer}” gets {row(batch.reward[:1])}, reason {batch.details[0]['reason']}",
        tokens=f"tokens {row(batch.tokens[0])}",
        reference=f"ref_logp {row(batch.ref_logp[0, :own])}, where old_logp is {row(batch.old_logp[0, :own])}",
        reward=f"the {K} completions of the first prompt: {row(batch.reward[:K])}",
        ref_logp=f"ref_logp {row(batch.ref_logp[0])}",
        algorithm=f"the {K} completions of the first prompt: {row(batch.advantage[:K, 0])}",
        loss_fn=f"advantage {row(batch.advantage[0])}, old_logp {row(batch.old_logp[0])}",
        trainer=f"no row: gradient norm {number(metrics['grad_norm'])}, version {metrics['version'] - 1} → "
        f"{metrics['version']}",
        sync=f"W1 {row(controller.trainer.policy.params['W1'][0, :5])} …",
    )
    edges["controller"] = edges.pop("prompts")
    shapes = {
        edge: {"arrays": " · ".join(f"{name} {array.shape}" for name, array in parts.items())}
        for edge, parts in edges.items()
    }
    return (
        spent,
        {edge: weight(parts) for edge, parts in edges.items()},
        {name: {**shapes.get(name, {}), "first row": words} for name, words in first.items()},
    )


ROWS_SETTING = "The four rows of this page, in the first iteration: REINFORCE, one step, with a reference."


def four_rows():
    """{role or arrow: what it did or carried, in words}, for the running batch in place of what rollout would draw."""
    run = modsum_run(
        reinforce,
        learning_rate=cut_arrows.LEARNING_RATE,
        groups=1,
        K=len(running_batch.ROWS),
        hyper=dict(beta=0.1),
        task=modsum.Task(np.array([running_batch.PROMPT])),
    )
    run.rollout.generate = lambda *_, **__: (written_by(run.rollout), None)
    before = run.trainer.policy.copy()
    for event in run.iterate(1):
        if event.stage == 2:
            batch = event.summary["batch"]
    own = int(batch.length[0])
    rows = [" ".join([*(str(t + 1) for t in row[:-1]), "stop"]) for row in running_batch.ROWS]
    paid = ", ".join(map(number, batch.reward))
    first, frozen = (likely(logp[0, :own]) for logp in (batch.old_logp, batch.ref_logp))
    earlier, after = (f"{100 * running_batch.pass_rate(policy):.0f}" for policy in (before, run.trainer.policy))
    pushed = " and ".join(str(i + 1) for i in np.flatnonzero(batch.advantage[:, 0]))
    return dict(
        controller="one prompt: digits that add up to 5, 12, 19, …, then stop",
        rollout=f"{'; '.join(rows)}. The tokens of the first row had the probabilities {first}",
        trajs=f"the four rows, {int(batch.length.sum())} tokens; each ended by itself",
        env=f"the sums are {', '.join(map(str, running_batch.sums()))}; the rewards are {paid}",
        tokens=f"the same {int(batch.length.sum())} tokens",
        reference=f"{frozen} for the first row too: in the first iteration nothing has moved yet",
        reward=f"{paid}, one for each row",
        ref_logp=f"the logarithms of these probabilities; for the first row {row(batch.ref_logp[0, :own])}",
        algorithm=f"rows {pushed} are pushed up, each token by 1; the others by 0",
        loss_fn="the pushes, written as a function of the trainer’s own probabilities",
        trainer=f"one step: of a hundred answers {earlier} were right, now {after} are",
        sync=f"{before.params['theta'].size} numbers; rollout now has version {run.rollout.version}",
    )


def written_by(rollout):
    """The running batch as if these weights had drawn it."""
    tokens, mask = running_batch.tokens()
    logp = running_batch.drawn_logp(rollout.policy)
    N = len(tokens)
    return Batch(
        N,
        np.full(N, running_batch.PROMPT),
        running_batch.prompts(),
        tokens,
        mask,
        mask,
        logp,
        np.ones(N, bool),
        np.full(N, rollout.version),
    )


def likely(logp):
    return ", ".join(f"{p:.2f}" for p in np.exp(logp))


def row(values):
    return " ".join(map(number, np.asarray(values, float)))


def number(value):
    return f"{round(value, 2) + 0:.2f}".removesuffix(".00").replace("-", "−")  # + 0: minus zero is zero


def recorded(controller):
    """One iteration of this controller after the warm-up: ({role: milliseconds}, batch, controller, the trainer's
    metrics).
    """
    spent = Counter()
    for role, owner, method in (
        ("rollout", controller.rollout, "generate"),
        ("env", controller.env, "verify"),
        ("reference", controller.reference, "logp"),
        ("algorithm", controller.algorithm, "compute_advantages"),
        ("algorithm", controller.algorithm, "compute_loss"),
        ("trainer", controller.trainer, "step"),
        ("sync", controller.sync, "push"),
    ):
        setattr(owner, method, timed(spent, role, getattr(owner, method)))
    for event in controller.iterate(WARM_UP + 1):
        if event.stage == 3:
            batch = event.summary["batch"]
        if event.stage == 7 and event.iteration < WARM_UP:
            spent.clear()
        if event.stage == 6:
            metrics = event.summary
    return dict(spent), batch, controller, metrics


def timed(spent, role, function):
    """The same function; its own time goes to the role's account, without what it spent in other roles."""

    def call(*arguments, **named):
        spent_before, start = sum(spent.values()), perf_counter()
        result = function(*arguments, **named)
        spent[role] += 1e3 * (perf_counter() - start) - (sum(spent.values()) - spent_before)
        return result

    return call
