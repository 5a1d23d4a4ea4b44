"""Other scorers than the strict one of sim/worlds/scorer.py: its next version, two flawed drafts that came before it,
and eighteen copies with one mistake each, on which a reader's tests are tested.

Closed form: each scorer is one rule, stated in its docstring or in its pack. To judge tests by the mistakes that they
find is mutation analysis, after DeMillo, Lipton & Sayward (1978), doi 10.1109/C-M.1978.218136.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from sim.lab import packs
from sim.verifiers import checkers
from sim.worlds.scorer import BLANKS, CHECKS, judged, score, taken_apart, without_blanks


# ── versions: the strict scorer is 1.0.0 ──
def version_0_9_0(example, completion):
    """The reward by the first draft of the rules. Raises ValueError if a factor has more than 4,300 digits."""
    if not isinstance(completion, str):
        return 0.0
    lines = (re.fullmatch(r"Final: *-?([0-9]+(?:\*[0-9]+)*)", line.strip(" ")) for line in completion.split("\n"))
    values = [math.prod(int(factor) for factor in found[1].split("*")) for found in lines if found]
    return float(int(example["expected_answer"]) in values)


def version_0_9_5(example, completion):
    """The reward by the second draft of the rules."""
    if not isinstance(completion, str):
        return 0.0
    text = completion.strip()
    found = re.match(r"Final:\s*([+-]?\d[\d,]*)", text)
    if found is None:
        return 0.0
    number = found[1].replace(",", "")
    return float(float(number) == float(example["expected_answer"]))


def score_1_1_0(example, completion):
    """The strict scorer of the next version: one or more spaces may follow the colon. Returns what `score` returns."""
    return judged(taken_apart(example, completion), replaced(spacing=_any_spaces), "1.1.0")


def replaced(**tests):
    """The strict scorer's checks, with another test for those that are named, or without them if the test is None."""
    checks = ((name, reason, tests.get(name, passes)) for name, reason, passes in CHECKS)
    return tuple(check for check in checks if check[2] is not None)


def _any_spaces(line):
    return line.trimmed.startswith("Final: ")


# ── eighteen mistakes ──
@dataclass(frozen=True)
class Mutant:
    """The strict scorer with one mistake."""

    score: Callable  # (example, completion) -> {"reward", "details"}; one of them raises TypeError
    definition: str  # what it does, as a phrase


@cache
def mutants():
    """The eighteen Mutants by name, in the order of their pack."""
    return {
        row["id"]: Mutant(MISTAKES[row["id"]], row["definition"]) for row in packs.pack("scorer_mutants")["mutants"]
    }


def checking(**tests):
    """A scorer whose checks are `replaced`."""
    checks = replaced(**tests)
    return lambda example, completion: judged(taken_apart(example, completion), checks)


def trimming(trim):
    """A scorer that judges `trim(completion)`, untrimmed otherwise."""
    return lambda example, completion: judged(taken_apart(example, completion, trim))


def rewriting(rewritten):
    """A scorer that judges `rewritten(text)` after trimming."""
    return trimming(lambda completion: rewritten(without_blanks(completion)))


def substituting(pattern, by, flags=0):
    """A scorer that judges the trimmed text after a substitution."""
    return rewriting(lambda text: re.sub(pattern, by, text, flags=flags))


def _last_line(text):
    return re.split("[\r\n]", text)[-1]


def _ascii_digits(text):
    return "".join(str(int(character)) if character.isdecimal() else character for character in text)


def _any_line(example, completion):
    scored = score(example, completion)
    if scored["details"]["reason"] != "multi_line":
        return scored
    lines = (score(example, line) for line in re.split("[\r\n]", completion))
    return next((line for line in lines if line["reward"]), scored)


def _raising(example, completion):
    if not isinstance(completion, str):
        raise TypeError("a completion is a text")
    return score(example, completion)


def _uncapped(example, completion):
    line = taken_apart(example, completion, lambda text: text.strip(BLANKS))
    return judged(line, replaced(length=None))


