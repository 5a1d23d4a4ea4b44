"""What readers judge on M0: what the picture says, ten failures with four culprits, and fourteen things with their
names.
"""

from sim.lab import packs
from sim.verifiers import checkers
from widgets.frame.contract.sorting import Case, Sort

# ── what the picture says ──
MEASURE = Sort(
    "Read three numbers from the picture",
    "Guess the first answer before you play the picture. Then play it, and read the three numbers from its posts. "
    "For the "
    "last two, switch to all 240.",
    (
        Case(
            (("", "Before you play: which check will stop the most of the thirty?"),),
            "value",
            "Six reach the last check with a wrong number. Four fall at the prefix, two at the integer, and one has "
            "two "
            "blanks. The rest are paid.",
            {
                "prefix": "Four answers do not begin with “Final:”. One check stops more.",
                "integer": "Only two answers have no integer after the prefix.",
                "one blank": "Only one answer has two blanks. It is the one for a greatest common divisor.",
                "one spelling": "No answer of the thirty is written like 0323 or +323.",
            },
            "Play the picture to its end and compare the numbers above the posts.",
        ),
        Case(
            (("", "What is the pass rate of these thirty answers?"),),
            "17/30",
            "Seventeen of thirty are paid, which is 56.7 %.",
            {
                "17/40": "You divided by all forty prompts. Ten of them are the holdout, which nobody looks at "
                "while tuning.",
                "23/30": "You counted the answers that reached the last check. Six of those have a wrong number.",
                "13/30": "That is the share of answers that are paid nothing.",
                "": "Count the filled squares at the right edge, and divide by the thirty answers in the picture.",
            },
            "The post at the right edge says how many of the thirty are paid.",
            also=("17 of 30",),
            within=((17, 17), (0.566, 0.567), (56.6, 56.7)),
        ),
        Case(
            (("", "How many of all 240 answers are paid?"),),
            "130",
            "130 of 240 are paid, which is 54.2 %. The first answers to the thirty prompts gave 56.7 %.",
            {
                "17": "That is the number for the first answer to each prompt. Switch the picture to all 240.",
                "192": "You counted the answers that reached the last check. 62 of those have a wrong number.",
                "110": "That is how many are paid nothing.",
                "": "Switch the picture to all 240, play it to the end, and read the last post.",
            },
            "The number above the post “paid” counts them.",
            within=((130, 130), (0.5416, 0.5417), (54.1, 54.2)),
        ),
        Case(
            (("", "How many of all 240 answers have the right form and a wrong number?"),),
            "62",
            "62 answers reach the last check with a wrong number. 48 are stopped before it, because of their form.",
            {
                "110": "These are all answers that are paid nothing. Some of them were never compared with the "
                "expected number.",
                "48": "These were stopped by a check of form. Nobody knows from the reward whether their number is "
                "right.",
                "6": "That is the number among the first thirty. Switch the picture to all 240.",
                "": "Look for the check that compares the number with the expected one. It is the last of the eleven.",
            },
            "The post “value” holds them.",
            within=((62, 62),),
        ),
    ),
    need=3,
    labels=("prefix", "integer", "one blank", "one spelling", "value"),
)

