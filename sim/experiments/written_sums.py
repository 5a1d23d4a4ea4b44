"""What the tiny language model writes: one answer to each of eight sums, chosen so that correct and endless answers
have the same shares as among all its answers; and the training run on sums that lesson 02 follows.

Eight random answers can be lucky. So the answers come from many samples, and the number of each kind is that kind's
share over all hundred sums, rounded by largest remainders (Hamilton's method of apportionment, a closed form).
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from sim.algorithms import grpo
from sim.estimators import surrogate
from sim.experiments.standard_runs import add_run
from sim.framework.rollout import RolloutEngine
from sim.worlds import tasks

SUMS = np.array([75, 34, 96, 81, 26, 68, 49, 52])  # the prompts that are shown: 7 + 5, 3 + 4, …
GROUP = 8  # completions per prompt in a batch
RIGHT, WRONG, ENDLESS = range(3)  # kinds: correct; wrong and ended; cut off at the limit


@dataclass(frozen=True)
class Written:
    shares: np.ndarray  # (3,) shares of the kinds; the correct ones are exact, the others sampled
    kinds: tuple  # (8,) of each row
    rows: tuple  # (8,) the tokens of one answer to each of SUMS

    @property
    def right(self):
        return float(self.shares[RIGHT])

    @property
    def endless(self):
        return float(self.shares[ENDLESS])


def written(policy, each=8):
    """What a policy writes at temperature 1, from `each` answers to every sum, always with the same random numbers."""
    task = tasks.Add()
    drawn, _ = RolloutEngine(policy).generate(task, tasks.PAIRS, each, np.random.default_rng(0))
    kind = kinds(drawn).reshape(-1, each)
    right = tasks.exact_pass(policy).mean()
    endless = (kind == ENDLESS).mean()
    shares = np.array([right, max(1 - right - endless, 0.0), endless])
    taken = assigned(kind[SUMS], largest_remainders(shares, len(SUMS)))
    rows = [e * each + int((kind[e] == of).argmax()) for e, of in zip(SUMS, taken)]
    tokens = tuple(tuple(drawn.tokens[i][drawn.response_mask[i] > 0].tolist()) for i in rows)
    return Written(shares, tuple(taken.tolist()), tokens)


def kinds(drawn):
    """(N,) the kind of each completion of `tasks.Add`."""
    right = (drawn.tokens[:, None] == passing()[drawn.example]).all(axis=2).any(axis=1)
    return np.where(right, RIGHT, np.where(drawn.finished, WRONG, ENDLESS))


@cache
def passing():
    """The completions that pass, by prompt, (100, most, 8); a prompt with fewer repeats its last one."""
    example, tokens = tasks.passing()
    by_prompt = [tokens[example == e] for e in tasks.PAIRS]
    most = max(map(len, by_prompt))
    return np.array([np.concatenate([rows, rows[-1:].repeat(most - len(rows), axis=0)]) for rows in by_prompt])


def largest_remainders(shares, n):
    """Integers that add up to n, each less than 1 away from its share of n."""
    exact = n * np.asarray(shares) / np.sum(shares)
    counts = np.floor(exact).astype(np.int64)
    for i in np.argsort(counts - exact, kind="stable")[: n - counts.sum()]:
        counts[i] += 1
    return counts


def assigned(kind, counts):
    """A kind for each row of kind (rows, draws), with the numbers given by `counts`, among those sampled there: correct
    ones go to the sums that are solved most often, then endless ones to the remaining sums that stop least often.
    """
    taken = np.array([np.bincount(row).argmax() for row in kind])
    free = list(range(len(kind)))
    for of in (RIGHT, ENDLESS, WRONG):
        often = (kind == of).mean(axis=1)
        for row in sorted(free, key=lambda row: -often[row])[: counts[of]]:
            if often[row]:
                taken[row] = of
                free.remove(row)
    return taken


def training(seed=0, temperature=1.0, trainer_temperature=None, groups=16, K=GROUP):
    """The run of lesson 02: one step per batch, all tokens with equal weights; `trainer_temperature` None means the
    sampler's.
    """
    return add_run(
        grpo,
        seed=seed,
        groups=groups,
        K=K,
        hyper=dict(inner_epochs=1, beta=0.0),
        temperature=temperature,
        trainer_temperature=trainer_temperature,
        hooks=dict(weights=lambda mask, hp, batch: mask / mask.sum()),
        exact_every=1_000,
    )


def followed(run, updates):
    """{update: Written} of a run at these updates; 0 is before training."""
    seen = {0: written(run.rollout.policy)}
    for update, _ in enumerate(run.frames(max(updates)), 1):
        if update in updates:
            seen[update] = written(run.trainer.policy)
    return seen


def batches(run, numbers):
    """{number: the Batch with its advantages} for a run's batches with these numbers, counted from 1."""
    seen = {}
    for event in run.iterate(max(numbers)):
        if event.stage == 3:
            drawn = event.summary["batch"]
        if event.stage == 5 and event.iteration + 1 in numbers:
            seen[event.iteration + 1] = drawn
    return seen


@dataclass(frozen=True)
class Group:
    tokens: tuple  # (8,) the tokens of each completion
    right: tuple  # (8,) whether each is correct
    drawn: tuple  # (8,) the log-prob of each token when it was sampled
    read: tuple  # (8,) the same under the trainer
    ratio: tuple  # (8,) the ratio of the probabilities, trainer over sampler
    removed: tuple  # (8,) whether the clip removes the token's push


def first_group(example, drawn_at=1.5, read_at=1.0, eps=0.2):
    """The completions of one prompt in the first batch of `training` at one temperature, read at another before any
    step, with a clip at 1 ± eps.
    """
    run = training(temperature=drawn_at)
    drawn = batches(run, (1,))[1]
    policy = run.start
    logp = policy.token_logp(drawn.prompt, drawn.tokens, drawn.response_mask, read_at)[0]
    ratio = np.exp(logp - drawn.old_logp)
    gone = surrogate.removed(ratio, drawn.advantage, eps, eps)
    rows = np.flatnonzero(drawn.example == example)[:GROUP]
    own = drawn.response_mask > 0

    def picked(column):
        return tuple(column[i][own[i]] for i in rows)

    return Group(
        picked(drawn.tokens),
        tuple(drawn.accuracy[rows] > 0),
        picked(drawn.old_logp),
        picked(logp),
        picked(ratio),
        picked(gone),
    )
