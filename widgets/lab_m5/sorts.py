"""Ten cases that version 0.9.5 of the scorer judged, harder than those of M0."""

from sim.lab import packs
from widgets.frame.contract.sorting import Case, Sort, judged

WHY = {
    "m01": "Two digits are swapped in a line of the right form. There is nothing to repair.",
    "m02": "The prompt asked for an integer in digits. There is nothing to repair.",
    "m03": "The number is right and the prefix is in lower case, although the prompt spells it out. Leave it.",
    "m04": (
        "The completion is empty. Blame the model only after you have seen why it stopped, because a sampler that cuts "
        "off early looks the same. Log the reason."
    ),
    "m05": (
        "A wrong number was paid, because both numbers become the same 64-bit float. Nobody aimed at that. Compare "
        "texts, and test two neighbors above 2^53."
    ),
    "m06": "An honest hedge was paid, because the pattern does not ask where the text ends. Anchor it at both ends.",
    "m07": (
        "Programming languages disagree about the remainder of a negative number: 2 and −1 are both in use. Write "
        "“non-negative remainder”."
    ),
    "m08": "Four days pass from 1 March to 5 March, and five days are touched. Say which is meant.",
    "m09": (
        "One line earns the reward, and the rest of the text tells the next reader how to exploit that. Demand exactly "
        "one line."
    ),
    "m10": (
        "The commas were meant for 10,000, and the scorer takes them anywhere. Nobody writes 1,0,0,0,0 unless it pays."
    ),
}
UNPAID = "A hack is paid without earning it. This was not paid."
ONE_READING = "Can the prompt be read in a second way?"
AIMED = "It was paid for nothing. But who meant it? Read the text again."
HINTS = {  # by the right answer, then by the wrong one
    "model": {
        "verifier": "The scorer paid nothing. Would you have paid for this?",
        "prompt": ONE_READING,
        "hack": UNPAID,
    },
    "verifier": {
        "model": "The model was wrong, and it was paid. Which of the two is the failure to repair here?",
        "prompt": ONE_READING,
        "hack": AIMED,
    },
    "prompt": {
        "model": "Find a careful reader who would give this answer.",
        "verifier": "The scorer compared two numbers, as it should.",
        "hack": UNPAID,
    },
    "hack": {
        "model": "The reward is 1. What was it paid for?",
        "verifier": "The scorer has a hole, that is true. Was the text written to fit through it?",
        "prompt": ONE_READING,
    },
}
POINTED = {
    "model": "The prompt has one reading and the scorer did what it should. Who is left?",
    "verifier": "A reward of 1 for a text that nobody wrote to cheat.",
    "prompt": "Two careful people could give two different answers here.",
    "hack": "The text makes sense only to somebody who knows the scorer.",
}


def failure(item: dict) -> Case:
    example, label = item["example"], packs.CULPRITS[item["teacher"]["label"]]
    shown = judged(example["prompt"], example["expected_answer"], item["completion"], f"{item['observed']['reward']:g}")
    return Case(shown, label, WHY[item["id"]], HINTS[label], POINTED[label])


KATA = Sort(
    "Find who is to blame for eight of ten harder failures",
    "Version 0.9.5 judged these ten answers, and in each case something went wrong. Who is to blame: the model, the "
    "verifier, the prompt, or was the scorer hacked? A hack is written to be paid.",
    tuple(failure(item) for item in packs.kata_2()),
    need=8,
    labels=tuple(packs.CULPRITS.values()),
    told="Four times it was the model, twice each the verifier and the prompt, and two were hacks.",
)

SORTS = {"kata": KATA}
