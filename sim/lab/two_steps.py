"""Two decisions, and a reward after the second: what the exact policy gradient teaches each of them.

The first action a₁ = 0 leads to the reward `SURE` whatever follows. After a₁ = 1, the second action a₂ = 1 brings 1,
and a₂ = 0 brings 0. Each decision has its own logit, θ₁ and θ₂. With P(a) as the probability of a = 1, the mean reward
is J = (1 − P(a₁)) SURE + P(a₁) P(a₂), and its gradient is closed form. In a language model the tokens share their
weights, so this is no forecast for training one.
"""

from math import exp, log

import numpy as np

SURE = 0.6  # assumed: below 1, so the best end is behind a₁ = 1, and above the reward of an even second decision, .5


def climb(first, second, learning_rate, updates):
    """The ascent of J from P(a₁) = first and P(a₂) = second, (updates + 1, 5): P(a₁), P(a₂), J, dJ/dθ₁ and dJ/dθ₂.

    Row t is the state after t updates. Raises ValueError unless both probabilities lie strictly between 0 and 1.
    """
    if not (0 < first < 1 and 0 < second < 1):
        raise ValueError(f"both probabilities must lie strictly between 0 and 1, not {first} and {second}")
    rows = np.empty((updates + 1, 5))
    theta_1, theta_2 = log(first / (1 - first)), log(second / (1 - second))
    for t in range(updates + 1):
        first, second = 1 / (1 + exp(-theta_1)), 1 / (1 + exp(-theta_2))
        slope_1 = first * (1 - first) * (second - SURE)  # what a₁ = 1 is worth depends on the second decision
        slope_2 = first * second * (1 - second)  # the second decision is visited with probability P(a₁)
        rows[t] = first, second, (1 - first) * SURE + first * second, slope_1, slope_2
        theta_1, theta_2 = theta_1 + learning_rate * slope_1, theta_2 + learning_rate * slope_2
    return rows
