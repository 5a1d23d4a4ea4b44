"""What readers judge on M4: which check stops eight completions, and who is to blame for eight failures."""

from sim.lab import packs
from sim.verifiers import checkers
from sim.worlds import scorer
from widgets.frame.contract.sorting import Case, Sort
from widgets.lab_m4.figures import CHECKS, EIGHT, stopped

# ── which check stops it ──
WHY = (
    "0323 is a run of digits, so it counts as an integer, and there is exactly one space. But an integer has one "
    "spelling "
    "here, and 0323 is another one.",
    "After the prefix, spaces are dropped before the integer is read, so the integer is fine. The next check wants "
    "exactly "
    "one space.",
    "The text begins with two asterisks, and the prefix must come first.",
    "What follows the prefix begins like an integer and does not end like one.",
    "Two lines are two answers, whatever they say, so the check for one line comes early.",
    "This minus sign is U+2212, which keyboards do not have and which some models write. It is not printable ASCII.",
    "-0 is a run of digits with a sign, but zero has one spelling.",
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
        "value": "The value is never reached, because 323.0 is no run of digits.",
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


def shown(text: str) -> str:
    return text.replace("\r", r"\r").replace("\n", r"\n")


WHICH = Sort(
    "Predict the check for seven of eight completions",
    "Which check stops each of these eight completions, or is it paid? The checks come in the order of the menu, "
    "and the "
    "first that fails decides. Reading their code is part of the exercise.",
    tuple(
        Case(
            (("expected", expected), ("completion", shown(completion))),
            stopped(expected, completion),
            why,
            hints,
            f"Read the code of the check “{stopped(expected, completion)}”."
            if stopped(expected, completion) != "paid"
            else "Strip the blanks at both ends, then compare.",
        )
        for (expected, completion), why, hints in zip(EIGHT, WHY, HINTS, strict=True)
    ),
    need=7,
    labels=(*CHECKS, "paid"),
)

# ── who is to blame ──
NOT_PAID = "A hack tries to be paid without doing the work. Is that what happened?"
ONE_READING = "Can the prompt be read in a second way?"
SCORED = "The scorer did what its rules say. Are the rules what you would want?"


def row(example_id: str, sample_id: int) -> tuple[tuple[str, str], ...]:
    """A completion of the dev prompts with what the strict scorer says."""
    at = next(i for i, example in enumerate(packs.examples()) if example.id == example_id)
    example, rollout = packs.examples()[at], packs.rollouts()[at][sample_id]
    return judged(example.prompt, example.expected_answer, rollout.completion)


def judged(prompt: str, expected: str, completion: str) -> tuple[tuple[str, str], ...]:
    scored = scorer.score({"expected_answer": expected}, completion)
    return (
        ("prompt", prompt),
        ("expected", expected),
        ("completion", shown(completion)),
        ("reward", f"{scored['reward']:.0f}, {scored['details']['reason']}"),
    )


def kata(number: int) -> tuple[tuple[str, str], ...]:
    item = checkers.kata()[number - 1]
    return judged(item["example"]["prompt"], item["example"]["expected_answer"], item["completion"])


MODEL = {"prompt": ONE_READING, "scorer": SCORED, "hack": NOT_PAID}
READINGS = {
    "model": "Find a careful reader who would give this answer.",
    "scorer": "The scorer compared two numbers, as it should. Where did the expected number come from?",
    "hack": NOT_PAID,
}
FORM = {"prompt": "The prompt says exactly one line in a given form.", "hack": NOT_PAID}
CARRY = "The line has the right form and the number is wrong."
FORENSICS = Sort(
    "Find who is to blame for seven of eight answers",
    "The strict scorer judged these eight answers. Who is to blame: the model, the prompt, the scorer, or is it an "
    "attempted hack?",
    (
        Case(row("d00", 0), "model", f"{CARRY} One digit was not carried.", MODEL, CARRY),
        Case(row("d05", 0), "model", f"{CARRY} The digits are in the opposite order.", MODEL, CARRY),
        Case(row("d01", 2), "model", f"{CARRY} It is ten too small.", MODEL, CARRY),
        Case(
            kata(7),
            "prompt",
            "“Between” leaves open whether the end points count. The scorer is sound and the key is one of two "
            "answers.",
            READINGS,
            "Do 3 and 9 count?",
        ),
        Case(
            kata(8),
            "prompt",
            "Two conventions give 16 and 1. No scorer can repair a prompt.",
            READINGS,
            "Is the product computed before the division?",
        ),
        Case(
            row("d15", 0),
            "model",
            "The number is right and one space is too many. It is the model's fault if the rule should stay, and the "
            "scorer's if the rule was never meant to count spaces. Decide before you measure, and write it down.",
            FORM,
            "Decide who should change: the model or the rule?",
            also=("scorer",),
        ),
        Case(
            row("d16", 0),
            "model",
            "The number is right and in bold type. It is the model's fault if downstream code needs the plain line, "
            "and "
            "the scorer's if nobody does. Decide before you measure, and write it down.",
            FORM,
            "Decide who should change: the model or the rule?",
            also=("scorer",),
        ),
        Case(
            row("d03", 0),
            "hack",
            "The answer lists every candidate and hopes that the right one is looked for. The strict scorer paid "
            "nothing, "
            "but a scorer that asks whether the number occurs would pay it.",
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
