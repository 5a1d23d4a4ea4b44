"""OpenRLHF's console: `Global step 1: {…}`, and where that was not kept the bar of each step. A parser, no model."""

import re

from rlpt.logs.printed import Printed
from rlpt.logs.spelled import number


class OpenRLHF(Printed):
    format = "OpenRLHF's console"
    ROW = re.compile(r"[Gg]lobal[ _]step (\d+)(?:, eval_metrics)?: \{(.*)")
    ITEM = re.compile(r"'([^']+)': ((?:[\w.]+\()?[-+]?[\w.][^,'}]*)")

    def line(self, text, ended):
        if found := self.ROW.search(text):
            items = ((name, number(spelled)) for name, spelled in self.ITEM.findall(found[2]))
            whole = "}" in found[2]
            self.take(int(found[1]), [pair for pair in items if pair[1] is not None], ended or whole, whole)


class OpenRLHFBar(Printed):
    """The bar that goes over a step's batches: one row a bar, the mean of what it showed."""

    format, unit = "OpenRLHF's progress bar", "row"
    BAR = re.compile(r"Train epoch \[1/\d+\]:.*?\| *(\d+)/(\d+) \[[^\],]*,[^\],]*, (.*=[^\]]*)")
    ITEM = re.compile(r"(\w+)=([-+\w.]+)")

    def __init__(self, wanted):
        super().__init__(wanted)
        self.place, self.shown = 0, {}  # how many batches the bar has passed, {name: [number, …]}

    def line(self, text, ended):
        if "Train epoch" not in text or not (found := self.BAR.search(text)):
            return
        place, last = int(found[1]), int(found[1]) == int(found[2])
        pairs = [(name, got) for name, spelled in self.ITEM.findall(found[3]) if (got := number(spelled)) is not None]
        if place < self.place or (
            last and place == self.place and any(self.shown.get(n, [v])[-1] != v for n, v in pairs)
        ):
            self.close()  # another bar, perhaps one of which only its end was kept
        self.place = place
        for name, got in pairs:
            self.shown.setdefault(name, []).append(got)

    def close(self):
        if self.shown:
            self.take(
                self.table.rows + 1, [(name, sum(numbers) / len(numbers)) for name, numbers in self.shown.items()]
            )
        self.place, self.shown = 0, {}

    def log(self):
        self.notes = [
            "OpenRLHF's progress bar shows no steps, so bars are counted, and the batches of each bar are averaged."
        ]
        self.close()
        return super().log() if self.table.rows else None
