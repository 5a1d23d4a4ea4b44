"""What readers judge on M0.5: how far a report and the truth are apart, which knob moved between two runs, and whether
the two may be compared.
"""

from sim.lab import packs
from widgets.frame.contract.sorting import Case, Sort

# ── what the picture says ──
GAP = Sort(
    "Name the gap between reported and correct",
    "Guess the first answer before you play. Then play the picture once with each picker, and read its two numbers.",
    (
        Case(
            (("", "“The answer occurs” goes from one sample to eight. Which of the two numbers rises more?"),),
            "reported",
            "The reported number rises by 11, and the correct number rises by 3.",
            {
                "correct": "Read both numbers at one sample and at eight, and subtract.",
                "both alike": "They would rise alike if every new pick that is rewarded were correct. Read "
                "both numbers at one sample and at eight.",
            },
            "The correct number rises by 3. Read the reported one at both ends.",
        ),
        Case(
            (("", "How many of the eight-sample picks of “the answer occurs” are reported as correct and are not?"),),
            "15",
            "40 picks are reported and 25 are correct, so 15 are not. The scorer that picked them is also the one "
            "that reports, so it does not see its own mistakes.",
            {
                "40": "That is how many are reported. Subtract those that are correct.",
                "25": "These are correct. Subtract them from those that are reported.",
                "7": "That is the gap with one sample for each prompt. Play the picture to its end.",
                "12": "That is the gap with two samples for each prompt. Play the picture to its end.",
                "": "Play the picture to its end, and subtract the second number from the first.",
            },
            "It is the difference between 40 and 25.",
            within=((15, 15), (0.375, 0.375), (37.5, 37.5)),
        ),
        Case(
            (("", "How many more picks of “one exact line” are correct with eight samples than with one?"),),
            "11",
            "22 picks are correct with one sample, and 33 with eight. The policy that wrote them is the same.",
            {
                "33": "That is how many are correct with eight samples. Subtract those with one.",
                "22": "That is how many are correct with one sample. Subtract them from those with eight.",
                "3": "That is the gain with the other picker. Switch to “one exact line”.",
                "0": "No pick is reported wrongly here, but the question is how many more are correct.",
                "": "Switch the picker, read the number of correct picks at one sample and at eight, and subtract.",
            },
            "It is the difference between 33 and 22.",
            within=((11, 11),),
        ),
    ),
    need=2,
    labels=("reported", "correct", "both alike"),
    must=(1,),
)

# ── ten comparisons ──
KNOBS = {"instrument": "scorer", "environment": "prompts"}  # other labels of the pack have the same name here
TEXTS = {
    "w01": "Forty prompts are scored by version 1.0.0. Run A samples one answer to each and run B picks the best of "
    "eight. The pass rate goes from 55.0 % to 82.5 %.",
    "w02": "The same answers are scored twice, by version 1.0.0 and by 1.1.0, which accepts more than one space. The "
    "share of dev prompts with a correct answer among eight goes from 80.0 % to 86.7 %.",
    "w03": "“Think step by step” is added to each prompt. The model and the scorer stay the same. The pass rate goes "
    "from 55 % to 61 %.",
    "w04": "The model is trained for 100 updates. Then it answers the same prompts anew, once each, for the same "
    "scorer. The pass rate goes from 55 % to 63 %.",
    "w05": "The model is trained for 100 updates. Then the answers from before the training are scored once more. The "
    "pass rate was 54.2 % and is 54.2 %.",
    "w06": "The model answers at temperature 0.6 instead of 1.0, so that likely tokens are sampled more often. "
    "All else stays the same. The pass rate goes from 55 % to 58 %.",
    "w07": "Six dev prompts to which no answer was ever correct are removed. The pass rate goes from 54.2 % to 67.7 %.",
    "w08": "All prompts are reworded, and a bug in the scorer is repaired. The pass rate goes from 55 % to 70 %.",
    "w09": "The best of eight answers to each prompt is kept, and the model is trained to imitate it. Then it "
    "answers anew, once per prompt. The pass rate goes from 55 % to 60 %.",
    "w10": "In both runs, one scorer picks the best of eight and also reports. In run A it wants one exact line, in "
    "run B it looks for the answer anywhere in the text. The pass rate goes from 82.5 % to 100.0 %.",
}
KNOB_WHY = {
    "w01": "More answers were sampled, and a program chose among them. The model that wrote them is the same.",
    "w02": "Not one answer is new. The two versions follow different rules, so they measure different quantities.",
    "w03": "A prompt belongs to the environment, and the policy answered different prompts than before.",
    "w04": "The weights are new, and the answers were sampled from them.",
    "w05": "The number could not move, because the old answers come from the old policy.",
    "w06": "The weights are the same, but tokens are sampled from them in another way.",
    "w07": "The set of prompts is a different one, and it is easier.",
    "w08": "Prompts and scorer changed together, so no part of the gain belongs to one of them.",
    "w09": "The picks became training data, so the weights changed, and the second run samples from the new ones.",
    "w10": "Both runs pick from the same answers. Only the scorer that picks and reports is a different one.",
}
NO = {  # what speaks against a knob, where a case has no hint of its own
    "policy": "Were any weights changed between the two runs?",
    "selection": "Does one run choose among more answers than the other?",
    "scorer": "The same scorer judged both runs. What else is different?",
    "prompts": "Both runs have the same prompts, word for word. What else is different?",
    "sampling": "Was a setting changed with which the tokens of one answer are sampled?",
    "several": "Count what differs between the two runs. It is a single thing.",
    "nothing": "Something that the number depends on did change. What is it?",
}
HINTS = {
    "w01": {"sampling": "Each single answer is sampled as before. What happens to the eight of them?"},
    "w02": {"nothing": "The answers are the same, that is true. What turns an answer into a reward?"},
    "w04": {
        "sampling": "The answers are new, and the settings are the same. What are they sampled from?",
        "nothing": "The answers were sampled after the updates. What did the updates change?",
    },
    "w05": {
        "policy": "The weights did change. Do these answers come from the new ones?",
        "several": "One thing changed, the weights. Could this number show it?",
    },
    "w06": {"policy": "The weights are the same. How are tokens chosen from them?"},
    "w07": {
        "policy": "No weights were changed. What was the pass rate divided by, and what is it divided by now?",
        "selection": "No answer was picked. What was left out are prompts.",
    },
    "w08": {
        "scorer": "The scorer did change. Is that all?",
        "prompts": "The prompts did change. Is that all?",
        "nothing": "Read the first sentence again and count the changes.",
    },
    "w09": {
        "selection": "Picking happened before the training. How many answers to a prompt does the last run have?",
        "several": "Picking made the training data. Which one thing differs when the last run is sampled?",
    },
    "w10": {
        "selection": "Both runs pick the best of eight. By which rule?",
        "policy": "Both runs pick from the same answers.",
    },
}
POINTED = {
    "policy": "The second run samples from new weights.",
    "selection": "The same policy wrote more answers, and only the best one counts.",
    "scorer": "A different rule decides which answers get a reward.",
    "prompts": "The policy is asked something else than before.",
    "sampling": "The weights are the same, and tokens are chosen from them in another way.",
    "several": "Two things were changed in one go.",
    "nothing": "Ask which policy wrote the answers that were scored.",
}
KNOB_LABELS = tuple(KNOBS.get(label, label) for label in packs.pack("which_knob")["labels"])


