"""Readers of the logs that a training run leaves behind: bytes in, piece by piece, and columns of numbers out.

A parser and not a model. It reads TRL's `trainer_state.json` or its `log_history`; CSV from Weights & Biases (a run's
history, or a chart) and from TensorBoard; verl's and OpenRLHF's console, verl's JSONL and its dumped rollouts. The
format is detected from the content. Whatever is left out is counted and reported in `Log.notes`.
"""

import codecs
import csv
import json
import re
from array import array
from collections import Counter
from dataclasses import dataclass, field

from rlpt import metric_names
from sim import words

LIMIT = 50_000_000  # the most bytes in all files together
VALUES = 8_000_000  # the most values kept, 16 bytes each
OTHERS = 1_000_000  # the most values in columns that no table names
COLUMNS, LINE = 5_000, 4_000_000  # the most names, and characters in a line
HUGE, LAST = 1e100, 1e15  # larger numbers count as infinite, larger steps are ignored
csv.field_size_limit(LINE)  # a completion may exceed Python's limit of 131,072 characters


class Unreadable(ValueError):
    """One sentence that says what was found and what can be read."""


READABLE = (
    "What can be read: TRL's trainer_state.json, a CSV of Weights & Biases or TensorBoard, the console or JSONL of "
    "verl, the console of OpenRLHF."
)


ROLLOUTS = "verl's dumped rollouts"


@dataclass
class Column:
    steps: array = field(default_factory=lambda: array("d"))
    values: array = field(default_factory=lambda: array("d"))
    left_out: int = 0  # count of NaN and infinite values
    since: float | None = None  # the step after which all its values are such
    trailing: int = 0  # how many these are
    wanted: bool = False  # by a table or by the caller: kept, however many values it has


@dataclass
class Log:
    format: str
    columns: dict  # {name: Column}
    lines: int = 0  # rows with numbers
    notes: list = field(default_factory=list)
    counted: bool = True  # whether a step of this log is an update; Weights & Biases counts its own calls
    run: str = ""  # the name of the run in the file

    @property
    def framework(self):
        return metric_names.framework(self.columns)


