"""One policy, one pool of prompts, and four ways to choose which prompts are rolled out, compared by completions.

The policy is a single number, its ability; a prompt is solved with probability σ(ability − difficulty), a Rasch model
(assumed: a single skill, so whatever is learned on one prompt helps on all). A step adds the learning rate times the
mean leave-one-out estimate of d pass rate / d ability, which is p (1 − p) on average. All completions cost the same
(assumed); probes cost as much and are not trained on (assumed).

Resampling until groups are live: Yu et al. (2025), arXiv:2503.14476. Choosing by a posterior over pass rates: Qu et al.
(2025), MoPPS, arXiv:2507.04632.
"""

from dataclasses import dataclass

import numpy as np

from sim.worlds.prompt_pool import ACCIDENT, pass_rate

BATCH = 512  # completions of a step, in groups of K
CANDIDATES = 1000  # whose pass rates are sampled from the belief in each step
MOST_DRAWS = 10  # rounds per batch at most, before a step is taken with the groups found
FORGET, LEAST = 0.97, 0.3  # the fraction of a belief kept per step, because abilities change; and its minimum


@dataclass(frozen=True)
class Pool:
    """Prompts that can all be checked: difficulty in logits, and whether the answer key is wrong, (prompts,) each."""

    difficulty: np.ndarray
    wrong_key: np.ndarray


def pool(rng, n=4000, mean=6.0, deviation=3.0, wrong=0.0):
    """Difficulties from a normal distribution; which prompts have a wrong key is drawn afterward."""
    difficulty = mean + deviation * rng.standard_normal(n)
    return Pool(difficulty, rng.random(n) < wrong)


class Learner:
    """A policy's ability, and the number of completions it has written."""

    def __init__(self, pool, rng, rate=0.5):
        self.pool, self.rng, self.rate = pool, rng, rate
        self.checked = pool.difficulty[~pool.wrong_key]
        self.ability, self.completions, self.asked = 0.0, 0, 0
        self.groups, self.live, self.steps = 0, 0, 0  # of training

    def pass_rates(self, prompts=slice(None)):
        """Probability that a completion is judged correct, (prompts,)."""
        solved = pass_rate(self.ability, self.pool.difficulty[prompts])
        return np.where(self.pool.wrong_key[prompts], ACCIDENT, solved)

    def solved(self):
        """Mean probability over the prompts whose key is right."""
        return float(pass_rate(self.ability, self.checked).mean())

    def roll_out(self, prompts, K):
        """How many of K completions are correct, (prompts,)."""
        right = self.rng.binomial(K, self.pass_rates(prompts))
        self.completions += K * len(prompts)
        self.groups += len(prompts)
        self.live += int(is_live(right, K).sum())
        return right

    def probe(self, tries):
        """How many of `tries` completions are correct, on every prompt of the pool; not trained on."""
        right = self.rng.binomial(tries, self.pass_rates())
        self.completions += tries * len(right)
        self.asked += tries * len(right)
        return right

    def step(self, right, K):
        """One optimizer step on the mean of the groups' estimates; a group is given as its number of correct
        completions.
        """
        self.steps += 1
        if len(right):
            self.ability += self.rate * float(ability_gradient(right, K).mean())


def is_live(right, K):
    """Which groups have both verdicts."""
    return (right > 0) & (right < K)


def ability_gradient(right, K):
    """Each group's leave-one-out estimate of d pass rate / d ability: s (1 − s) K / (K − 1), where s is the fraction
    correct. Its mean is p (1 − p) for every K.
    """
    share = right / K
    return share * (1 - share) * K / (K - 1)


# ── ways to choose: each yields the groups of one step after another, as counts of right completions ──


