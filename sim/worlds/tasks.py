"""Four toy tasks with verifiable answers for the tiny language model, and the supervised policies from which
reinforcement learning starts.

`Add`: the sum of two digits. `GradedAdd`: the same, rewarded by a judge that likes length. `Lookup`: a secret table
behind a tool call, after Search-R1, arXiv:2503.09516. `Chain`: the last digit of a sum of four digits, with held-out
prompts, after the scratchpads of Nye et al. (2021), arXiv:2112.00114. The demonstrations are made up (the assumed
fractions are stated where they are used), and nothing here is data from a real model. `python -m sim.worlds.tasks` fits
the two policies again and writes them to sim/worlds/data.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from sim.worlds import tinylm
from sim.worlds.optimizer import AdamW
from sim.worlds.tinylm import ASK, CALL, EOS, EQUALS, FINAL, HMM, PAD, PLUS, RESULT, decode, log_softmax

PAIRS, KEYS = np.arange(100), np.arange(10)  # prompt e is e // 10 + e % 10; prompt k is ? k
FOUR_DIGITS = np.random.default_rng(2026).permutation(10_000)
HELD, TRAIN = FOUR_DIGITS[:2_000], FOUR_DIGITS[2_000:]  # prompts of `Chain`; nothing is ever trained on those held out


class Add:
    """`a + b =` for two digits: 100 prompts, completions of at most 8 tokens. Correct: `Final: ` and the sum, after any
    number of `hmm `.
    """

    T, pad, eos, text = 8, PAD, EOS, tinylm.TEXT
    examples = [
        {"id": f"{e // 10}+{e % 10}", "prompt": f"{e // 10}+{e % 10}=", "expected_answer": str(e // 10 + e % 10)}
        for e in range(100)
    ]

    def __init__(self, prompts=PAIRS):
        self.prompts = prompts  # the prompts to train on; some may be held out

    def batch_prompts(self, n, rng):
        return rng.choice(self.prompts, n)

    refill_prompts = batch_prompts

    def prompt_ids(self, example):
        return np.stack(
            [example // 10, np.full_like(example, PLUS), example % 10, np.full_like(example, EQUALS)], axis=1
        )

    def environment(self, example, rng):
        return None

    def answers(self, tokens, response_mask, finished):
        """The answer of each completion as text, with its thinking removed; "" for one that never stopped, because the
        text alone cannot show that the stop is missing.
        """
        return [
            answer(row) if ended else "" for row, ended in zip(own_tokens(tokens, response_mask), finished.tolist())
        ]

    def exact(self, policy):
        return {"pass_rate": exact_pass(policy)}


class GradedAdd(Add):
    """The same prompts with a reward model that has a length bias: a bonus of c for every `hmm `. The accuracy is still
    the scorer's.
    """

    def __init__(self, c):
        super().__init__()
        self.c = c

    def pay(self, batch):
        return batch.accuracy + self.c * ((batch.tokens == HMM) * batch.response_mask).sum(axis=1)


class Lookup:
    """`? k =` with a new random table for each completion. Correct is `Final: ` and entry k, which only `<call> k` can
    reveal.

    The first call is answered with `length` tokens, the last of which is the entry. A blind guess is correct one time
    in ten.
    """

    pad, eos, text = PAD, EOS, tinylm.TEXT
    examples = [{"id": f"?{k}", "prompt": f"?{k}="} for k in range(10)]  # the answers come from the ToolTable

    def __init__(self, length=8, prompts=KEYS):
        if length < 2:
            raise ValueError("length must be at least 2: a reply is <result> and the entry")
        self.length, self.T, self.prompts = length, 2 + length + 6, prompts

    def batch_prompts(self, n, rng):
        return self.prompts[rng.integers(len(self.prompts), size=n)]

    refill_prompts = batch_prompts

    def prompt_ids(self, example):
        return np.stack(
            [np.full_like(example, PAD), np.full_like(example, ASK), example, np.full_like(example, EQUALS)], axis=1
        )

    def environment(self, example, rng):
        return ToolTable(example, self.length, rng)

    def answers(self, tokens, response_mask, finished):
        """What the policy itself wrote after the tool's reply, with its thinking removed; "" if it is unfinished or
        says `Final: ` twice.
        """
        place = np.arange(self.T)
        # where the reply ended; -1 if there was no call
        replied = np.where((response_mask == 0) & (tokens != PAD), place, -1).max(axis=1, keepdims=True)
        once = ((tokens == FINAL) & (response_mask > 0)).sum(axis=1) == 1
        after = own_tokens(tokens, response_mask * (place > replied))
        return [answer(row) if counts else "" for row, counts in zip(after, (finished & once).tolist())]

    def exact(self, policy):
        return {}  # the table is random each time, so every number is a sampled one


class FourDigitSums(Sequence):
    """The 10,000 examples of `Chain`, each made on request, because all of them would be 40,000 objects in memory."""

    def __len__(self):
        return 10_000

    def __getitem__(self, e):
        digits = f"{range(10_000)[e]:04}"
        return {"id": digits, "expected_answer": str(sum(map(int, digits)) % 10)}


class Chain:
    """`a b c d`; correct is `Final: ` and the last digit of their sum, after anything that does not say `Final: `.

    If running totals are written before the answer, each of them needs only two digits, whereas the bare answer needs
    all four.
    """

    T, pad, eos = 8, PAD, EOS
    examples = FourDigitSums()

    def __init__(self, prompts=TRAIN):
        self.prompts = prompts

    def batch_prompts(self, n, rng):
        return rng.choice(self.prompts, n)

    refill_prompts = batch_prompts

    def prompt_ids(self, example):
        return four_digits(example)

    def environment(self, example, rng):
        return None

    def answers(self, tokens, response_mask, finished):
        """The text from the first `Final: ` on, or the whole text if there is none; "" for a completion that never
        stopped.
        """
        return [
            from_final(decode(row).removesuffix("<eos>")) if ended else ""
            for row, ended in zip(own_tokens(tokens, response_mask), finished.tolist())
        ]

    def exact(self, policy):
        return {}  # there are too many completions to sum over, so every number is a sampled one


def four_digits(example):
    """The digits of `Chain`'s prompts, (N,) -> (N, 4)."""
    return example[:, None] // np.array([1000, 100, 10, 1]) % 10


