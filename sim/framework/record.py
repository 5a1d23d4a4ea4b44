"""One completion as the roles have filled it in, one line per token: log-prob, reference, mask and advantage.

It is the record passed from role to role, like verl's DataProto; Sheng et al. (2024), arXiv:2409.19256.
"""

import numpy as np

HEAD = "   t  token      log-prob  reference  mask  advantage"


def telling(batch):
    """The row to look at: the first that is pushed, preferably one with tokens from the environment."""
    pushed = np.abs(batch.advantage).max(axis=1) > 0
    forced = (batch.valid_mask > batch.response_mask).any(axis=1)
    return int((2 * forced + pushed).argmax())


def lines(batch, row, task):
    """The row's record as text; log-probs are in nats, under the sampling weights and under the frozen start."""
    example = task.examples[batch.example[row]]
    ending = "ended by its stop token" if batch.finished[row] else f"cut off at {batch.T} tokens"
    yield (
        f"completion {row % batch.K + 1} of {batch.K} for the prompt {example.get('prompt', example['id'])!r}, "
        f"sampled by version {batch.version[row]} of the weights, {ending}"
    )
    yield HEAD
    for t in range(int(batch.valid_mask[row].sum())):
        own = batch.response_mask[row, t] > 0
        reference = "" if batch.ref_logp is None or not own else f"{batch.ref_logp[row, t]:.4f}"
        logp, advantage = (f"{array[row, t]:.4f}" if own else "" for array in (batch.old_logp, batch.advantage))
        yield f"{t:4}  {task.text[batch.tokens[row, t]]:9}  {logp:>8}  {reference:>9}  {own:4}  {advantage:>9}"
    yield f"reward {batch.reward[row]:g}: {batch.details[row]['reason']}"
