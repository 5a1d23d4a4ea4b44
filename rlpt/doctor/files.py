"""The files of a run: its log, and the completions that it kept. Their content decides which is which.

A parser and not a model.
"""

from dataclasses import dataclass
from pathlib import Path

from rlpt import logs, rollouts
from rlpt.logs import ROLLOUTS, Unreadable, listed
from rlpt.rollouts import verl
from sim.rollouts import report

ALONE = (
    "These are completions, and no log is among them. `rlpt rollouts`, or the page *Read the rollouts*, shows what is "
    "in them."
)
STATE = "trainer_state.json"  # TRL's log: in its output folder when the run has ended, and in that of every checkpoint
LOGS = {".jsonl", ".csv", ".log", ".txt", ".out"}  # endings of other logs
KEPT = {".parquet", ".jsonl", ".csv"}  # endings of completions


@dataclass(frozen=True)
class Brought:
    """`read` and `done` are a Read of rlpt.rollouts and its Report, None where there are no completions; `fault` says
    why those that were brought cannot be read.
    """

    log: logs.Log
    read: rollouts.Read | None = None
    done: report.Report | None = None
    fault: str = ""


class Files:
    """Takes the files of one run, one after another, and makes one Brought of them."""

    def __init__(self, run="", wanted=(), limit=None):
        self.run, self.wanted = run, wanted
        self.kept = rollouts.Files(limit=limit)
        self.any = False  # whether a file had completions
        self.fault = ""

    def opened(self, name):
        return File(name, self)

    def whole(self, name, pieces):
        file = self.opened(name)
        for piece in pieces:
            file.feed(piece)
        return file.close()

    def of_folder(self, folder, opened):
        """What `File.close` returned for the log of a folder and its completions; `opened` yields a file's pieces."""
        top = Path(folder)
        state = top / STATE if (top / STATE).is_file() else None
        closed, logged = [], {}
        for file in candidates(top):
            try:
                log = self.whole(str(file), opened(str(file)))
            except Unreadable as fault:
                if file.suffix == ".parquet":
                    self.fault = str(fault)
                continue
            if log and log.format == ROLLOUTS:
                closed.append(log)
            elif log and file.parent == top:
                logged[file.name] = log
        state = state or (None if logged else last_checkpoint(top))
        if state:
            return [*closed, self.whole(str(state), opened(str(state)))]
        if len(logged) > 1:
            raise Unreadable(f"{folder} holds {len(logged)} logs: {listed(list(logged))}. Name the one to be read.")
        if not logged and not self.any:
            raise Unreadable(f"No log was found in {folder}. {logs.READABLE}")
        return [*closed, *logged.values()]

    def together(self, closed):
        """The Brought of all files, by what `close` returned for each."""
        found = [log for log in closed if log]
        if self.any and all(log.format == ROLLOUTS for log in found):
            raise Unreadable(ALONE)
        log = logs.together(found)
        if not self.any:
            return Brought(log, fault=self.fault)
        try:
            read = self.kept.read()
        except Unreadable as fault:
            return Brought(log, fault=str(fault))
        return Brought(log, read, report.report(read.rollouts))


class File:
    """One file, which a reader of logs and one of completions read side by side until one of them gives up."""

    def __init__(self, name, files):
        self.files, self.fault = files, None
        self.log = logs.Reader(name, files.run, files.wanted)
        self.rows = files.kept.opened(name)

    def feed(self, piece):
        self.both("feed", piece)

    def close(self):
        """The Log, or None for completions; verl's are both."""
        log = self.both("close")
        if self.rows is None:
            return log
        self.files.any = True
        return log if log and log.format == ROLLOUTS else None

    def both(self, step, *data):
        """What the step of the reader of logs returns; an Unreadable if neither can read the file."""
        kept = self.files.kept
        if self.rows and not kept.tried(getattr(self.rows, step), *data):
            if self.rows.format or self.rows.decoder is None:  # it had rows, or is parquet, so it is no log
                self.fault = kept.faults[len(kept.names) - 1]
            self.rows = None
        if self.rows and self.rows.format not in (None, verl):
            self.log = None  # a row has a step and numbers, as a log has
        returned = None
        if self.log:
            try:
                returned = getattr(self.log, step)(*data)
            except Unreadable as fault:
                self.log, self.fault = None, self.fault or fault
        if not (self.log or self.rows):
            raise self.fault
        return returned


def candidates(top):
    """The files of a folder, TRL's log and what belongs to a checkpoint aside, that may be completions or a log."""
    for file in sorted(top.rglob("*")):
        hidden = any(part.startswith((".", "checkpoint-")) for part in file.relative_to(top).parts)
        if not hidden and file.suffix in (KEPT | LOGS if file.parent == top else KEPT) and file.is_file():
            yield file


def last_checkpoint(top):
    """TRL's log in the newest checkpoint of a folder, or None."""
    states = [file for file in top.glob(f"checkpoint-*/{STATE}") if file.parent.name.split("-")[-1].isdigit()]
    return max(states, key=lambda file: int(file.parent.name.split("-")[-1]), default=None)
