"""How far the log-probs of the sampling engine and the trainer are apart, for the tokens that the engine wrote.

Closed form: a token's ratio is the trainer's probability over the sampler's. Its k3 (Schulman (2020)) and the effective
sample size (Kong (1992)) are those of sim/estimators.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators import importance, kl

ABOVE, BELOW = 2.0, 0.5
WORST = 10
LARGEST = 700.0  # nats: exp(710) is inf


@dataclass(frozen=True)
class Mismatch:
    tokens: int
    k3: float  # the mean, in nats per token
    effective_share: float  # effective sample size of the ratios, per token
    above: float  # the share of tokens with a ratio above 2
    below: float  # and below 1/2
    worst: list[tuple[int, int, float]]  # (row, token in its completion, log-ratio) of the ten largest |log-ratios|


def mismatch(rollouts):
    """The Mismatch of all tokens that have two finite log-probs, or None if there are none."""
    if rollouts.sampler is None or rollouts.trainer is None:
        return None
    pairs = [
        (row, np.asarray(sampler, float), np.asarray(trainer, float))
        for row, (sampler, trainer) in enumerate(zip(rollouts.sampler, rollouts.trainer))
        if sampler is not None and trainer is not None and len(sampler) == len(trainer)
    ]
    if not pairs:
        return None
    lengths = [len(sampler) for _, sampler, _ in pairs]
    row = np.repeat([row for row, _, _ in pairs], lengths)
    place = np.concatenate([np.arange(n) for n in lengths])
    sampler, trainer = (np.concatenate([pair[side] for pair in pairs]) for side in (1, 2))
    known = np.isfinite(sampler) & np.isfinite(trainer)
    if not known.any():
        return None
    row, place, sampler, trainer = row[known], place[known], sampler[known], trainer[known]
    log_ratio = np.clip(trainer - sampler, -LARGEST, LARGEST)
    ratio = np.exp(log_ratio)
    worst = np.argsort(-np.abs(log_ratio), kind="stable")[:WORST]
    # the maximum is taken out first, because exp(700)² is inf
    weight = np.exp(log_ratio - log_ratio.max())
    return Mismatch(
        tokens=len(ratio),
        k3=float(kl.k3(0.0, log_ratio).mean()),
        effective_share=float(importance.effective_sample_size(weight) / len(weight)),
        above=float((ratio > ABOVE).mean()),
        below=float((ratio < BELOW).mean()),
        worst=[(int(row[i]), int(place[i]), float(log_ratio[i])) for i in worst],
    )
