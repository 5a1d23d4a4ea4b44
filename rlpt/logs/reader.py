"""Which format a file has, by its content, and one Log for all files of a run. A parser and not a model."""

import codecs
import re

from rlpt import metric_names
from rlpt.logs.console import Console
from rlpt.logs.copied import Copied, copied
from rlpt.logs.json_lines import ROLLOUTS, JsonLines
from rlpt.logs.log_history import LogHistory
from rlpt.logs.separated import Separated
from rlpt.logs.spelled import decoded, number
from rlpt.logs.table import LINE, READABLE, Log, Table, Unreadable, listed

NAME = re.compile(r"[\w./@:-]{1,80}")  # of a metric
BINARY = f"{READABLE} TensorBoard's own page exports its event files as CSV."
LIMIT = 50_000_000  # the most bytes of one file, and on the page of all together


class Reader:
    """One file: takes its bytes in pieces by `feed`, returns its Log from `close`. Keeps one line and the numbers,
    never the whole file.
    """

    def __init__(self, name="", run="", wanted=()):
        self.name, self.run, self.wanted = name, run, wanted
        self.decoder, self.read, self.size, self.rest = None, None, 0, ""

    def feed(self, piece):
        self.size += len(piece)
        if self.size > LIMIT:
            raise Unreadable(
                f"The file is larger than {LIMIT // 1_000_000} MB. Export fewer columns, or shorten the log."
            )
        if self.decoder is None:
            self.decoder = codecs.getincrementaldecoder(encoding(piece, BINARY))(errors="replace")
        self.text(self.decoder.decode(piece))

    def text(self, text):
        """Reads whole lines, and keeps the rest until more text follows."""
        self.rest += text
        if isinstance(self.read, LogHistory):
            self.read.feed(self.rest)
            self.rest = ""
            return
        *lines, self.rest = self.rest.split("\n")
        for n, line in enumerate(lines):
            self.line(line.rstrip("\r"))
            if isinstance(self.read, LogHistory):
                self.rest = "\n".join([*lines[n + 1 :], self.rest])
                self.read.feed(self.rest)
                self.rest = ""
                return
        if self.read is None and len(self.rest) > 200_000 and self.rest.lstrip()[:1] in ("{", "["):
            self.read = LogHistory(self.wanted)  # all on one line
            self.text("")
        elif len(self.rest) > LINE:
            raise Unreadable(f"A line has more than {LINE:,} characters. {READABLE}")

    def line(self, line, ended=True):
        if isinstance(self.read, JsonLines) and self.read.empty and not complete(line):
            self.read = None  # a console that begins with its configuration
        if self.read is None or (isinstance(self.read, Console) and self.read.empty and begins(line)):
            if not line.strip():
                return
            self.read = self.chosen(line)
            if isinstance(self.read, Separated):
                return
            if isinstance(self.read, LogHistory):
                self.read.feed(line)
                return
        self.read.line(line, ended)

    def chosen(self, line):
        """The reader for a file with this first line."""
        begin = line.lstrip()
        if begin.startswith("{") and complete(begin) and "log_history" not in begin:
            return JsonLines(self.wanted)
        if begin.strip() == "[" or re.match(r"\[?\{(?!')", begin):
            return LogHistory(self.wanted)
        if copied(line):
            return Copied(line, self.name, self.wanted, self.run)
        delimiter = max(",;\t", key=line.count)
        if heads(line, delimiter):
            return Separated(line, delimiter, self.name, self.wanted, self.run)
        if line.count(delimiter) >= 1 and all(number(cell) is not None for cell in line.split(delimiter)):
            raise Unreadable("The first line has only numbers, so the line that names the columns is missing.")
        return Console(self.wanted)

    def close(self):
        if self.decoder is None:
            raise Unreadable("The file is empty.")
        self.text(self.decoder.decode(b"", True))
        if isinstance(self.read, LogHistory):
            self.read.feed(self.rest)
            if not self.read.inside and (console := printed_after(self.read.text, self.wanted)):
                return joined(console.logs())
        elif self.rest:
            self.line(self.rest.rstrip("\r"), ended=False)
        if self.read is None:
            raise Unreadable("The file is empty.")
        return joined(self.read.logs())


