"""The verifier: compares one completion with the expected answer and says why it passed or failed. It never solves,
converts or guesses.

A legal completion is one line, `Final: <int>`, up to blanks around it; the integer has one spelling, and is compared as
text: int() raises above 4,300 digits and JSON numbers above 2^53 change on the way. Closed form: eleven checks in a
fixed order, the first that fails names the reason. The same design, an exact match behind a strict format, as the
rule-based rewards of DeepSeek-R1, arXiv:2501.12948.

The contract: deterministic; total (an answer for any object, none of whose own methods is called); pure; at most some
milliseconds for 10 MB.
"""

import re
from dataclasses import dataclass

SPEC = "1.0.0"  # the version of these rules, which a run writes beside its rewards
MAX_CHARS = 10_000  # ten times the longest legal line: time is part of the contract
MAX_DIGITS = 1_000
BLANKS = " \t\r\n"  # spelled out: str.strip() alone also removes some twenty Unicode blanks

CANONICAL = re.compile("0|-?[1-9][0-9]*")  # one integer, one spelling; \d would let other scripts' digits pass
INTEGER = re.compile("[+-]?[0-9]+")
PRINTABLE = re.compile("[ -~]*")


def score(example, completion):
    """{"reward": 1.0 or 0.0, "details": why} of one completion, and by which version of the rules.

    `example` is a dict with "expected_answer", a canonical integer as text; `completion` is the text after any thinking
    was taken out.
    """
    line = _taken_apart(example, completion)
    checks, failed, parsed = [], "ok", None
    for name, reason, passes in CHECKS:
        passed = passes(line)
        checks.append([name, passed])
        if not passed:
            failed = "extra_text" if name == "integer" and INTEGER.match(line.core) else reason
            break
        if name == "integer":
            parsed = line.core
    offending = []
    if failed == "forbidden_char":
        offending = [{"at": at, "code": f"U+{ord(c):04X}"} for at, c in enumerate(line.trimmed) if not " " <= c <= "~"]
    return {
        "reward": 1.0 if failed == "ok" else 0.0,
        "details": {
            "spec": SPEC,
            "reason": failed,
            "parsed": parsed,
            "expected": line.expected,
            "n_chars": None if line.text is None else len(line.text),
            "normalized": ascii(line.trimmed[:80]),  # ascii: a lone surrogate cannot be written to a file
            "offending": offending[:5],  # places in the trimmed text
            "checks": checks,
        },
    }


def outcome(reason, finished):
    """The reason in four words for a chart: ok, wrong_answer, bad_format, truncated. A missing end cannot be seen in
    the text.
    """
    if not finished:
        return "truncated"
    return {"ok": "ok", "wrong_value": "wrong_answer"}.get(reason, "bad_format")


@dataclass(frozen=True)
class Line:
    """A completion taken apart, before anything is judged."""

    expected: str | None  # None: the example is not usable
    text: str | None  # None: the completion is no text
    trimmed: str  # without the blanks around it; cut behind the length limit, where nothing is read any more
    core: str  # what stands where the integer should


CHECKS = (  # (name, reason when it fails, does it pass); each may rely on those above it
    ("example", "bad_example", lambda line: line.expected is not None),
    ("text", "not_text", lambda line: line.text is not None),
    ("length", "too_long", lambda line: len(line.text) <= MAX_CHARS),
    ("not_empty", "empty", lambda line: line.trimmed != ""),
    ("one_line", "multi_line", lambda line: "\r" not in line.trimmed and "\n" not in line.trimmed),
    ("printable_ascii", "forbidden_char", lambda line: PRINTABLE.fullmatch(line.trimmed) is not None),
    ("prefix", "no_prefix", lambda line: line.trimmed.startswith("Final:")),
    ("integer", "bad_int", lambda line: INTEGER.fullmatch(line.core) is not None),
    ("spacing", "bad_spacing", lambda line: line.trimmed == "Final: " + line.core),
    ("canonical", "non_canonical_int", lambda line: CANONICAL.fullmatch(line.core) is not None),
    ("value", "wrong_value", lambda line: line.core == line.expected),
)


def _taken_apart(example, completion):
    text = _plain(completion)
    # cut first: trimming 10 MB of blanks takes 0.1 s
    trimmed = "" if text is None else text[: MAX_CHARS + 1].strip(BLANKS)
    expected = None
    if issubclass(type(example), dict):
        # by items: looking a key up would call __eq__ of a foreign key with the same hash
        expected = next(
            (_plain(value) for key, value in dict.items(example) if type(key) is str and key == "expected_answer"), None
        )
    if expected is not None and not (len(expected) <= MAX_DIGITS and CANONICAL.fullmatch(expected)):
        expected = None
    return Line(expected, text, trimmed, trimmed[len("Final:") :].strip(" "))


def _plain(value):
    """A text as an exact str, None for anything else. Not isinstance: that believes an object which only says it is a
    str.
    """
    return str.__str__(value) if issubclass(type(value), str) else None
