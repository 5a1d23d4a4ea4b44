"""The first batch of GRPO on sums of two digits, and one optimizer step on it: its effect on single weights, how far it
goes at each learning rate, and what slices of the batch do to its gradient.

The batch is that of the lesson on the trainer: sixteen prompts with eight completions each, from the supervised policy.
AdamW: Loshchilov and Hutter (2017), arXiv:1711.05101.
"""

from functools import cache

import numpy as np

from sim.algorithms import grpo
from sim.estimators import aggregation, microbatch
from sim.experiments.standard_runs import add_run
from sim.framework.algorithm import Algorithm
from sim.worlds import tasks
from sim.worlds.optimizer import AdamW

HYPER = dict(inner_epochs=1, beta=0.0)


@cache
def batch(seed=0):
    """The policy before training, and the first batch that it writes, with advantages."""
    controller = add_run(grpo, seed=seed, hyper=HYPER)
    for event in controller.iterate(1):
        if event.stage == 2:
            drawn = event.summary["batch"]  # it gets its advantages later
        if event.stage == 5:
            return controller.start, drawn
    raise RuntimeError("an iteration has a fifth stage")


def gradient(seed=0, weights=aggregation.seq_mean_token_mean):
    """{name: array} for the loss over the whole batch, with this averaging of tokens."""
    policy, drawn = batch(seed)
    hooks = dict(weights=lambda mask, hp, batch: weights(mask))
    logp, _, kept = policy.token_logp(drawn.prompt, drawn.tokens, drawn.response_mask)
    return policy.backward(kept, Algorithm(grpo, HYPER, hooks).compute_loss(logp, drawn).dlogp)


def at_quantiles(grads, shares):
    """The nonzero gradients at these quantiles by size, where 0 is the smallest and 1 the largest."""
    flat = np.concatenate([array.ravel() for array in grads.values()])
    flat = flat[flat != 0]
    order = np.argsort(np.abs(flat))
    return flat[order[np.round(np.array(shares) * (len(flat) - 1)).astype(np.int64)]]


def change(optimizer, grads):
    """What the optimizer's first step adds to weights with these gradients."""
    params = dict(w=np.zeros(len(grads)))
    optimizer.step(params, dict(w=np.asarray(grads)))
    return params["w"]


def stepped(learning_rate, seed=0):
    """The exact pass rate after one AdamW step on the first batch, and the mean |log ratio| of its tokens then, in
    nats.
    """
    policy, drawn = batch(seed)
    moved = policy.copy()
    AdamW(learning_rate, clip=1.0).step(moved.params, gradient(seed))
    logp, _, _ = moved.token_logp(drawn.prompt, drawn.tokens, drawn.response_mask)
    far = np.abs(logp - drawn.old_logp)[drawn.response_mask > 0].mean()
    return tasks.exact_pass(moved).mean(), far


def sliced(count, by_length, seed=0):
    """Each slice's share of the completions divided by its share of the tokens, (count,), which is the factor by which
    its tokens are overweighted if each slice makes its own token mean; and the relative error of the gradient.
    """
    _, drawn = batch(seed)
    mask, rows = drawn.response_mask, microbatch.slices(drawn.response_mask, count, by_length)
    local = microbatch.local_weights(mask, aggregation.token_mean, rows)
    wrong, right = gradient(seed, lambda mask: local), gradient(seed, aggregation.token_mean)
    return np.array([mask.sum() / mask[part].sum() / count for part in rows]), microbatch.relative_error(wrong, right)