def every_prompt(learner, K):
    """Random prompts; dead groups are part of the mean."""
    n = len(learner.pool.difficulty)
    while True:
        yield learner.roll_out(learner.rng.choice(n, BATCH // K), K)


def live_groups(learner, K):
    """Random prompts, resampled until a batch of live groups is full; surplus live groups are thrown away, too."""
    n, wanted = len(learner.pool.difficulty), BATCH // K
    while True:
        kept = np.zeros(0, np.int64)
        for _ in range(MOST_DRAWS):
            right = learner.roll_out(learner.rng.integers(n, size=wanted), K)
            kept = np.append(kept, right[is_live(right, K)])
            if len(kept) >= wanted:
                break
        yield kept[:wanted]


NEVER_AGAIN = 10**9  # completions
BOTH, NOT_ALWAYS, NEVER = "solved sometimes", "not solved always", "never solved"
KEPT = {  # a list keeps prompts by how many of `tries` were correct
    BOTH: is_live,
    NOT_ALWAYS: lambda right, tries: right < tries,
    NEVER: lambda right, tries: right == 0,
}


def a_list(learner, K, tries=8, keep=BOTH, renew=NEVER_AGAIN):
    """Prompts from a list: every prompt of the pool is probed, and again after every `renew` completions of
    training.
    """
    while True:
        kept, until = np.flatnonzero(KEPT[keep](learner.probe(tries), tries)), learner.completions + renew
        while learner.completions < until:
            if len(kept) == 0:  # an empty list trains nothing, but its probes still cost
                learner.completions += BATCH
                yield np.zeros(0, np.int64)
            else:
                yield learner.roll_out(learner.rng.choice(kept, BATCH // K), K)


def nearest_to_half(rates, n):
    """Indices of the n rates nearest to one half, nearest first."""
    # not argpartition, whose order differs between processors, and later draws depend on the order
    return np.argsort(np.abs(rates - 0.5), kind="stable")[:n]


def predicted(learner, K):
    """Among some candidates, the prompts whose pass rate, sampled from a belief based on past groups, is nearest to one
    half.
    """
    n, groups = len(learner.pool.difficulty), BATCH // K
    successes, failures = np.ones(n), np.ones(n)
    while True:
        candidates = learner.rng.permutation(n)[:CANDIDATES]
        drawn = learner.rng.beta(successes[candidates], failures[candidates])
        chosen = candidates[nearest_to_half(drawn, groups)]
        right = learner.roll_out(chosen, K)
        successes, failures = np.maximum(FORGET * successes, LEAST), np.maximum(FORGET * failures, LEAST)
        successes[chosen] += right / 2  # a group counts half, because its K completions were sampled at the same time
        failures[chosen] += (K - right) / 2
        yield right


def known(learner, K):
    """The prompts whose true pass rate is nearest to one half. No trainer knows it; probing and remembering are
    substitutes.
    """
    groups = BATCH // K
    while True:
        yield learner.roll_out(nearest_to_half(learner.pass_rates(), groups), K)


@dataclass(frozen=True)
class Run:
    """The state of a run after each step, (steps + 1,) each; a list's probes are a point of their own."""

    completions: np.ndarray
    solved: np.ndarray  # mean probability over the pool
    live: np.ndarray  # fraction of the step's groups with both verdicts; nan if there were none
    live_share: float  # fraction of all groups in the run; 0 if there were none
    ability: float  # at the end
    asked: int  # completions used as probes
    steps: int  # of the optimizer
    rates: np.ndarray  # (prompts,) pass rates at the end

    def at(self, completions):
        """Solved after so many completions."""
        return float(np.interp(completions, self.completions, self.solved))


def train(pool, way, budget, rng, K=8, rate=0.5):
    """Trains with a `way` of choosing until the budget of completions is used up, including probes and discarded
    groups.
    """
    learner = Learner(pool, rng, rate)
    curve, beyond, groups, live = [(0, learner.solved(), np.nan)], 0, 0, 0
    batches = way(learner, K)
    while learner.completions < budget:
        asked = learner.asked
        right = next(batches)
        if learner.asked > asked:  # the curve is flat while the probes run
            paid = learner.asked - asked + curve[-1][0]
            beyond = max(paid - budget, 0)
            curve.append((paid - beyond, curve[-1][1], np.nan))
            if paid >= budget:
                break
        learner.step(right, K)
        drawn = learner.groups - groups
        curve.append((learner.completions, learner.solved(), (learner.live - live) / drawn if drawn else np.nan))
        groups, live = learner.groups, learner.live
    completions, solved, share = map(np.array, zip(*curve))
    rates, asked = learner.pass_rates(), learner.asked - beyond
    return Run(completions, solved, share, live / max(groups, 1), learner.ability, asked, learner.steps, rates)
