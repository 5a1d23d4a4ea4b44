"""Logs of real runs of TRL 1.16.0, cut to the columns that are read, and what is true of each run.

Truths are those that whoever made the runs wrote down, from the setting and from greedy answers before and after; the
notes of each series stand in tests/data/real_logs/README.md.
"""

import gzip
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from bench import log_formats
from rlpt import logs

FOLDER = Path(__file__).parents[2] / "data" / "real_logs"


@dataclass(frozen=True)
class Truth:
    right: tuple  # names of signs, any of which is right; () where nothing is wrong with the run
    weak: tuple = ()  # that point the right way
    onset: tuple = ()  # the first and the last step at which it may be said to begin


def first(*right, weak=(), last=1):
    return Truth(right, weak, (1, last))


SOUND = Truth(())
PAID = ("hacked",)
TRUTHS = {
    # the first series
    "healthy-page11": SOUND,
    "healthy-defaults": SOUND,
    "rloo-healthy": SOUND,
    "dpo-healthy": SOUND,
    "lr-1e-2": Truth(("step",), onset=(2, 2)),
    "lr-absurd": Truth(("step",), onset=(2, 2)),
    "iterations-no-clip": Truth(("step",), onset=(2, 17)),
    "dead-reward": first("verifier"),
    "cut-short": first("truncation"),
    "grpo-sparse": first("groups"),
    "rloo-sparse": first("groups"),
    "beta-huge": Truth(("penalty",)),
    "hack-length": Truth(PAID, ("length",), (1, 27)),
    # the second: other tasks, sizes and architectures
    "healthy-llama-mod7": SOUND,
    "healthy-rloo-copy": SOUND,
    "healthy-gpt2-b128": SOUND,
    "healthy-length-bonus": SOUND,
    "dpo-copy-healthy": SOUND,
    "lr-4e-3-copy": Truth(("step",), onset=(2, 5)),
    "late-collapse": Truth(("step",), onset=(26, 41)),
    "iterations-8-k4": Truth(("step",), ("groups",), (2, 33)),
    "rloo-k4-b16": Truth(("step",), ("groups",), (8, 12)),
    "kl-grows": Truth(("step",), ("far",), (17, 57)),  # swings from 21 on, above 4 nats a token from 53
    "k4-b16-stuck": Truth(("saturated",)),
    "sparse-gpt2": first("groups"),
    "beta-3-rloo": Truth(("penalty",)),
    "hack-plus": Truth(PAID, ("length", "saturated"), (18, 42)),
    "hack-plus-blind": Truth(("length", "saturated"), ("cut off",)),
    "hack-safe-answer": Truth(PAID),
    "length-cut": Truth(("length", "cut off"), onset=(24, 28)),
    "memorize": Truth(("memorized",)),
    "coin": Truth(("narrower", "drift", "flat")),
    "dpo-lr-2e-2": Truth(("pairs destroyed",), onset=(2, 2)),
    # the third
    "third-healthy-reverse": SOUND,
    "third-healthy-rloo-sums": SOUND,
    "third-dpo": SOUND,
    "third-lr-high-rloo": Truth(("step",), onset=(2, 2)),
    "third-late-collapse": Truth(("step",), onset=(23, 35)),
    "third-iterations": Truth(("step",), onset=(2, 13)),
    "third-hack-lenient": Truth(PAID, ("length",)),
    "third-length": Truth(PAID, ("length",)),
    "third-memorize": Truth(("memorized",)),
    "third-dead": first("verifier"),
    "third-cut": first("truncation"),
    "third-sparse-rloo": first("groups"),
    "third-beta": Truth(("penalty",)),
    "third-coin": Truth(("narrower", "drift", "flat")),
}


def text(name):
    return gzip.decompress((FOLDER / f"{name}.csv.gz").read_bytes()).decode()


@cache
def rows(name):
    """[{column: number}] of a log, the step among them, as it was written."""
    head, *lines = text(name).splitlines()
    names = head.split(",")
    return [{n: float(cell) for n, cell in zip(names, line.split(",")) if cell} for line in lines]


def written(table):
    """A CSV of rows."""
    names = list(dict.fromkeys(["step", *(name for row in table for name in row)]))
    return "\n".join([",".join(names), *(",".join(f"{row[n]!r}" if n in row else "" for n in names) for row in table)])


def read(table):
    return logs.read([("log.csv", [(table if isinstance(table, str) else written(table)).encode()])])


def judged(name, signs, truth=None):
    """“right”, “weak”, “wrong” or “silent” of the names of signs, the first in time first."""
    truth = truth or TRUTHS[name]
    if not truth.right:
        return "wrong" if signs else "right"
    if not signs:
        return "silent"
    return "right" if signs[0] in truth.right else "weak" if signs[0] in truth.weak else "wrong"


def renamed(name, framework):
    """The rows of a log as verl or OpenRLHF would have written them."""
    return log_formats.renamed(rows(name), framework)


def cut(table, names):
    return [{key: value for key, value in row.items() if key == "step" or key not in names} for row in table]


def scaled(table, factor):
    """Every number of a log but its steps times a factor."""
    return [{key: value if key == "step" else value * factor for key, value in row.items()} for row in table]


def left_out(table, seed):
    """A log without some of its columns and rows, at random."""
    rng = np.random.default_rng(seed)
    names = sorted({key for row in table for key in row} - {"step"})
    gone = {name for name in names if rng.random() < rng.choice([0.1, 0.5])}
    return [row for row in cut(table, gone) if rng.random() < 0.8 and len(row) > 1]
