"""Which completions of a step belong together: those of one prompt, sampled in one step. Closed form, no model."""

from collections import Counter
from itertools import groupby


def numbered(prompts):
    """(a number for the group of each row, how many groups hold one prompt several times).

    Where rows come group by group, as TRL, NeMo RL and ms-swift write them, a group ends after K rows, even if the
    next one has the same prompt. K is the length of most runs of one prompt; all but the last are multiples of it.
    Otherwise the rows were shuffled, and all completions of a prompt make one group.
    """
    runs = [len(list(run)) for _, run in groupby(prompts)]
    K, count = usual(runs)
    if K > 1 and 2 * count > len(runs) and all(length % K == 0 for length in runs[:-1]):
        sizes = [size for length in runs for size in pieces(length, K)]
        return [number for number, size in enumerate(sizes) for _ in range(size)], 0
    found = by_key(prompts)
    sizes = Counter(found).values()
    K, count = usual(sizes)
    several = sum(size > K and size % K == 0 for size in sizes) if K > 1 and 2 * count > len(sizes) else 0
    return found, several


def by_key(keys):
    """A number for each row's key, in the order in which the keys come up."""
    known = {}
    return [known.setdefault(key, len(known)) for key in keys]


def usual(lengths):
    """(the most frequent length, how often it occurs); of several the smallest."""
    counts = Counter(lengths)
    return min(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def pieces(length, K):
    return [K] * (length // K) + [length % K] * bool(length % K)
