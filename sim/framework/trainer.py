"""Trainer: forward, dL/dlogp from the algorithm, backward, optimizer step, for several passes over one batch. It knows
no algorithm by name.

The loop over passes and mini-batches is PPO's, Schulman et al. (2017), arXiv:1707.06347, algorithm 1.
"""

import numpy as np

from sim.estimators import microbatch


class Trainer:
    """Owns the policy that learns; `version` counts its optimizer steps."""

    def __init__(self, policy, optimizer):
        self.policy, self.optimizer, self.version = policy, optimizer, 0

    def step(self, batch, compute_loss, epochs, minibatches, rng, temperature, microbatches=1):
        """All passes over the batch. The metrics returned are those of the last step, except token_entropy and logp_gap
        (first step) and ratio_min and ratio_max (all steps).
        """
        metrics, first, low, high = {}, {}, np.inf, -np.inf
        for _ in range(epochs):
            parts = [None] if minibatches == 1 else np.array_split(rng.permutation(len(batch.tokens)), minibatches)
            for part in parts:
                mini = batch if part is None else batch.rows(part)
                own = mini.response_mask > 0
                logp, entropy, out, grads = gradient(self.policy, mini, compute_loss, temperature, microbatches)
                grad_norm = self.optimizer.step(self.policy.params, grads)
                self.version += 1
                log_ratio = (logp - mini.old_logp)[own]
                low, high = min(low, log_ratio.min()), max(high, log_ratio.max())
                first = first or dict(token_entropy=entropy.sum() / own.sum(), logp_gap=np.abs(log_ratio).mean())
                metrics = dict(loss=out.loss, grad_norm=grad_norm, clip_fraction=out.clip_fraction, log_ratio=log_ratio)
        return dict(metrics, **first, ratio_min=np.exp(low), ratio_max=np.exp(high), version=self.version)


def gradient(policy, batch, compute_loss, temperature, microbatches):
    """(logp (N, T), entropy (N, T), LossOut, {name: gradient}) for one loss over the batch.

    Micro-batches pass through the network one after another without keeping activations. Each is evaluated again once
    the loss over all of them is known: memory is saved at the cost of time.
    """

    def forward(part):
        return policy.token_logp(part.prompt, part.tokens, part.response_mask, temperature)

    if microbatches == 1:
        logp, entropy, cache = forward(batch)
        out = compute_loss(logp, batch)
        return logp, entropy, out, policy.backward(cache, out.dlogp)
    parts = np.array_split(np.arange(len(batch.tokens)), min(microbatches, len(batch.tokens)))
    logp, entropy = map(np.concatenate, zip(*(forward(batch.rows(part))[:2] for part in parts)))
    out = compute_loss(logp, batch)
    grads = microbatch.total(policy.backward(forward(batch.rows(part))[2], out.dlogp[part]) for part in parts)
    return logp, entropy, out, grads
