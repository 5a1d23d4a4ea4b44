"""The arithmetic of one iteration, in closed form: what crosses each edge of the map, how often a token passes through
the network, and how often the weights are updated.

A backward pass counts as two forward passes, Kaplan et al. (2020), arXiv:2001.08361, section 2.1.
"""

BACKWARD = 2  # its arithmetic, in forward passes


def updates_per_iteration(completions, minibatch, epochs):
    """Optimizer steps in an iteration: its completions are split into mini-batches and used `epochs` times."""
    if completions % minibatch:
        raise ValueError(f"minibatch must divide the completions: {completions} are not a multiple of {minibatch}")
    return completions // minibatch * epochs


def carried(batch, policy):
    """{edge: {name: array}}: what each edge of the map carries, as far as the batch has been filled in."""
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
    """The bytes in a dict of arrays."""
    return sum(array.nbytes for array in arrays.values())


def token_passes(batch, passes, reference):
    """{role: sampled tokens times passes through the network}, where a forward pass counts as 1."""
    tokens = int(batch.response_mask.sum())
    return dict(rollout=tokens, reference=tokens * reference, trainer=tokens * passes * (1 + BACKWARD))
