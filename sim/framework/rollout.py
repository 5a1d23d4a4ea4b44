"""Rollout: a copy of the policy samples, and records the tokens, the masks and the log-probs it sampled from.

This is the framework's only sampler. Nucleus sampling: Holtzman et al. (2019), arXiv:1904.09751.
"""

from dataclasses import dataclass, fields

import numpy as np

from sim.estimators.advantages import at_the_end, gae


@dataclass
class Batch:
    """N = prompts * K rows; a prompt's K completions are adjacent. The roles fill in the fields in this order."""

    K: int  # completions per prompt
    example: np.ndarray  # (N,) index into task.examples
    prompt: np.ndarray  # (N, P) the prompt's tokens
    tokens: np.ndarray  # (N, T) from policy and environment, padded after the end
    valid_mask: np.ndarray  # (N, T) 1 for a token, 0 for padding
    response_mask: np.ndarray  # (N, T) 1 if the policy sampled it; the loss sees only these
    old_logp: np.ndarray  # (N, T) under the sampling weights, 0 outside response_mask
    finished: np.ndarray  # (N,) True if it ended itself, False if cut off at T
    version: np.ndarray  # (N,) of the sampling weights
    accuracy: np.ndarray | None = None  # (N,) the scorer's verdict
    reward: np.ndarray | None = None  # (N,) the accuracy, unless the task has its own `pay`
    details: list | None = None  # (N,) the scorer's details
    ref_logp: np.ndarray | None = None  # (N, T) under the frozen start
    value: np.ndarray | None = None  # (N, T) the return that the critic expected
    advantage: np.ndarray | None = None  # (N, T)
    returns: np.ndarray | None = None  # (N, T) the critic's targets

    def __post_init__(self):
        shape = self.tokens.shape
        for name in ("valid_mask", "response_mask", "old_logp"):
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} must have the shape of tokens, {shape}, not {getattr(self, name).shape}")
        if (self.response_mask > self.valid_mask).any():
            raise ValueError("response_mask must lie within valid_mask: it marks padding as sampled by the policy")

    @property
    def T(self):
        """The maximum number of tokens in a completion."""
        return self.tokens.shape[1]

    @property
    def length(self):
        """(N,) the number of own tokens."""
        return self.response_mask.sum(axis=1)

    @property
    def kl(self):
        """(N,) log pi - log pi_ref of each completion in nats, its k1; 0 without a reference."""
        if self.ref_logp is None:
            return np.zeros(len(self.tokens))
        return (self.old_logp - self.ref_logp).sum(axis=1)

    def gae(self, R, lam):
        """Advantages (P, K, T) relative to the critic's values, which are 0 without a critic. R (P, K) arrives at each
        row's last own token, without discounting.
        """
        value = np.zeros(self.tokens.shape) if self.value is None else self.value
        advantage, _ = gae(at_the_end(R.ravel(), self.response_mask), value, self.response_mask, 1.0, lam)
        return advantage.reshape(*R.shape, -1)

    def rows(self, index):
        """The batch with only these rows, for a mini-batch or for the groups that were kept."""

        def taken(column):
            if isinstance(column, list):
                return [column[i] for i in index]
            return column[index] if isinstance(column, np.ndarray) else column  # K, or a field not filled in yet

        return Batch(**{f.name: taken(getattr(self, f.name)) for f in fields(self)})


def join(batches):
    """Several batches with the same K, joined into one."""

    def stacked(columns):
        if isinstance(columns[0], list):
            return [row for column in columns for row in column]
        return np.concatenate(columns) if isinstance(columns[0], np.ndarray) else columns[0]

    if len(batches) == 1:
        return batches[0]
    return Batch(**{f.name: stacked([getattr(b, f.name) for b in batches]) for f in fields(Batch)})


class RolloutEngine:
    """Owns its weights: it samples from those last delivered, not from those the trainer has now."""

    def __init__(self, policy):
        self.policy, self.version = policy.copy(), 0

    def load(self, params, version):
        self.policy.params, self.version = {name: array.copy() for name, array in params.items()}, version

    def generate(self, task, prompts, K, rng, temperature=1.0, top_p=1.0):
        """(Batch, environment): K completions for each of `prompts` (P,), and the environment that wrote some of the
        tokens, or None.
        """
        if len(prompts) == 0:
            raise ValueError("prompts must not be empty: there is nothing to complete")
        example = np.repeat(prompts, K)
        prompt = task.prompt_ids(example).astype(np.int64)  # integers in the browser have 32 bits by default
        N, T = len(example), task.T
        tokens = np.full((N, T), task.pad, np.int64)
        old_logp, valid, response = np.zeros((N, T)), np.zeros((N, T)), np.zeros((N, T))
        rows, alive, environment = np.arange(N), np.ones(N, bool), task.environment(example, rng)
        decode = self.policy.prefill(prompt, temperature)
        for t in range(T):
            logp = nucleus(decode(tokens, t), top_p)  # (N, V)
            cumulative = np.exp(logp).cumsum(axis=1)
            threshold = rng.random((N, 1)) * cumulative[:, -1:]  # scaled, because the last sum may be 1 - 1e-16
            drawn = (cumulative >= threshold).argmax(axis=1)
            own = alive
            if environment is not None:
                forced = environment.step(tokens, t)  # (N,) a token from the environment, or -1
                own, drawn = alive & (forced < 0), np.where(forced < 0, drawn, forced)
            tokens[:, t], old_logp[:, t] = np.where(alive, drawn, task.pad), np.where(own, logp[rows, drawn], 0.0)
            valid[:, t], response[:, t] = alive, own
            alive = alive & ~((drawn == task.eos) & own)
            if not np.count_nonzero(alive):
                break
        version = np.full(N, self.version)
        return Batch(K, example, prompt, tokens, valid, response, old_logp, ~alive, version), environment


def nucleus(logp, top_p):
    """Renormalized log-probs of the smallest token set with probability top_p, -inf outside; (N, V) -> (N, V)."""
    if top_p >= 1:
        return logp
    order = np.argsort(-logp, axis=1)
    p = np.exp(np.take_along_axis(logp, order, axis=1))
    outside = np.take_along_axis(np.cumsum(p, axis=1) - p >= top_p, np.argsort(order, axis=1), axis=1)
    kept = np.where(outside, -np.inf, logp)
    return kept - np.log(np.exp(kept).sum(axis=1, keepdims=True))
