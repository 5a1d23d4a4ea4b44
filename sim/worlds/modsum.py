"""MODSUM: a task and a policy with 112 parameters, small enough that pass rate, gradient, entropy and KL are exact.

Tokens 0, 1, 2 append the digits 1, 2, 3; token 3 ends the completion. A completion is correct if it ends within T = 12
tokens with a digit sum equal to the prompt's target mod 7. There are four prompts, and infinitely many lengths could be
correct, so diversity is meaningful. The policy is a softmax over a table theta[prompt, running sum mod 7, token]. The
same row serves every position, so tokens share parameters as they do in a transformer. Closed form: a dynamic program
over position and running sum; this module samples and trains nothing.
"""

import numpy as np

from sim.worlds.tinylm import log_softmax

MODULUS, V, EOS, T = 7, 4, 3, 12
TARGETS = np.array([3, 5, 6, 2])
PROMPTS = np.arange(len(TARGETS))
DEFAULT, HARD = (2, 1, 0, -1.5), (2, 0, -1.5, -3)  # for each prompt, how much the start favors ending on the target
NEXT_SUM = (np.arange(MODULUS)[:, None] + np.arange(1, V)) % MODULUS  # (7, 3) the sum that each digit leads to
HIT = (np.arange(MODULUS) == TARGETS[:, None]).astype(float)  # (4, 7) 1 where ending is correct