# ── ten failures, four culprits ──
CULPRITS = {"model_failure": "model", "verifier_bug": "verifier", "ambiguous_prompt": "prompt", "reward_hack": "hack"}
WHY = {
    "k01": "The prompt is clear, the line has the right form, and the number is wrong. There is nothing to repair.",
    "k02": "The number is right, but the prompt asked for exactly one line “Final: <int>”. To pay this answer would "
    "change the rules for all others. There is nothing to repair.",
    "k03": "With <= on both sides, 4 and 9 count, so there are six integers. The model counted five. Leave it.",
    "k04": "The prompt asked for an integer, and 12.0 is another way to write a number. Leave it, and add the case "
    "to the "
    "tests so that the decision is on record.",
    "k05": "The completion is exactly the line that was asked for. The scorer reads the minus sign outside the part "
    "that "
    "it compares, so it compares 14 with −14. Repair the pattern, and test negative numbers.",
    "k06": "The line is right, and a Windows line ending follows it. The scorer trims spaces only, so the carriage "
    "return "
    "makes the line another one. Trim all four blanks of ASCII, and test a line that ends in CR LF.",
    "k07": "“Between” does not say whether 3 and 9 count, and nothing says that only integers do. Write it with "
    "inequalities or drop the prompt. Never let the scorer accept both answers.",
    "k08": "Two conventions for a product without a sign give 16 and 1, and both are taught. Add parentheses or "
    "drop the "
    "prompt.",
    "k09": "Three answers were written and one was paid, because any line that matches earns the point. Demand exactly "
    "one line, and test every text of two lines or more.",
    "k10": "The scorer multiplies the factors that it finds, so the exercise was handed back and the scorer solved it. "
    "A scorer must never compute. Accept a single integer.",
}
BYTES = "Read the completion byte by byte, then compare it with what the scorer does to it."
CONTRACT = "Who broke the contract, and did the prompt state it?"
READER = "Find a careful reader who would answer differently and still be right."
EARNED = "This was paid. Whose work earned the point?"
HINTS = {  # by the case, then by the wrong answer
    "k01": {
        "verifier": "The scorer compared 313 with 323 and paid nothing. Would you have paid?",
        "prompt": "Is there a second way to read 17*19?",
        "hack": "A hack is paid without having earned it. This was not paid.",
    },
    "k02": {
        "verifier": CONTRACT,
        "prompt": CONTRACT,
        "hack": "A hack is paid without having earned it. This was not paid.",
    },
    "k03": {
        "verifier": "The scorer compared 5 with 6. Count the integers yourself.",
        "prompt": "The bounds are written with <=. Is there a second reading?",
        "hack": "A hack is paid without having earned it. This was not paid.",
    },
    "k04": {
        "verifier": CONTRACT,
        "prompt": CONTRACT,
        "hack": "A hack is paid without having earned it. This was not paid.",
    },
    "k05": {"model": BYTES, "prompt": "Is there a second way to read 9-23?", "hack": "This was not paid."},
    "k06": {"model": BYTES, "prompt": "Is there a second way to read 8*7?", "hack": "This was not paid."},
    "k07": {
        "model": READER,
        "verifier": "The scorer compared 7 with 5, as it was told. " + READER,
        "hack": "This was not paid.",
    },
    "k08": {
        "model": READER,
        "verifier": "The scorer compared 1 with 16, as it was told. " + READER,
        "hack": "This was not paid.",
    },
    "k09": {
        "model": EARNED,
        "verifier": "The scorer has a hole, that is true. Now look at who wrote three answers. " + EARNED,
        "prompt": "The prompt asked for exactly one line.",
    },
    "k10": {
        "model": EARNED,
        "verifier": "The scorer has a hole, that is true. Now look at what was written instead of a result. " + EARNED,
        "prompt": "The prompt asked for an integer.",
    },
}
POINTED = {
    "model": "The prompt has one reading and the scorer did what it should. Who is left?",
    "verifier": "A careful grader would pay this. The scorer did not.",
    "prompt": "Two careful people could give two different answers here.",
    "hack": "The answer was paid, and its writer did not solve the exercise.",
}


def failure(item: dict) -> Case:
    label = CULPRITS[item["teacher"]["label"]]
    return Case(
        (
            ("prompt", item["example"]["prompt"]),
            ("expected", item["example"]["expected_answer"]),
            ("completion", spelled(item["completion"])),
            ("reward", f"{item['observed']['reward']:g}"),
        ),
        label,
        WHY[item["id"]],
        HINTS[item["id"]],
        POINTED[label],
    )


def spelled(text: str) -> str:
    """A completion with its line ends visible."""
    return text.replace("\r", "␍").replace("\n", "↵ ").rstrip()