def knob(item: dict) -> Case:
    """Which of seven things was changed."""
    right = KNOBS.get(item["knob"], item["knob"])
    hints = {label: hint for label, hint in (NO | HINTS.get(item["id"], {})).items() if label != right}
    return Case((("", TEXTS[item["id"]]),), right, KNOB_WHY[item["id"]], hints, POINTED[right])


KNOB = Sort(
    "Name the knob in eight of ten comparisons",
    "Each of these reports compares two runs. What was changed between them: the policy, the selection of answers, the "
    "scorer, the prompts, the settings of sampling, several of these, or nothing that the number could show?",
    tuple(knob(item) for item in packs.pack("which_knob")["items"]),
    need=8,
    labels=KNOB_LABELS,
)

SHORT = {
    "w01": "Run A samples one answer, and run B picks the best of eight.",
    "w02": "The same answers are scored by versions 1.0.0 and 1.1.0.",
    "w03": "“Think step by step” is added to each prompt.",
    "w04": "The model is trained and answers anew.",
    "w05": "The model is trained, and its old answers are scored.",
    "w06": "The temperature goes from 1.0 to 0.6.",
    "w07": "Six prompts are removed.",
    "w08": "The prompts are reworded and the scorer is repaired.",
    "w09": "The model is trained on the picks and answers anew.",
    "w10": "A different scorer picks and reports.",
}
VALID_WHY = {
    "w01": "Prompts, scorer and settings are the same. The gain is real, its name is selection, and its price is "
    "eight answers instead of one.",
    "w02": "The two pass rates come from two scorers. Score both runs by the same version.",
    "w03": "The prompts belong to the experiment, so these are two experiments. Compare 61 % only with runs that have "
    "the new prompts.",
    "w04": "Only the policy differs, and its own answers were scored. Whether 8 points could be luck is a separate "
    "question.",
    "w05": "It says nothing about the new policy, because none of its answers was scored. Sample anew.",
    "w06": "The settings of sampling belong to the experiment, so these are two experiments. The gain is not learning, "
    "because no weight was changed.",
    "w07": "Without the six prompts, the old policy would also get 67.7 %. Nothing was gained.",
    "w08": "Nobody can say which change caused how much. Make two runs, one for each change.",
    "w09": "Only the policy differs, and it was sampled anew with one answer for each prompt. It learned to write "
    "what it could already find among eight.",
    "w10": "By the scorer of run A, the picks of run B get 62.5 %. The scorer that picks has a hole, and it also "
    "reports.",
}
SAME = "Compare the prompts, the scorer, the settings of sampling, and who wrote the answers. Which of them differs?"
FREE = "Only the policy or the selection differs here. Prompts, scorer and settings of sampling are the same."


def validity(item: dict) -> Case:
    """Whether the two runs of a comparison may be compared."""
    answer, other, hint = ("valid", "not valid", FREE) if item["valid"] else ("not valid", "valid", SAME)
    return Case((("", SHORT[item["id"]]),), answer, VALID_WHY[item["id"]], {other: hint}, f"It is {answer}.")


VALID = Sort(
    "Say of eight comparisons whether they are valid",
    "These are the same ten comparisons in the same order. Which of them are valid?",
    tuple(validity(item) for item in packs.pack("which_knob")["items"]),
    need=8,
    labels=("valid", "not valid"),
)

SORTS = {"gap": GAP, "knob": KNOB, "valid": VALID}
