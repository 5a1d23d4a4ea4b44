"""What a run printed: each line is offered to the readers of every program that prints. A parser and not a model."""

from rlpt.logs.nemo_rl import NemoRL
from rlpt.logs.openrlhf import OpenRLHF, OpenRLHFBar
from rlpt.logs.prime_rl import Orchestrator, Trainer
from rlpt.logs.printed import COLOR
from rlpt.logs.table import READABLE, Unreadable
from rlpt.logs.trl import TRL
from rlpt.logs.verl import Verl
from sim import words

PRINTED = (Verl, OpenRLHF, NemoRL, Orchestrator, Trainer, TRL, OpenRLHFBar)  # the first that has rows is read


class Console:
    def __init__(self, wanted):
        self.printed, self.passed = [each(wanted) for each in PRINTED], 0

    @property
    def empty(self):
        """Whether no row was found so far."""
        return not any(each.table.rows for each in self.printed)

    def line(self, text, ended=True):
        *whole, rest = text.split("\r")  # a progress bar rewrites its line
        for each in whole:
            self.offer(each, True)
        self.offer(rest, ended)
        self.passed += 1

    def offer(self, text, ended):
        text = COLOR.sub("", text) if "\x1b" in text else text
        for each in self.printed:
            each.line(text, ended)

    def logs(self):
        """The Logs of the first program that has one; prime-rl's two consoles may stand in one file."""
        found = [log for each in self.printed if (log := each.log()) is not None]
        if not found:
            raise Unreadable(f"No row of a log was found in {words.counted(self.passed, 'line')}. {READABLE}")
        first = found[0]
        return [log for log in found if log is first or (first.program and log.program == first.program)]
