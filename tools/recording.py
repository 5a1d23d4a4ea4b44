"""One real iteration of the framework, taken down when the pages are built: what each arrow carried and how long each role took.

PPO on MODSUM with a reference, so that every role has something to do. The third iteration is kept: the first two warm numpy up.
"""
from collections import Counter
from time import perf_counter

from sim.algorithms import ppo
from sim.runs import modsum_run

WARM_UP = 2
SETTING = "PPO with a reference on MODSUM, 64 completions, a policy of 112 parameters"


def iteration():
    """({role: milliseconds}, {arrow: bytes})."""
    controller, spent = modsum_run(ppo, hyper={"beta": 0.1}), Counter()
    for role, owner, method in (("rollout", controller.rollout, "generate"), ("env", controller.env, "verify"), ("reference", controller.reference, "logp"),
                                ("algorithm", controller.algorithm, "compute_advantages"), ("algorithm", controller.algorithm, "compute_loss"),
                                ("trainer", controller.trainer, "step"), ("sync", controller.sync, "push")):
        setattr(owner, method, timed(spent, role, getattr(owner, method)))
    for event in controller.iterate(WARM_UP + 1):
        if event.stage == 3:
            batch = event.summary["batch"]
        if event.stage == 7 and event.iteration < WARM_UP:
            spent.clear()
    carried = dict(trajs=batch.tokens.nbytes + batch.response_mask.nbytes + batch.finished.nbytes, tokens=batch.tokens.nbytes, reward=batch.reward.nbytes,
                   ref_logp=batch.ref_logp.nbytes, sync=sum(array.nbytes for array in controller.trainer.policy.params.values()))
    return dict(spent), carried


def timed(spent, role, function):
    """The same function; its own time goes to the role's account, without what it spent in other roles."""
    def call(*arguments, **named):
        others, start = sum(spent.values()), perf_counter()
        result = function(*arguments, **named)
        spent[role] += 1e3 * (perf_counter() - start) - (sum(spent.values()) - others)
        return result
    return call
