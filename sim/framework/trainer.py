"""Trainer: forward, dL/dlogp from the algorithm, backward, step; several passes over one batch. Knows no algorithm by
name.

The loop of passes and mini-batches is that of PPO, Schulman et al. (2017), arXiv:1707.06347, algorithm 1.
"""

import numpy as np


class Trainer:
    """Owns the policy that learns; `version` counts its optimizer steps."""

    def __init__(self, policy, optimizer):
        self.policy, self.optimizer, self.version = policy, optimizer, 0

    def step(self, batch, compute_loss, epochs, minibatches, rng, temperature):
        """Every pass over the batch. Metrics: of the last step; token_entropy of the first; ratio_min, ratio_max over
        all.
        """
        metrics, first_entropy, low, high = {}, None, np.inf, -np.inf
        for _ in range(epochs):
            parts = [None] if minibatches == 1 else np.array_split(rng.permutation(len(batch.tokens)), minibatches)
            for part in parts:
                mini = batch if part is None else batch.rows(part)
                own = mini.response_mask > 0
                logp, entropy, cache = self.policy.token_logp(mini.prompt, mini.tokens, mini.response_mask, temperature)
                out = compute_loss(logp, mini)
                grad_norm = self.optimizer.step(self.policy.params, self.policy.backward(cache, out.dlogp))
                self.version += 1
                log_ratio = (logp - mini.old_logp)[own]
                low, high = min(low, log_ratio.min()), max(high, log_ratio.max())
                first_entropy = entropy.sum() / own.sum() if first_entropy is None else first_entropy
                metrics = dict(loss=out.loss, grad_norm=grad_norm, clip_fraction=out.clip_fraction, log_ratio=log_ratio)
        return dict(
            metrics, token_entropy=first_entropy, ratio_min=np.exp(low), ratio_max=np.exp(high), version=self.version
        )