class Policy:
    """The table theta, (4, 7, 4), behind the five names by which the framework knows a policy.

    The start favors ending on the target by c[prompt] and disfavors ending elsewhere by c[prompt] / 2; all digits have
    equal logits.
    """

    def __init__(self, c=DEFAULT):
        theta = np.zeros((len(TARGETS), MODULUS, V))
        theta[:, :, EOS] = -0.5 * np.asarray(c, float)[:, None]
        theta[np.arange(len(TARGETS)), TARGETS, EOS] = c
        self.params = {"theta": theta}

    def prefill(self, prompt, temperature=1.0):
        """decode(tokens (N, T), t) -> (N, V): log-probs of the token at position t."""
        logp = log_softmax(self.params["theta"] / temperature)[prompt[:, 0]]  # (N, 7, V)
        rows = np.arange(len(prompt))
        return lambda tokens, t: logp[rows, (tokens[:, :t] + 1).sum(axis=1) % MODULUS]

    def token_logp(self, prompt, tokens, mask, temperature=1.0):
        """Log-probs of all own tokens and the entropies at their positions, both (N, T) and 0 outside the mask, and a
        cache for `backward`.
        """
        row = prompt * MODULUS + sum_before(tokens)  # (N, T) the row of the table
        logp = log_softmax(self.params["theta"] / temperature)
        pi = np.exp(logp)
        entropy = -(pi * logp).sum(axis=-1)
        return logp.reshape(-1, V)[row, tokens] * mask, entropy.ravel()[row] * mask, (row, tokens, pi, temperature)

    def backward(self, cache, dlogp):
        """The gradient of sum(dlogp * logp), a dict like params; dlogp (N, T) is 0 outside the mask."""
        row, tokens, pi, temperature = cache
        at_token = np.bincount((row * V + tokens).ravel(), dlogp.ravel(), pi.size).reshape(pi.shape)
        at_row = np.bincount(row.ravel(), dlogp.ravel(), pi.size // V).reshape(*pi.shape[:2], 1)
        return {"theta": (at_token - pi * at_row) / temperature}

    def copy(self):
        twin = Policy()
        twin.params = {name: array.copy() for name, array in self.params.items()}
        return twin


class Critic:
    """A table of values V[prompt, position, running sum], (4, 12, 7), starting at 0; a fit moves each visited cell
    toward its mean return.
    """

    def __init__(self, rate=0.5):
        self.rate, self.table = rate, np.zeros((len(TARGETS), T, MODULUS))

    def values(self, prompt, tokens, mask):
        """(N, T) the expected return before each token, 0 outside the mask."""
        return self.table.ravel()[self.cell(prompt, tokens)] * mask

    def fit(self, prompt, tokens, mask, returns):
        cell = self.cell(prompt, tokens).ravel()
        error = ((returns - self.values(prompt, tokens, mask)) * mask).ravel()
        visits = np.bincount(cell, mask.ravel(), self.table.size)
        total = np.bincount(cell, error, self.table.size)
        self.table = self.table + self.rate * (total / np.maximum(visits, 1)).reshape(self.table.shape)

    def state_dict(self):
        """Everything it has learned: the table."""
        return dict(table=self.table)

    def load_state_dict(self, state):
        """Continues from a state_dict."""
        self.table = state["table"]

    def cell(self, prompt, tokens):
        return (prompt * T + np.arange(tokens.shape[1])) * MODULUS + sum_before(tokens)


def sum_before(tokens):
    """(N, T) -> (N, T): the digit sum mod 7 before each token."""
    return (np.cumsum(tokens + 1, axis=1) - tokens - 1) % MODULUS


class Task:
    """The four prompts, with the interface that the framework expects of a task. A completion's answer is the residue
    it reached.
    """

    T, pad, eos, text = T, EOS, EOS, ("1", "2", "3", "<eos>")
    examples = [{"id": str(i), "expected_answer": str(target)} for i, target in enumerate(TARGETS.tolist())]

    def __init__(self, prompts=PROMPTS):
        self.prompts = prompts  # the prompts to train on, with equal frequencies

    def batch_prompts(self, n, rng):
        return self.prompts[np.arange(n) % len(self.prompts)]

    def refill_prompts(self, n, rng):
        return self.prompts[rng.integers(len(self.prompts), size=n)]

    def prompt_ids(self, example):
        return example[:, None]

    def environment(self, example, rng):
        return None

    def answers(self, tokens, response_mask, finished):
        """One text per row for the scorer; a completion that was cut off has no answer."""
        digits = (tokens + 1) * (response_mask > 0) * (tokens != EOS)
        return [
            f"Final: {residue}" if ended else ""
            for residue, ended in zip((digits.sum(axis=1) % MODULUS).tolist(), finished.tolist())
        ]

    def exact(self, policy):
        return exact(policy.params["theta"])

    def exact_kl(self, p, q):
        return exact_kl(p.params["theta"], q.params["theta"])


def exact(theta):
    """Quantities that need no samples, each (4,): pass_rate, completion_entropy (nats), length (tokens), truncated
    (probability).
    """
    logp = log_softmax(theta)
    pi = np.exp(logp)
    by_position = visits(pi)
    total = by_position.sum(axis=0)  # (4, 7)
    return dict(
        pass_rate=(total * pi[:, :, EOS] * HIT).sum(axis=1),
        completion_entropy=-(total * (pi * logp).sum(axis=-1)).sum(axis=1),
        length=total.sum(axis=1),
        truncated=(by_position[-1] * (1 - pi[:, :, EOS])).sum(axis=1),
    )


def value(theta):
    """(13, 4, 7): the probability of ending correctly from each position and running sum; 0 after the last position,
    where the completion is cut off.
    """
    pi = np.exp(log_softmax(theta))
    V, Q = np.zeros((T + 1, len(TARGETS), MODULUS)), np.empty_like(theta)
    for t in reversed(range(T)):
        Q[:, :, :EOS], Q[:, :, EOS] = V[t + 1][:, NEXT_SUM], HIT
        V[t] = (pi * Q).sum(axis=-1)
    return V


def exact_kl(p, q):
    """KL(pi_p || pi_q) of whole completions in nats, (4,): the KL of each row, weighted by how often p visits it."""
    logp, logq = log_softmax(p), log_softmax(q)
    pi = np.exp(logp)
    return (visits(pi).sum(axis=0) * (pi * (logp - logq)).sum(axis=-1)).sum(axis=1)


def visits(pi):
    """(12, 4, 7): the probability of reaching position t with each running sum."""
    move = np.zeros((len(TARGETS), MODULUS, MODULUS))
    move[:, np.arange(MODULUS)[:, None], NEXT_SUM] = pi[:, :, :EOS]
    reached = np.zeros((T, len(TARGETS), 1, MODULUS))
    reached[0, :, 0, 0] = 1
    for t in range(T - 1):
        reached[t + 1] = reached[t] @ move
    return reached[:, :, 0]