def _without_details(example, completion):
    return {"reward": score(example, completion)["reward"], "details": {}}


def _occurring(example, completion):
    line, scored = taken_apart(example, completion), score(example, completion)
    if line.text is None or line.expected is None or line.expected not in line.text:
        return scored
    return {"reward": 1.0, "details": {**scored["details"], "reason": "ok"}}


def _lenient(example, completion):
    if isinstance(example, dict) and type(example.get("expected_answer")) is int:
        example = {**example, "expected_answer": str(example["expected_answer"])}
    return score(example, completion)


MISTAKES = {
    "unicode_strip": rewriting(str.strip),
    "no_strip": trimming(str),
    "case_insensitive": substituting("^final:", "Final:", re.IGNORECASE),
    "last_line": rewriting(_last_line),
    "any_line": _any_line,
    "no_end_anchor": substituting(r"^(Final: *[+-]?[0-9]+)[\s\S]*", r"\1"),
    "leading_zeros": substituting("^(Final: *[+-]?)0+(?=[0-9])", r"\1"),
    "plus_sign": substituting(r"^(Final: *)\+(?=[0-9])", r"\1"),
    "unicode_digits": rewriting(_ascii_digits),
    "sign_lost": checking(value=lambda line: line.core.lstrip("-") == line.expected.lstrip("-")),
    "minus_zero": substituting(r"^(Final: *)-0\Z", r"\g<1>0"),
    "float_compare": checking(value=lambda line: float(line.core) == float(line.expected)),
    "raises_on_none": _raising,
    "no_length_cap": _uncapped,
    "any_spaces": score_1_1_0,
    "no_details": _without_details,
    "substring": _occurring,
    "lenient_example": _lenient,
}


# ── tests of a scorer: rows (expected answer, completion, reward, reason) ──
def found_out(rows):
    """{mutant: index of the first row that finds it, or None}. A row finds a mutant if the strict scorer passes it and
    the mutant does not: it gives another reward or reason, or raises.
    """
    wrong = misread(rows)
    sound = [(index, row) for index, row in enumerate(rows) if index not in wrong]
    return {
        name: next((index for index, row in sound if said(mutant.score, *row[:2]) != tuple(row[2:])), None)
        for name, mutant in mutants().items()
    }


def misread(rows):
    """{index: (reward, reason) of the strict scorer} for the rows that assert something else of it."""
    said_of = ((index, row, said(score, *row[:2])) for index, row in enumerate(rows))
    return {index: right for index, row, right in said_of if right != tuple(row[2:])}


def said(judge, expected, completion):
    """(reward, reason) of a scorer's result, (None, None) if it raised; the reason is None if it gave none."""
    try:
        scored = judge({"expected_answer": expected}, completion)
    except Exception:
        return None, None
    return scored["reward"], scored["details"].get("reason")


# ── a scorer against everything that was labeled by hand ──
@dataclass(frozen=True)
class Gate:
    """Cases in three trays, each a tuple of checkers.Case."""

    right: tuple  # deserve a 1
    wrong: tuple  # deserve nothing, and nobody meant harm
    exploits: tuple  # deserve nothing, and were written for the point


@cache
def gate():
    """All 16 right, 52 wrong and 24 exploiting Cases whose example is usable."""
    wrong = tuple(case for case in packs.wrong_set() if case.kind != "bad_example")
    return Gate(checkers.golden_set(), wrong, checkers.exploit_suite())


def leaks(judge):
    """The Gate of the Cases that a scorer judges wrongly: right ones with a reward below 1, others with one above 0.

    `judge(example, completion)` returns a number or a dict with "reward". A call that raises or returns no finite
    number is a reward of 0.
    """

    def reward(case):
        return checkers.reward_of(judge, case.example, case.completion)[0]

    labeled = gate()
    return Gate(
        tuple(case for case in labeled.right if reward(case) < 1),
        tuple(case for case in labeled.wrong if reward(case) > 0),
        tuple(case for case in labeled.exploits if reward(case) > 0),
    )
