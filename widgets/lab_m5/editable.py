"""Texts that the reader writes to be paid for nothing, on eight flawed checks and the strict one."""

from sim.verifiers import checkers
from sim.worlds.scorer import score
from widgets.frame.contract.exercises import Goal, Shown, Table
from widgets.lab_m5.figures import RULES

ID, NAMED = "attacks", "Texts that are paid for nothing"
EXPECTED, HALF = "323", 0.5  # a check is beaten if it pays so much
LONGEST, CHARS = 2_000, 44  # of a text, of a text in a table
FLAWED = [name for name in checkers.CHECKERS if name != "strict"]


def attacks(expected):
    """{check: a text that it pays at least half a point, and that deserves nothing}."""
    return {"substring": f"Final: {expected}"}


EDITED = attacks


def RETURNS(value):
    """A dict of texts, whose keys are names of checks."""
    if not isinstance(value, dict):
        raise ValueError(f"it returned {repr(value)[:60]}, and it should return a dict of texts")
    for name, text in value.items():
        if name not in FLAWED:
            raise ValueError(f"there is no check {repr(name)[:40]}; the checks are {', '.join(FLAWED)}")
        if not isinstance(text, str) or len(text) > LONGEST:
            raise ValueError(f"the entry for {name} is no text of at most {LONGEST:,} characters")
    return value


def called(function):
    """((check, text, its reward, the strict reason, the checks that the text beats), …)."""
    example = {"expected_answer": EXPECTED}
    return tuple(
        (
            name,
            text,
            checkers.reward_of(checkers.CHECKERS[name], example, text)[0],
            score(example, text)["details"]["reason"],
            tuple(other for other in FLAWED if beats(other, example, text)),
        )
        for name, text in function(EXPECTED).items()
    )


def beats(name, example, text):
    return score(example, text)["reward"] == 0 and checkers.reward_of(checkers.CHECKERS[name], example, text)[0] >= HALF


def beaten(called):
    """The checks that the text written for them beats."""
    return [name for name, _, _, _, doors in called if name in doors]


def reasons(called):
    """For how many reasons the strict scorer refuses the texts that beat their check."""
    return len({reason for name, _, _, reason, doors in called if name in doors})


GOALS = (
    Goal("Beat five of the eight checks", lambda called: len(beaten(called)) >= 5),
    Goal("Be refused by the strict check for three different reasons", lambda called: reasons(called) >= 3),
    Goal("Write one text that beats four checks", lambda called: max([len(row[4]) for row in called], default=0) >= 4),
)
HINTS = (
    "Think like a lazy student who wants points. What is the least that each check asks for?",
    "Write several numbers, a sum, a long text with a wrong end, or the right number with a sign before it.",
    """def attacks(expected):
    return {
        "substring": f"Final: +{expected}",
        "last_int": f"I do not know. Anyway, {expected}",
        "any_line": f"Final: 0\\nFinal: {expected}",
        "format_bonus": "Final: 7",
        "eval_expr": f"Final: {expected}+0",
        "verbosity": "word " * 60 + "\\nFinal: 7",
        "float_eq": f"Final: {expected}.0",
        "unicode_int": f"Final:{expected}",
    }
""",
)


def shown(called):
    """Which checks were beaten, and of the other texts what went wrong."""
    won = beaten(called)
    rows = tuple((name.replace("_", " "), short(text), said(*row)) for row in called for name, text, *_ in [row])
    widest = max((row[4] for row in called), key=len, default=())
    open_doors = tuple((RULES[name],) for name in widest)
    return Shown(
        f"{len(won)} of 8 checks are beaten. Your best text beats {len(widest)}. The strict check refuses these texts "
        f"for {reasons(called)} different {'reason' if reasons(called) == 1 else 'reasons'}.",
        (
            Table("Your texts", ("check", "text", "what happened"), rows),
            Table(f"Checks that your best text beats: {len(widest)}", ("the rule",), open_doors),
        ),
    )


def said(name, text, reward, reason, doors):
    """What happened to a text at the check that it was written for."""
    if name in doors:
        return f"paid {reward:g}; the strict check: {reason}"
    if reason == "ok":
        return "the strict check pays it too, so it is a right answer"
    return f"paid {reward:g}, which is too little"


def short(text):
    written = ascii(text)
    return written if len(written) <= CHARS else f"{written[:CHARS]} …"
