"""What multiplies a token's advantage and gradient, against the token's ratio: five answers. Closed form.

REINFORCE: Williams (1992). PPO's clip: Schulman et al. (2017), arXiv:1707.06347. CISPO, whose weight is cut and whose
push is not: MiniMax (2025), arXiv:2506.13585. GSPO, one ratio for the whole completion: Zheng et al. (2025),
arXiv:2507.18071; its paper clips that ratio far more tightly than the 0.2 that all have here.
"""

import numpy as np

from sim.estimators import surrogate


def reinforce(ratio, advantage, eps, tokens):
    """The batch counts as if the present policy had written it."""
    return np.ones_like(ratio)


def importance(ratio, advantage, eps, tokens):
    """The whole ratio, without end."""
    return ratio


def ppo(ratio, advantage, eps, tokens):
    """The ratio, and nothing once the token has moved eps in the direction it is pushed in."""
    return ratio * ~surrogate.removed(ratio, advantage, eps, eps)


def cispo(ratio, advantage, eps, tokens):
    """The ratio, cut at 1 + eps: no token falls silent."""
    return np.minimum(ratio, 1 + eps)


def gspo(ratio, advantage, eps, tokens):
    """The geometric mean of the completion's ratios, clipped once for all; here the other tokens have not moved."""
    return ppo(ratio ** (1 / tokens), advantage, eps, tokens)


WEIGHTS = {"REINFORCE": reinforce, "ratio": importance, "PPO": ppo, "CISPO": cispo, "GSPO": gspo}
