"""A table that was copied off a notebook or a terminal: cells between bars, or between blanks. A parser, no model."""

import re

from rlpt.logs.separated import Separated

BARS = re.compile(r"\s*\|?\s*step\s*\|\s*\S", re.IGNORECASE)
BLANKS = re.compile(r"\s*step\s{2,}\S", re.IGNORECASE)
RULE = re.compile(r"[\s|:=+-]*")  # between the head and the rows


def copied(line):
    """Whether this line is the head of such a table."""
    return "\t" not in line and bool(BARS.match(line) or BLANKS.match(line))


def cells(text, bars):
    text = text.strip()
    parts = text.strip("|").split("|") if bars else re.split(r"\s{2,}", text)
    return [re.sub(r"\s*/\s*", "/", part.strip()) for part in parts]  # “completions / mean_length” of a notebook


class Copied(Separated):
    def __init__(self, header, name, wanted, run):
        self.bars = "|" in header
        super().__init__("\t".join(cells(header, self.bars)), "\t", name, wanted, run)
        self.format = "a copied table"

    def line(self, text, ended=True):
        if not RULE.fullmatch(text):
            super().line("\t".join(cells(text, self.bars)), ended)
