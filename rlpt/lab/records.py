"""Examples and completions from files of JSON Lines, each record checked; not a model.

An example: {"id": "d00", "split": "dev", "prompt": "Compute 17*19.", "expected_answer": "323"}
A completion: {"example_id": "d00", "sample_id": 0, "completion": "Final: 323"}
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from rlpt.logs import too_deep
from sim.lab import packs
from sim.words import counted
from sim.worlds.scorer import CANONICAL, MAX_DIGITS

LINE = 4_000_000  # bytes of a line, at most
NAMED = 10  # ids in a message, at most
DIGITS = 18  # of a whole number, at most
SPLITS = "dev", "holdout"
TEXT, WHOLE = "a text", "a whole number from 0"
EXAMPLE = {"id": TEXT, "split": TEXT, "prompt": TEXT, "expected_answer": TEXT}
COMPLETION = {"example_id": TEXT, "sample_id": WHOLE, "completion": "a text or null"}


class Bad(ValueError):
    """One sentence: the file, the line, what is wrong, and what would be right."""


@dataclass(frozen=True)
class Source:
    """The records of a file, or of the book's pack."""

    name: str  # without its folder
    version: str  # "" of a file
    sha256: str  # of the bytes
    rows: list  # the records as dicts, in their order
    lines: list  # the line of each
    unknown: tuple = ()  # fields that nothing here reads
    settings: dict | None = None  # of sampling, if they are known


# ── lines ──
def records(path, fields):
    """The Source of a file in which each line is an object with these fields. Raises Bad and OSError."""
    data = Path(path).read_bytes()
    rows, lines, unknown = [], [], {}
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            row = record(path, number, line)
            check(path, number, row, fields)
            unknown |= dict.fromkeys(row.keys() - fields)
            rows.append(row)
            lines.append(number)
    if not rows:
        raise Bad(f"{path} has no records, and a rate over nothing is not 0; each line should be one JSON object")
    sha256 = hashlib.sha256(data).hexdigest()
    return Source(Path(path).name, "", sha256, rows, lines, tuple(sorted(unknown)))


def record(path, number, line):
    """One line as a dict."""
    if len(line) > LINE:
        raise Bad(f"{path}:{number}: the line has {len(line):,} bytes, and {LINE:,} are the most")
    if too_deep(line.decode(errors="replace")):
        raise Bad(f"{path}:{number}: nested too deeply; a record is one flat JSON object")
    try:
        row = json.loads(
            line.decode(), object_pairs_hook=once, parse_constant=refused, parse_float=finite, parse_int=whole
        )
    except UnicodeDecodeError as fault:
        raise Bad(f"{path}:{number}: byte {fault.start + 1} is not UTF-8; save the file as UTF-8") from None
    except json.JSONDecodeError as fault:
        raise Bad(f"{path}:{number}: not JSON at column {fault.colno}: {fault.msg}") from None
    except ValueError as fault:
        raise Bad(f"{path}:{number}: {fault}") from None
    if not isinstance(row, dict):
        raise Bad(f"{path}:{number}: a {type(row).__name__} is no record; each line should be one JSON object")
    return row


