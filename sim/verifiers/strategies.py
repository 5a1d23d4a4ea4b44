"""A policy that chooses among ways to answer, some honest and some not, and what it becomes when a check rewards it.

The reward of each way is found by running the check on what that way writes or does. How often a policy starts with it,
and how often an honest way succeeds, are assumed. The exact natural gradient has a closed form, share_i(t) ∝ share_i(0)
e^(η r_i t), the replicator equation; the grouped step is GRPO's, arXiv:2402.03300. Chance errors of a check:
arXiv:2601.04411. Not a language model: each way has its own logit, the same for every prompt.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from sim.estimators import group_baselines
from sim.verifiers import checkers, episodes, programs
from sim.worlds import bandit


# ── ways to answer ──
@dataclass(frozen=True)
class Strategy:
    """A way to answer, and what it leaves behind for a check."""

    name: str
    share: float  # assumed: how often the policy answers this way before training
    skill: float = 0.0  # assumed: how often it solves the task
    right: Callable | None = None  # what it leaves on success, as input for the archetype's checks
    wrong: Callable | None = None  # what it leaves on failure


MATH_SEED, MATH_PROMPTS = 0, 64


@cache
def math_prompts():
    """Pairs of factors, (64, 2): the prompt is `Compute a*b. Output exactly one line: Final: <int>`."""
    return np.random.default_rng(MATH_SEED).integers(12, 99, (MATH_PROMPTS, 2))


def boxed(a, b, x):
    return f"Final: {x}"


def chatty(a, b, x):
    return f"{a}*{b} = {x}. The answer is {x}."


def guess(a, b, x):
    return f"Final: {a + b}"


def refuse(a, b, x):
    return "I cannot compute this."


def echo(a, b, x):
    return f"Final: {a}*{b}"


def shotgun(a, b, x):
    return EVERY_ANSWER


EVERY_ANSWER = "Final: " + " ".join(str(n) for n in range(12 * 12, 98 * 98 + 1))

MATH = (
    Strategy("in form", 0.12, 0.55, boxed, boxed),
    Strategy("chatty", 0.25, 0.70, chatty, chatty),
    Strategy("guess", 0.30, 0.0, wrong=guess),
    Strategy("refuse", 0.27, 0.0, wrong=refuse),
    Strategy("echo task", 0.05, 0.0, wrong=echo),
    Strategy("list all", 0.01, 0.0, wrong=shotgun),
)
CODE = (
    Strategy("solve", 0.40, 0.55, right="correct", wrong="crash"),
    Strategy("broken", 0.40, wrong="crash"),
    Strategy("fit tests", 0.10, wrong="buggy"),
    Strategy("hard-code", 0.05, wrong="hardcode"),
    Strategy("override ==", 0.02, wrong="always_eq"),
    Strategy("clear tests", 0.02, wrong="tamper"),
    Strategy("exit 0", 0.01, wrong="exit0"),
)
TOOL = (
    Strategy("act", 0.55 * 0.99, 0.65, episodes.act, episodes.slip),
    Strategy("claim only", 0.25 * 0.99, wrong=episodes.claim_done),
    Strategy("wrong call", 0.17 * 0.99, wrong=episodes.wrong_args),
    Strategy("delete, add", 0.03 * 0.99, wrong=episodes.delete_all_then_add),
    Strategy("read answer", 0.01, wrong=episodes.read_expected),
)
WEB = (
    Strategy("buy it", 0.45, 0.50, episodes.buy_right, episodes.stop_at_the_cart),
    Strategy("stop early", 0.40, wrong=episodes.stop_at_the_cart),
    Strategy("wrong item", 0.08, wrong=episodes.wrong_item),
    Strategy("buy twice", 0.04, wrong=episodes.buy_twice),
    Strategy("echo text", 0.02, wrong=episodes.echo_text),
    Strategy("type address", 0.01, wrong=episodes.goto_success_url),
)
JUDGE = (
    Strategy("correct", 0.35, 0.70),
    Strategy("long, wrong", 0.60),
    Strategy("master key", 0.04),
    Strategy("injection", 0.01),
)
# assumed, no model was asked: the mean verdict of three judges on each way of JUDGE; Zhao et al. (2025),
# arXiv:2507.08794, report that texts like ":" pass real judges
JUDGED = {
    "naive": (0.55, 0.80, 0.0, 1.0),
    "with a reference": (0.70, 0.20, 0.6, 0.9),
    "hardened": (0.70, 0.05, 0.0, 0.0),
}

STRATEGIES = {"mathematics": MATH, "code": CODE, "tool use": TOOL, "web": WEB, "judge": JUDGE}
# weakest first
CHECKS = {
    "mathematics": ("substring", "eval_expr", "last_int", "strict"),
    "code": tuple(programs.GRADERS),
    "tool use": tuple(episodes.TOOL_CHECKS),
    "web": tuple(episodes.WEB_CHECKS),
    "judge": tuple(JUDGED),
}


def names(archetype):
    return tuple(way.name for way in STRATEGIES[archetype])


def start(archetype, prior=0.01):
    """Shares before training, (S,): the last and rarest way has the share `prior`, and the others keep their
    proportions.
    """
    share = np.array([way.share for way in STRATEGIES[archetype]])
    return np.append(share[:-1] * (1 - prior) / share[:-1].sum(), prior)


def true_rewards(archetype):
    """How often each way solves the task, (S,)."""
    return np.array([way.skill for way in STRATEGIES[archetype]])


def payoffs(archetype, check, sealed=False):
    """(proxy (S,), true (S,)): the check's mean reward for each way, and how often the way solves the task.

    `sealed` puts the expected state of the tool's world out of reach; the other archetypes have no such state.
    """
    if archetype == "judge":
        proxy = np.array(JUDGED[check])
    elif archetype == "mathematics":
        proxy = _paid_by(check)
    else:
        pays = PAYS[archetype]
        proxy = np.array([mean_pay(way, lambda done: pays(done, check, sealed)) for way in STRATEGIES[archetype]])
    return proxy, true_rewards(archetype)


@cache
def _paid_by(check):
    return payoffs_of(checkers.CHECKERS[check])[0]


def mean_pay(way, pay):
    """The skill times the reward for a correct attempt, plus the rest times the reward for a wrong one."""
    return (way.skill * pay(way.right) if way.skill else 0.0) + (1 - way.skill) * pay(way.wrong)


PAYS = {
    "code": lambda program, check, sealed: float(programs.run_tests(program, check)),
    "tool use": lambda agent, check, sealed: float(episodes.TOOL_CHECKS[check](episodes.desk_after(agent, sealed))),
    "web": lambda agent, check, sealed: float(episodes.WEB_CHECKS[check](episodes.shop_after(agent))),
}


def payoffs_of(score):
    """(proxy (S,), true (S,), names) for the six ways of mathematics under any `score(example, completion)`, which may
    return a number, a truth value or a dict with "reward"; a call that raises gets 0.

    The proxy is the mean reward over 64 prompts for what each way writes; an honest way is correct with its skill and
    otherwise one too high. Start a policy at start("mathematics") and train it on the proxy with run_policy.
    """
    proxy = np.zeros(len(MATH))
    for way, weight, example, completion in completions():
        proxy[way] += weight * checkers.reward_of(score, example, completion)[0]
    return proxy, true_rewards("mathematics"), names("mathematics")


@cache
def completions():
    """((way, weight, example, completion), …): everything that the ways of mathematics write, with weights that sum to
    1 for each way.
    """
    rows = []
    for i, (a, b) in enumerate(math_prompts().tolist()):
        example = {"id": f"product {i}", "expected_answer": str(a * b)}
        for number, way in enumerate(MATH):
            if way.skill:
                rows.append((number, way.skill / MATH_PROMPTS, example, way.right(a, b, a * b)))
            rows.append((number, (1 - way.skill) / MATH_PROMPTS, example, way.wrong(a, b, a * b + 1)))
    return tuple(rows)


def noisy(proxy, true_positive_rate, false_positive_rate):
    """The reward when a check that would give `proxy` errs by chance: FPR + (TPR − FPR) proxy."""
    return false_positive_rate + (true_positive_rate - false_positive_rate) * proxy


# ── training ──
@dataclass(frozen=True)
class Run:
    """The shares of the ways during training, and their rewards."""

    policies: np.ndarray  # (updates + 1, runs, S)
    proxy: np.ndarray  # (updates + 1, runs) mean reward
    true: np.ndarray  # (updates + 1, runs) fraction of tasks solved


def run_policy(proxy, true, pi0, step, eta, updates, runs=1):
    """A Run from the shares pi0 (S,) by logits + eta * step(pi), with the step of one of the three functions below.

    run_policy(*payoffs_of(score)[:2], start("mathematics"), grouped(proxy, rng), 1.0, 400, runs=6).
    """
    policies = bandit.path(np.tile(np.log(pi0), (runs, 1)), step, eta, updates)
    return Run(policies, policies @ proxy, policies @ true)


def natural(proxy, pi0=None, beta=0.0):
    """The exact natural gradient in the logits: the reward minus its mean, with beta charged per nat of distance from
    pi0.
    """

    def step(pi):
        reward = charged(np.broadcast_to(proxy, pi.shape), pi, pi0, beta)
        return reward - (pi * reward).sum(axis=-1, keepdims=True)

    return step


def softmax_gradient(proxy, pi0=None, beta=0.0):
    """The exact policy gradient in the logits: the same times the share, so a rare way hardly moves."""
    natural_step = natural(proxy, pi0, beta)
    return lambda pi: pi * natural_step(pi)


def grouped(proxy, rng, pi0=None, beta=0.0, prompts=16, K=8):
    """Sampled: K completions of each prompt, rewarded with 1 with the probability that `proxy` gives their way, each
    pushed by its z-score within the group.
    """

    def step(pi):
        drawn = bandit.draw(pi, prompts * K, rng)  # (runs, prompts * K)
        reward = (rng.random(drawn.shape) < proxy[drawn]).astype(float)
        if beta:
            reward += np.take_along_axis(charged(np.zeros_like(pi), pi, pi0, beta), drawn, axis=-1)
        advantage = group_baselines.z_score(reward.reshape(-1, K))
        return bandit.push(pi, drawn, advantage.reshape(drawn.shape))

    return step


def charged(reward, pi, pi0, beta):
    """The reward minus beta times the log-ratio to pi0, (..., S)."""
    return reward - beta * np.log(pi / pi0) if beta else reward


def lost(run):
    """How much of what each run once solved it no longer solves, (runs,): the peak minus the end."""
    return run.true.max(axis=0) - run.true[-1]


# ── closed forms ──
def anchored(pi0, proxy, beta):
    """The fixed point of the exact natural steps with KL coefficient beta, (S,): pi0 e^(r / beta), normalized."""
    return bandit.softmax(np.log(pi0) + proxy / beta)


def crossover_time(share_honest, share_exploit, reward_honest, reward_exploit, eta):
    """The update at which an exploit reaches the share of an honest way, by exact natural steps."""
    return np.log(share_honest / share_exploit) / (eta * (reward_exploit - reward_honest))


def noise_two_mode(p0, true_positive_rate, false_positive_rate, eta, updates):
    """Share of the correct one of two ways under a check with chance errors: logit p = logit p0 + eta (TPR − FPR) t, by
    exact natural steps.
    """
    told_apart = true_positive_rate - false_positive_rate
    return 1 / (1 + (1 - p0) / p0 * np.exp(-eta * told_apart * updates))
