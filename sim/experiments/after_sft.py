"""A tiny language model that imitation has brought to a third of a hundred sums, and two ways to continue: more of the
same demonstrations, or its own completions and a checker.

These are our settings, not a model. Imitation continues as the start was made, with AdamW at 0.005; REINFORCE, Williams
(1992), doi:10.1007/BF00992696, uses AdamW at 0.02; both use 128 completions per update. `policy` is a name in
sim/worlds/policies.py; the transformer gets a tenth of both rates.
"""

import numpy as np

from sim.algorithms import reinforce
from sim.experiments.standard_runs import add_run
from sim.worlds import tasks
from sim.worlds.optimizer import AdamW
from sim.worlds.policies import POLICIES, shared_rate

GROUPS, K = 16, 8


def start(policy="window"):
    """Fraction of the hundred sums that the start answers correctly, exact."""
    return tasks.exact_pass(POLICIES[policy]()).mean()


def imitated(updates, every, seed=0, policy="window"):
    """(update, exact pass rate) every `every` updates while training continues on demonstrations."""
    rng, optimizer = np.random.default_rng(seed), AdamW(shared_rate(policy, 0.005), clip=1.0)
    policy = POLICIES[policy]()
    for update in range(1, updates + 1):
        prompt, tokens, mask = tasks.add_demonstrations(GROUPS * K, rng)
        _, _, cache = policy.token_logp(prompt, tokens, mask)
        optimizer.step(policy.params, policy.backward(cache, -mask / mask.sum()))
        if update % every == 0:
            yield update, tasks.exact_pass(policy).mean()


def rewarded(updates, every, baseline, offset=0.0, seed=0, policy="window"):
    """(update, exact pass rate, fraction correct in its batch) every `every` updates of REINFORCE. `baseline` maps the
    rewards of a prompt's completions to what is subtracted from them; `offset` is added to every reward first.
    """
    hooks = dict(shape_reward=lambda reward, hp, batch: reward + offset, advantage=lambda R, hp, batch: R - baseline(R))
    settings = dict(policy=POLICIES[policy](), learning_rate=shared_rate(policy, 0.02), hooks=hooks)
    trained = add_run(reinforce, seed=seed, groups=GROUPS, K=K, exact_every=updates, **settings)
    for frame in trained.frames(updates):
        if (frame.step + 1) % every == 0:
            yield frame.step + 1, tasks.exact_pass(trained.trainer.policy).mean(), frame.accuracy
