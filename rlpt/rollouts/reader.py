"""Which format a file of completions has, by its content, and one Read for all files of a run. A parser, no model."""

import codecs
import csv
import re

from rlpt import logs
from rlpt.logs.reader import encoding
from rlpt.logs.spelled import decoded
from rlpt.logs.table import Unreadable
from rlpt.rollouts import cells, nemo_rl, open_instruct, other, parquet, swift, trl, verl
from rlpt.rollouts.shown import on_a_line
from rlpt.rollouts.table import COLUMNS, Limit, Table
from sim import words

READABLE = (
    "What can be read: the completions of TRL, verl, NeMo RL, ms-swift or open-instruct, and JSON lines, CSV or "
    "parquet with a prompt and a completion in each row."
)
FORMATS = (verl, nemo_rl, swift, open_instruct, trl)
PAGE = Limit(completions=200_000, size=50_000_000)  # what a page reads at most; a terminal has no limit
LINE = 60_000_000  # the most characters of a line; NeMo RL writes 44 of them per token
NAME = re.compile(r"[\w ./@#()%:+-]{1,80}")  # of a column
SENTENCE = 1_000  # characters of one that holds names from a file
PROSE = 200_000  # characters after which a file that has shown no row is given up


class Reader:
    """One file: takes its bytes in pieces by `feed`, and adds its rows to a Table. Holds one line at a time. `named`
    says which column is the step, prompt, completion, reward or advantage, if names do not tell.
    """

    def __init__(self, name, table, named=()):
        self.name, self.table, self.named = name, table, dict(named)
        self.start, self.decoder = b"", None
        self.whole, self.held = None, 0  # pieces of a parquet file or of a list in JSON, which are held, and their size
        self.rest, self.size = [], 0  # pieces of a line, and their characters
        self.take, self.format, self.roles = None, None, None  # how a line is read, whose rows they are
        self.lines, self.faulty, self.notes, self.step = 0, 0, [], None
        self.header, self.delimiter = [], ""  # of a CSV
        self.open, self.inside = [], False  # the lines of a row so far, and whether a cell goes on after them
        self.head = ""  # the beginning, while no row was found

    def feed(self, piece):
        if self.decoder is None and self.whole is None:
            self.start += piece
            if len(self.start) < 64:
                return
            piece, self.start = self.start, b""
            self.begin(piece)
        if self.decoder is None:
            self.whole.append(piece)
        else:
            self.text(self.decoder.decode(piece))

    def begin(self, piece):
        if piece.startswith(parquet.MAGIC):
            self.whole = []
        else:
            self.decoder = codecs.getincrementaldecoder(encoding(piece, READABLE))(errors="replace")

    def text(self, text):
        if self.format is None and len(self.head) < PROSE:
            self.head += text[:PROSE]
        *lines, rest = text.split("\n")
        if lines:
            lines[0] = "".join([*self.rest, lines[0]])
            self.rest, self.size = [], 0
            for line in lines:
                self.line(line.rstrip("\r"))
        self.rest.append(rest)
        self.size += len(rest)
        if self.size > PROSE and self.take is None and self.head.lstrip()[:1] not in ("{", "["):
            self.none()
        if self.size > LINE:
            raise Unreadable(f"A line has more than {LINE:,} characters, which no row of completions has.")

    def line(self, line, ended=True):
        self.lines += 1
        if self.take is None:
            if not line.strip():
                return
            self.take = self.chosen(line)
        self.take(line, ended)

    def chosen(self, line):
        """What reads the lines of a file with this first line."""
        begin = line.lstrip()
        if begin.startswith("{"):
            return self.json_line
        if re.match(r"\[\s*(\{|$)", begin):
            return self.list_line
        self.delimiter = max(",;\t", key=line.count)
        names = [cell.strip(' "') for cell in line.split(self.delimiter)]
        columns = len(names) > 1 and all(NAME.fullmatch(name) for name in names)
        return self.csv_line if columns else self.prose_line

    def json_line(self, line, ended):
        if not line.strip():
            return
        try:
            record = decoded(line)
        except ValueError:
            record = None
            if not ended:
                self.notes.append(f"{self.name} ends within line {self.lines:,}, which is left out.")
                return
        if not (isinstance(record, dict) and self.record(record)):
            self.faulty += 1

    def list_line(self, line, ended):
        """One list of rows in JSON, over any number of lines."""
        self.whole = self.whole or []
        self.whole.append(line)
        self.held += len(line)
        if self.held > LINE:
            raise Unreadable(f"The list has more than {LINE:,} characters: write one row per line.")

    def csv_line(self, line, ended):
        self.open.append(line)
        self.held += len(line)
        self.inside ^= line.count('"') % 2 == 1
        if self.inside and self.held <= LINE:
            return
        try:
            found = next(csv.reader(["\n".join(self.open)], delimiter=self.delimiter), [])
        except csv.Error:
            found = ["too long for a cell"]
        self.open, self.held = [], 0
        if not self.header:
            self.header = [cell.strip() for cell in found]
        elif len(found) == len(self.header):
            self.faulty += not self.record(dict(zip(self.header, found)), spelled_out=True)
        else:
            self.faulty += bool(found)

    def prose_line(self, line, ended):
        if len(self.head) >= PROSE:
            self.none()

    def record(self, record, spelled_out=False):
        """Adds the rows of a record, and returns whether there are any."""
        if len(record) > COLUMNS:
            raise Unreadable(f"A row has {len(record):,} columns, and {COLUMNS:,} are the most.")
        if self.format is None:
            self.recognize(record, spelled_out)
        if self.format is other:
            if not {self.roles[role] for role in other.NEEDED} <= record.keys():
                return False
            rows = list(other.rows(record, self.name, self.roles, spelled_out))
        elif not self.format.fits(record):
            return False
        else:
            rows = list(self.format.rows(record, self.name))
        if self.format is swift and rows and swift.whole(record):
            before, self.step = self.step, rows[0].step
            if not self.table.begin(self.step, self.name, before):
                return True
        for row in rows:
            self.table.add(row, self.name)
        return bool(rows)

    def recognize(self, record, spelled_out):
        found = None if self.named or spelled_out else next((each for each in FORMATS if each.fits(record)), None)
        if found is None:
            try:
                self.roles = other.roles(list(record), self.named)
            except Unreadable:
                texts = [
                    name
                    for name, value in record.items()
                    if isinstance(value, str) and cells.number(value, True) is None
                ]
                if len(texts) < 2:
                    self.log()
                raise
        self.format = found or other
        columns = found.COLUMNS if found else {column: role for role, column in self.roles.items()}
        roles = {column: role for column, role in columns.items() if column in record}
        self.table.expect(self.name, self.format, roles, list(record))
        self.head = ""

    def log(self):
        """Raises if the beginning of the file is a log of averages."""
        try:
            log = logs.read([(self.name, [self.head.encode(errors="replace")])])
        except Unreadable:
            return
        raise Unreadable(f"This is a log of averages ({log.format}). Open it in Diagnose a run.")

    def none(self):
        self.log()
        raise Unreadable(f"No completion was found in {words.counted(max(self.lines, 1), 'line')}. {READABLE}")

    def close(self):
        if self.start:
            self.begin(self.start)
            if self.decoder is None:
                self.whole.append(self.start)
            else:
                self.text(self.decoder.decode(self.start))
        if self.decoder is None:
            if self.whole is None:
                raise Unreadable("The file is empty.")
            for record in parquet.records(b"".join(self.whole)):
                self.faulty += not self.record(record)
        else:
            self.text(self.decoder.decode(b"", True))
            if last := "".join(self.rest):
                self.line(last.rstrip("\r"), ended=False)
            if self.whole is not None:
                self.of_list("\n".join(self.whole))
            if self.open:
                raise Unreadable("A quotation mark is never closed, so the rest of the file is one cell.")
        if self.format is None:
            if self.take is None and self.decoder is not None:
                raise Unreadable("The file is empty.")
            self.none()
        if self.faulty:
            self.notes.append(f"{self.name}: lines that are no row, left out: {self.faulty:,}.")
        self.table.faults += self.notes

    def of_list(self, text):
        try:
            found = decoded(text)
        except ValueError:
            self.none()
        for record in found:
            self.faulty += not (isinstance(record, dict) and self.record(record))


