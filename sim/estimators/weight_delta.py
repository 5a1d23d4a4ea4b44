"""How many weights in an engine's bf16 copy change in one optimizer step and would have to be sent.

Closed form. The trainer's weights are fp32, and a step is often smaller than the gap between two bf16 numbers. slime
and verl (`delta_sharded`, 2026) send only what has changed.

assumed: Adam moves every weight by about its learning rate, and weights are normally distributed.
"""

from statistics import NormalDist

import numpy as np

from sim.estimators.precision import MANTISSA_BITS, cast

QUANTILES = 20_000  # an even number of weights, so that none is 0


def changed_share(learning_rate, spread):
    """Fraction of bf16 weights that change if each moves by `learning_rate`: the mean of min(1, step / gap), for
    weights with this standard deviation. A weight crosses the middle between two bf16 numbers with probability step /
    gap.
    """
    normal = NormalDist(0.0, spread)
    weights = np.array([normal.inv_cdf((i + 0.5) / QUANTILES) for i in range(QUANTILES)])
    return float(np.minimum(1.0, learning_rate / gap(weights)).mean())


def gap(weights):
    """The distance between neighboring bf16 numbers around each weight."""
    return 2.0 ** (np.floor(np.log2(np.abs(weights))) - MANTISSA_BITS["bf16"])


def changed(weights, learning_rate, rng):
    """Which of these weights round to a different bf16 number after a step of this size, up or down."""
    step = learning_rate * rng.choice([-1.0, 1.0], weights.shape)
    return cast(weights + step, "bf16") != cast(weights, "bf16")
