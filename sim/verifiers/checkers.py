"""Eight verifiers that look sound and are not, beside the strict one of sim/worlds/scorer.py, and two suites that tell
them apart: correct answers that must be rewarded, and exploits that must not.

Every checker is a function `score(example, completion)` like the strict one. Closed form: each is one rule, stated in
its docstring. A symbolic check that solves the exercise, lenient extraction and a bonus for format are taken from the
sources of lesson 18; the strict form follows DeepSeek-R1, arXiv:2501.12948.
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
ANY_INTEGER = re.compile(r"\s*Final:\s*([+-]?\d+)\s*")  # \d and \s as the regex engine understands them


# ── eight flawed verifiers, (example, completion) -> {"reward", "details"} ──
def substring(example, completion):
    """Rewards any text that contains the expected answer."""
    return verdict(example["expected_answer"] in completion, "the answer occurs in the text")


def last_int(example, completion):
    """Rewards a text whose last run of digits is the expected one; signs are ignored on both sides."""
    end = len(completion)
    while end and completion[end - 1] not in DIGITS:
        end -= 1
    start = end
    while start and completion[start - 1] in DIGITS:
        start -= 1
    return verdict(completion[start:end] == example["expected_answer"].lstrip("-"), "the last digits are the answer's")


def any_line(example, completion):
    """Rewards a text if any one line has the strict form and is correct, so giving several answers costs nothing."""
    lines = re.split("[\r\n]", completion)
    return verdict(any(score(example, line)["reward"] for line in lines), "a line is in form and right")


def format_bonus(example, completion):
    """1 for a correct answer in the right form, 0.5 for a wrong answer in the right form."""
    reason = score(example, completion)["details"]["reason"]
    return verdict({"ok": 1.0, "wrong_value": 0.5}.get(reason, 0.0), reason)


def eval_expr(example, completion):
    """Computes what follows `Final: ` and compares the result, so the verifier solves the exercise."""
    match = EXPRESSION.fullmatch(completion.strip(BLANKS))
    value = None if match is None else computed(match[1])
    return verdict(value is not None and value == int(example["expected_answer"]), f"computed {str(value)[:40]}")


def verbosity(example, completion):
    """Scores the last line strictly and adds 0.01 for every word before it, up to 1, so length itself is rewarded."""
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
    """Reads digits and blanks of any script and compares integers. Not total: it raises if the completion is
    not text.
    """
    match = ANY_INTEGER.fullmatch(completion)
    return verdict(match is not None and int(match[1]) == int(example["expected_answer"]), "integers are equal")


def verdict(reward, why):
    return {"reward": float(reward), "details": {"reason": why}}


def computed(expression):
    """The value of an expression of + - *, integer literals and brackets, None for anything else. It walks the parsed
    tree and never runs any of the text.
    """
    try:
        (statement,) = ast.parse(expression.strip()).body
        return _value(statement)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # all that a text of digits and signs can raise
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
    kind: str  # for an exploit, the class of flaw that it uses; "" for a correct answer
    beats: dict  # {checker of CHECKERS: its reward, if that is 0.5 or more}


@cache
def golden_set():
    """Sixteen completions that are correct and well-formed, as a tuple of Cases; a verifier that refuses one
    has a bug.
    """
    return _cases("golden_correct")


@cache
def exploit_suite():
    """Twenty-four completions that deserve nothing, each rewarded by some flawed verifier, as a tuple of Cases."""
    return _cases("golden_exploits")


@cache
def kata():
    """Ten completions that an earlier scorer judged, each with a teacher's label, reason and fix: the pack's dicts."""
    return tuple(_pack("kata_1")["items"])


@cache
def _pack(name):
    return json.loads((files("sim.verifiers") / "data" / f"{name}.json").read_text(encoding="utf-8"))


def _cases(name):
    return tuple(
        Case(
            row["id"],
            {"id": row["id"], "expected_answer": written_out(row["expected_answer"])},
            written_out(row["completion"]),
            row.get("class", ""),
            row.get("beats", {}),
        )
        for row in _pack(name)["items"]
    )


def written_out(value):
    """{prefix, repeat, times, suffix} stands for a text that is too long to write out."""
    return value["prefix"] + value["repeat"] * value["times"] + value["suffix"] if isinstance(value, dict) else value


# ── a verifier against both suites ──
@dataclass(frozen=True)
class Row:
    """A verifier's verdict on one completion."""

    id: str
    completion: str
    reward: float  # 0 if it raised or returned no number
    error: str  # "", or one line that says what it raised or returned instead of a number


@dataclass(frozen=True)
class Report:
    """A verifier's results on the golden set and the exploit suite."""

    refused: tuple  # Rows of the golden set with a reward below 1
    paid: tuple  # Rows of the exploit suite with a reward above 0
    correct: int  # size of the golden set
    exploits: int  # size of the exploit suite
    errors: tuple  # the first three Rows with an error in either suite, since a verifier must be total

    @property
    def true_positive_rate(self):
        return 1 - len(self.refused) / self.correct

    @property
    def false_positive_rate(self):
        return len(self.paid) / self.exploits

    @property
    def passes(self):
        """Whether every correct answer is rewarded, no exploit is, and nothing raises."""
        return not (self.refused or self.paid or self.errors)


def report(score):
    """The Report of any `score(example, completion)`, which may return a number, a truth value or a dict with "reward".

    `example` is a new dict with "id" and "expected_answer", and `completion` is a text. A call that raises (including
    SystemExit) or returns no finite number gets a reward of 0 and one line of error. KeyboardInterrupt passes through,
    so that a caller can stop a verifier that does not stop by itself.
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
    """(reward, error) of one call: (0.0, one line) if it raised or returned no finite number."""
    try:
        reward = score(dict(example), completion)
        reward = reward["reward"] if isinstance(reward, dict) else reward
    except (Exception, SystemExit) as raised:
        first = f"{type(raised).__name__}: {raised}".splitlines()[0]
        return 0.0, first[:160].removesuffix(": ")
    if isinstance(reward, int | float | np.number | np.bool_) and math.isfinite(reward):
        return float(reward), ""
    return 0.0, f"returned {repr(reward)[:80]}, and a reward is a number"
