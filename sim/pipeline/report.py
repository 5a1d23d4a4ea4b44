"""What a policy can do so far, on prompts that no stage has trained on: how often it is correct, in which way, and how
far it is from the previous policy.

pass@k: Chen et al. (2021), arXiv:2107.03374. Accuracy is a mixture over modes: with a thought, an answer alone, none.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators.attempts import pass_at_k
from sim.framework.rollout import join
from sim.pipeline.stages import last, sampled
from sim.worlds import tinylm
from sim.worlds.tasks import HELD, Chain, running_totals
from sim.worlds.tinylm import FINAL, PAD, log_softmax

KS = (1, 4, 16, 64)
MODES = ("thought, correct", "thought, wrong", "direct, correct", "direct, wrong", "no answer")
PORTION = 20  # prompts sampled at once


@dataclass(frozen=True)
class Report:
    pass_at: dict  # k -> (mean, its standard error over prompts)
    modes: np.ndarray  # (5,) shares of completions, in the order of MODES
    skill: float  # probability of the second and third running total after the correct ones before
    length: float  # generated tokens per completion
    token_entropy: float  # nats per token
    kl: float  # nats per completion, from the previous policy; nan without one
    live8: float  # share of groups of eight with both outcomes
    written: tuple  # (tokens, mode) of the first completions of the first prompt

    @property
    def pass1(self):
        return self.pass_at[1][0]

    @property
    def answers(self):
        return self.modes[:4].sum()

    @property
    def thinks(self):
        return self.modes[:2].sum()

    @property
    def accuracy_thinking(self):
        """Share of the thoughts that end with the correct answer; nan if there are none."""
        return self.modes[0] / self.thinks if self.thinks > 0 else np.nan


def measure(policy, previous=None, prompts=HELD[:300], n=64, seed=1):
    """The Report for n completions to each of `prompts` (P,)."""
    return last(measuring(policy, previous, prompts, n, seed))


def measuring(policy, previous=None, prompts=HELD[:300], n=64, seed=1):
    """The same in portions: yields None for each, and finally the Report."""
    rng, batches = np.random.default_rng(seed), []
    for at in range(0, len(prompts), PORTION):
        batches.append(sampled(policy, prompts[at : at + PORTION], n, rng))
        yield None
    yield report(policy, previous, join(batches), n)


def right_when_drawn_at(temperature, policy, prompts=HELD[:300], n=16, seed=1):
    """Share of correct ones among n completions to each of `prompts` (P,); near temperature 0 sampling is greedy."""
    return sampled(policy, prompts, n, np.random.default_rng(seed), temperature).accuracy.mean()


def report(policy, previous, batch, n):
    """The Report for completions that were already sampled, n per prompt."""
    right, mask = batch.accuracy > 0, batch.response_mask
    hits = right.reshape(-1, n).sum(axis=1)
    mode = modes(batch)
    eights = right.reshape(-1, 8).sum(axis=1)
    entropy, kl = entropy_and_kl(policy, previous, batch)
    return Report(
        {k: mean_and_error(np.array([pass_at_k(n, c, k) for c in range(n + 1)])[hits]) for k in KS if k <= n},
        np.bincount(mode, minlength=len(MODES)) / len(mode),
        skill(policy),
        mask.sum() / len(mask),
        entropy / mask.sum(),
        kl / len(mask),
        float(((eights > 0) & (eights < 8)).mean()),
        tuple((tuple(row[row != PAD].tolist()), int(m)) for row, m in zip(batch.tokens[:6], mode)),
    )


def modes(batch):
    """The index into MODES of each completion, (N,): an answer ends and has `Final: `, a thought comes before it."""
    answered = (batch.tokens == FINAL).any(axis=1) & batch.finished
    way = np.where(batch.tokens[:, 0] == FINAL, 2, 0)
    return np.where(answered, way + (batch.accuracy == 0), 4)


def mean_and_error(values):
    return float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5)


def entropy_and_kl(policy, previous, batch):
    """Nats summed over the tokens of the batch: the entropy at each token, and the KL from the previous policy at its
    context, whose mean over completions is the KL of whole completions; nan without a previous policy.
    """
    context, where = tinylm.distinct(batch.prompt, batch.tokens, batch.response_mask)
    times = np.bincount(where, minlength=len(context))
    logp = log_pi(policy, context)
    entropy = -(np.exp(logp) * logp).sum(axis=1) @ times
    if previous is None:
        return entropy, np.nan
    return entropy, (np.exp(logp) * (logp - log_pi(previous, context))).sum(axis=1) @ times


def log_pi(policy, context):
    return log_softmax(tinylm.output(policy.params, tinylm.forward(policy.params, context)))


def skill(policy, prompts=HELD):
    """The probability that the second and third running total are correct, each after the correct ones: mean over
    prompts.
    """
    total, chance = running_totals(prompts), 1.0
    for t in (1, 2):
        tokens = np.full((len(prompts), Chain.T), PAD, np.int64)
        tokens[:, :t] = total[:, 1 : 1 + t]
        decode = policy.prefill(Chain().prompt_ids(prompts))
        chance = chance * np.exp(decode(tokens, t))[np.arange(len(prompts)), total[:, 1 + t]]
    return float(chance.mean())
