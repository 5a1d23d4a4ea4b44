"""A batch that does not fit in memory, in slices: the gradients of the slices added up, with the right and with the
wrong divisor.

The wrong one was in several libraries until October 2024 (Han and Han (2024), Bugs in LLM Training,
unsloth.ai/blog/gradient).
"""

import numpy as np

from sim.worlds.optimizer import norm


def slices(mask, count, by_length):
    """Which rows go into each of `count` micro-batches: as they come, or the short completions together."""
    order = np.argsort(mask.sum(axis=1), kind="stable") if by_length else np.arange(len(mask))
    return np.array_split(order, count)


def gradient(policy, batch, compute_loss, parts):
    """One loss over the whole batch; every micro-batch carries its own tokens' share of it backward."""
    whole, _, _ = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    dlogp = compute_loss(whole, batch).dlogp
    return total(backward(policy, batch.rows(rows), dlogp[rows]) for rows in parts)


def gradient_of_local_means(policy, batch, compute_loss, parts):
    """The mistake: every micro-batch makes a mean of its own, and the means are averaged as if they were of equally
    many tokens.
    """

    def local(rows):
        micro = batch.rows(rows)
        logp, _, _ = policy.token_logp(micro.prompt, micro.tokens, micro.response_mask)
        return backward(policy, micro, compute_loss(logp, micro).dlogp / len(parts))

    return total(local(rows) for rows in parts)


def local_weights(mask, weights, parts):
    """The weights (N, T) that this mistake amounts to, whatever the aggregation `weights` was meant to be."""
    w = np.zeros(mask.shape)
    for rows in parts:
        w[rows] = weights(mask[rows]) / len(parts)
    return w


def relative_error(grads, truth):
    """Length of the difference over length of the truth."""
    return norm({name: grads[name] - truth[name] for name in truth}) / norm(truth)


def cosine(grads, truth):
    """1: they point the same way."""
    return sum((grads[name] * truth[name]).sum() for name in truth) / norm(grads) / norm(truth)


def backward(policy, batch, dlogp):
    _, _, cache = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    return policy.backward(cache, dlogp)


def total(gradients):
    gradients = list(gradients)
    return {name: sum(grads[name] for grads in gradients) for name in gradients[0]}
