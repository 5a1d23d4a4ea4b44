"""What a loss demands of every single token of a batch: dL/dlogp split into advantage, ratio, clip and weight.

For the clipped surrogate of Schulman et al. (2017), arXiv:1707.06347: dL/dlogp = -weight * ratio * advantage, or 0
where the clip removed it.
"""

from dataclasses import dataclass

import numpy as np

from sim.framework.trainer import Trainer


@dataclass(frozen=True)
class TokenGradient:
    advantage: np.ndarray  # all (N, T)
    ratio: np.ndarray
    clipped: np.ndarray  # True where the token has an advantage but gets no push
    weight: np.ndarray
    dlogp: np.ndarray


def token_gradient(algorithm, logp, batch):
    """The parts of compute_loss for log-probs (N, T), 0 outside response_mask."""
    weight = algorithm.weights(batch.response_mask, algorithm.hp, batch)
    _, slope = algorithm.surrogate(logp, batch.old_logp, batch.advantage, algorithm.hp, batch)
    return TokenGradient(
        batch.advantage,
        np.exp(logp - batch.old_logp) * batch.response_mask,
        (slope == 0) & (batch.advantage != 0),
        weight,
        algorithm.compute_loss(logp, batch).dlogp,
    )


def before_the_last_step(policy, optimizer, batch, compute_loss, epochs, minibatches, rng):
    """A copy of the policy after all steps over this batch except the last; with one pass and one mini-batch, that is
    none.
    """
    trainer, seen = Trainer(policy.copy(), optimizer), []

    def watched(logp, mini):
        seen.append(dict(trainer.policy.params))  # a shallow copy is enough because optimizers replace arrays
        return compute_loss(logp, mini)

    trainer.step(batch, watched, epochs, minibatches, rng, 1.0)
    trainer.policy.params = seen[-1]
    return trainer.policy