class Table:
    """Columns by name, filled row by row; if the step goes back, all later values are dropped."""

    def __init__(self, wanted=()):
        self.columns, self.wanted = {}, set(wanted)
        self.rows, self.last, self.back, self.kept, self.others = 0, None, [], 0, 0
        self.notes, self.repeated = Counter(), 0

    def add(self, step, pairs):
        """Adds a row: its step, and (name, number or NaN) for each entry."""
        if self.last is not None and step < self.last:
            self.back.append((self.last, step))
            self.cut(step)
        self.last = step
        self.rows += 1
        for name, value in pairs:
            column = self.columns.get(name)
            if column is None:
                if len(self.columns) >= COLUMNS:
                    raise Unreadable(f"More than {COLUMNS:,} columns, which no log of one run has.")
                wanted = name in self.wanted or bool(metric_names.known(name))
                column = self.columns[name] = Column(wanted=wanted)
            if abs(value) < HUGE:
                column.trailing = 0
                self.put(column, step, value)
            else:
                column.since = column.since if column.trailing else step
                column.left_out += 1
                column.trailing += 1

    def put(self, column, step, value):
        if self.kept >= OTHERS and not self.room(column):
            return
        steps = column.steps
        if steps and steps[-1] == step:
            self.repeated += column.wanted and column.values[-1] != value
            column.values[-1] = value
            return
        steps.append(step)
        column.values.append(value)
        self.kept += 1

    def room(self, column):
        if self.kept >= VALUES:
            raise Unreadable(f"More than {VALUES:,} numbers: export fewer columns, or one run at a time.")
        if not column.wanted:
            self.notes["Numbers of columns that no framework names, left out for their number: {}."] += 1
        return column.wanted

    def cut(self, step):
        for column in self.columns.values():
            while column.steps and column.steps[-1] >= step:
                column.steps.pop()
                column.values.pop()
                self.kept -= 1
            if column.trailing and column.since >= step:
                column.trailing = 0

    def log(self, format, notes=(), counted=True, run=""):
        if not any(column.steps for column in self.columns.values()):
            raise Unreadable(f"This looks like {format}, and holds no number. {READABLE}")
        most = max(len(column.steps) for column in self.columns.values())
        if len(self.back) > max(20, self.rows // 20) or (len(self.back) > 3 and most < self.rows / 4):
            raise Unreadable(
                f"Steps go back {len(self.back):,} times in {self.rows:,} rows: sort the rows by step, one run a file."
            )
        said = [
            f"Resumed: steps go back from {before:g} to {step:g}; the later rows are kept."
            for before, step in self.back[:3]
        ]
        said += [f"Steps go back {len(self.back) - 3} more times."] if len(self.back) > 3 else []
        if self.repeated:
            said.append(f"Steps that repeat: {words.counted(self.repeated, 'number')} replaced by a later one.")
        if gone := {name: column.left_out for name, column in self.columns.items() if column.left_out}:
            left = words.counted(sum(gone.values()), "number")
            said.append(f"Left out, because they are NaN, null or infinite: {left}, of {listed(list(gone))}.")
        said += [note.format(f"{count:,}") for note, count in self.notes.items()]
        return Log(
            format,
            {n: c for n, c in self.columns.items() if c.steps or c.left_out},
            self.rows,
            [*notes, *said],
            counted,
            run,
        )


NUMBER = re.compile(  # np.float64(0.5), tensor(0.5, device='cuda:0')
    r"(?:(?:np|numpy|torch)\.\w+\(|tensor\()\s*([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:,[^)]*)?\)?$"
)
NOT_A_NUMBER = re.compile(r"(?:np\.\w+\()?[-+]?(?:nan|inf|infinity|null|none)\)?$", re.IGNORECASE)


THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+,\d*$")  # 1.234,5 with a decimal comma


def number(text, comma=False):
    """The number that a text spells; NaN for a text such as "nan" or "null", None for a word or nothing."""
    if comma and text.count(",") == 1:
        text = (text.replace(".", "") if THOUSANDS.match(text.strip()) else text).replace(",", ".")
    try:
        return float(text)
    except ValueError:
        text = text.strip().strip('"')
        if found := NUMBER.match(text):
            return float(found[1])
        return float("nan") if NOT_A_NUMBER.match(text) else None


def value(found):
    """The same for a value from JSON."""
    if found is None:
        return float("nan")
    if isinstance(found, bool):
        return None
    if isinstance(found, (int, float)):
        return float(found)
    return number(found) if isinstance(found, str) and len(found) < 40 else None


def numbers(pairs):
    return [(name, got) for name, each in pairs if (got := value(each)) is not None]


def step_of(found):
    """The step of a row, or None if it is not a number that could be one."""
    step = value(found)
    return step if step is not None and abs(step) < LAST else None


DECODER = json.JSONDecoder(parse_int=float)  # for any number of digits
DEEPEST = 100  # nested brackets: thousands of them kill a page's Python before it can raise
STRING, BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL), re.compile(r"[\[{\]}]")