def once(pairs):
    """An object as a dict, if no key is there twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise ValueError(f"the key {twice[:40]} is there twice; keep one of them")
    return row


def refused(name):
    raise ValueError(f"{name} is no JSON number; write null or a number")


def finite(text):
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:20]} is too large")
    return value


def whole(text):
    if len(text) > DIGITS:
        raise ValueError(f"a whole number has {len(text):,} digits, and {DIGITS} are the most; write it as a text")
    return int(text)


def check(path, number, row, fields):
    """Raises Bad if a field is missing or of another type."""
    for name, kind in fields.items():
        if name not in row:
            raise Bad(f"{path}:{number}: the field {name} is missing; it should be {kind}")
        value = row[name]
        counts = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if (kind == TEXT and not isinstance(value, str)) or (kind == WHOLE and not counts):
            raise Bad(f"{path}:{number}: the field {name} is {json.dumps(value)[:40]}, and it should be {kind}")


def unlike(path, source, key):
    """Raises Bad if two records have the same key."""
    seen = {}
    for row, number in zip(source.rows, source.lines, strict=True):
        known = tuple(row[name] for name in key)
        if known in seen:
            said = " and ".join(f"{name} {value}" for name, value in zip(key, known, strict=True))
            raise Bad(f"{path}:{number}: {said} again, after line {seen[known]}; keep one of them")
        seen[known] = number


# ── what a run reads ──
def examples(path=""):
    """The Source of the examples in a file, or of the Lab's own."""
    if not path:
        return of_pack("examples", packs.pack("examples")["dataset"], "examples", EXAMPLE)
    source = records(path, EXAMPLE)
    unlike(path, source, ["id"])
    for row, number in zip(source.rows, source.lines, strict=True):
        if row["split"] not in SPLITS:
            raise Bad(f"{path}:{number}: the split is {row['split'][:40]!r}, and it should be dev or holdout")
        answer = row["expected_answer"]
        if len(answer) > MAX_DIGITS or not CANONICAL.fullmatch(answer):
            raise Bad(
                f"{path}:{number}: the expected answer {answer[:40]!r} is not a canonical integer such as 323 or -7; "
                "an answer is never mended here"
            )
    return source


def completions(path=""):
    """The same for the completions."""
    if not path:
        pack = packs.pack("frozen_rollouts")
        return of_pack("frozen_rollouts", pack["pack"], "rollouts", COMPLETION, pack["sampling"])
    source = records(path, COMPLETION)
    unlike(path, source, ["example_id", "sample_id"])
    return source


def of_pack(file, name, key, fields, settings=None):
    """A pack's records with the fields that a file would have."""
    pack = packs.pack(file)
    rows = [{field: row[field] for field in fields} for row in pack[key]]
    sha256 = hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
    return Source(name, pack["version"], sha256, rows, [0] * len(rows), settings=settings)


# ── which of them ──
@dataclass(frozen=True)
class Chosen:
    """The prompts of a split with the completions that are scored."""

    split: str
    ids: tuple  # of the samples of each prompt
    prompts: list  # examples
    completions: dict  # {example id: {sample id: record}}
    missing: list = field(default_factory=list)  # (example id, sample id) without a completion


def chosen(given, sampled, split, samples, allow_missing):
    """The Chosen of two Sources. `samples` is a list of ids, or None for all that any prompt has. Raises Bad."""
    of = {row["id"]: {} for row in given.rows}
    strange = list(dict.fromkeys(row["example_id"] for row in sampled.rows if row["example_id"] not in of))
    if strange:
        raise Bad(f"{sampled.name}: no example has the id {listed(strange)}; give the examples that were answered")
    for row in sampled.rows:
        of[row["example_id"]][row["sample_id"]] = row
    prompts = [row for row in given.rows if split in ("all", row["split"])]
    if not prompts:
        raise Bad(f"{given.name}: no example is in the split {split}")
    ids = tuple(samples or sorted({sample for row in prompts for sample in of[row["id"]]}))
    missing = [(row["id"], sample) for row in prompts for sample in ids if sample not in of[row["id"]]]
    if len(missing) == len(prompts) * len(ids):
        raise Bad(f"{sampled.name}: no prompt of the split {split} has a completion with these sample ids")
    if missing and not allow_missing:
        names = list(dict.fromkeys(example for example, _ in missing))
        raise Bad(
            f"{sampled.name}: {counted(len(missing), 'completion')} of {listed(names)} "
            f"{'is' if len(missing) == 1 else 'are'} missing; --allow-missing scores them 0"
        )
    return Chosen(split, ids, prompts, of, missing)


def listed(names):
    """At most ten of them."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(name[:40] for name in names[:NAMED]) + more
