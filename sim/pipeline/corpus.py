"""The documents that the model reads before any task, and the demonstrations that it is shown later, for `Chain`.

Made up, not a model. A document never contains an answer unless it is one of the rare worked ones. Most documents are
running totals, so the model has practiced thoughts made of running totals, and only their use is new.
"""

import numpy as np

from sim.worlds.tasks import Chain, four_digits, running_totals
from sim.worlds.tinylm import EOS, EQUALS, FINAL, HMM, PAD, PLUS

DOCUMENTS = (0.80, 0.07, 0.07, 0.06)  # running totals, the digits again, hmm, random digits
MIX = (0.5, 0.2, 0.2, 0.1)  # correct thoughts, thoughts with a slip, answers alone, hmm


def documents(example, rng, rare=0.0):
    """A text after each prompt (n,), as tokens (n, T); a share `rare` of them are worked answers.

    Each kind begins with different tokens, so the first token tells how a text continues.
    """
    n, total = len(example), running_totals(example)
    kind, worked, length = rng.choice(len(DOCUMENTS), n, p=DOCUMENTS), rng.random(n) < rare, rng.integers(1, 6, n)
    noise = rng.integers(0, 10, (n, 5))
    noise = np.where(np.arange(5) < length[:, None], noise, np.where(np.arange(5) == length[:, None], EOS, PAD))
    after_plus = np.concatenate([noise, np.where(length == 5, EOS, PAD)[:, None]], axis=1)
    tokens = rows(n, total[:, 1], total[:, 2], total[:, 3], EOS)
    tokens = np.where((kind == 1)[:, None], rows(n, EQUALS, *four_digits(example).T, EOS), tokens)
    tokens = np.where((kind == 2)[:, None], HMM, tokens)
    tokens = np.where((kind == 3)[:, None], rows(n, PLUS, *after_plus.T), tokens)
    return np.where(worked[:, None], thought(total), tokens)


def direct(example):
    """Demonstrations with the answer and nothing else, (n,) -> (n, T)."""
    return rows(len(example), FINAL, running_totals(example)[:, 3], EOS)


def thoughts(example, rng, mix=MIX):
    """Demonstrations of four kinds in the shares of `mix`, (n,) -> (n, T): a correct thought, one with a slip in one
    step that carries on, an answer alone, and hmm to the end. The answer copies the last total.
    """
    n, total = len(example), running_totals(example)
    kind, at, by = rng.choice(len(mix), n, p=mix), rng.integers(1, 4, n), rng.integers(1, 10, n)
    slipped = (kind == 1)[:, None] & (np.arange(4) >= at[:, None])
    tokens = thought(np.where(slipped, (total + by[:, None]) % 10, total))
    tokens = np.where((kind == 2)[:, None], direct(example), tokens)
    return np.where((kind == 3)[:, None], HMM, tokens)


def thought(total):
    """Three running totals, then `Final: ` and the last total again, (n, 4) -> (n, T)."""
    return rows(len(total), total[:, 1], total[:, 2], total[:, 3], FINAL, total[:, 3], EOS)


def rows(n, *columns):
    """Tokens (n, T), padded, from columns that are each one token for all rows or one per row."""
    tokens = np.full((n, Chain.T), PAD, np.int64)
    for at, column in enumerate(columns):
        tokens[:, at] = column
    return tokens
