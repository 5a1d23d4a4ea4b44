"""One recorded iteration of the framework, run when the pages are built: the data that each arrow of the map carried,
and the time that each role took.

The third iteration is recorded, because the first two warm numpy up. It is GRPO on sums of two digits, whose
completions can be read, with a reference policy, so that every role has work. All maps of the book show the same one.
"""

from collections import Counter
from functools import cache
from time import perf_counter

import numpy as np

from sim.algorithms import grpo
from sim.experiments.standard_runs import add_run
from sim.framework.iteration import carried, weight
from sim.worlds import tinylm

WARM_UP = 2
SETTING = "GRPO with a reference, one pass, on sums of two digits, 128 completions, a policy of 8,708 parameters"


@cache
def iteration():
    """({role: milliseconds}, {arrow: bytes}, {role or arrow: {what: words}}): shapes, and the first row of each
    array.
    """
    spent, batch, controller, metrics = recorded(add_run(grpo, hyper={"beta": 0.1, "inner_epochs": 1}))
    edges, K, own = carried(batch, controller.trainer.policy), batch.K, int(batch.response_mask[0].sum())
    prompt, said = tinylm.decode(batch.prompt[0].tolist()), tinylm.decode(batch.tokens[0, :own].tolist())
    answer = controller.task.answers(batch.tokens[:1], batch.response_mask[:1], batch.finished[:1])[0]
    first = dict(
        controller=f"prompt {row(batch.prompt[0])}, which reads “{prompt}”",
        rollout=f"“{prompt}{said}”, old_logp {row(batch.old_logp[0, :own])}",
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
        others, start = sum(spent.values()), perf_counter()
        result = function(*arguments, **named)
        spent[role] += 1e3 * (perf_counter() - start) - (sum(spent.values()) - others)
        return result

    return call