class Files:
    """The files of one run, one after another. Of several, those that cannot be read are left out."""

    def __init__(self, named=(), step=None, limit=None):
        self.table, self.named = Table(step, limit), named
        self.names, self.faults = [], {}  # of all files; {number of a file: why it is left out}
        self.same = {}  # {a name: how many files have had it}

    def opened(self, name):
        """The Reader of the next file, to be used by `tried`. Files from different folders may have the same name."""
        count = self.same[name] = self.same.get(name, 0) + 1
        self.names.append(f"{name} ({count})" if count > 1 else name)
        return Reader(self.names[-1], self.table, self.named)

    def tried(self, step, *data):
        """Takes a step with the file that was opened last, and returns whether the file can be read so far."""
        now = len(self.names) - 1
        if now not in self.faults:
            try:
                step(*data)
            except Unreadable as fault:
                fault.args = (on_a_line(str(fault), SENTENCE),)
                self.faults[now] = fault
                self.table.forget(self.names[now])
        return now not in self.faults

    def read(self):
        faults = list(self.faults.values())
        if not self.names:
            raise Unreadable("No file was given.")
        if len(faults) == len(self.names):
            unnamed = next((fault for fault in faults if isinstance(fault, other.Unnamed)), None)
            several = Unreadable(f"None of the {len(faults):,} files can be read. The first: {faults[0]}")
            raise unnamed or (several if len(faults) > 1 else faults[0])
        return self.table.read({self.names[n]: str(fault) for n, fault in self.faults.items()})


def read(files, named=(), step=None, limit=None):
    """The Read for [(name, pieces of its bytes)]."""
    run = Files(named, step, limit)
    for name, pieces in sorted(files, key=lambda file: in_order(file[0])):
        reader = run.opened(name)
        if all(run.tried(reader.feed, piece) for piece in pieces):
            run.tried(reader.close)
    return run.read()


def in_order(name):
    """A key that sorts 9.jsonl before 10.jsonl."""
    return [(int(part), "") if part.isdigit() and len(part) < 12 else (-1, part) for part in re.split(r"(\d+)", name)]