def encoding(piece, readable):
    """The encoding of a text that begins so; an Unreadable, which says what is readable, for one that is no text."""
    if piece[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if len(piece) > 8 and not any(piece[1:64:2]) and all(piece[:64:2]):
        return "utf-16-le"  # from Windows, without a byte order mark
    if piece[:2] == b"\x1f\x8b" or piece[:4] == b"PK\x03\x04":
        raise Unreadable("The file is compressed: unpack it first.")
    if b"\0" in piece[:1000]:
        raise Unreadable(f"The file is binary. {readable}")
    return "utf-8-sig"


def begins(line):
    """Whether a log begins here, after lines of something else."""
    cells = [cell.strip() for cell in line.split(",")]
    separated = any(cell in metric_names.STEPS for cell in cells) and all(NAME.fullmatch(cell) for cell in cells)
    return copied(line) or heads(line, "\t") or separated or (line.startswith('{"') and complete(line))


def printed_after(text, wanted):
    """The Console of a text that begins as JSON and is none, with at least one row; else None."""
    console = Console(wanted)
    for line in text.split("\n"):
        console.line(line.rstrip("\r"))
    return None if console.empty else console


def complete(text):
    try:
        return isinstance(decoded(text), dict)
    except ValueError:
        return False


def heads(line, delimiter):
    """Whether this line names the columns: one is a column of steps, or they look like names of metrics."""
    cells = [cell.strip().strip('"') for cell in line.split(delimiter)]
    if len(cells) < 2:
        return False
    if any(cell in metric_names.STEPS or cell.lower() == "step" for cell in cells):
        return True
    if line.startswith('"') and all(" - " in cell for cell in cells[1:]):
        return True  # a chart over time
    names = [cell for cell in cells if NAME.fullmatch(cell) and number(cell) is None]
    return len(names) == len(cells) and any("/" in name or metric_names.known(name) for name in names)


def joined(logs):
    """One Log for several files of the same run."""
    if len(logs) == 1:
        return logs[0]
    if len(runs := list(dict.fromkeys(log.run for log in logs if log.run))) > 1:
        raise Unreadable(
            f"The files come from {len(runs)} runs, {listed(runs)}. Choose the files of one run at a time."
        )
    columns = {}
    for log in logs:
        for name, column in log.columns.items():
            if name in columns:
                whole = (
                    "of a run's checkpoints the last one's file holds all rows"
                    if log.format.startswith("TRL")
                    else "bring one run at a time, and the parts of one console in one file"
                )
                raise Unreadable(f"Two of the files have a column “{name[:40]}”: {whole}.")
            columns[name] = column
    notes = list(dict.fromkeys(note for log in logs for note in log.notes))
    formats = list(dict.fromkeys(log.format for log in logs))
    programs = list(dict.fromkeys(log.program for log in logs if log.program))
    return Log(
        " and ".join(formats),
        columns,
        max(log.lines for log in logs),
        notes,
        counted=all(log.counted for log in logs),
        run="".join(runs),
        program=programs[0] if len(programs) == 1 else "",
        unit="row" if any(log.unit == "row" for log in logs) else "step",
    )


def read(files, run="", wanted=()):
    """The Log for [(name, pieces of its bytes)]."""
    logs = []
    for name, pieces in files:
        reader = Reader(name, run, wanted)
        for piece in pieces:
            reader.feed(piece)
        logs.append(reader.close())
    return together(logs)


def together(logs):
    """One Log for all files of a run; the rows of verl's rollouts, one file per step, are put in sequence."""
    rollouts = [log for log in logs if log.format == ROLLOUTS]
    others = [log for log in logs if log.format != ROLLOUTS]
    if not logs:
        raise Unreadable("No file was given.")
    return joined([*others, *([merged(rollouts)] if rollouts else [])])


def merged(logs):
    """One Log for several that have the same columns at different steps."""
    table = Table()
    points = sorted(
        (step, value, name)
        for log in logs
        for name, column in log.columns.items()
        for step, value in zip(column.steps, column.values)
    )
    for step, value, name in points:
        table.add(step, [(name, value)])
    return table.log(logs[0].format)