def running_totals(example):
    """The last digits of the sums of the first one, two, three and four digits, (N,) -> (N, 4)."""
    return four_digits(example).cumsum(axis=1) % 10


def from_final(text):
    return text[max(text.find("Final: "), 0) :]


def own_tokens(tokens, response_mask):
    """The tokens inside the mask, one list per row."""
    return [[token for token in row if token >= 0] for row in np.where(response_mask > 0, tokens, -1).tolist()]


def answer(own):
    """The text of a completion's own tokens without its stop and without the thinking before the answer."""
    text = decode(own).removesuffix("<eos>")
    while text.startswith("hmm "):
        text = text.removeprefix("hmm ")
    return text


class ToolTable:
    """The tool of one batch: a secret table of ten digits for each row, which the row's first `<call> d` reads once."""

    def __init__(self, key, length, rng):
        N = len(key)
        self.table, self.reply = rng.integers(10, size=(N, 10)), rng.integers(10, size=(N, length))
        self.examples = [
            {"id": f"table {i}", "prompt": f"?{k}=", "expected_answer": str(row[k])}
            for i, (k, row) in enumerate(zip(key.tolist(), self.table.tolist()))
        ]
        self.reply[:, 0] = RESULT  # then random digits, and finally the requested entry
        self.start = np.full(N, -1)  # where the reply begins; -1 before the call

    def step(self, tokens, t):
        """The token that the tool writes at position t in each row, -1 where it is the policy's turn, (N,)."""
        if t >= 2:
            asks = (self.start < 0) & (tokens[:, t - 2] == CALL) & (tokens[:, t - 1] < 10)
            self.start[asks] = t
            self.reply[asks, -1] = self.table[asks, tokens[asks, t - 1]]
        position = t - self.start
        replying = (self.start >= 0) & (position < self.reply.shape[1])
        return np.where(replying, self.reply[np.arange(len(tokens)), np.where(replying, position, 0)], -1)


def exact_pass(policy):
    """The probability that each prompt of `Add` is answered correctly, (100,), as an exact sum over all completions
    that pass. A window has few contexts, and each is computed once; any other policy is asked directly.
    """
    if not isinstance(policy, tinylm.Policy):
        return exact_pass_by_decoding(policy)
    prompts, windows, prompt_of, window_of, where, token, completion, prompt = _passing()
    seen = (
        tinylm.share(policy.params, prompts, first_slot=0)[prompt_of]
        + tinylm.share(policy.params, windows, first_slot=tinylm.P)[window_of]
    )
    log_pi = log_softmax(tinylm.output(policy.params, np.tanh(seen + policy.params["b1"])))  # (1290, V)
    return np.bincount(prompt, np.exp(np.bincount(completion, log_pi[where, token])), len(PAIRS))


def exact_pass_by_decoding(policy):
    """The same for any policy. All 555 completions are decoded token by token as if they had been sampled, so a policy
    with a cache computes common prefixes only once.
    """
    example, tokens = passing()
    decode, rows, logp = policy.prefill(Add().prompt_ids(example)), np.arange(len(tokens)), np.zeros(len(tokens))
    for t in range(Add.T):
        logp += np.where(tokens[:, t] != PAD, decode(tokens, t)[rows, tokens[:, t]], 0)
    return np.bincount(example, np.exp(logp), len(PAIRS))


@cache
def passing():
    """Every completion of `Add` that passes: its prompt (555,) and its tokens (555, 8), padded after the stop."""
    example, rows = [], []
    for e in range(100):
        digits = [int(digit) for digit in Add.examples[e]["expected_answer"]]
        for thoughts in range(Add.T - len(digits) - 1):  # as many as leave room for Final:, the digits and the stop
            example.append(e)
            rows.append(([HMM] * thoughts + [FINAL, *digits, EOS] + [PAD] * Add.T)[: Add.T])
    return np.array(example), np.array(rows)


