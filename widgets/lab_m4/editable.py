"""Tests that the reader writes for a scorer, tested on the correct scorer and on eighteen with one mistake each."""

from sim.lab import instruments, rows
from widgets.frame.contract.exercises import Goal, Shown, Table
from widgets.lab_m4.figures import DOES

ID, NAMED = "cases", "Tests of a scorer"
MOST, SMALL = 25, 14  # rows at most, and of a small set
CHARS = 40  # of a completion in a table


def cases():
    """Tests of a scorer, at most 25: (expected answer, completion, reward, reason)."""
    return [
        ("323", "Final: 323", 1.0, "ok"),
        ("323", "Final: 324", 0.0, "wrong_value"),
        ("323", "The answer is 323.", 0.0, "no_prefix"),
        ("323", "Final: 323.", 0.0, "extra_text"),
        ("323", "Final: 323\n", 1.0, "ok"),
    ]


EDITED = cases


def RETURNS(value):
    """At most 25 rows of four."""
    return rows.read(value, MOST)


def called(function):
    """(number of rows, {mistaken scorer: index of the row that finds it or None}, {index of a row that the correct
    scorer fails: what that says}, the rows).
    """
    written = tuple(function())
    return len(written), instruments.found_out(written), instruments.misread(written), written


def found(called):
    """How many of the eighteen are found out."""
    return sum(at is not None for at in called[1].values())


GOALS = (
    Goal("Find fourteen of the eighteen mistakes", lambda called: found(called) >= SMALL),
    Goal("Find all eighteen", lambda called: found(called) == 18),
    Goal("Find all eighteen with at most fourteen rows", lambda called: found(called) == 18 and called[0] <= SMALL),
)
HINTS = (
    "Each row reaches one check and tests the checks before it. For each check, write a text that fails exactly there.",
    "A completion need not be a string, and neither need an expected answer. What about 10,001 characters, a number "
    "above 2^53, and blanks that are not ASCII?",
    """def cases():
    return [
        ("7", "final: 7", 0.0, "no_prefix"),
        ("7", "Final: +7", 0.0, "non_canonical_int"),
        ("0", "Final: -0", 0.0, "non_canonical_int"),
        ("7", "Final: 07", 0.0, "non_canonical_int"),
        ("7", "Final: 7" + " " * 10_000, 0.0, "too_long"),
        ("7", "Final:  7", 0.0, "bad_spacing"),
        (7, "Final: 7", 0.0, "bad_example"),
        ("7", None, 0.0, "not_text"),
        ("7", "Final: 8\\nFinal: 7", 0.0, "multi_line"),
        ("7", "Final: 7\\u2028", 0.0, "forbidden_char"),
        ("7", "Final: 7\\n", 1.0, "ok"),
        ("7", "Final: \\u0667", 0.0, "forbidden_char"),
        ("7", "Final: -7", 0.0, "wrong_value"),
        ("9007199254740993", "Final: 9007199254740992", 0.0, "wrong_value"),
    ]
""",
)


def shown(called):
    """Who was found out by which row, who survives, and which rows the correct scorer fails."""
    many, out, misread, written = called
    caught = tuple((f"row {at + 1}", DOES[name]) for name, at in out.items() if at is not None)
    left = tuple(("not found", DOES[name]) for name, at in out.items() if at is None)
    wrong = tuple(
        (f"row {at + 1}", short(written[at][1]), f"{reward:g}, {reason}") for at, (reward, reason) in misread.items()
    )
    return Shown(
        said(many, len(caught), len(wrong)),
        (
            Table(f"Mistakes that your rows find: {len(caught)} of 18", ("found by", "the scorer"), caught),
            Table(f"Mistakes not yet found: {len(left)}", ("state", "the scorer"), left),
            Table(
                f"Rows that the correct scorer fails, which do not count: {len(wrong)}",
                ("row", "completion", "the correct scorer says"),
                wrong,
            ),
        ),
    )


def said(many, caught, wrong):
    fails = f" The correct scorer fails {wrong} of them, so fix these first." if wrong else ""
    return f"{many} {'row finds' if many == 1 else 'rows find'} {caught} of 18 mistakes.{fails}"


def short(value):
    written = ascii(value)
    return written if len(written) <= CHARS else f"{written[:CHARS]} …"
