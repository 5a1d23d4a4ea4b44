"""The forms that texts take: a text whose numbers are all written as 0. Counting, not a model."""

import re
from collections import Counter
from dataclasses import dataclass

NUMBER = re.compile(r"\d+")
MOST = 3


@dataclass(frozen=True)
class Common:
    """A shape, or a text, how many of the completions have it, and the first row that does."""

    text: str
    count: int
    row: int


def shape(text):
    return NUMBER.sub("0", text)


def shapes(completions, rows):
    """The three most frequent shapes of the completions in these rows (n,), as Commons."""
    return commonest([(shape(completions[row]), row) for row in rows])


def texts(completions, rows):
    """The most frequent text of these rows, in a list of at most one: an answer that never changes has many shapes'
    place, but one text.
    """
    return commonest([(completions[row], row) for row in rows])[:1]


def commonest(pairs):
    counts = Counter(text for text, _ in pairs)
    first = {}
    for text, row in pairs:
        first.setdefault(text, int(row))
    return [Common(text, count, first[text]) for text, count in counts.most_common(MOST)]
