"""One text, several rows of tokens. A vocabulary made by byte-pair merges can spell a word in many ways, and the
tokenizer that reads the text produces only one of them.

The merges are made up (assumed), enough for one word. Byte-pair encoding: Sennrich, Haddow, Birch (2016),
arXiv:1508.07909.
"""

from itertools import pairwise

LETTERS = tuple("AGHINV")
MERGES = (("A", "V"), ("I", "N"), ("IN", "G"), ("AV", "ING"), ("H", "AV"))  # assumed; earlier merges are more common
VOCABULARY = LETTERS + tuple(left + right for left, right in MERGES)


def encode(text):
    """The tokens that a tokenizer makes of a text: it applies the earliest merge that fits until none fits."""
    tokens = list(text)
    while pairs := [pair for pair in MERGES if pair in pairwise(tokens)]:
        at = list(pairwise(tokens)).index(pairs[0])
        tokens[at : at + 2] = ["".join(pairs[0])]
    return tokens


def spellings(text):
    """Every row of tokens that decodes to the text; a policy may sample any of them."""
    if not text:
        return [[]]
    first = [token for token in VOCABULARY if text.startswith(token)]
    return [[token, *rest] for token in first for rest in spellings(text[len(token) :])]
