"""Four arms that pay 1 or nothing, and a policy that is pushed after every single draw: REINFORCE with a batch of one.

REINFORCE and its baseline: Williams (1992), doi:10.1007/BF00992696. The variance is closed form. Unlike in
`sim/worlds/bandit.py`, a reward is drawn, so the same arm pays 1 at one time and 0 at another. Every arm has its own
logit, so this is no forecast for a language model.

A baseline is a function of the rewards so far, (runs, t) with the current one last, and returns (runs,).
"""

from dataclasses import dataclass

import numpy as np

from sim.worlds import bandit

PAY = np.array([0.2, 0.4, 0.6, 0.9])  # assumed: the probability with which each arm pays 1


@dataclass(frozen=True)
class Push:
    """One draw, and what it did to the policy."""

    before: np.ndarray  # (4,) the probability of each arm when this one was drawn
    arm: int
    reward: float  # 0 or 1, plus the offset
    baseline: float
    after: np.ndarray  # (4,)

    @property
    def advantage(self):
        """The reward minus the baseline; if it is positive, the drawn arm's probability rises."""
        return self.reward - self.baseline


def no_baseline(rewards):
    return np.zeros(len(rewards))


def running_mean(rewards):
    """The mean of all earlier rewards. At the first draw there are none, and it is 0."""
    return rewards[:, :-1].mean(axis=1) if rewards.shape[1] > 1 else no_baseline(rewards)


def warm_running_mean(rewards):
    """The mean of all earlier rewards. At the first draw it is that draw's own reward, so the policy does not move."""
    return running_mean(rewards) if rewards.shape[1] > 1 else rewards[:, 0]


def pushes(seed, learning_rate, baseline, steps, offset=0.0):
    """The pushes of one run from equal probabilities, in order, as a tuple of Push."""
    policies, arms, rewards, baselines = runs([seed], learning_rate, baseline, steps, offset)
    return tuple(
        Push(policies[t, 0], int(arms[0, t]), float(rewards[0, t]), float(baselines[0, t]), policies[t + 1, 0])
        for t in range(steps)
    )


def ends(seeds, learning_rate, baseline, steps, offset=0.0):
    """J, the mean pay without the offset, of the policy after the last push of each seed's run, (runs,)."""
    return bandit.expected_reward(runs(seeds, learning_rate, baseline, steps, offset)[0][-1], PAY)


def variance(pi, pay, baseline, offset):
    """Variance of one push, summed over the logits, for arms that pay 1 with probability `pay`, (arms,) each.

    It is the variance for arms that always pay their mean, plus the part that the reward's own variance
    pay (1 − pay) adds.
    """
    of_reward = (pi * pay * (1 - pay) * bandit.score_norm(pi)).sum()
    return bandit.gradient_variance(pi, pay + offset, baseline) + of_reward


def runs(seeds, learning_rate, baseline, steps, offset):
    """One run for each seed: the policies (steps + 1, runs, 4), and the arms, rewards and baselines (runs, steps).

    Each step takes two uniform numbers of the seed's generator. The first picks the first arm whose cumulative
    probability exceeds it. The arm pays if the second is below its `PAY`.
    """
    uniform = np.array([np.random.default_rng(seed).random((steps, 2)) for seed in seeds])  # (runs, steps, 2)
    logits = np.zeros((len(seeds), len(PAY)))
    policies = [bandit.softmax(logits)]
    arms = np.zeros((len(seeds), steps), np.int64)
    rewards, baselines = np.zeros(arms.shape), np.zeros(arms.shape)
    for t in range(steps):
        passed = policies[t].cumsum(axis=1) <= uniform[:, t, :1]
        arms[:, t] = np.minimum(passed.sum(axis=1), len(PAY) - 1)  # rounding can leave the last sum just below 1
        rewards[:, t] = (uniform[:, t, 1] < PAY[arms[:, t]]) + offset
        baselines[:, t] = baseline(rewards[:, : t + 1])
        now = slice(t, t + 1)
        logits = logits + learning_rate * bandit.push(policies[t], arms[:, now], rewards[:, now] - baselines[:, now])
        policies.append(bandit.softmax(logits))
    return np.array(policies), arms, rewards, baselines
