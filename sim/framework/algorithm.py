"""Algorithm: the adapter between the trainer, which calls two methods, and an algorithm file, which has six functions.

sim/algorithms/__init__.py describes such a file. The split into advantage, surrogate, token weights and KL follows
verl's core_algos.py (Sheng et al. (2024), arXiv:2409.19256).
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

HOOKS = ("shape_reward", "keep_group", "advantage", "surrogate", "weights", "kl_term")


@dataclass(frozen=True)
class LossOut:
    loss: float
    dlogp: np.ndarray  # (N, T) dL/dlogp; there is no autograd, so the trainer applies the chain rule
    clip_fraction: float  # fraction of the policy's own tokens whose gradient the clip removed


class Algorithm:
    """Builds compute_advantages and compute_loss from the six functions of `file`, and holds the functions themselves.

    `hyper` overrides entries of the file's HP, and `hooks` replaces functions. The resulting `hp` is read-only and is
    passed to every function, so two settings of one file can train side by side without changing the file.
    """

    def __init__(self, file, hyper=None, hooks=None):
        hyper, hooks = hyper or {}, hooks or {}
        if not hooks and set(hyper) - set(file.HP):
            raise ValueError(
                f"hyper must name settings of the file, {', '.join(file.HP)}, not "
                f"{', '.join(set(hyper) - set(file.HP))}"
            )
        if set(hooks) - set(HOOKS):
            raise ValueError(f"hooks must be among {', '.join(HOOKS)}, not {', '.join(set(hooks) - set(HOOKS))}")
        self.hp, self.min_K = MappingProxyType({**file.HP, **hyper}), file.MIN_K
        for name in HOOKS:
            setattr(self, name, hooks.get(name, getattr(file, name)))

    def compute_advantages(self, batch):
        """(advantage, returns), both (N, T) and 0 outside response_mask. The critic is fitted to the returns; they are
        None if the batch has no critic's values.
        """
        mask, K = batch.response_mask, batch.K
        if len(mask) % K:
            raise ValueError(f"K must divide the rows of the batch: {len(mask)} rows are not groups of {K}")
        R = self.shape_reward(batch.reward, self.hp, batch).reshape(-1, K)
        advantage = self.advantage(R, self.hp, batch).reshape(len(mask), -1) * mask  # (P, K) or (P, K, T) before
        return advantage, None if batch.value is None else advantage + batch.value * mask

    def compute_loss(self, logp, batch):
        """The LossOut for `logp` (N, T), the log-probs under the weights being trained. The batch must have its
        advantages, and ref_logp if there is a penalty.
        """
        mask = batch.response_mask
        if logp.shape != mask.shape:
            raise ValueError(f"logp must have the shape of response_mask, {mask.shape}, not {logp.shape}")
        objective, slope = self.surrogate(logp, batch.old_logp, batch.advantage, self.hp, batch)
        w = self.weights(mask, self.hp, batch)
        loss, dlogp = -(w * objective).sum(), -w * slope
        if batch.ref_logp is not None:
            penalty, penalty_slope = self.kl_term(logp, batch.ref_logp, self.hp, batch)
            loss, dlogp = loss + self.hp["beta"] * (w * penalty).sum(), dlogp + self.hp["beta"] * w * penalty_slope
        removed = (slope == 0) & (batch.advantage != 0)
        return LossOut(loss, dlogp, removed.sum() / mask.sum())
