"""The scenes of M4: nineteen scorers before five tests, eight completions before eleven checks, and five scorers before
three trays of labeled cases.
"""

from sim.lab import instruments, packs
from sim.verifiers import checkers
from sim.words import plural
from sim.worlds import scorer
from widgets.frame.drawing import gates, scene
from widgets.frame.drawing.marks import Panel
from widgets.frame.drawing.small_figures import Figure, Time

# ── nineteen scorers, five tests ──
FIVE = (  # tests that most people would write first: (expected, completion, reward, reason)
    ("323", "Final: 323", 1.0, "ok"),
    ("323", "Final: 324", 0.0, "wrong_value"),
    ("323", "The answer is 323.", 0.0, "no_prefix"),
    ("323", "Final: 323.", 0.0, "extra_text"),
    ("323", "Final: 323\n", 1.0, "ok"),
)
TESTS = ("a correct line", "off by one", "a sentence", "a full stop", "a trailing newline")
DOES = {  # what each mistaken scorer does, in a few words
    "unicode_strip": "strips blanks of every script",
    "no_strip": "strips nothing",
    "case_insensitive": "accepts “final:” in any case",
    "last_line": "reads the last line only",
    "any_line": "pays if any line is right",
    "no_end_anchor": "ignores what follows the integer",
    "leading_zeros": "drops leading zeros",
    "plus_sign": "accepts a plus sign",
    "unicode_digits": "accepts digits of every script",
    "sign_lost": "compares without signs",
    "minus_zero": "accepts −0 as 0",
    "float_compare": "compares as 64-bit floats",
    "raises_on_none": "crashes if the completion is no string",
    "no_length_cap": "reads texts of any length",
    "any_spaces": "accepts several spaces",
    "no_details": "gives no reason",
    "substring": "pays if the number occurs",
    "lenient_example": "accepts a number as expected answer",
}
SOUND = 12  # place of the right scorer among the nineteen, counted from 1


def scorers() -> list[gates.Row]:
    """The nineteen scorers by number: the test that finds each of them out, and what it does."""
    found = instruments.found_out(FIVE)
    rows = [(at, DOES[name]) for name, at in found.items()]
    rows.insert(SOUND - 1, (None, ""))
    return [
        gates.Row(str(i), "", len(TESTS) if at is None else at, "" if at is None else does)
        for i, (at, does) in enumerate(rows, 1)
    ]


def nineteen(asked: int) -> list[Panel]:
    """The scorers after so many tests."""
    rows = scorers()
    out = sum(row.stop < asked for row in rows)
    alt = f"Nineteen scorers after {asked} of five tests: {out} caught, {len(rows) - out} passing so far."
    drawing = gates.view("n", alt, TESTS, rows, asked, heads=("scorer", "", "passes all"))
    return [scene.scene("Nineteen scorers, five tests", "a thread ends at the test that fails", drawing)]


def passed(asked: int) -> str:
    rows = scorers()
    out = sum(row.stop < asked for row in rows)
    if asked < len(TESTS):
        return f"{out} of 19 scorers {plural(out, 'has', 'have')} failed a test."
    return f"{out} of 19 scorers have failed a test. Of the {len(rows) - out} that pass all five, one is right."


# ── eight completions, eleven checks ──
EIGHT = (  # (expected, completion)
    ("323", "Final: 0323"),
    ("323", "Final:  323"),
    ("323", "**Final: 323**"),
    ("323", "Final: 323.0"),
    ("323", "Final: 323\nFinal: 324"),
    ("-14", "Final: −14"),
    ("0", "Final: -0"),
    ("56", "Final: 56\r\n"),
)
CHECKS = tuple(name.replace("_", " ").replace("ascii", "ASCII") for name, _, _ in scorer.CHECKS)


def stopped(expected: str, completion: str) -> str:
    """The name of the check that stops a completion; "paid" if none does."""
    checks = scorer.score({"expected_answer": expected}, completion)["details"]["checks"]
    name, passes = checks[-1]
    return "paid" if passes else name.replace("_", " ").replace("ascii", "ASCII")


def eight(asked: int) -> list[Panel]:
    rows = [
        gates.Row(expected, completion, [*CHECKS, "paid"].index(stopped(expected, completion)), "")
        for expected, completion in EIGHT
    ]
    out = sum(row.stop < asked for row in rows)
    alt = f"Eight completions after {asked} of eleven checks: {out} stopped."
    return [
        scene.scene(
            "Eight completions",
            "␣ is a space, ↵ a line feed, ⏎ a carriage return",
            gates.view("e", alt, CHECKS, rows, asked),
        )
    ]


# ── five scorers, three trays ──
FIVE_SCORERS = {
    "strict": scorer.score,
    "strips nothing": instruments.mutants()["no_strip"].score,
    "version 0.9.0": instruments.version_0_9_0,
    "version 0.9.5": instruments.version_0_9_5,
    "answer occurs": checkers.substring,
}


def misjudged(name: str) -> tuple[int, int, int]:
    """How many of 16 right, 52 wrong and 24 exploiting cases a scorer judges wrongly."""
    leaks = instruments.leaks(FIVE_SCORERS[name])
    return len(leaks.right), len(leaks.wrong), len(leaks.exploits)


def flipped() -> list[str]:
    """The completions that 1.1.0 judges otherwise than 1.0.0, as "d15#0"."""
    return [
        f"{example.id}#{rollout.sample_id}"
        for example, row in zip(packs.examples(), packs.rollouts(), strict=True)
        for rollout in row
        for answer in [{"expected_answer": example.expected_answer}]
        if scorer.score(answer, rollout.completion)["reward"]
        != instruments.score_1_1_0(answer, rollout.completion)["reward"]
    ]


FIGURES = {
    "nineteen": Figure(
        nineteen,
        instruments.found_out,
        None,
        passed,
        Time(
            "tests",
            tuple(range(len(TESTS) + 1)),
            ("no test yet", *(f"test {i} of 5: {name}" for i, name in enumerate(TESTS, 1))),
            start=len(TESTS),
            ticks={0: "start", 5: "five"},
            milliseconds=900,
        ),
    ),
    "eight": Figure(
        eight,
        scorer.score,
        None,
        None,
        Time(
            "checks",
            tuple(range(len(CHECKS) + 1)),
            ("no check yet", *CHECKS),
            ticks={0: "start", 11: "value"},
            milliseconds=500,
        ),
        stills=((0, 11),),
    ),
}