@cache
def _passing():
    """Every completion that passes, token by token; the tokens' contexts are split into prompts and windows, each
    listed once.
    """
    example, tokens = passing()
    live = tokens != PAD
    context, where = tinylm.distinct(Add().prompt_ids(example), tokens, live)
    prompts, prompt_of = np.unique(context[:, : tinylm.P], axis=0, return_inverse=True)
    windows, window_of = np.unique(context[:, tinylm.P :], axis=0, return_inverse=True)
    return prompts, windows, prompt_of.ravel(), window_of.ravel(), where, tokens[live], np.nonzero(live)[0], example


def add_demonstrations(n, rng):
    """Prompts, completions and masks of n demonstrations of `Add`, of which a fraction of .301 is correct."""
    example, kind, thoughts = rng.integers(100, size=n), rng.random(n), rng.geometric(0.7, n) - 1
    shown = example // 10 + example % 10
    # assumed: .30 right, .30 off by one or two, .25 right but without `Final: `, .15 that think until they are cut off
    shown = np.where((kind >= 0.30) & (kind < 0.60), np.abs(shown + rng.choice([-2, -1, 1, 2], n)), shown)
    formatted, endless = kind < 0.60, kind >= 0.85
    tokens = np.where(np.arange(Add.T) < np.where(endless, Add.T, thoughts)[:, None], HMM, PAD)
    last = thoughts
    for token, written in (
        (np.full(n, FINAL), formatted),
        (shown // 10, shown >= 10),
        (shown % 10, True),
        (np.full(n, EOS), True),
    ):
        row = np.flatnonzero(written & ~endless & (last < Add.T))
        tokens[row, last[row]] = token[row]
        last = last + written
    return Add().prompt_ids(example), tokens, (tokens != PAD).astype(float)


def lookup_demonstrations(n, rng):
    """The same for `Lookup`, with replies of 2 to 16 tokens, so that one policy serves every length. The reply is
    outside the mask.
    """
    longest = 16
    key, kind, length = rng.integers(10, size=n), rng.random(n), rng.integers(2, longest + 1, size=n)
    # assumed: .40 call and answer, .30 guess, .15 call for a different entry, .15 call and ignore the reply
    called, ignored = (kind < 0.40) | (kind >= 0.70), kind >= 0.85
    asked = np.where((kind >= 0.70) & ~ignored, rng.integers(10, size=n), key)
    entry = rng.integers(10, size=n)  # a row only ever sees one entry of its table
    answers = np.where(called & ~ignored, entry, rng.integers(10, size=n))
    slot = np.arange(2 + longest + 3)
    reply = np.where(called, 2 + length, 0)[:, None]  # where the reply ended
    tokens = np.where(slot < reply, rng.integers(10, size=(n, len(slot))), PAD)
    caller = np.flatnonzero(called)
    tokens[caller, 0], tokens[caller, 1], tokens[caller, 2] = CALL, asked[caller], RESULT
    tokens[caller, 1 + length[caller]] = entry[caller]
    for i, token in enumerate((np.full(n, FINAL), answers, np.full(n, EOS))):
        tokens[np.arange(n), reply[:, 0] + i] = token
    return Lookup().prompt_ids(key), tokens, ((tokens != PAD) & ((slot < 2) | (slot >= reply))).astype(float)


def supervised(demonstrations, steps=1500, n=128, seed=0, policy=tinylm.Policy, learning_rate=0.02):
    """A policy of this class fitted to demonstrations by maximum likelihood, with a fresh batch of n in each step and a
    learning rate that falls to 0.0001.
    """
    policy, rng, optimizer = policy(seed), np.random.default_rng(seed), AdamW(learning_rate, clip=1.0)
    for i in range(steps):
        optimizer.learning_rate = learning_rate + (1e-4 - learning_rate) * i / steps
        prompt, tokens, mask = demonstrations(n, rng)
        _, _, tape = policy.token_logp(prompt, tokens, mask)
        optimizer.step(policy.params, policy.backward(tape, -mask / mask.sum()))
    return policy


DEMONSTRATIONS = {"add": add_demonstrations, "lookup": lookup_demonstrations}


def checkpoint(name):
    """The shipped supervised policy of a task, `add` or `lookup`, as a copy that the caller may train; it was stored in
    32 bits.
    """
    return _stored(name).copy()


@cache
def _stored(name):
    policy = tinylm.Policy()
    with np.load(files("sim.worlds") / "data" / f"supervised_{name}.npz") as stored:
        policy.params = {key: stored[key].astype(float) for key in stored.files}
    return policy


if __name__ == "__main__":
    for task, demonstrations in DEMONSTRATIONS.items():
        path = files("sim.worlds") / "data" / f"supervised_{task}.npz"
        path.parent.mkdir(exist_ok=True)
        np.savez(path, **{key: array.astype(np.float32) for key, array in supervised(demonstrations).params.items()})
        print(path)
