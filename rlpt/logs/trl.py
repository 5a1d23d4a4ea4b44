"""What TRL prints: `{'loss': 0.1, 'reward': 0.5, …, 'epoch': 0.01}`, and ms-swift with a step. A parser, no model.

The numbers are strings under transformers 5. Without a step the rows are counted.
"""

import re

from rlpt.logs.printed import Printed
from rlpt.logs.spelled import number, step_of
from rlpt.logs.table import Table

TELLING = {"loss", "reward", "epoch", "learning_rate", "rewards/margins"}
ANOTHER = "The text holds more than one run, and only the last one is read."
LONGEST = 40  # lines over which one row may be spread


class TRL(Printed):
    format, unit = "TRL's console", "row"
    ROW = re.compile(r"\{('[^{}]*)\}")
    OPEN = re.compile(r"\{'[^{}]*$")
    PAIR = re.compile(r"'([^']+)':\s*(?:'([^']*)'|\"([^\"]*)\"|([^,'\"}]+))")

    def __init__(self, wanted):
        super().__init__(wanted)
        self.open, self.lines, self.last, self.counted = "", 0, 0, False
        self.ended, self.epoch = False, 0.0  # whether a run has ended, and the last epoch

    def line(self, text, ended):
        if self.open:
            text, self.open, self.lines = self.open + text, "", self.lines + 1
        elif "{'" not in text:
            return
        for row in self.ROW.findall(text):
            self.row(row)
        if (rest := self.OPEN.search(text)) and self.lines < LONGEST:
            self.open = rest[0]
            if not ended:
                self.notes.append("The file ends within its last row, which is left out.")
        else:
            self.lines = 0

    def row(self, text):
        words = {name: (a or b or c).strip() for name, a, b, c in self.PAIR.findall(text)}
        pairs = [(name, got) for name, spelled in words.items() if (got := number(spelled)) is not None]
        names = {name for name, _ in pairs}
        self.ended |= "train_runtime" in names
        if len(pairs) < 2 or "train_runtime" in names:
            return
        epoch = dict(pairs).get("epoch", self.epoch)
        if evaluated := any(name.startswith("eval_") for name in names):
            pairs = [(name, got) for name, got in pairs if name.startswith("eval_")]
        elif not names & TELLING:
            return
        elif self.ended or epoch < self.epoch / 2:
            self.table, self.last, self.ended = Table(self.table.wanted), 0, False
            self.notes = [ANOTHER]
        self.epoch = epoch
        step = step_of(words.get("global_step/max_steps", words.get("step", "")).split("/")[0])
        if step is None:
            self.counted = True
            step = self.last + (not evaluated)
        self.last = step
        self.table.add(step, pairs)

    def log(self):
        if self.counted:
            self.notes.append(
                "TRL prints no steps, so its rows are counted, no matter how many steps lie between two of them."
            )
        elif self.table.rows:
            self.unit = "step"
        return super().log() if self.table.rows else None
