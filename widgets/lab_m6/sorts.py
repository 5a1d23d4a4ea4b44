"""What readers judge on M6: eight runs of which two look different, and eight questions about the whole Lab."""

import random

from widgets.frame.contract.sorting import Case, Sort

# ── what the picture says ──
GUESS = Sort(
    "See through two runs that look different",
    "Answer the first question before you play. Then play the picture to its end.",
    (
        Case(
            (("", "Which run's policy was trained longer?"),),
            "neither",
            "All eight runs come from one policy. The page shows you A and B because no other two differ more.",
            {
                "A": "Run A has fewer correct answers. Play the picture to its end.",
                "B": "Nine more correct answers look like training. Play the picture to its end.",
            },
            "Read the sentence below the picture at its end.",
        ),
        Case(
            (
                (
                    "",
                    "Each run has a number of correct answers. In how many of the 28 pairs of runs do these numbers "
                    "differ by more than two?",
                ),
            ),
            "17",
            "Two of forty prompts are five percentage points. Whoever trusts every larger difference sees progress or "
            "decline in 17 of 28 pairs, although nothing has changed in any of them.",
            {
                "28": "Some runs have equally many correct answers.",
                "11": "In these pairs the numbers differ by two at most. Subtract them from 28.",
                "24": "That includes the seven pairs that differ by exactly two.",
                "7": "That counts only the pairs with run A.",
                "": (
                    "In order, the numbers are 15, 18, 19, 20, 22, 22, 24, 24. Count the pairs that differ by at least "
                    "three."
                ),
            },
            "15 differs by three or more from all seven others. Go on with 18.",
            within=((17, 17),),
        ),
    ),
    need=2,
    labels=("A", "B", "neither"),
)

# ── the exam ──
QUESTIONS = (  # asked; the right answer and the wrong ones with their hints; why; the pointed hint
    (
        "You pick the best of eight answers, and then you train on it. What is one action in each of the two views?",
        "a whole answer when you pick, and one token when you train",
        {
            "one token when you pick, and a whole answer when you train": "What does a picker compare?",
            "the prompt in both": "The prompt is where the policy starts. What does it choose?",
            "one update of the weights in both": "An update changes the policy. What does the policy itself choose?",
        },
        "A picker compares finished texts, and training changes the probability of every token. M3 draws the line.",
        "A picker never sees half an answer.",
    ),
    (
        "score() has returned 1.0 for an answer. Which word fits this number?",
        "reward",
        {
            "loss": "A loss is made smaller in training. Would anybody want less of this number?",
            "metric": "A metric describes a run, and this number belongs to one answer.",
            "objective": "The objective is what all answers of the policy earn on average.",
        },
        "It was paid for one answer. Its mean over a run is a metric, and what the policy earns on average is the "
        "objective, as on M1.",
        "It is paid for a single answer.",
    ),
    (
        "Why does no gradient pass through score()?",
        "it sees only the text that was drawn",
        {
            "it is run too often": "A scorer that takes a microsecond passes no gradient either.",
            "most of its rewards are 0": "A reward of 1 passes no gradient either.",
            "functions in Python have no derivatives": "Libraries differentiate functions in Python every day.",
        },
        "Between the weights and that text lies a random draw. Training differentiates the log-probability of the "
        "tokens that were drawn, and the reward only multiplies it, as on M1 and M3.",
        "How do the weights lead to the text that score() reads?",
    ),
    (
        "If the best of eight answers counts, the pass rate is 82.5 % instead of 55.0 %. What has changed?",
        "the rule that chooses among the answers of one policy",
        {
            "the policy": "How many prompts will it solve tomorrow with one answer each?",
            "the scorer": "Both pass rates come from the same version.",
            "the prompts": "Both pass rates are those of the same forty prompts.",
        },
        "This gain is selection, the subject of M0.5. With one answer for each prompt, the policy solves about half of "
        "them, as before.",
        "More was sampled, and something had to choose.",
    ),
    (
        "What does the KL penalty hold the policy to?",
        "the reference, because far from it the reward may mislead",
        {
            "short answers, because long ones are paid more": "It compares two probabilities of the same answer.",
            "one version of the scorer, because scorers drift": "The penalty never sees the scorer.",
            "answers of true worth, because the reward misses some": (
                "The penalty knows as little about the true worth as the scorer does."
            ),
        },
        "In M3, pay rises as long as the price falls, and worth is highest at a price of 0.35.",
        "From which policy does it measure the distance?",
    ),
    (
        "The reward rises in training, and the pass rate on the holdout stays where it was. What cannot be the cause?",
        "all rewards were divided by ten, from the first step on",
        {
            "the policy has found a hole in the scorer": (
                "This can be the cause: it is paid for answers that are not correct."
            ),
            "the policy knows the training prompts by heart": (
                "This can be the cause: it gets better at these prompts and at no others."
            ),
            "the holdout is so small that chance hides the gain": (
                "This can be the cause: ten prompts can hide a large gain."
            ),
        },
        "A scale that never changes makes nothing rise. Check the other three, the cheapest first: chance, then the "
        "scorer, then the prompts.",
        "Which of the four would change neither curve's direction?",
    ),
    (
        "Version 1.0.0 of the scorer finds 80.0 % of the dev prompts solved, and version 1.1.0 finds 86.7 %. How do "
        "you report this?",
        "as two measurements that are not comparable",
        {
            "as progress of 6.7 points": "No answer has changed. What has?",
            "as noise": "Noise comes from sampling, and nothing was sampled again.",
            "as their mean, 83.3 %": "That would be the pass rate under neither version.",
        },
        "The answers are the same and the rules are not, as on M4.",
        "Were the same rules applied twice?",
    ),
    (
        "What can frozen answers not tell you?",
        "how the policy will answer after a hundred updates",
        {
            "whether a scorer accepts a Windows line end": "A scorer can be run on any text, whoever wrote it.",
            "what the best of four answers of their policy is worth": "They were sampled from this policy.",
            "which prompts their policy failed in all eight answers": (
                "Look at the eight answers to a prompt. Is one of them correct?"
            ),
        },
        "They come from the policy before the updates. Afterward, it may write what none of them contains.",
        "Which of the four is about a policy that did not write them?",
    ),
)


def question(number: int) -> Case:
    """A question with its answers in an order that chance gave them once and for all."""
    asked, answer, hints, why, pointed = QUESTIONS[number - 1]
    among = random.Random(number).sample([answer, *hints], 1 + len(hints))
    return Case((("", asked),), answer, why, hints, pointed, among=tuple(among))


EXAM = Sort(
    "Answer seven of eight questions about the Lab",
    "The questions are about all pages from M0 to M6. Say your answer aloud before you read the four.",
    tuple(question(number) for number in range(1, len(QUESTIONS) + 1)),
    need=7,
    told="You have reached the end of the Lab.",
)

SORTS = {"guess": GUESS, "exam": EXAM}
