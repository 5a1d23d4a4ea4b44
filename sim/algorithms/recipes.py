"""Named recipes, such as DeepSeek-V3.2's, arXiv:2512.02556, written in terms of the six functions: each starts from a
file of this folder, replaces some of its functions, and names its source.

Such a row cannot express the data, the critic, process rewards, or corrections for a rollout engine whose probabilities
differ from the trainer's. If a row does not set the number of passes, the file's number applies.
"""

from dataclasses import dataclass, field

import numpy as np

from sim.algorithms import dapo, dr_grpo, grpo, rloo
from sim.estimators import kl


@dataclass(frozen=True)
class Recipe:
    file: object  # the algorithm file that the recipe starts from
    hooks: dict = field(default_factory=dict)  # functions that replace the file's
    hyper: dict = field(default_factory=dict)
    source: str = ""
    left_out: str = ""  # parts of the recipe that none of the six functions can express


def over_batch_std(R, hp, batch):
    """Lite PPO: subtract the group's mean, divide by the batch's standard deviation."""
    A = R - R.mean(1, keepdims=True)
    return A / (R.std() + 1e-6)


def k3_with_the_gradient_of_kl(logp, ref_logp, hp, batch):
    """The value of k3 with the slope of k2 = k1²/2, whose mean is the gradient of the KL."""
    return kl.k3(logp, ref_logp), kl.k2_slope(logp, ref_logp)


def one_ratio_a_completion(logp, old_logp, A, hp, batch):
    """RLOO in TRL: the product of a completion's ratios is clipped once, and each token carries an equal share."""
    ratio = np.exp((logp - old_logp).sum(1, keepdims=True))
    obj = np.minimum(ratio * A, np.clip(ratio, 0.8, 1.2) * A)
    dobj = ratio * A * ~(((A > 0) & (ratio > 1.2)) | ((A < 0) & (ratio < 0.8)))
    return obj / np.maximum((A != 0).sum(1, keepdims=True), 1), dobj


def cut_weight(logp, old_logp, A, hp, batch):
    """CISPO: the ratio, capped and held constant, weights the log-prob, so every token keeps a gradient."""
    weight = np.minimum(np.exp(logp - old_logp), hp["cap"])
    return weight * A * logp, weight * A


def one_mean_ratio(logp, old_logp, A, hp, batch):
    """GSPO: the geometric mean of a completion's ratios is clipped once for all of its tokens."""
    mask = batch.response_mask
    ratio = np.exp(((logp - old_logp) * mask).sum(1, keepdims=True) / mask.sum(1, keepdims=True))
    lo, hi = 1 - hp["eps"], 1 + hp["eps_high"]
    obj = np.minimum(ratio * A, np.clip(ratio, lo, hi) * A)
    dobj = ratio * A * ~(((A > 0) & (ratio > hi)) | ((A < 0) & (ratio < lo)))
    return obj, dobj


def less_kl(reward, hp, batch):
    """RLOO in TRL: the KL is subtracted from the completion's reward."""
    return reward - hp["beta"] * batch.kl


RECIPES = {
    "GRPO, 2024": Recipe(grpo, {}, dict(inner_epochs=1), "arXiv:2402.03300"),  # section 4.1.2: one update per batch
    "TRL 1.16.0": Recipe(
        grpo,
        dict(weights=dapo.weights),
        dict(inner_epochs=1, beta=0.0),
        "GRPOConfig's defaults",
        "a weight for each completion sampled by vLLM: its ratio to vLLM's probability, or 0 if that ratio is above 3",
    ),
    "DeepSeek-V3.2": Recipe(
        grpo,
        dict(advantage=dr_grpo.advantage, kl_term=k3_with_the_gradient_of_kl),
        {},
        "arXiv:2512.02556",
        "masking of off-policy completions, and the ratio to the policy that sampled as a factor of the KL term",
    ),
    "OLMo 3": Recipe(
        dapo,
        dict(shape_reward=grpo.shape_reward, advantage=dr_grpo.advantage),
        dict(eps_high=0.272),
        "arXiv:2512.13961",
        "truncated importance weights",
    ),
    "Lite PPO": Recipe(grpo, dict(advantage=over_batch_std, weights=dapo.weights), dict(beta=0.0), "arXiv:2508.08221"),
    "RLOO in TRL": Recipe(
        rloo, dict(shape_reward=less_kl, surrogate=one_ratio_a_completion), dict(beta=0.05), "RLOOConfig's defaults"
    ),
}

SUCCESSORS = {  # of the clip
    "CISPO": Recipe(
        grpo,
        dict(surrogate=cut_weight, weights=dapo.weights),
        dict(beta=0.0, cap=5.0),  # TRL's recommendation, after ScaleRL; the paper does not print its own
        "arXiv:2506.13585",
        "resampled groups and a length penalty, which its paper takes from DAPO",
    ),
    "GSPO": Recipe(
        grpo, dict(surrogate=one_mean_ratio), dict(beta=0.0, eps=3e-4, eps_high=4e-4), "arXiv:2507.18071, section 5.1"
    ),
}
NAMED = {**RECIPES, **SUCCESSORS}
