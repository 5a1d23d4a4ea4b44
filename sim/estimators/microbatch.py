"""A batch that does not fit into memory, processed in slices: the slices' gradients added up with the right divisor and
with a wrong one.

Several libraries had the wrong one until October 2024 (Han and Han (2024), Bugs in LLM Training,
unsloth.ai/blog/gradient).
"""

import numpy as np

from sim.worlds.optimizer import norm


def slices(mask, count, by_length):
    """The rows in each of `count` micro-batches: in their order, or with short completions together."""
    order = np.argsort(mask.sum(axis=1), kind="stable") if by_length else np.arange(len(mask))
    return np.array_split(order, count)


def gradient(policy, batch, compute_loss, parts):
    """One loss over the whole batch; every micro-batch propagates its own tokens' share of it backward."""
    whole, _, _ = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    dlogp = compute_loss(whole, batch).dlogp
    return total(backward(policy, batch.rows(rows), dlogp[rows]) for rows in parts)


def gradient_of_local_means(policy, batch, compute_loss, parts):
    """The mistake: every micro-batch computes its own mean, and the means are averaged as if they had equally many
    tokens.
    """

    def local(rows):
        micro = batch.rows(rows)
        logp, _, _ = policy.token_logp(micro.prompt, micro.tokens, micro.response_mask)
        return backward(policy, micro, compute_loss(logp, micro).dlogp / len(parts))

    return total(local(rows) for rows in parts)


def local_weights(mask, weights, parts):
    """The weights (N, T) that this mistake amounts to, whatever the intended aggregation `weights`."""
    w = np.zeros(mask.shape)
    for rows in parts:
        w[rows] = weights(mask[rows]) / len(parts)
    return w


def relative_error(grads, truth):
    """Length of the difference divided by the length of the truth."""
    return norm({name: grads[name] - truth[name] for name in truth}) / norm(truth)


def cosine(grads, truth):
    """1 if they point in the same direction."""
    return sum((grads[name] * truth[name]).sum() for name in truth) / norm(grads) / norm(truth)


def backward(policy, batch, dlogp):
    _, _, cache = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    return policy.backward(cache, dlogp)


def total(gradients):
    gradients = list(gradients)
    return {name: sum(grads[name] for grads in gradients) for name in gradients[0]}
