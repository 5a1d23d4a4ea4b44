"""What each algorithm makes of the rewards of a file, in groups of any size. Closed form; the formulas are those of
sim/estimators, the constants TRL 1.16.0's, and the rule without the completion's own reward is NeMo RL's default. With
an epsilon of 1e-6, GRPO is that of verl, and of NeMo RL if `use_leave_one_out_baseline` is off.

Shao et al. (2024), arXiv:2402.03300 (GRPO); Kool et al. (2019) (RLOO); Liu et al. (2025), arXiv:2503.20783 (Dr. GRPO);
Liu et al. (2025), arXiv:2508.08221 (the batch's deviation); Liu et al. (2026), arXiv:2601.05242 (GDPO). A completion
whose reward is nan has advantage 0 and counts for nobody. A completion alone in its group has advantage 0 as well.
"""

import numpy as np

from sim.estimators import group_baselines, normalizers

EPS = 1e-4  # TRL 1.16.0, grpo_trainer.py and rloo_trainer.py: added to every deviation
EPS_SMALL = 1e-6  # NeMo RL, advantage_estimator.py, and verl, core_algos.py; and for deviations over K instead of K - 1


def by_part(function, values, part):
    """(N,): a function of (parts, n) on the parts of each size n in turn. `part` is sorted; parts of one give 0."""
    out = np.zeros(len(values))
    part = np.unique(part, return_inverse=True)[1]
    size = np.bincount(part)[part]
    for n in np.unique(size[size > 1]):
        rows = np.flatnonzero(size == n).reshape(-1, n)
        out[rows] = function(values[rows])
    return out


def z_score(rewards):
    return group_baselines.z_score(rewards, eps=EPS)


def z_score_small(rewards):
    return group_baselines.z_score(rewards, eps=EPS_SMALL)


def z_score_over_k(rewards):
    return group_baselines.z_score(rewards, eps=EPS_SMALL, ddof=0)


def z_score_of_others(rewards):
    """(groups, K) -> (groups, K): minus the mean of the others, divided by their sample deviation if they differ."""
    K = rewards.shape[1]
    from_others = group_baselines.leave_one_out(rewards)
    # the squares of all about their mean are those of the others about theirs plus (K - 1) / K times the gap's
    squares = (group_baselines.less_mean(rewards) ** 2).sum(axis=1, keepdims=True) - (K - 1) / K * from_others**2
    spread = np.sqrt(np.maximum(squares, 0) / max(K - 2, 1))
    return np.where(spread > 1e-6 * np.abs(from_others), from_others / (spread + EPS_SMALL), from_others)


def deviation(values):
    return np.broadcast_to(values.std(axis=1, ddof=1, keepdims=True), values.shape)


def grpo(reward, group, step):
    return by_part(z_score, reward, group)


def grpo_small(reward, group, step):
    return by_part(z_score_small, reward, group)


def grpo_over_k(reward, group, step):
    return by_part(z_score_over_k, reward, group)


def grpo_of_others(reward, group, step):
    return by_part(z_score_of_others, reward, group)


def grpo_over_batch(reward, group, step):
    return by_part(group_baselines.less_mean, reward, group) / (by_part(deviation, reward, step) + EPS)


def rloo(reward, group, step):
    return by_part(group_baselines.leave_one_out, reward, group)


def rloo_normalized(reward, group, step):
    return by_part(z_score, rloo(reward, group, step), step)


def dr_grpo(reward, group, step):
    return by_part(group_baselines.less_mean, reward, group)


def batch_mean(reward, group, step):
    return by_part(group_baselines.less_mean, reward, step)


def whitened(reward, group, step):
    return by_part(
        lambda steps: np.array([normalizers.whitened(one, np.ones(len(one))) for one in steps]), reward, step
    )


def of_finite(rule):
    """The rule on the rows whose reward is finite; the others get 0."""

    def advantage(reward, group, step):
        rows = np.isfinite(reward)
        out = np.zeros(len(reward))
        out[rows] = rule(reward[rows], group[rows], step[rows])
        return out

    return advantage


RULES = {  # function(reward (N,), group (N,), step (N,)) -> (N,)
    "GRPO": of_finite(grpo),
    "GRPO, epsilon 1e-6": of_finite(grpo_small),
    "GRPO, deviation over K": of_finite(grpo_over_k),
    "GRPO, leave-one-out": of_finite(grpo_of_others),
    "GRPO, deviation of the batch": of_finite(grpo_over_batch),
    "RLOO": of_finite(rloo),
    "RLOO, normalized": of_finite(rloo_normalized),
    "Dr. GRPO": of_finite(dr_grpo),
    "batch mean": of_finite(batch_mean),
    "whitened": of_finite(whitened),
}
GDPO = "GDPO"
SCALED = {*RULES, GDPO} - {"RLOO", "Dr. GRPO", "batch mean"}  # twice the reward changes (nearly) nothing


def total(scores, weights):
    """What was paid, (N,): the weighted sum of scores (m, N), in which a nan counts as nothing; nan if all are nan."""
    return np.where(np.isnan(scores).all(axis=0), np.nan, np.asarray(weights) @ np.nan_to_num(scores))


def each_alone(scores, group, step):
    """The z-score of each score (m, N) in its group."""
    return np.array([np.where(np.isnan(score), np.nan, RULES["GRPO"](score, group, step)) for score in scores])


@of_finite
def gdpo(summed, group, step):
    """GDPO's advantages (N,): the z-score, over the step, of the weighted sum of each_alone."""
    return by_part(z_score, summed, step)