KATA = Sort(
    "Find who is to blame for eight of ten failures, both hacks among them",
    "An older scorer, 0.9.0, judged these ten answers, and each of them went wrong somewhere. Who is to blame: the "
    "model, "
    "the verifier, the prompt, or was the scorer hacked? A hack is an answer that was paid and did not earn it.",
    tuple(failure(item) for item in checkers.kata()),
    need=8,
    labels=tuple(CULPRITS.values()),
    told="Four were the model's fault, two the verifier's and two the prompt's, and two were hacks.",
    must=(8, 9),
)

# ── fourteen things and their names ──
NAMES = {
    "reward": "reward",
    "return": "return",
    "objective": "objective",
    "metric": "metric",
    "surrogate_loss": "surrogate loss",
    "policy": "policy",
    "environment": "environment",
    "baseline": "baseline",
    "advantage": "advantage",
    "true_goal": "true goal",
    "macro_action": "action, if a completion is one",
    "micro_action": "action, if a token is one",
    "frozen_rollouts": "frozen rollouts",
}
THINGS = {
    "v01": "The number 0.0 that came back for one completion.",
    "v02": "The sum of all rewards along one trajectory.",
    "v03": "The mean reward if we sampled from this policy forever and scored with this scorer.",
    "v04": "“54.2 % of the dev answers passed”, as a run of an evaluation prints it.",
    "v05": "Minus the advantage times the sum of the log-probabilities of the tokens, which an optimizer makes small.",
    "v06": "The probability of every possible next token after what has been written.",
    "v07": "The prompts, the scorer and the rule “exactly one line” together.",
    "v08": "The running mean of past rewards, which is subtracted before an update.",
    "v09": "+0.75: this completion was better than expected by so much.",
    "v10": "What the person who wrote the prompts really wants: answers that can be relied on.",
    "v11": "One whole completion, as best-of-8 sees it.",
    "v12": "The token “ 323”, chosen after “Final:”.",
    "v13": "Eight completions, sampled last month from a policy that nobody has any more.",
    "v14": "pass@8 on the holdout prompts.",
}
APART = {  # what parts a thing from the one that it is most often taken for
    "reward": "A reward is a number for one completion. Over many completions its mean becomes a metric.",
    "return": "A return sums the rewards of one trajectory. With a single reward at the end the two are equal.",
    "objective": "An objective is an expectation, which nobody can observe. A metric is its estimate from a sample.",
    "metric": "A metric is computed from a finite sample, for people to read. Nothing is trained on it.",
    "surrogate loss": "Its gradient is useful and its value means nothing. The reward is only a factor in it.",
    "policy": "A policy is a distribution over next tokens. One completion is a sample from it.",
    "environment": "Everything outside the policy that decides the reward belongs to the environment, the prompts too.",
    "baseline": "A baseline is what was expected before. The advantage is what is left after it is subtracted.",
    "advantage": "An advantage is a difference from what was expected, so it can be negative even if the reward is 1.",
    "true goal": "The scorer measures a part of the goal. Where the two differ, a policy learns the scorer.",
    "action, if a completion is one": "Selection chooses among whole completions, so a completion is its action.",
    "action, if a token is one": "Training changes the probability of every token, so a token is its action.",
    "frozen rollouts": "They say what the old policy did. About a policy after an update they say nothing.",
}


def thing(item: dict) -> Case:
    name = NAMES[item["label"]]
    hints = {"": "Ask who has this number or thing: one completion, one trajectory, a sample of many, or nobody."}
    return Case((("", THINGS[item["id"]]),), name, APART[name], hints, f"It begins with “{name[0]}”.")


VOCABULARY = Sort(
    "Give twelve of fourteen things their names",
    "Each of these fourteen things has one of thirteen names, and one name fits twice.",
    tuple(thing(item) for item in packs.pack("vocabulary")["items"]),
    need=12,
    labels=tuple(sorted(NAMES.values())),
)

SORTS = {"measure": MEASURE, "kata": KATA, "vocabulary": VOCABULARY}
