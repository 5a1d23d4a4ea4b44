"""What the model reads before it is asked anything, and what it is then shown: documents and demonstrations of `Chain`.

Made up, not a model. A document never holds an answer, unless it is one of the rare ones; running totals are
what most of them are, so a thought made of running totals has been practiced, and only its use is new.
"""

import numpy as np

from sim.worlds.tasks import Chain, four_digits, running_totals
from sim.worlds.tinylm import EOS, EQUALS, FINAL, HMM, PAD, PLUS

DOCUMENTS = (0.80, 0.07, 0.07, 0.06)  # running totals, the digits once more, hmm, random digits
MIX = (0.5, 0.2, 0.2, 0.1)  # right thoughts, thoughts with a slip, answers alone, hmm


def documents(example, rng, rare=0.0):
    """A text after each prompt (n,), as tokens (n, T); a share `rare` of them is a worked answer.

    The kinds begin with different tokens: what a text goes on with is then told by its first token.
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
    """Demonstrations that say the answer and nothing else, (n,) -> (n, T)."""
    return rows(len(example), FINAL, running_totals(example)[:, 3], EOS)


def thoughts(example, rng, mix=MIX):
    """Demonstrations of four kinds in the shares of `mix`, (n,) -> (n, T): a right thought, one that slips in one step
    and carries it on, an answer alone, and hmm to the end. The answer copies the last total.
    """
    n, total = len(example), running_totals(example)
    kind, at, by = rng.choice(len(mix), n, p=mix), rng.integers(1, 4, n), rng.integers(1, 10, n)
    slipped = (kind == 1)[:, None] & (np.arange(4) >= at[:, None])
    tokens = thought(np.where(slipped, (total + by[:, None]) % 10, total))
    tokens = np.where((kind == 2)[:, None], direct(example), tokens)
    return np.where((kind == 3)[:, None], HMM, tokens)


def thought(total):
    """Three running totals, `Final: ` and the last of them once more, (n, 4) -> (n, T)."""
    return rows(len(total), total[:, 1], total[:, 2], total[:, 3], FINAL, total[:, 3], EOS)


def rows(n, *columns):
    """Tokens column by column, each a token or one a row, padded to T: (n, T)."""
    tokens = np.full((n, Chain.T), PAD, np.int64)
    for at, column in enumerate(columns):
        tokens[:, at] = column
    return tokens