def too_deep(text):
    """Whether brackets are nested more than DEEPEST deep; those in strings, which a policy may write, don't count."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    opened = 0
    for bracket in BRACKET.findall(STRING.sub("", text)):
        opened += 1 if bracket in "[{" else -1
        if opened > DEEPEST:
            return True
    return False


def decoded(text):
    """The content of a JSON text; raises a ValueError if it is not JSON."""
    if too_deep(text):
        raise ValueError("nested too deep")
    try:
        return DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


# ── one class per format ──
class Console:
    """verl's `step:1 - name:value - …` after any prefix from Ray, and OpenRLHF's `Global step 1: {…}`; all other lines
    are skipped.
    """

    VERL = re.compile(r"\bstep:(\d+) - ")
    OPENRLHF = re.compile(r"[Gg]lobal[ _]step (\d+)(?:, eval_metrics)?: \{(.*)")
    ITEM = re.compile(r"'([^']+)': ((?:[\w.]+\()?[-+]?[\w.][^,'}]*)")
    COLOR = re.compile(r"\x1b\[[0-9;]*m")
    GOES_ON = re.compile(  # a line broken by a window: the end of a name and its number, and more pairs
        r"(?:\(\w+ pid=[^)]*\) )?(?:(?:\S* )?- (?!\S*\.py:)[\w@.-]+(?:/[\w@.-]+)+:[-+\d.n]|[\w@/-]*:[-+\d.e]+\s*$)"
    )
    TRL = re.compile(r"\{'.*'(?:epoch|reward_std|completions/mean_length)': ")

    def __init__(self, wanted):
        self.table, self.format, self.names, self.passed = Table(wanted), "", set(), 0
        self.notes, self.after, self.split, self.trl = [], None, [], 0  # steps: of the last row, of rows in two lines

    def line(self, text, ended=True):
        *whole, rest = text.split("\r")  # a progress bar rewrites its line
        for each in whole:
            self.each(each, True)
        self.each(rest, ended)

    def each(self, text, ended):
        after, self.after = self.after, None
        if after is not None and not self.VERL.search(text) and self.GOES_ON.match(self.COLOR.sub("", text)):
            self.split.append(after)
        self.trl += bool(self.TRL.search(text))
        if "tep" not in text:
            self.passed += 1
            return
        text = self.COLOR.sub("", text)
        if found := self.VERL.search(text):
            self.take("verl's console", int(found[1]), list(self.of_verl(text[found.end() :])), ended)
        elif found := self.OPENRLHF.search(text):
            closed = "}" in found[2]
            self.take("OpenRLHF's console", int(found[1]), list(self.of_openrlhf(found[2])), ended or closed, closed)
        else:
            self.passed += 1

    def of_verl(self, text):
        for part in text.split(" - "):
            name, _, spelled = part.rpartition(":")
            if name and (got := number(spelled)) is not None:
                yield name.strip(), got

    def of_openrlhf(self, text):
        for name, spelled in self.ITEM.findall(text):
            if (got := number(spelled)) is not None:
                yield name, got

    def take(self, format, step, pairs, ended, whole=True):
        self.format = self.format or format
        names = {name for name, _ in pairs}
        if ended and not whole:
            self.split.append(step)
            return
        if not ended and not (whole and names >= self.names):
            self.notes.append(f"The file ends within the row of step {step}, which is left out.")
            return
        self.names = self.names & names if self.names else names
        self.table.add(step, pairs)
        self.after = step if format.startswith("verl") else None

    def log(self):
        if len(self.split) > self.table.rows / 2:
            raise Unreadable(
                f"The row of step {self.split[0]} goes on in the next line, as in a text that was copied off a window: "
                "bring the file that the console was written to, where a row is one line."
            )
        if self.split:
            self.notes.append(f"Rows that go on in the next line, whose rest is left out: {len(self.split):,}.")
        if not self.format and self.trl:
            raise Unreadable(
                "This is what TRL prints, which has no steps: bring trainer_state.json, which is in each of its "
                "checkpoint folders."
            )
        if not self.format:
            raise Unreadable(f"No row of a log was found in {words.counted(self.passed, 'line')}. {READABLE}")
        return self.table.log(self.format, self.notes)


class JsonLines:
    """verl's `{"step", "data"}` per line, its dumped rollouts, and flat objects with a step."""

    def __init__(self, wanted):
        self.table, self.format, self.notes, self.faulty, self.count = Table(wanted), "", [], 0, 0
        self.groups, self.step = {}, None  # for rollouts: {prompt: [lowest score, highest score, count]}

    def line(self, text, ended=True):
        if not (text := text.strip()):
            return
        self.count += 1
        try:
            row = decoded(text)
        except ValueError:
            if ended:
                self.faulty += 1
            else:
                self.notes.append(f"The file ends within line {self.count:,}, which is left out.")
            return
        self.faulty += not (isinstance(row, dict) and self.row(row))

    def row(self, row):
        """Reads a row and returns whether it is one."""
        if isinstance(row.get("data"), dict) and (step := step_of(row.get("step"))) is not None:
            self.format = self.format or "verl's JSONL"
            self.table.add(step, numbers(row["data"].items()))
        elif {"input", "score", "step"} <= row.keys():
            self.format = self.format or ROLLOUTS
            return self.rollout(row)
        elif name := next((each for each in metric_names.STEPS if step_of(row.get(each)) is not None), None):
            self.format = self.format or "JSONL"
            self.table.add(step_of(row[name]), numbers((n, v) for n, v in row.items() if n != name))
        else:
            return False
        return True

    def rollout(self, row):
        step, score = step_of(row["step"]), value(row["score"])
        if step is None or score is None:
            return False
        if step != self.step:
            self.settle()
            self.step = step
        group = self.groups.setdefault(hash(row["input"]) if isinstance(row["input"], str) else 0, [score, score, 0])
        group[:] = min(group[0], score), max(group[1], score), group[2] + 1
        return True

    def settle(self):
        """Adds the share of a step's groups whose completions all have the same score."""
        if groups := [group for group in self.groups.values() if group[2] > 1]:
            share = sum(most - least < 1e-9 for least, most, _ in groups) / len(groups)
            self.table.add(self.step, [("rollouts/zero_variance", share)])
        self.groups = {}

    def log(self):
        self.settle()
        if not self.format:
            raise Unreadable(f"No row with a step was found in {words.counted(self.count, 'line')}. {READABLE}")
        if self.faulty:
            self.notes.append(f"Lines that are no row of a log, left out: {self.faulty:,}.")
        return self.table.log(self.format, self.notes)


