"""Eight verifiers that look sound and are not, beside the strict one of sim/worlds/scorer.py, and the two suites that
tell them apart: right answers that must be paid, exploits that must not.

Every checker is `score(example, completion)` as the strict one is. Closed form: each is one rule, which its docstring
says. A symbolic check that solves the exercise, lenient extraction and a bonus for format: sources of lesson 18, and
DeepSeek-R1, arXiv:2501.12948, for the strict form.
"""

import ast
import json
import math
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from sim.worlds.scorer import BLANKS, score

DIGITS = "0123456789"
EXPRESSION = re.compile(r"Final: ([0-9+\-*() ]+)")
FLOAT = re.compile(r"Final: ([-+0-9.eE]+)")
ANY_INTEGER = re.compile(r"\s*Final:\s*([+-]?\d+)\s*")  # \d and \s as the regex engine means them


# ── eight flawed verifiers, (example, completion) -> {"reward", "details"} ──
def substring(example, completion):
    """Pays where the expected answer stands anywhere in the text."""
    return verdict(example["expected_answer"] in completion, "the answer occurs in the text")


def last_int(example, completion):
    """Pays where the last run of digits is the expected one; signs are ignored on both sides."""
    end = len(completion)
    while end and completion[end - 1] not in DIGITS:
        end -= 1
    start = end
    while start and completion[start - 1] in DIGITS:
        start -= 1
    return verdict(completion[start:end] == example["expected_answer"].lstrip("-"), "the last digits are the answer's")


def any_line(example, completion):
    """Pays where any one line is in the strict form and right: several answers cost nothing."""
    lines = re.split("[\r\n]", completion)
    return verdict(any(score(example, line)["reward"] for line in lines), "a line is in form and right")


def format_bonus(example, completion):
    """1 for right and in form, 0.5 for in form and wrong."""
    reason = score(example, completion)["details"]["reason"]
    return verdict({"ok": 1.0, "wrong_value": 0.5}.get(reason, 0.0), reason)


def eval_expr(example, completion):
    """Computes what stands behind `Final: ` and compares the result: the simulator solves the exercise."""
    match = EXPRESSION.fullmatch(completion.strip(BLANKS))
    value = None if match is None else computed(match[1])
    return verdict(value is not None and value == int(example["expected_answer"]), f"computed {str(value)[:40]}")


def verbosity(example, completion):
    """Scores the last line strictly and adds 0.01 for every word before it, at most 1: length is paid for itself."""
    *before, last = completion.strip(BLANKS).split("\n")
    words = sum(len(line.split()) for line in before)
    return verdict(score(example, last)["reward"] + min(1.0, 0.01 * words), f"{words} words before the last line")


def float_eq(example, completion):
    """Compares as 64-bit floats: neighbors above 2^53 collide, and infinity equals infinity."""
    match = FLOAT.fullmatch(completion.strip(BLANKS))
    try:
        return verdict(match is not None and float(match[1]) == float(example["expected_answer"]), "floats are equal")
    except ValueError:
        return verdict(False, "no float")


def unicode_int(example, completion):
    """Reads digits and blanks of any script and compares integers. Not total: it raises for what is no text."""
    match = ANY_INTEGER.fullmatch(completion)
    return verdict(match is not None and int(match[1]) == int(example["expected_answer"]), "integers are equal")


def verdict(reward, why):
    return {"reward": float(reward), "details": {"reason": why}}


def computed(expression):
    """The integer that + - * of integer literals and brackets come to, None for anything else. Walks the parsed tree:
    nothing of the text is ever run.
    """
    try:
        (statement,) = ast.parse(expression.strip()).body
        return _value(statement)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # all that a hostile text of digits and signs raises
        return None


def _value(node):
    match node:
        case ast.Expr(value=expression):
            return _value(expression)
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left) - _value(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left) * _value(right)
    raise ValueError("only + - * of integers are computed")


CHECKERS = {
    "strict": score,
    "substring": substring,
    "last_int": last_int,
    "any_line": any_line,
    "format_bonus": format_bonus,
    "eval_expr": eval_expr,
    "verbosity": verbosity,
    "float_eq": float_eq,
    "unicode_int": unicode_int,
}


