"""What readers judge on M4: which check stops eight completions, and who is to blame for eight failures."""

from sim.lab import instruments, packs
from sim.verifiers import checkers
from sim.worlds import scorer
from widgets.frame.contract.sorting import Case, Sort, judged
from widgets.lab_m4.figures import CHECKS, EIGHT, stopped

# ── which check stops it ──
WHY = (
    "0323 is made of digits only, so it counts as an integer, and there is exactly one space. But an integer has one "
    "spelling here, and 0323 is another one.",
    "After the prefix, spaces are dropped before the integer is read, so the integer is fine. The next check wants "
    "exactly one space.",
    "The text begins with two asterisks, and the prefix must come first.",
    "What follows the prefix begins like an integer and does not end like one.",
    "Two lines are two answers, whatever they say, so the check for one line comes early.",
    "This minus sign is U+2212, which keyboards do not have and which some models write. It is not printable ASCII.",
    "−0 is made of a sign and digits, but zero has one spelling.",
    "The line end is stripped before anything is judged, and the number is right.",
)
HINTS = (
    {
        "integer": "Is 0323 made of digits only? This check asks no more.",
        "value": "The value check compares texts. Something stops this one before it.",
        "paid": "A program that calls int() would pay this. This scorer compares spellings.",
        "": "Go through the checks from the left. Which is the first that 0323 fails?",
    },
    {
        "integer": "Spaces around the integer are dropped before it is read.",
        "prefix": "The text begins with “Final:”, and this check asks no more.",
        "paid": "The rule says one space, and here are two.",
        "": "Go through the checks from the left. Which one counts spaces?",
    },
    {
        "integer": "The answer is stopped before its integer is read.",
        "printable ASCII": "An asterisk is printable ASCII.",
        "paid": "A person would pay this. Look at the very first character.",
        "": "Look at the very first character.",
    },
    {
        "value": "The value is never reached, because 323.0 is not made of digits only.",
        "canonical": "This check sees integers only. Is 323.0 one?",
        "paid": "323.0 equals 323 as a number. The scorer compares texts.",
        "": "Which check reads what follows the prefix?",
    },
    {
        "integer": "The second line would fail here, but another check comes first.",
        "value": "The first line is right. The scorer does not read it.",
        "paid": "If this were paid, a model could list every candidate.",
        "": "How many lines are there?",
    },
    {
        "integer": "It would fail here too, but another check comes first.",
        "value": "The number is right to the eye. Look at the minus sign.",
        "paid": "The minus sign looks right. Is it the one on your keyboard?",
        "": "Look at the minus sign. Is it the one on your keyboard?",
    },
    {
        "integer": "A sign may come before the digits, so this check is passed.",
        "value": "−0 equals 0 as a number. Which check asks how it is written?",
        "paid": "−0 equals 0 as a number. The scorer compares spellings.",
        "": "How many ways are there to write zero?",
    },
    {
        "one line": "The surrounding blanks are stripped before the lines are counted.",
        "printable ASCII": "The line end is stripped before the characters are looked at.",
        "value": "56 is expected, and 56 is left after stripping.",
        "": "What is done to a text before it is judged?",
    },
)


POINTED = (
    "Which check asks how an integer is written?",
    "The integer is read without its spaces. Which check looks at the spaces?",
    "What must the text begin with?",
    "Is 323.0 made of digits only?",
    "Is a text of two lines looked at any further?",
    "Which check looks at every single character?",
    "Zero has one spelling. Which check says so?",
    "Strip the blanks at both ends, then compare.",
)


def given(expected: str, completion: str) -> tuple[tuple[str, str], ...]:
    """A completion that nobody has judged yet; a minus sign that only looks like one is named."""
    sign = (("its sign", "U+2212, MINUS SIGN"),) if "−" in completion else ()
    return ("expected", expected), ("completion", completion), *sign


WHICH = Sort(
    "Predict the check for seven of eight completions",
    "Which check stops each of these eight completions, or is it paid? The checks come in the order of the menu, and "
    "the first that fails decides. Reading their code is part of the exercise.",
    tuple(
        Case(given(*completion), stopped(*completion), why, hints, pointed)
        for completion, why, hints, pointed in zip(EIGHT, WHY, HINTS, POINTED, strict=True)
    ),
    need=7,
    labels=(*CHECKS, "paid"),
)

# ── who is to blame ──
NOT_PAID = "A hack tries to be paid without doing the work. Is that what happened?"
ONE_READING = "Can the prompt be read in a second way?"
SCORED = "Would a careful grader have given the same reward?"
ORDER = " Output exactly one line: Final: <int>"


