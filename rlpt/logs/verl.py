"""verl's console: `step:1 - name:value - …` after any prefix from Ray. A parser and not a model."""

import re

from rlpt.logs.printed import Printed
from rlpt.logs.spelled import number

ROUNDED_AWAY = "A learning rate or a KL that is printed as 0.000 has been rounded, so it is left out."


class Verl(Printed):
    format = "verl's console"
    ROW = re.compile(r"\bstep:(\d+) - ")
    GOES_ON = re.compile(  # a line broken by a window: the end of a name and its number, and more pairs
        r"(?:\(\w+ pid=[^)]*\) )?(?:(?:\S* )?- (?!\S*\.py:)[\w@.-]+(?:/[\w@.-]+)+:[-+\d.n]|[\w@/-]*:[-+\d.e]+\s*$)"
    )

    ROUNDED, SMALL = re.compile(r"-?0\.000+"), re.compile(r"lr$|kl")

    def __init__(self, wanted):
        super().__init__(wanted)
        self.after = None  # the step of the row in the line before

    def line(self, text, ended):
        after, self.after = self.after, None
        found = self.ROW.search(text) if "step:" in text else None
        if found:
            self.take(int(found[1]), list(self.pairs(text[found.end() :])), ended)
            self.after = int(found[1])
        elif after is not None and self.GOES_ON.match(text):
            self.split.append(after)

    def pairs(self, text):
        for part in text.split(" - "):
            name, _, spelled = part.rpartition(":")
            if self.ROUNDED.fullmatch(spelled.strip()) and self.SMALL.search(name):
                self.notes += [ROUNDED_AWAY] * (ROUNDED_AWAY not in self.notes)
            elif name and (got := number(spelled)) is not None:
                yield name.strip(), got