class JsonDocument:
    """TRL's trainer_state.json, or only its log_history: one object after another, as they arrive."""

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
                raise Unreadable(f"A JSON file without log_history in its first {LINE:,} characters. {READABLE}")
            return
        if too_deep(self.text):
            raise Unreadable(f"A row is nested too deep: this is no log_history. {READABLE}")
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
                raise Unreadable(f"A row is nested too deep: this is no log_history. {READABLE}") from None
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

    def log(self):
        if not self.inside:
            raise Unreadable(f"A JSON file without log_history. {READABLE}")
        if not self.done:
            rows = words.counted(self.table.rows, "row")
            self.notes.append(f"Its log_history ends too early, or cannot be read further, after {rows}.")
        if self.stepless:
            self.notes.append(f"Rows without a step, left out: {self.stepless:,}.")
        if not self.table.rows:
            raise Unreadable(f"Its log_history has no row with a step. {READABLE}")
        return self.table.log("TRL's log_history", self.notes)


class Separated:
    """A table whose first line names its columns: from TensorBoard, a chart of Weights & Biases, or a run's history."""

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
            raise Unreadable("This is a table of runs, one row a run: open one run and export its history or a chart.")
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
                raise Unreadable("A quotation mark is never closed: this is no CSV that can be read.")
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
                f"“{cell[:40]}” in the column “{name[:40]}” has a comma that may be a decimal one or one of thousands: "
                "write numbers with a point, and without separators."
            )
        self.words += 1
        self.word = self.word or f"“{cell[:40]}” in the column “{name[:40]}”"

    def log(self):
        if self.narrow:
            self.notes.append(
                f"Rows without a step, or wider or narrower than the first line, left out: {self.narrow:,}."
            )
        if not self.table.rows:
            width = f": a row has {self.width} cells, and the first line {len(self.header)}" if self.width else ""
            raise Unreadable(f"The first line names {listed(self.header)}, and no row below it can be read{width}.")
        if self.words:
            self.notes.append(f"No number, left out: {words.counted(self.words, 'cell')}, such as {self.word}.")
        return self.table.log(self.format, self.notes, self.counted, self.run)


