"""Eight kinds of run, from one that learns to one whose sampler and trainer disagree, on a policy so small that pass
rate, entropy and KL are exact after every update.

There are four types of prompt and six strategies: a generic one, one specialist per type, and one that only fools the
scorer. A second choice is the length. It trains with a clipped policy gradient on group advantages: Schulman et al.
(2017), arXiv:1707.06347, and Shao et al. (2024), arXiv:2402.03300. Success rates, shares and lengths are assumed. The
log contains what real runs log; `right` is what they lack unless somebody asks a scorer that the policy was not trained
on.
"""

from dataclasses import dataclass, field

import numpy as np

from sim.estimators import diagnosis, group_baselines, surrogate

SHARES = np.array([0.4, 0.3, 0.2, 0.1])  # of the four types of prompt
GENERIC, SPECIALIST, ELSEWHERE = np.array([0.70, 0.50, 0.35, 0.25]), 0.95, 0.02
TYPES, STRATEGIES, HACK = 4, 6, 5
LENGTHS = np.array([128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0])  # tokens
LONG_ENOUGH = np.array([0.6, 0.8, 1.0, 1.0, 1.0, 1.0])  # the probability of a correct answer is multiplied by this
RUNG = np.arange(len(LENGTHS)) - 2.0  # the length reward counts from 512 tokens
START = np.log([0.80, 0.04, 0.04, 0.04, 0.04, 0.04])  # logits of the strategies, the same for every type
START_LENGTH = np.log([0.05, 0.15, 0.50, 0.20, 0.07, 0.03])
TINY = 1e-12  # added inside logarithms
QUANTITIES = ("proxy", "right", "entropy", "kl", "length", "zero_variance", "gap", "clip_fraction", "gradient_norm")
LOGGED = ("right_before", "reward_sd", "reward_max", "reward_min", "group_sd", "k3", "signed", "probability_gap")


def success(scale=1.0):
    """(types, strategies): the probability that a strategy answers a prompt of a type correctly, at
    sufficient length.
    """
    S = np.full((TYPES, STRATEGIES), ELSEWHERE)
    S[:, 0] = GENERIC
    S[np.arange(TYPES), 1 + np.arange(TYPES)] = SPECIALIST
    S[:, HACK] = 0.0
    return np.minimum(1.0, S * scale)


ADVANTAGES = {
    "deviation": lambda rewards: group_baselines.z_score(rewards, 1e-6, ddof=0),
    "mean": group_baselines.less_mean,
    "others": group_baselines.leave_one_out,
}


@dataclass(frozen=True)
class Setting:
    steps: int = 80
    prompts: int = 32  # prompts per step
    K: int = 16  # completions of each
    learning_rate: float = 4.0
    epochs: int = 2  # over the batch of a step
    minibatches: int = 2  # in an epoch
    eps_low: float = 0.2
    eps_high: float = 0.28
    beta: float = 0.0  # weight of the KL to the start in the loss
    entropy_bonus: float = 0.05
    lag: int = 0  # the number of steps by which the sampler's weights are older
    mismatch: float = 0.0  # standard deviation of the sampler's own error in the strategies' logits
    hack: float = 0.0  # the training scorer's reward for the strategy that is never correct
    length_reward: float = 0.0  # reward for each doubling beyond 512 tokens
    noise: float = 0.0  # standard deviation, of a reward
    pass_scale: float = 1.0  # every success rate is multiplied by this, up to 1
    advantage: str = "deviation"


KINDS = {  # each kind of run's differences from the default
    "healthy": {},
    "entropy_collapse": dict(entropy_bonus=0.0, epochs=1, learning_rate=1.5),
    "kl_explosion": dict(learning_rate=60.0, epochs=4, eps_low=0.99, eps_high=10.0, entropy_bonus=0.0),
    "length_inflation": dict(length_reward=0.15),
    "zero_variance": dict(pass_scale=0.01),
    "stale_rollouts": dict(lag=16),
    "reward_hacking": dict(hack=1.5),
    "logprob_mismatch": dict(mismatch=0.3),
}


def softmax(logits):
    exp = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exp / exp.sum(axis=-1, keepdims=True)


@dataclass
class Policy:
    """softmax(shared + own[type]) over strategies, times softmax(length) over lengths."""

    shared: np.ndarray = field(default_factory=START.copy)  # (strategies,)
    own: np.ndarray = field(default_factory=lambda: np.zeros((TYPES, STRATEGIES)))
    length: np.ndarray = field(default_factory=START_LENGTH.copy)  # (lengths,)

    def probabilities(self, error=0.0):
        """((types, strategies), (lengths,)); `error` is added to the strategies' logits."""
        return softmax(self.shared + self.own + error), softmax(self.length)

    def after(self, strategy, length, learning_rate):
        """The policy after a step along d/d logits, (types, strategies) and (lengths,)."""
        return Policy(
            self.shared + learning_rate * strategy.sum(axis=0),
            self.own + learning_rate * strategy,
            self.length + learning_rate * length,
        )


