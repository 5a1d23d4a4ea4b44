"""A table whose first line names its columns: from TensorBoard, a chart of Weights & Biases, or a run's history.

A parser and not a model.
"""

import csv
import re

from rlpt import metric_names
from rlpt.logs.spelled import LAST, number
from rlpt.logs.table import LINE, Table, Unreadable, listed
from sim import words

csv.field_size_limit(LINE)  # a completion may exceed Python's limit of 131,072 characters


class Separated:
    CLOCK = ("wall time", "wall_time")
    RUNS = {"state", "created", "sweep", "notes", "user", "tags"}  # columns of a table with one row per run

    def __init__(self, header, delimiter, name, wanted, run):
        self.delimiter, self.name, self.table, self.notes = delimiter, name, Table(wanted), []
        self.narrow, self.pending, self.waiting, self.run, self.words, self.word = 0, [], 0, "", 0, ""
        self.width = 0  # number of cells in the first row with a wrong width
        self.comma = delimiter != ","
        self.header = [cell.strip() for cell in self.cells(header)]
        lower = [cell.lower() for cell in self.header]
        if len(self.RUNS & set(lower)) >= 2 and "name" in lower:
            raise Unreadable(
                "This is a table of runs, with one row per run: open one run and export its history or a chart."
            )
        self.place = next((self.header.index(each) for each in metric_names.STEPS if each in self.header), None)
        self.place = lower.index("step") if self.place is None and "step" in lower else self.place
        if self.place is None:
            raise Unreadable(
                f"No column of steps among {listed(self.header)}: export it over steps, in a column that is called "
                f"{', '.join(metric_names.STEPS)}."
            )
        names = [cell for cell in self.header if cell]
        if twice := [name for n, name in enumerate(names) if name in names[:n] and metric_names.known(name)]:
            raise Unreadable(f"Two columns are called “{twice[0][:40]}”: keep the one that counts.")
        self.counted = True
        if lower[0] in self.CLOCK and "value" in lower:
            self.format, self.kept = "TensorBoard's CSV", {lower.index("value"): tag(name)}
            self.run = run_of(name)
        elif charted := self.charted():
            self.format, self.kept = "a chart's CSV of Weights & Biases", self.chart(charted, run)
            self.counted = "global_step" in self.header[self.place]
        else:
            self.format = "a CSV of Weights & Biases" if "_step" in self.header else "a CSV"
            own = {"_step", "_runtime", "_timestamp", ""}
            self.kept = {n: c for n, c in enumerate(self.header) if n != self.place and c not in own}
            self.counted = self.header[self.place] != "_step"

    def charted(self):
        """[(place, cell)] of a chart's columns, or [] if any column is neither the steps nor a run's metric."""
        cells = [(n, cell) for n, cell in enumerate(self.header) if cell and n != self.place]
        return cells if all(" - " in cell for _, cell in cells) else []

    def chart(self, charted, run):
        """{place: metric} for one run, without the bands that a chart draws around it."""
        by_run = {}
        for n, cell in charted:
            whose, _, metric = cell.rpartition(" - ")
            if not metric.endswith(("__MIN", "__MAX")):
                by_run.setdefault(whose, {})[n] = metric
        self.run, kept = one_of(by_run, run)
        return kept

    def cells(self, text):
        if '"' not in text:
            return text.split(self.delimiter)
        try:
            return next(csv.reader([text], delimiter=self.delimiter))
        except csv.Error:
            return []

    def line(self, text, ended=True):
        if self.pending or text.count('"') % 2:
            self.pending.append(text)
            self.waiting += len(text) + 1
            if self.waiting > LINE:
                raise Unreadable("A quotation mark is never closed, so this CSV cannot be read.")
            if text.count('"') % 2 == (len(self.pending) == 1) and ended:
                return
            text, self.pending, self.waiting = "\n".join(self.pending), [], 0
        if not text.strip():
            return
        cells = self.cells(text)
        if len(cells) != len(self.header):
            if not ended and len(cells) < len(self.header):
                self.notes.append("The file ends within its last row, which is left out.")
            else:
                self.narrow += 1
                self.width = self.width or len(cells)
            return
        step = number(cells[self.place], self.comma)
        if step is None or not abs(step) < LAST:
            self.narrow += 1
            return
        pairs = []
        for n, name in self.kept.items():
            cell = cells[n]
            if cell and (got := number(cell, self.comma)) is not None:
                pairs.append((name, got))
            elif cell and not cell.isspace() and metric_names.known(name):
                self.spelled(name, cell)
        self.table.add(step, pairs)

    def spelled(self, name, cell):
        """Handles a cell that is not a number in a column of numbers."""
        if re.fullmatch(r"[-+]?\d+(?:,\d+)+(?:\.\d*)?", cell):
            raise Unreadable(
                f"“{cell[:40]}” in the column “{name[:40]}” has a comma that may mark decimals or thousands: "
                "write numbers with a point, and without separators."
            )
        self.words += 1
        self.word = self.word or f"“{cell[:40]}” in the column “{name[:40]}”"

    def logs(self):
        if self.narrow:
            self.notes.append(
                f"Rows without a step, or wider or narrower than the first line, left out: {self.narrow:,}."
            )
        if not self.table.rows:
            width = f": a row has {self.width} cells, and the first line {len(self.header)}" if self.width else ""
            raise Unreadable(f"The first line names {listed(self.header)}, and no row below it can be read{width}.")
        if self.words:
            self.notes.append(
                f"Left out, because they are not numbers: {words.counted(self.words, 'cell')}, such as {self.word}."
            )
        return [self.table.log(self.format, self.notes, counted=self.counted, run=self.run)]


def one_of(by_run, run):
    if run and run not in by_run:
        raise Unreadable(f"No run is called “{run}”; there are {listed(list(by_run))}.")
    if not run and len(by_run) > 1:
        raise Unreadable(
            f"The file holds {len(by_run)} runs, {listed(list(by_run))}: name one of them, under “Paste it, or "
            "name a run” or by --run."
        )
    run = run or next(iter(by_run), "")
    return run, by_run.get(run, {})


def tag(name):
    """The quantity in one of TensorBoard's files, from its name run-R-tag-T.csv."""
    match = re.search(r"(?:^|[-_])tag-(.+?)(?: ?\(\d+\))?(?:\.csv)?$", name)
    return match[1] if match else re.sub(r"\.csv$", "", name.rpartition("/")[2])


def run_of(name):
    """The run in such a file name, or ""."""
    match = re.match(r"run-(.+?)-tag-", name.rpartition("/")[2])
    return match[1] if match else ""
