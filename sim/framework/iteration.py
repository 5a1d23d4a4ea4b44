"""The arithmetic of one iteration: what crosses each edge of the map, how often a token meets the net, how often the
weights move. Closed form.

A backward pass is counted as two forward passes, Kaplan et al. (2020), arXiv:2001.08361, section 2.1.
"""

BACKWARD = 2  # forward passes' worth of arithmetic


def updates_per_iteration(completions, minibatch, epochs):
    """Optimizer steps: the completions of an iteration in mini-batches, `epochs` times over."""
    if completions % minibatch:
        raise ValueError(f"minibatch must divide the completions: {completions} are not a multiple of {minibatch}")
    return completions // minibatch * epochs


def carried(batch, policy):
    """{edge: {name: array}}: what the edges of the map hand on, as far as the batch has been filled in."""
    edges = dict(
        prompts=dict(prompt=batch.prompt),
        trajs=dict(tokens=batch.tokens, response_mask=batch.response_mask, finished=batch.finished),
        tokens=dict(tokens=batch.tokens),
        reward=dict(reward=batch.reward),
        ref_logp=dict(ref_logp=batch.ref_logp),
        loss_fn=dict(advantage=batch.advantage, old_logp=batch.old_logp, response_mask=batch.response_mask),
        sync=policy.params,
    )
    return {edge: arrays for edge, arrays in edges.items() if all(array is not None for array in arrays.values())}


def weight(arrays):
    """Bytes of a dict of arrays."""
    return sum(array.nbytes for array in arrays.values())


def token_passes(batch, passes, reference):
    """{role: sampled tokens times passes through the net}, a forward pass being 1."""
    tokens = int(batch.response_mask.sum())
    return dict(rollout=tokens, reference=tokens * reference, trainer=tokens * passes * (1 + BACKWARD))
