"""Algorithm: the trainer knows two methods, an algorithm file has six functions; this is the adapter between them.

The split in advantage, surrogate, token weights and KL follows verl's core_algos.py (Sheng et al. (2024),
arXiv:2409.19256).
"""

from dataclasses import dataclass
from types import FunctionType

import numpy as np

from sim.estimators.advantages import at_the_end, gae

HOOKS = ("shape_reward", "keep_group", "advantage", "surrogate", "weights", "kl_term")


@dataclass(frozen=True)
class LossOut:
    loss: float
    dlogp: np.ndarray  # (N, T) dL/dlogp: there is no autograd, the trainer chains it
    clip_fraction: float  # own tokens whose gradient the clip removed, as a share of all own tokens


class Algorithm:
    """keep_group, compute_advantages and compute_loss from the six functions of `file`.

    `hyper` replaces entries of the file's HP, `hooks` replaces functions. The file itself is never written to: its
    functions are bound again to a changed HP, so that two settings of one file can train side by side, and a run that
    was dropped leaves nothing behind.
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
        self.HP = {**file.HP, **hyper}
        for name in HOOKS:
            setattr(self, name, bound(hooks.get(name, getattr(file, name)), self.HP))

    def compute_advantages(self, batch):
        """(advantage, returns), both (N, T) and 0 off response_mask; returns is None when the file asks no critic."""
        mask, K, returns = batch.response_mask, batch.K, None
        if len(mask) % K:
            raise ValueError(f"K must divide the rows of the batch: {len(mask)} rows are not groups of {K}")
        value = np.zeros(mask.shape) if batch.value is None else batch.value
        kl = np.zeros(len(mask)) if batch.ref_logp is None else (batch.old_logp - batch.ref_logp).sum(axis=1)
        reward = self.shape_reward(batch.reward, kl, mask.sum(axis=1), ~batch.finished, mask.shape[1])

        def estimated(R, lam):  # the only door to the critic: R (P, K) is paid at each row's last own token
            nonlocal returns
            advantage, returns = gae(at_the_end(R.ravel(), mask), value, mask, 1.0, lam)
            return advantage.reshape(*R.shape, -1)

        advantage = self.advantage(
            reward.reshape(-1, K), {"gae": estimated, "mask": mask.reshape(-1, K, mask.shape[1])}
        )
        return advantage.reshape(len(mask), -1) * mask, returns  # (P, K, 1) or (P, K, T) before

    def compute_loss(self, logp, batch):
        """The LossOut of log-probs (N, T), those of the weights being trained; the batch has its advantages, and
        ref_logp if there is a penalty.
        """
        mask = batch.response_mask
        if logp.shape != mask.shape:
            raise ValueError(f"logp must have the shape of response_mask, {mask.shape}, not {logp.shape}")
        objective, slope = self.surrogate(logp, batch.old_logp, batch.advantage)
        w = self.weights(mask)
        loss, dlogp = -(w * objective).sum(), -w * slope
        if batch.ref_logp is not None:
            penalty, penalty_slope = self.kl_term(logp, batch.ref_logp)
            loss, dlogp = loss + self.HP["beta"] * (w * penalty).sum(), dlogp + self.HP["beta"] * w * penalty_slope
        removed = (slope == 0) & (batch.advantage != 0)
        return LossOut(loss, dlogp, removed.sum() / mask.sum())

    def learns_from_one(self):
        """Whether a completion without others of its prompt gets a usable advantage; a baseline from the group leaves 0
        or 0/0.
        """
        with np.errstate(all="ignore"):
            lone = self.advantage(
                np.array([[0.0], [1.0]]), {"gae": lambda R, lam: R[..., None], "mask": np.ones((2, 1, 1))}
            )
        return bool(np.isfinite(lone).all() and (lone != 0).any())


def bound(hook, HP):
    """The same function with this HP in place of its file's; closures and default arguments stay."""
    return FunctionType(
        hook.__code__, {**hook.__globals__, "HP": HP}, hook.__name__, hook.__defaults__, hook.__closure__
    )
