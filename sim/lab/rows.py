"""Tests that somebody wrote for a scorer, as rows (expected answer, completion, reward, reason): are they rows at all?

This is a parser of Python values and not a model. What the rows find is in sim/lab/instruments.py.
"""

from sim.worlds.scorer import CHECKS

LONGEST = 20_000  # characters of a text: twice what the correct scorer reads
REASONS = (*dict.fromkeys(reason for _, reason, _ in CHECKS), "extra_text", "ok")


def read(value, most):
    """The rows with each reward as a float. Raises ValueError with one sentence about the first value that is none."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"it returned {repr(value)[:60]}, and it should return a list of rows")
    if len(value) > most:
        raise ValueError(f"it returned {len(value):,} rows, and {most:,} are the most")
    return [checked(number, row) for number, row in enumerate(value, 1)]


def checked(number, row):
    """One row. Raises ValueError."""
    if not isinstance(row, list | tuple) or len(row) != 4:
        raise ValueError(
            f"row {number} is {repr(row)[:60]}, and a row is (expected answer, completion, reward, reason)"
        )
    expected, completion, reward, reason = row
    for what, value in (("expected answer", expected), ("completion", completion)):
        if type(value) not in (str, int, float, bool, type(None)):
            kind = type(value).__name__
            raise ValueError(f"the {what} in row {number} is of type {kind}, and it should be a text, a number or None")
        if (isinstance(value, str) and len(value) > LONGEST) or (isinstance(value, int) and abs(value) > 10**300):
            raise ValueError(f"the {what} in row {number} is too long: the limit here is {LONGEST:,} characters")
    if isinstance(reward, bool) or reward not in (0, 1):
        raise ValueError(f"the reward in row {number} is {repr(reward)[:30]}, and it should be 0.0 or 1.0")
    if reason not in REASONS:
        raise ValueError(f"the reason in row {number} is {repr(reason)[:30]}, and no check gives that reason")
    return expected, completion, float(reward), reason