def listed(names, most=6):
    """Names for use in a sentence, shortened."""
    shown = [f"“{name[:40]}”" for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


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


# ── which format it is ──
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
            raise Unreadable(f"Larger than {LIMIT // 1_000_000} MB: export fewer columns, or cut the log.")
        if self.decoder is None:
            self.decoder = codecs.getincrementaldecoder(encoding(piece))(errors="replace")
        self.text(self.decoder.decode(piece))

    def text(self, text):
        """Reads whole lines, and keeps the rest until more text follows."""
        self.rest += text
        if isinstance(self.read, JsonDocument):
            self.read.feed(self.rest)
            self.rest = ""
            return
        *lines, self.rest = self.rest.split("\n")
        for n, line in enumerate(lines):
            self.line(line.rstrip("\r"))
            if isinstance(self.read, JsonDocument):
                self.rest = "\n".join([*lines[n + 1 :], self.rest])
                self.read.feed(self.rest)
                self.rest = ""
                return
        if self.read is None and len(self.rest) > 200_000 and self.rest.lstrip()[:1] in ("{", "["):
            self.read = JsonDocument(self.wanted)  # all on one line
            self.text("")
        elif len(self.rest) > LINE:
            raise Unreadable(f"A line of more than {LINE:,} characters. {READABLE}")

    def line(self, line, ended=True):
        if self.read is None:
            if not line.strip():
                return
            self.read = self.chosen(line)
            if isinstance(self.read, Separated):
                return
            if isinstance(self.read, JsonDocument):
                self.read.feed(line)
                return
        self.read.line(line, ended)

    def chosen(self, line):
        """The reader for a file with this first line."""
        begin = line.lstrip()
        if begin.startswith("{") and complete(begin) and "log_history" not in begin:
            return JsonLines(self.wanted)
        if begin.strip() == "[" or re.match(r"\[?\{(?!')", begin):
            return JsonDocument(self.wanted)
        delimiter = max(",;\t", key=line.count)
        if heads(line, delimiter):
            return Separated(line, delimiter, self.name, self.wanted, self.run)
        if line.count(delimiter) >= 1 and all(number(cell) is not None for cell in line.split(delimiter)):
            raise Unreadable("The first line holds numbers only: the line that names the columns is missing.")
        return Console(self.wanted)

    def close(self):
        if self.decoder is None:
            raise Unreadable("The file is empty.")
        self.text(self.decoder.decode(b"", True))
        if isinstance(self.read, JsonDocument):
            self.read.feed(self.rest)
        elif self.rest:
            self.line(self.rest.rstrip("\r"), ended=False)
        if self.read is None:
            raise Unreadable("The file is empty.")
        return self.read.log()


def encoding(piece):
    if piece[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if len(piece) > 8 and not any(piece[1:64:2]) and all(piece[:64:2]):
        return "utf-16-le"  # from Windows, without a byte order mark
    if piece[:2] == b"\x1f\x8b" or piece[:4] == b"PK\x03\x04":
        raise Unreadable("The file is compressed: unpack it first.")
    if b"\0" in piece[:1000]:
        raise Unreadable(f"The file is binary. {READABLE} TensorBoard's event files are exported as CSV by its page.")
    return "utf-8-sig"


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
    names = [cell for cell in cells if re.fullmatch(r"[\w./@:-]{1,80}", cell) and number(cell) is None]
    return len(names) == len(cells) and any("/" in name or metric_names.known(name) for name in names)


def joined(logs):
    """One Log for several files of the same run."""
    if len(logs) == 1:
        return logs[0]
    if len(runs := list(dict.fromkeys(log.run for log in logs if log.run))) > 1:
        raise Unreadable(f"The files are of {len(runs)} runs, {listed(runs)}: bring those of one run at a time.")
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
    counted = all(log.counted for log in logs)
    return Log(" and ".join(formats), columns, max(log.lines for log in logs), notes, counted, "".join(runs))


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
