"""What the readers of consoles share: a table that grows by the rows one program prints. A parser and not a model."""

import re

from rlpt.logs.table import Table, Unreadable

COLOR = re.compile(r"\x1b\[[0-9;]*m")


class Printed:
    """The rows that one program prints; every line of a console is offered to it."""

    format, program, unit = "", "", "step"

    def __init__(self, wanted):
        self.table, self.notes, self.names, self.split = Table(wanted), [], set(), []

    def line(self, text, ended):
        """Takes a line without its colors; `ended` is False for the last one of a file that breaks off."""
        raise NotImplementedError

    def close(self):
        """Takes what was waiting for further lines."""

    def take(self, step, pairs, ended=True, whole=True):
        """Adds a row. One that goes on in the next line, or that the file's end may have cut, is left out."""
        names = {name for name, _ in pairs}
        if ended and not whole:
            self.split.append(step)
            return
        if not ended and not (whole and names >= self.names):
            self.notes.append(f"The file ends within the row of {self.unit} {step:g}, which is left out.")
            return
        self.names = self.names & names if self.names else names
        self.table.add(step, pairs)

    def log(self):
        """The Log, or None if no row was printed."""
        self.close()
        if len(self.split) > self.table.rows / 2:
            raise Unreadable(
                f"The row of step {self.split[0]} continues on the next line, as in text copied from a terminal "
                "window. Use the file that the console was written to, where each row is one line."
            )
        if self.split:
            self.notes.append(f"Rows that go on in the next line, whose rest is left out: {len(self.split):,}.")
        if not self.table.rows and not self.notes:
            return None
        return self.table.log(self.format, self.notes, program=self.program, unit=self.unit)
