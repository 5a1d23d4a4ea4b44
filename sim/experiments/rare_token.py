"""How one rare token takes over a prompt: the second batch of a PPO run, with sixteen passes over it, with the clip and
without.

It is the fifth run of lesson 10 without a clip, seed 4. In that batch, a completion that is correct after `1 3 1` goes
around once more: it samples a 3 where the policy stops 97 times in 100. The objective is that of Schulman et al.
(2017), arXiv:1707.06347.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import ppo
from sim.experiments.standard_runs import modsum_run
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum

PASSES, LEARNING_RATE, SEED = 16, 20.0, 4
PROMPT, SUM, RARE = 1, 5, 2  # where it happens: the prompt, the running sum at which it should stop, the token of a 3
LOOKED_AT = 8  # completions of the prompt that are sampled for display


@dataclass(frozen=True)
class Story:
    rare: np.ndarray  # (17,) probability of the 3 before the first pass and after each
    stop: np.ndarray  # (17,) probability of the stop at the same position
    pass_rate: np.ndarray  # (17,) exact pass rate on the prompt
    following: np.ndarray  # (17, 4) probability of each token at that position
    written: tuple  # 17 samples of the prompt's completions, always with the same random numbers


def batch():
    """The policy after the first update, and the second batch with its advantages, all without a clip."""
    run = modsum_run(
        ppo, seed=SEED, learning_rate=LEARNING_RATE, groups=4, K=4, hyper=dict(inner_epochs=PASSES, eps=np.inf)
    )
    for event in run.iterate(2):
        if event.stage == 2:
            drawn = event.summary["batch"]
        if event.iteration == 1 and event.stage == 5:
            return run.trainer.policy.copy(), drawn
    raise RuntimeError("the second iteration has a fifth stage")


def passes(eps):
    """The Story of that batch at this clip range; infinity means none."""
    return followed(modsum_run(ppo, seed=SEED, learning_rate=LEARNING_RATE, hyper=dict(inner_epochs=1, eps=eps)))


def followed(run):
    """The Story of that batch under the loss of a run, starting from the policy that sampled it."""
    policy, drawn = batch()
    run.trainer.policy = policy
    seen = []
    for i in range(PASSES + 1):
        theta = policy.params["theta"]
        pi = np.exp(modsum.log_softmax(theta))[PROMPT, SUM]
        seen.append((pi[RARE], pi[modsum.EOS], modsum.exact(theta)["pass_rate"][PROMPT], pi, completions(policy)))
        if i < PASSES:
            run.trainer.step(drawn, run.algorithm.compute_loss, 1, 1, run.rng, 1.0)
    *numbers, written = zip(*seen)
    return Story(*map(np.array, numbers), written)


def completions(policy, prompt=PROMPT, K=LOOKED_AT, seed=0):
    """K completions that a policy of MODSUM writes, as rows of tokens, always from the same random numbers."""
    drawn, _ = RolloutEngine(policy).generate(modsum.Task(), np.array([prompt]), K, np.random.default_rng(seed))
    return [tuple(int(t) for t in row[own > 0]) for row, own in zip(drawn.tokens, drawn.response_mask)]


def is_right(row, prompt=PROMPT):
    """Whether a completion ended by itself at its prompt's sum, modulo 7."""
    return bool(row and row[-1] == modsum.EOS and running_sums(row)[-1] % modsum.MODULUS == modsum.TARGETS[prompt])


def running_sums(row):
    """The sum of the digits before each token of a row: 3 1 1 stop has 0, 3, 4, 5."""
    return [sum(token + 1 for token in row[:i]) for i in range(len(row))]