# ── the suites ──
@dataclass(frozen=True)
class Case:
    """One row of a suite."""

    id: str
    example: dict  # {"expected_answer": a canonical integer as text}
    completion: str
    kind: str  # of an exploit, what class of flaw it uses; "" of a right answer
    beats: dict  # {checker of CHECKERS: what it pays, where that is 0.5 or more}


@cache
def golden_set():
    """Sixteen completions that are right and in form: a verifier that refuses one has a bug. A tuple of Cases."""
    return _cases("golden_correct")


@cache
def exploit_suite():
    """Twenty-four completions that deserve nothing, each paid by a flawed verifier. A tuple of Cases."""
    return _cases("golden_exploits")


@cache
def kata():
    """Ten completions that an earlier scorer paid, each with a teacher's label, reason and fix: dicts of the pack."""
    return tuple(_pack("kata_1")["items"])


@cache
def _pack(name):
    return json.loads((files("sim.verifiers") / "data" / f"{name}.json").read_text(encoding="utf-8"))


def _cases(name):
    return tuple(
        Case(
            row["id"],
            {"id": row["id"], "expected_answer": _long(row["expected_answer"])},
            _long(row["completion"]),
            row.get("class", ""),
            row.get("beats", {}),
        )
        for row in _pack(name)["items"]
    )


def _long(value):
    """{prefix, repeat, times, suffix} stands for a text too long to write out."""
    return value["prefix"] + value["repeat"] * value["times"] + value["suffix"] if isinstance(value, dict) else value


# ── a verifier against both suites ──
@dataclass(frozen=True)
class Row:
    """What a verifier made of one completion."""

    id: str
    completion: str
    reward: float  # 0 where it raised or returned no number
    error: str  # "", or one line: what it raised, or what it returned instead of a number


@dataclass(frozen=True)
class Report:
    """A verifier on the golden set and the exploit suite."""

    refused: tuple  # Rows of the golden set that were paid less than 1
    paid: tuple  # Rows of the exploit suite that were paid more than 0
    correct: int  # rows of the golden set
    exploits: int  # rows of the exploit suite
    errors: tuple  # the first three Rows with an error, of both suites: a verifier is total

    @property
    def true_positive_rate(self):
        return 1 - len(self.refused) / self.correct

    @property
    def false_positive_rate(self):
        return len(self.paid) / self.exploits

    @property
    def passes(self):
        """Every right answer is paid, no exploit is, and nothing raises."""
        return not (self.refused or self.paid or self.errors)


def report(score):
    """The Report of any `score(example, completion)`, which may return a number, a truth value or a dict with "reward".

    `example` is a new dict with "id" and "expected_answer", `completion` a text. What raises, SystemExit included, or
    returns no finite number is paid 0 and keeps its one line of error; KeyboardInterrupt goes through, so that a caller
    can end a verifier that does not end itself.
    """
    golden, exploits = ([row(score, case) for case in suite()] for suite in (golden_set, exploit_suite))
    return Report(
        tuple(r for r in golden if r.reward < 1),
        tuple(r for r in exploits if r.reward > 0),
        len(golden),
        len(exploits),
        tuple(r for r in golden + exploits if r.error)[:3],
    )


def row(score, case):
    """The Row of one Case."""
    reward, error = reward_of(score, case.example, case.completion)
    return Row(case.id, case.completion, reward, error)


def reward_of(score, example, completion):
    """(reward, error) of one call: (0.0, one line) where it raised or returned no finite number."""
    try:
        reward = score(dict(example), completion)
        reward = reward["reward"] if isinstance(reward, dict) else reward
    except (Exception, SystemExit) as raised:
        first = f"{type(raised).__name__}: {raised}".splitlines()[0]
        return 0.0, first[:160].removesuffix(": ")
    if isinstance(reward, int | float | np.number | np.bool_) and math.isfinite(reward):
        return float(reward), ""
    return 0.0, f"returned {repr(reward)[:80]}, and a reward is a number"