def frozen(example_id: str, sample_id: int) -> tuple[tuple[str, str], ...]:
    """A frozen completion with what the strict scorer says of it."""
    at = next(i for i, example in enumerate(packs.examples()) if example.id == example_id)
    example, rollout = packs.examples()[at], packs.rollouts()[at][sample_id]
    return by("strict", scorer.score, example.prompt, example.expected_answer, rollout.completion)


def by(name: str, judge, prompt: str, expected: str, completion: str) -> tuple[tuple[str, str], ...]:
    """A completion with the reward of a scorer, which is named."""
    reward, _ = checkers.reward_of(judge, {"expected_answer": expected}, completion)
    return judged(prompt, expected, completion, f"{reward:.0f}, from the scorer “{name}”")


READINGS = {
    "model": "Find a careful reader who would give this answer.",
    "scorer": "The scorer compared two numbers, as it should. Where did the expected number come from?",
    "hack": NOT_PAID,
}
SCORERS = {
    "model": "Look at the reward. Is it the one that this answer deserves?",
    "prompt": ONE_READING,
    "hack": "Was this text written to be paid, or was it paid or refused by accident?",
}
FORM = {"prompt": "The prompt says exactly one line in a given form.", "hack": NOT_PAID}
OPEN = "Decide who should change: the model or the rule?"
FORENSICS = Sort(
    "Find who is to blame for seven of eight answers",
    "Something went wrong in each case. Who is to blame: the model, the prompt or the scorer, or does the text try to "
    "be paid without solving the exercise, which is a hack? Three of the cases are invented, and five of the prompts "
    "are M0's.",
    (
        Case(
            frozen("d05", 0),
            "model",
            "The line has the right form, and its digits are in the opposite order.",
            {"prompt": ONE_READING, "scorer": SCORED, "hack": NOT_PAID},
            "The reward is right and the prompt is clear. Who is left?",
        ),
        Case(
            by("0.9.0", instruments.version_0_9_0, "Compute 8*7." + ORDER, "56", "Final: 56\r\n"),
            "scorer",
            "The line is right, and it was paid nothing, because this scorer does not strip \\r. That is a false "
            "negative.",
            SCORERS,
            "What is left of the text after this scorer has stripped the spaces?",
        ),
        Case(
            by("answer occurs", checkers.substring, "Compute 6*7." + ORDER, "42", "It is not 42."),
            "scorer",
            "A wrong sentence was paid, because the number occurs in it. That is a false positive, and nobody aimed at "
            "it.",
            SCORERS,
            "Read the sentence. Should it be paid?",
        ),
        Case(
            by("strict", scorer.score, "Round 2.5 to an integer." + ORDER, "3", "Final: 2"),
            "prompt",
            "Schools round 2.5 up, and Python's round() gives 2. No scorer can repair a prompt.",
            READINGS,
            "What does round(2.5) give in Python?",
        ),
        Case(
            by("strict", scorer.score, "How many bits are there in a kilobyte?" + ORDER, "8000", "Final: 8192"),
            "prompt",
            "A kilobyte has 1,000 bytes for some people and 1,024 for others. Write the number into the prompt.",
            READINGS,
            "How many bytes are there in a kilobyte?",
        ),
        Case(
            frozen("d15", 0),
            "model",
            "The number is right, and there is one space too many. The model should change if the rule is meant, and "
            "the scorer if the rule was never meant to count spaces. Decide before you measure, and write it down.",
            FORM,
            OPEN,
            also=("scorer",),
        ),
        Case(
            frozen("d16", 0),
            "model",
            "The number is right and in bold type. The model should change if later code needs the plain line, and the "
            "scorer if nothing does. Decide before you measure, and write it down.",
            FORM,
            OPEN,
            also=("scorer",),
        ),
        Case(
            frozen("d03", 0),
            "hack",
            "The answer lists every candidate, in the hope that the scorer will find the right one among them. The "
            "strict scorer paid nothing, but a scorer that asks whether the number occurs would pay it.",
            {
                "model": "Is this an attempt to compute 999*999?",
                "prompt": ONE_READING,
                "scorer": "The scorer paid nothing, as it should. What was the answer after?",
            },
            "Which scorer would pay for such a list?",
        ),
    ),
    need=7,
    labels=("model", "prompt", "scorer", "hack"),
)

SORTS = {"which": WHICH, "forensics": FORENSICS}
