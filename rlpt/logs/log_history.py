"""TRL's trainer_state.json, or only its log_history: one object after another, as they arrive. A parser, no model."""

import re

from rlpt.logs.spelled import DECODER, numbers, step_of, too_deep
from rlpt.logs.table import LINE, READABLE, Table, Unreadable
from sim import words


class LogHistory:
    BEGIN = re.compile(r'"log_history"\s*:\s*\[')

    def __init__(self, wanted):
        self.table, self.text, self.inside, self.done, self.notes = Table(wanted), "", False, False, []
        self.stepless = 0

    def feed(self, text):
        if self.done:
            return
        self.text += text
        if not self.inside and not self.begun():
            if len(self.text) > LINE:
                raise Unreadable(f"The JSON file has no log_history in its first {LINE:,} characters. {READABLE}")
            return
        if too_deep(self.text):
            raise Unreadable(f"A row is nested too deeply for a log_history. {READABLE}")
        at = 0
        while found := re.compile(r"[\s,]*").match(self.text, at):
            at = found.end()
            if at >= len(self.text):
                break
            if self.text[at] != "{":
                self.done = True
                break
            try:
                row, after = DECODER.raw_decode(self.text, at)
            except ValueError:
                break
            except RecursionError:
                raise Unreadable(f"A row is nested too deeply for a log_history. {READABLE}") from None
            self.row(row)
            at = after
        self.text = self.text[at:]
        if len(self.text) > LINE:
            raise Unreadable(f"A row of more than {LINE:,} characters: this is no log_history. {READABLE}")

    def begun(self):
        match = re.compile(r"\s*\[").match(self.text) or self.BEGIN.search(self.text)
        if match:
            self.inside, self.text = True, self.text[match.end() :]
        return self.inside

    def row(self, row):
        if (step := step_of(row.get("step"))) is not None:
            self.table.add(step, numbers((n, v) for n, v in row.items() if n != "step"))
        else:
            self.stepless += 1

    def logs(self):
        if not self.inside:
            raise Unreadable(f"The JSON file has no log_history. {READABLE}")
        if not self.done:
            rows = words.counted(self.table.rows, "row")
            self.notes.append(f"Its log_history ends too early, or cannot be read further, after {rows}.")
        if self.stepless:
            self.notes.append(f"Rows without a step, left out: {self.stepless:,}.")
        if not self.table.rows:
            raise Unreadable(f"Its log_history has no row with a step. {READABLE}")
        return [self.table.log("TRL's log_history", self.notes)]
