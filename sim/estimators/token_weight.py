"""The factor of a token's advantage and gradient as a function of the token's ratio, for five algorithms. Closed form.

REINFORCE: Williams (1992). PPO's clip: Schulman et al. (2017), arXiv:1707.06347. CISPO caps the weight and keeps the
push: MiniMax (2025), arXiv:2506.13585. GSPO uses one ratio for the whole completion: Zheng et al. (2025),
arXiv:2507.18071; its paper clips that ratio far more tightly than the 0.2 used for all of them here.
"""

import numpy as np

from sim.estimators import surrogate


def reinforce(ratio, advantage, eps, tokens):
    """Treats the batch as if the current policy had written it."""
    return np.ones_like(ratio)


def importance(ratio, advantage, eps, tokens):
    """The whole ratio, without a limit."""
    return ratio


def ppo(ratio, advantage, eps, tokens):
    """The ratio, or 0 once the token has moved by eps in the direction of its push."""
    return ratio * ~surrogate.removed(ratio, advantage, eps, eps)


def cispo(ratio, advantage, eps, tokens):
    """The ratio, capped at 1 + eps: every token keeps a gradient."""
    return np.minimum(ratio, 1 + eps)


def gspo(ratio, advantage, eps, tokens):
    """The geometric mean of the completion's ratios, clipped once for all tokens; here the other tokens have
    not moved.
    """
    return ppo(ratio ** (1 / tokens), advantage, eps, tokens)


WEIGHTS = {"REINFORCE": reinforce, "ratio": importance, "PPO": ppo, "CISPO": cispo, "GSPO": gspo}