REFERENCE = Policy().probabilities()


def right(strategy, length, pass_scale=1.0):
    """Fraction of correct answers over all prompts, exact; this is what a held-out scorer reports."""
    return float(SHARES @ (strategy * success(pass_scale)).sum(axis=1) * (length @ LONG_ENOUGH))


def ceiling(pass_scale=1.0):
    """Fraction of correct answers under the best policy: each type's best strategy, at sufficient length."""
    return float(SHARES @ success(pass_scale).max(axis=1))


def entropy(strategy):
    """Entropy of the choice of strategy, mean over prompts, in nats; exact."""
    return float(-SHARES @ (strategy * np.log(strategy + TINY)).sum(axis=1))


def kl(strategy, length):
    """KL(policy ‖ start) of both choices, mean over prompts, in nats; exact."""

    def kl(p, q):
        return (p * (np.log(p + TINY) - np.log(q))).sum(axis=-1)

    return float(SHARES @ kl(strategy, REFERENCE[0]) + kl(length, REFERENCE[1]))


def entropy_gradient(p):
    """dH/d logits = −p (log p + H), along the last axis."""
    logp = np.log(p + TINY)
    return -p * (logp - (p * logp).sum(axis=-1, keepdims=True))


def kl_gradient(p, q):
    """dKL(p ‖ q)/d logits of p = p (log p/q − KL), along the last axis."""
    log_ratio = np.log(p + TINY) - np.log(q)
    return p * (log_ratio - (p * log_ratio).sum(axis=-1, keepdims=True))


def drawn(rng, probabilities):
    """One index along the last axis for each distribution."""
    edges = probabilities.cumsum(axis=-1)
    return np.minimum((rng.random(edges.shape[:-1])[..., None] > edges).sum(axis=-1), edges.shape[-1] - 1)


def log_prob(p, q, types, strategy, length):
    """Log-probability of the sampled choices under the probabilities of strategies and of lengths."""
    return np.log(p + TINY)[types, strategy] + np.log(q + TINY)[length]


def run(setting, seed):
    """Yields {quantity: value} step by step: what the step's batch showed, and the policy after its updates."""
    rng = np.random.default_rng(seed)
    policy, past = Policy(), []
    for step in range(setting.steps):
        past.append(policy)
        sampler = past[max(0, step - setting.lag)]
        error = rng.normal(0.0, setting.mismatch, (TYPES, STRATEGIES)) if setting.mismatch else 0.0
        types, strategy, length, old_logp = batch(setting, *sampler.probabilities(error), rng)
        rewards = scored(setting, types, strategy, length, rng)
        logp = log_prob(*policy.probabilities(), types, strategy, length)
        gap = np.abs(logp - old_logp).mean()
        also = (right(*policy.probabilities(), setting.pass_scale), *also_logged(rewards, logp, old_logp))
        A = ADVANTAGES[setting.advantage](rewards)
        policy, clip_fraction, gradient_norm = updated(setting, policy, types, strategy, length, old_logp, A, rng)
        p, q = policy.probabilities()
        values = (
            *(rewards.mean(), right(p, q, setting.pass_scale), entropy(p), kl(p, q), q @ LENGTHS),
            *((rewards.std(axis=1) < 1e-9).mean(), gap, clip_fraction, gradient_norm),
        )
        yield dict(zip((*QUANTITIES, *LOGGED), map(float, (*values, *also))))


def also_logged(rewards, logp, old_logp):
    """What various frameworks log about a step's batch instead: the deviation and the range of the rewards, the mean
    deviation within a group (ddof 1), and, for log ρ = trainer − sampler, the means of ρ − 1 − log ρ, of −log ρ, and of
    the difference between the probabilities.
    """
    log_ratio = logp - old_logp
    return (
        *(rewards.std(), rewards.max(), rewards.min(), rewards.std(axis=1, ddof=1).mean()),
        *((np.expm1(log_ratio) - log_ratio).mean(), -log_ratio.mean()),
        np.abs(np.exp(logp) - np.exp(old_logp)).mean(),
    )


def batch(setting, p, q, rng):
    """Types, strategies, lengths and the sampler's own log-probs for a step, (prompts, K) each."""
    types = drawn(rng, np.broadcast_to(SHARES, (setting.prompts, TYPES)))[:, None].repeat(setting.K, axis=1)
    strategy = drawn(rng, p[types])
    length = drawn(rng, np.broadcast_to(q, (*types.shape, len(q))))
    return types, strategy, length, log_prob(p, q, types, strategy, length)


def scored(setting, types, strategy, length, rng):
    """Rewards (prompts, K) from the scorer that the policy is trained on."""
    chance = success(setting.pass_scale)[types, strategy] * LONG_ENOUGH[length]
    rewards = (rng.random(types.shape) < chance) + setting.hack * (strategy == HACK)
    rewards = rewards + setting.length_reward * RUNG[length]
    return rewards + setting.noise * rng.normal(size=types.shape) if setting.noise else rewards


