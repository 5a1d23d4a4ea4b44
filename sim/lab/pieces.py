"""The tokens of a text under three small tokenizers, which cut digits differently: in runs, in triples, or singly.

Byte-pair merges after Sennrich, Haddow & Birch (2016), arXiv:1508.07909, here of characters. The merges were counted
once, on the dev prompts and on the dev completions in ASCII, and are a pack of the Lab.
"""

import re
from functools import cache
from itertools import pairwise

from sim.lab import packs


def names():
    """The three tokenizers: "runs", "triples" and "single"."""
    return tuple(packs.pack("bpe")["tokenizers"])


def encode(text, tokenizer):
    """The tokens of a text, a list of texts whose concatenation is the text. Raises KeyError for an unknown tokenizer.

    The text is first cut into words, numbers, signs and blanks. In each of these the merge that was counted earliest is
    applied until none fits. No merge has a character outside ASCII, so each of them is a token.
    """
    pattern, rank = _tokenizer(tokenizer)
    return [token for piece in pattern.findall(text) for token in _merged(list(piece), rank)]


def _merged(tokens, rank):
    while pairs := [pair for pair in pairwise(tokens) if pair in rank]:
        first, second = min(pairs, key=rank.get)
        merged = []
        for token in tokens:
            if token == second and merged and merged[-1] == first:
                merged[-1] = first + second
            else:
                merged.append(token)
        tokens = merged
    return tokens


@cache
def _tokenizer(name):
    """(the pattern of the pieces, {pair: its place among the merges})."""
    tokenizer = packs.pack("bpe")["tokenizers"][name]
    rank = {tuple(pair): place for place, pair in enumerate(tokenizer["merges"])}
    return re.compile(tokenizer["pattern"]), rank
