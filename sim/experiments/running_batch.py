"""One batch that appears throughout the book: four completions of one prompt of MODSUM, and what an algorithm makes of
them.

The prompt asks for digits that add up to 5 modulo 7. The four were chosen, not sampled, so that two are correct, two
are wrong, and their lengths differ; every number about them is computed. Several passes over one recorded batch as in
Schulman et al. (2017), arXiv:1707.06347.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import grpo
from sim.estimators import surrogate
from sim.experiments.standard_runs import modsum_run
from sim.worlds import modsum
from sim.worlds.optimizer import SGD

PROMPT = 1  # its target is 5
ROWS = ((1, 2, modsum.EOS), (0, 0, modsum.EOS), (2, 1, 2, 0, 2, modsum.EOS), (2, modsum.EOS))  # token 0 writes a 1
RIGHT = np.array([1.0, 0.0, 1.0, 0.0])
LEARNING_RATE = 20.0


@dataclass(frozen=True)
class Pass:
    ratio: np.ndarray  # (4, T) probability now over probability at sampling, 1 outside the mask
    dead: np.ndarray  # (4, T) whether the clip has removed the token's push
    pass_rate: float  # exact pass rate of the prompt


def prompts():
    """(4, 1), the form in which the policy takes them."""
    return np.full((len(ROWS), 1), PROMPT)


def tokens():
    """(4, T) padded with the stop, and the mask of what was written, both as in the framework."""
    written, mask = np.full((len(ROWS), modsum.T), modsum.EOS), np.zeros((len(ROWS), modsum.T))
    for i, row in enumerate(ROWS):
        written[i, : len(row)], mask[i, : len(row)] = row, 1.0
    return written, mask


def sums():
    """The digit sum of each row, (4,)."""
    return np.array([sum(token + 1 for token in row if token != modsum.EOS) for row in ROWS])


def drawn_logp(policy, temperature=1.0):
    """(4, T) log-probability of each token at a temperature in nats, 0 outside the mask."""
    written, mask = tokens()
    return policy.token_logp(prompts(), written, mask, temperature)[0]


def later(updates, seed=0):
    """The policy after some updates of GRPO on all four prompts, with plain SGD and no KL penalty."""
    run = modsum_run(grpo, seed=seed, hyper=dict(inner_epochs=1, beta=0.0), exact_every=updates)
    for _ in run.frames(updates):
        pass
    return run.trainer.policy


def advantage(policy):
    """(4, T): the reward minus the expectation of a perfect critic of the start before each token; 0 outside
    the mask.
    """
    written, mask = tokens()
    value = modsum.value(policy.params["theta"])[:, PROMPT]  # (T, 7)
    expected = value[np.arange(modsum.T), modsum.sum_before(written)]
    return (RIGHT[:, None] - expected) * mask


def after_one_step(weights, learning_rate=LEARNING_RATE / 4):
    """The policy after one step of plain SGD on REINFORCE's loss over this batch; weights (4,), one for each row."""
    policy, (written, mask) = modsum.Policy(), tokens()
    _, _, cache = policy.token_logp(prompts(), written, mask)
    slope = -np.asarray(weights, float)[:, None] * mask / len(ROWS)
    SGD(learning_rate).step(policy.params, policy.backward(cache, slope))
    return policy


def pass_rate(policy):
    """The exact pass rate of this prompt."""
    return float(modsum.exact(policy.params["theta"])["pass_rate"][PROMPT])


def one_step(weights, learning_rate):
    """The effect of such a step: (4, T) how many times as likely each token becomes, and the prompt's pass rate."""
    policy, (written, mask) = after_one_step(weights, learning_rate), tokens()
    logp = policy.token_logp(prompts(), written, mask)[0]
    return np.exp(logp - drawn_logp(modsum.Policy())) * mask, pass_rate(policy)


def passes(n, eps=0.2, learning_rate=LEARNING_RATE):
    """n + 1 Passes: before each step of plain SGD on PPO's loss over this batch, and after the last."""
    policy, optimizer = modsum.Policy(), SGD(learning_rate)
    (written, mask), old, A = tokens(), drawn_logp(policy), advantage(policy)
    for i in range(n + 1):
        logp, _, cache = policy.token_logp(prompts(), written, mask)
        ratio = np.exp(logp - old)
        yield Pass(ratio, surrogate.removed(ratio, A, eps, eps) & (mask > 0), pass_rate(policy))
        if i < n:
            _, slope = surrogate.clipped(logp, old, A, eps, eps)
            optimizer.step(policy.params, policy.backward(cache, -slope * mask / mask.sum()))


@dataclass(frozen=True)
class Carried:
    """What the next step does to the log-probability of each token, in nats, to first order in the learning rate."""

    ratio: np.ndarray  # (4, T) before that step
    dead: np.ndarray  # (4, T)
    own: np.ndarray  # (4, T) from the token's own term of the loss, 0 if it is dead
    others: np.ndarray  # (4, T) from the terms of all other tokens, with which it shares parameters


def carried(n, eps=0.2, learning_rate=LEARNING_RATE / 10):
    """n + 1 Carried: the passes of `passes`, with each step split by its causes. How far a push on one token's
    log-probability moves that of another is the product of their gradients, so all of it is one matrix.
    """
    policy, optimizer = modsum.Policy(), SGD(learning_rate)
    (written, mask), old, A = tokens(), drawn_logp(policy), advantage(policy)
    for i in range(n + 1):
        logp, _, cache = policy.token_logp(prompts(), written, mask)
        _, slope = surrogate.clipped(logp, old, A, eps, eps)
        push = slope * mask / mask.sum()
        one_hot = np.eye(mask.size).reshape(mask.size, *mask.shape) * mask
        each = np.array([policy.backward(cache, one)["theta"].ravel() for one in one_hot])
        moved = learning_rate * each @ each.T
        own = np.diag(moved).reshape(mask.shape) * push
        ratio = np.exp(logp - old)
        dead = surrogate.removed(ratio, A, eps, eps) & (mask > 0)
        yield Carried(ratio, dead, own, (moved @ push.ravel()).reshape(mask.shape) - own)
        if i < n:
            optimizer.step(policy.params, policy.backward(cache, -push))