def updated(setting, policy, types, strategy, length, old_logp, A, rng):
    """The policy after all mini-batches of a step, the fraction of samples silenced by the clip, and the
    gradient norm.
    """
    silenced, norms = [], []
    for _ in range(setting.epochs):
        for rows in np.array_split(rng.permutation(len(types)), setting.minibatches):
            at = (types[rows], strategy[rows], length[rows])
            p, q = policy.probabilities()
            logp = log_prob(p, q, *at)
            _, weight = surrogate.clipped(logp, old_logp[rows], A[rows], setting.eps_low, setting.eps_high)
            ratio = np.exp(logp - old_logp[rows])
            silenced.append(surrogate.removed(ratio, A[rows], setting.eps_low, setting.eps_high).mean())
            on_strategy, on_length = gradient(setting, p, q, *at, weight)
            norms.append(np.sqrt((on_strategy**2).sum() + (on_strategy.sum(axis=0) ** 2).sum() + (on_length**2).sum()))
            policy = policy.after(on_strategy, on_length, setting.learning_rate)
    return policy, np.mean(silenced), np.mean(norms)


def gradient(setting, p, q, types, strategy, length, weight):
    """d objective/d logits, (types, strategies) and (lengths,): the mean of weight × ∇ log-prob over the samples, plus
    the exact gradients of the entropy bonus and of the KL term.
    """
    cells = np.bincount((types * STRATEGIES + strategy).ravel(), weight.ravel(), TYPES * STRATEGIES)
    cells = cells.reshape(TYPES, STRATEGIES) / weight.size
    lengths = np.bincount(length.ravel(), weight.ravel(), len(LENGTHS)) / weight.size
    on_strategy = cells - cells.sum(axis=1, keepdims=True) * p
    on_strategy += SHARES[:, None] * setting.entropy_bonus * entropy_gradient(p)
    on_strategy -= SHARES[:, None] * setting.beta * kl_gradient(p, REFERENCE[0])
    return on_strategy, lengths - lengths.sum() * q - setting.beta * kl_gradient(q, REFERENCE[1])


def trace(setting, seed):
    """{quantity: (steps,)} for a whole run."""
    steps = list(run(setting, seed))
    return {name: np.array([step[name] for step in steps]) for name in (*QUANTITIES, *LOGGED)}


def features(trace):
    """The quantities that the tests of a run look at, from the curves of one run."""
    late, first = slice(-10, None), slice(0, 5)
    return dict(
        gap_first=float(trace["gap"][0]),
        gap_late=float(trace["gap"][5:].mean()),
        zero_variance=float(trace["zero_variance"][:10].mean()),
        held_out_gain=float(trace["right"][late].mean() - trace["right"][0]),
        held_out=float(trace["right"][late].mean()),
        gain=float(trace["proxy"][late].mean() - trace["proxy"][first].mean()),
        kl_early=float(trace["kl"][2]),
        length_ratio=float(trace["length"][late].mean() / trace["length"][0]),
        entropy=float(trace["entropy"][late].mean()),
    )


def tokens_per_right_answer(trace):
    """Tokens written per correct answer, mean over the last ten steps."""
    return float((trace["length"][-10:] / np.maximum(trace["right"][-10:], TINY)).mean())


# The thresholds of this world, chosen on seeds 0 to 29 of the eight kinds; other worlds need other thresholds.
TESTS = (
    diagnosis.Test("gap at the first step", "gap_first", 0.02, "logprob_mismatch", lesson="02"),
    diagnosis.Test("gap later on", "gap_late", 0.1, "stale_rollouts", lesson="22c"),
    diagnosis.Test("groups without a difference", "zero_variance", 0.6, "zero_variance", lesson="13"),
    diagnosis.Test(
        *("held-out score against reward", "held_out_gain", -0.1, "reward_hacking"),
        below=True,
        also=(diagnosis.Condition("gain", 0.1),),
        lesson="03",
    ),
    diagnosis.Test("KL after three steps", "kl_early", 0.5, "kl_explosion", lesson="10"),
    diagnosis.Test("length, end over start", "length_ratio", 3.0, "length_inflation", lesson="14"),
    diagnosis.Test(
        *("entropy at the end", "entropy", 0.35, "entropy_collapse"),
        below=True,
        also=(diagnosis.Condition("held_out", 0.85, below=True, instead=diagnosis.Condition("gain", 0.2, below=True)),),
        lesson="12",
    ),
)
LEARNED = diagnosis.Condition("held_out", 0.85, instead=diagnosis.Condition("gain", 0.2))


def classify(found, use_held_out=True):
    """Diagnosis from the quantities of `features`, with or without those from a held-out scorer."""
    if not use_held_out:
        found = {name: value for name, value in found.items() if not name.startswith("held_out")}
    return diagnosis.diagnose(TESTS, found, LEARNED)
