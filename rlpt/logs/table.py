"""Columns by name, filled row by row, and what is said of whatever is left out. A parser and not a model."""

from array import array
from collections import Counter
from dataclasses import dataclass, field

from rlpt import metric_names
from sim import words

VALUES = 8_000_000  # the most values kept, 16 bytes each
OTHERS = 1_000_000  # the most values in columns that no table names
COLUMNS, LINE = 5_000, 4_000_000  # the most names, and characters in a line
HUGE = 1e100  # larger numbers count as infinite
READABLE = (
    "What can be read: what TRL prints, its trainer_state.json or a notebook's table of it; the console or JSONL of "
    "verl, OpenRLHF, NeMo RL, prime-rl, ms-swift or LLaMA-Factory; a CSV with a column of steps."
)


class Unreadable(ValueError):
    """One sentence that says what was found and what can be read."""


def listed(names, most=6):
    """Names for use in a sentence, shortened."""
    shown = [f"“{name[:40]}”" for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


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
    program: str = ""  # whose log it is, where the format says so
    unit: str = "step"  # “row” where steps are not printed and rows were counted instead

    @property
    def framework(self):
        return self.program or metric_names.framework(self.columns)


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
            self.notes["Left out because there are too many: {} numbers in columns that no framework names."] += 1
        return column.wanted

    def cut(self, step):
        for column in self.columns.values():
            while column.steps and column.steps[-1] >= step:
                column.steps.pop()
                column.values.pop()
                self.kept -= 1
            if column.trailing and column.since >= step:
                column.trailing = 0

    def log(self, format, notes=(), **of_log):
        """The Log; further fields of it by name."""
        if not any(column.steps for column in self.columns.values()):
            raise Unreadable(f"This looks like {format}, but it holds no numbers. {READABLE}")
        most = max(len(column.steps) for column in self.columns.values())
        if len(self.back) > max(20, self.rows // 20) or (len(self.back) > 3 and most < self.rows / 4):
            raise Unreadable(
                f"Steps go back {len(self.back):,} times in {self.rows:,} rows: sort the rows by step, and keep one "
                "run per file."
            )
        said = [
            f"The run was resumed: steps go back from {before:g} to {step:g}, and the rows written afterwards are kept."
            for before, step in self.back[:3]
        ]
        said += [f"Steps go back {len(self.back) - 3} more times."] if len(self.back) > 3 else []
        if self.repeated:
            said.append(f"Steps that repeat: {words.counted(self.repeated, 'number')} replaced by a later one.")
        if gone := {name: column.left_out for name, column in self.columns.items() if column.left_out}:
            left = words.counted(sum(gone.values()), "number")
            said.append(f"Left out, because they are NaN, null or infinite: {left}, of {listed(list(gone))}.")
        said += [note.format(f"{count:,}") for note, count in self.notes.items()]
        columns = {name: column for name, column in self.columns.items() if column.steps or column.left_out}
        return Log(format, columns, self.rows, [*notes, *said], **of_log)
