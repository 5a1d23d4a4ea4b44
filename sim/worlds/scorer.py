"""The verifier: it compares one completion with the expected answer and says why it passed or failed. It never solves,
converts or guesses.

A legal completion is one line, `Final: <int>`, possibly surrounded by blanks. The integer has exactly one spelling and
is compared as text, because int() raises an error above 4,300 digits and JSON numbers above 2^53 change in transit.
Closed form: eleven checks in a fixed order, and the first that fails names the reason. The rule-based rewards of
DeepSeek-R1, arXiv:2501.12948, have the same design: an exact match behind a strict format.

The contract: deterministic; total (it answers for any object and calls none of the object's own methods); pure; at most
a few milliseconds for 10 MB.
"""

import re
from dataclasses import dataclass

SPEC = "1.0.0"  # the version of these rules, which a run stores with its rewards
MAX_CHARS = 10_000  # ten times the longest legal line, because time is part of the contract
MAX_DIGITS = 1_000
BLANKS = " \t\r\n"  # spelled out because str.strip() alone also removes some twenty Unicode blanks

CANONICAL = re.compile("0|-?[1-9][0-9]*")  # one spelling per integer; \d would also accept the digits of other scripts
INTEGER = re.compile("[+-]?[0-9]+")
PRINTABLE = re.compile("[ -~]*")


def score(example, completion):
    """{"reward": 1.0 or 0.0, "details": why, and under which version of the rules} for one completion.

    `example` is a dict with "expected_answer", a canonical integer as text; `completion` is the text after any thinking
    has been removed.
    """
    return judged(taken_apart(example, completion))


def outcome(reason, finished):
    """The reason as one of four words for a chart: ok, wrong_answer, bad_format, truncated. The text alone cannot show
    that the end is missing.
    """
    if not finished:
        return "truncated"
    return {"ok": "ok", "wrong_value": "wrong_answer"}.get(reason, "bad_format")


@dataclass(frozen=True)
class Line:
    """A completion taken apart, before anything is judged."""

    expected: str | None  # None if the example is unusable
    text: str | None  # None if the completion is not text
    trimmed: str  # without surrounding blanks, and cut off at the length limit, beyond which nothing is read
    core: str  # the text where the integer should be


CHECKS = (  # (name, reason for failing, test); each check may rely on those above it
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


def judged(line, checks=CHECKS, spec=SPEC):
    """What `score` returns for a Line under the given checks. Other rules are this function with a check replaced, and
    `spec` is the version that they go by.
    """
    asked, failed, parsed = [], "ok", None
    for name, reason, passes in checks:
        passed = passes(line)
        asked.append([name, passed])
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
            "spec": spec,
            "reason": failed,
            "parsed": parsed,
            "expected": line.expected,
            "n_chars": None if line.text is None else len(line.text),
            "normalized": ascii(line.trimmed[:80]),  # ASCII only, because a lone surrogate cannot be written to a file
            "offending": offending[:5],  # positions in the trimmed text
            "checks": asked,
        },
    }


def without_blanks(text):
    """The text without surrounding blanks, and cut off at the length limit."""
    return text[: MAX_CHARS + 1].strip(BLANKS)  # cut first, because trimming 10 MB of blanks takes 0.1 s


def taken_apart(example, completion, trim=without_blanks):
    """The Line of a completion. `trim(text)` is the part of the text that is judged."""
    text = _plain(completion)
    trimmed = "" if text is None else trim(text)
    expected = None
    if issubclass(type(example), dict):
        # through items(), because a lookup would call __eq__ of a foreign key with the same hash
        expected = next(
            (_plain(value) for key, value in dict.items(example) if type(key) is str and key == "expected_answer"), None
        )
    if expected is not None and not (len(expected) <= MAX_DIGITS and CANONICAL.fullmatch(expected)):
        expected = None
    return Line(expected, text, trimmed, trimmed[len("Final:") :].strip(" "))


def _plain(value):
    """A text as an exact str, None for anything else. isinstance would not do, because it believes an object that only
    claims to be a str.
    """
    return str.__str__(value) if issubclass(type(value), str) else None
