"""One log row per update, under TRL's names (grpo_trainer.py of release 1.16.0), so that whatever reads TRL's logs can
read this one: `python -m rlpt.doctor`, and the page "Diagnose a run".

It is not a model. A step is an update with all its passes, whereas TRL counts optimizer steps. The gap between trainer
and sampler comes only from late weights, because the engine here is not a separate program.
"""

from math import isfinite

import numpy as np

HELD_OUT = "eval_rewards/score"  # columns /mean, /low and /high; the doctor's --heldout asks for the first


def row(frame, batch):
    """{name: number} for a Frame and the batch that was trained on; a number that is no longer finite becomes None.

    If every group was rejected, `batch` is None and the row has only what was sampled. Without a reference, it has no
    kl.
    """
    metrics = {
        "step": frame.step + 1,
        "reward": frame.reward,
        "rewards/score/mean": frame.reward,  # TRL writes one column per reward function; here there is only one
        "completions/mean_length": frame.length,
        "completions": frame.completions,  # this and the next are ours: sampled so far, and optimizer steps behind
        "lag": frame.lag,
    }
    if batch is not None:
        groups = batch.reward.reshape(-1, batch.K)
        metrics |= {
            "loss": frame.loss,
            "grad_norm": frame.grad_norm,
            "entropy": frame.token_entropy,
            "clip_ratio/region_mean": frame.clip_fraction,
            "sampling/sampling_logp_difference/mean": frame.logp_gap,
            "reward_std": groups.std(),
            "frac_reward_zero_std": (np.ptp(groups, axis=1) == 0).mean(),
            "completions/clipped_ratio": 1 - batch.finished.mean(),
        }
        if batch.ref_logp is not None:
            metrics["kl"] = frame.kl_logged
    return {name: plain(value) for name, value in metrics.items()}


def evaluation(found):
    """What an Evaluation adds to the row of its update; before the first update it is a row of its own."""
    low, high = found.interval
    return {f"{HELD_OUT}/mean": found.mean, f"{HELD_OUT}/low": low, f"{HELD_OUT}/high": high}


def plain(value):
    """A number as JSON can hold it; infinity and NaN become None."""
    return (value.item() if isinstance(value, np.generic) else value) if isfinite(value) else None
