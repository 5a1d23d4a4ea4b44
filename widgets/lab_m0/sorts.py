"""What readers judge on M0: what the picture says, ten failures with four culprits, and fourteen things with their
names.
"""

from sim.lab import packs
from sim.verifiers import checkers
from widgets.frame.contract.sorting import Case, Sort, judged

# ── what the picture says ──
MEASURE = Sort(
    "Read three numbers from the picture",
    "Play the picture to its end. The numbers above the vertical lines count the answers that were stopped there. For "
    "the last two questions, switch to all 240.",
    (
        Case(
            (("", "Which check stops the most of the thirty answers?"),),
            "value",
            "Six answers reach the last check with a wrong number. Four fail at the prefix, two at the integer, and "
            "one at the spacing.",
            {
                "prefix": "Four answers do not begin with “Final:”. Another check stops more.",
                "integer": "Only two answers have no integer after the prefix.",
                "spacing": "Only one answer has two spaces.",
                "canonical": "No answer of the thirty is written like 0323 or +323.",
            },
            "Compare the numbers above the vertical lines.",
        ),
        Case(
            (("", "What is the pass rate of these thirty answers?"),),
            "17/30",
            "Seventeen of thirty are paid, which is 56.7 %.",
            {
                "17/40": (
                    "You divided by all forty prompts. Ten of them are the holdout, which nobody looks at while tuning."
                ),
                "23/30": "You counted the answers that reached the last check. Six of those have a wrong number.",
                "13/30": "That is the share of answers that are paid nothing.",
                "17": "That is how many are paid. A rate is a share of the thirty.",
                "": "Count the filled squares on the right, and divide by the thirty answers in the picture.",
            },
            "The number above “paid” says how many of the thirty are paid.",
            within=((0.565, 0.575), (56.5, 57.5)),
        ),
        Case(
            (("", "How many of all 240 answers are paid?"),),
            "130",
            "130 of 240 are paid, which is 54.2 %. Counting only the first answer to each prompt gave 56.7 %.",
            {
                "17": "That counts only the first answer to each prompt. Switch the picture to all 240.",
                "192": "You counted the answers that reached the last check. 62 of those have a wrong number.",
                "110": "That is how many are paid nothing.",
                "": "Switch the picture to all 240, play it to the end, and read the number on the right.",
            },
            "Look at the number above “paid”.",
            within=((130, 130), (0.5415, 0.5425), (54.1, 54.2)),
        ),
        Case(
            (("", "How many of all 240 answers have the right form and a wrong number?"),),
            "62",
            "62 answers reach the last check with a wrong number. 48 are stopped earlier, because of their form.",
            {
                "110": "That counts every answer that is paid nothing, including those that were never compared.",
                "48": (
                    "These were stopped because of their form. Their reward does not say whether the number is right."
                ),
                "6": "That counts only the first thirty. Switch the picture to all 240.",
                "": "Which of the eleven checks compares the number with the expected one? It is the last.",
            },
            "Look at the number above “value”.",
            within=((62, 62),),
        ),
    ),
    need=3,
    labels=("prefix", "integer", "spacing", "canonical", "value"),
)

