"""A row of the log for every update, under TRL's names (grpo_trainer.py of release 1.16.0), so that what reads TRL's
logs reads this one: `python -m rlpt.doctor`, and the page "Diagnose a run".

It is not a model. A step is an update with all its passes, where TRL counts optimizer steps; the gap between
trainer and sampler is that of late weights alone, since no engine here is another program.
"""

from math import isfinite

import numpy as np

HELD_OUT = "eval_rewards/score"  # of it /mean, /low and /high; the first is what --heldout of the doctor asks for


def row(frame, batch):
    """{name: number} of a Frame and the batch that was trained on; None in place of a number that is none any more.

    Where every group was rejected, `batch` is None and only what was sampled is there; without a reference there is no
    kl.
    """
    metrics = {
        "step": frame.step + 1,
        "reward": frame.reward,
        "rewards/score/mean": frame.reward,  # TRL writes a column for each reward function: here it is the one
        "completions/mean_length": frame.length,
        "completions": frame.completions,  # ours, like the next: sampled so far, and optimizer steps behind
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
    """What an Evaluation adds to the row of its update; before the first one it is a row by itself."""
    low, high = found.interval
    return {f"{HELD_OUT}/mean": found.mean, f"{HELD_OUT}/low": low, f"{HELD_OUT}/high": high}


def plain(value):
    """A number as JSON holds it, which has neither infinity nor NaN."""
    return (value.item() if isinstance(value, np.generic) else value) if isfinite(value) else None
