"""Numbers of tokens, and which completions ran into the length limit. Rules of this book, and not a model."""

import numpy as np

TOKENS = (  # what programs call the number of tokens of a completion
    *("n_tokens", "num_tokens", "completion_tokens", "completion_length", "response_length", "response_tokens"),
    *("output_tokens", "output_length", "token_count", "tokens"),
)
ENDED = ("ended", "terminated", "is_terminated", "is_ended", "eos")
CUT = ("finish_reason", "stop_reason", "truncated", "is_truncated", "cut", "cut_off", "clipped", "is_clipped")


def are_counts(values):
    """Whether these can be numbers of tokens: whole, not negative, and none missing."""
    return bool(len(values) and np.all(values == np.floor(values)) and values.min() >= 0 and values.max() > 1)


def are_flags(values):
    return bool(len(values) and np.all((values == 0) | (values == 1)))


def limit(tokens):
    """The number of tokens at which completions were cut off, or None if the counts do not show one.

    They do if lengths vary freely and yet pile up at the maximum: at least ten completions have it, three times as many
    as have any other length of at least half of it, and ten different lengths are shorter. A policy that always writes
    the same number of tokens shows no limit, nor does one that is cut off nearly always.
    """
    lengths, counts = np.unique(tokens, return_counts=True)
    if len(lengths) <= 10:
        return None
    most = lengths[-1]
    near = counts[:-1][lengths[:-1] >= most / 2]
    piled = counts[-1] >= 10 and counts[-1] >= 3 * (near.max() if len(near) else 0)
    return int(most) if piled else None