# ── ten failures, four culprits ──
WHY = {
    "k01": "The prompt is clear, the line has the right form, and the number is wrong. There is nothing to repair.",
    "k02": (
        "The number is right, but the prompt asked for exactly one line “Final: <int>”. Paying this answer would "
        "change the rules for all the others. There is nothing to repair."
    ),
    "k03": "With <= on both sides, 4 and 9 count, so there are six integers. The model counted five. Leave it.",
    "k04": (
        "The prompt asked for an integer, and 12.0 is not written as one. Leave it, and add the case to the tests so "
        "that the decision is on record."
    ),
    "k05": (
        "The completion is exactly the line that was asked for. In the scorer's pattern, the minus sign stands outside "
        "the parentheses, so 14 is compared with −14. Repair the pattern, and test negative numbers."
    ),
    "k06": (
        "The line is right, and a Windows line ending, \\r\\n, follows it. The scorer strips spaces only, so the \\r "
        "remains and the pattern does not match. Strip spaces, tabs, \\r and \\n, and test such a line."
    ),
    "k07": (
        "“Between” does not say whether 3 and 9 count, and nothing says that only integers do. Write it with "
        "inequalities or drop the prompt. Never let the scorer accept both answers."
    ),
    "k08": (
        "Two conventions for a product without a sign give 16 and 1, and both are taught. Add parentheses or drop the "
        "prompt."
    ),
    "k09": (
        "Three answers were written and one was paid, because any line that matches earns the point. Demand exactly "
        "one line, and test texts of two lines or more."
    ),
    "k10": (
        "The scorer multiplies the factors that it finds, so the model handed the exercise back and the scorer solved "
        "it. A scorer must never compute. Accept a single integer."
    ),
}
BYTES = "Is the completion what the prompt asked for? Then follow it through the scorer, line by line."
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
    example, label = item["example"], packs.CULPRITS[item["teacher"]["label"]]
    shown = judged(example["prompt"], example["expected_answer"], item["completion"], f"{item['observed']['reward']:g}")
    return Case(shown, label, WHY[item["id"]], HINTS[item["id"]], POINTED[label])


KATA = Sort(
    "Find who is to blame for eight of ten failures, both hacks among them",
    "Something went wrong in each of these ten cases. Who is to blame: the model, the verifier, the prompt, or was the "
    "scorer hacked? A hack is an answer that was paid without earning it.",
    tuple(failure(item) for item in checkers.kata()),
    need=8,
    labels=tuple(packs.CULPRITS.values()),
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
    "v09": "+0.75: this completion was better than expected by this much.",
    "v10": "What the person who wrote the prompts really wants: answers that can be relied on.",
    "v11": "One whole completion, as best-of-8 sees it.",
    "v12": "The token “ 323”, chosen after “Final:”.",
    "v13": "Eight completions, sampled last month from a policy that no longer exists.",
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
    "advantage": (
        "An advantage is a difference from what was expected, so it is negative for a completion that did worse."
    ),
    "true goal": "The scorer measures a part of the goal. Where the two differ, a policy learns the scorer.",
    "action, if a completion is one": "Selection chooses among whole completions, so a completion is its action.",
    "action, if a token is one": "Training changes the probability of every token, so a token is its action.",
    "frozen rollouts": "They say what the old policy did. About a policy after an update they say nothing.",
}


IS = {  # what a name stands for
    "reward": "A reward is what the environment pays for one completion or one step.",
    "return": "A return is a sum of rewards over a trajectory.",
    "objective": "An objective is the expected reward under the policy, which can only be estimated.",
    "metric": "A metric is a number that people read, computed from a finite sample.",
    "surrogate loss": "A surrogate loss is what the optimizer makes small.",
    "policy": "A policy gives a probability to every next token.",
    "environment": "The environment is all that decides the reward outside the policy.",
    "baseline": "A baseline is what was expected, and it is subtracted from a reward.",
    "advantage": "An advantage is a reward minus what was expected.",
    "true goal": "The true goal is what people want, which no program measures in full.",
    "action, if a completion is one": "Here the whole completion counts as a single action.",
    "action, if a token is one": "Here each token counts as an action.",
    "frozen rollouts": "Frozen rollouts are completions that were sampled once and stored.",
}


def thing(item: dict) -> Case:
    name = NAMES[item["label"]]
    hints = {other: IS[other] for other in NAMES.values() if other != name}
    return Case((("", THINGS[item["id"]]),), name, APART[name], hints, f"It begins with “{name[0]}”.")


VOCABULARY = Sort(
    "Give twelve of fourteen things their names",
    "Each of these fourteen things has one of thirteen names, and one name fits two of them.",
    tuple(thing(item) for item in packs.pack("vocabulary")["items"]),
    need=12,
    labels=tuple(sorted(NAMES.values())),
)

SORTS = {"measure": MEASURE, "kata": KATA, "vocabulary": VOCABULARY}
