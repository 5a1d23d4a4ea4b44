"""What readers judge on M2: the first two gradients and where ten of them lead, and the smallest start that escapes."""

from widgets.frame.contract.sorting import Case, Sort

# ── the first updates from even odds ──
PREDICT = Sort(
    "Predict two of three things about the first ten updates",
    "Both steps are at even odds, so P₁ and P₂ are 0.5. Answer the first question before you play the picture. For the "
    "two gradients, put the numbers into the formulas above.",
    (
        Case(
            (
                (
                    "",
                    "Before you play: after ten updates, is 1 more or less likely as the first step than at the start?",
                ),
            ),
            "more likely",
            "P₁ fell from 0.5 to 0.4865 in four updates and rose to 0.5167 in the next six. By then the second step "
            "was good enough.",
            {
                "less likely": "The first four updates do push it down. What does the second step do in the meantime?",
                "as likely": "Play the picture to update 10, and read four digits of the probability.",
            },
            "Play the picture to update 10 and compare the number with 0.5.",
        ),
        Case(
            (("", "What is the gradient of the first step at this start?"),),
            "-0.025",
            "0.5 · 0.5 · (0.5 − 0.6) is −0.025. A run that begins with 1 earns 0.5 on average, because its second step "
            "is right half the time, and a run that begins with 0 earns 0.6.",
            {
                "0.025": "The size is right. Does 1 earn more than 0.6 on average, or less?",
                "-0.1": "That is only the difference of the mean rewards. It is multiplied by P₁ and by 1 − P₁.",
                "-0.05": "You multiplied by P₁ and left out 1 − P₁.",
                "0.1": "You used a second step that is always 1. At this start it is 1 half the time.",
                "0.125": "That is the gradient of the second step.",
                "": "Put P₁ = 0.5 and P₂ = 0.5 into the first formula.",
            },
            "Multiply 0.25 by the difference between 0.5 and 0.6, and mind its sign.",
            also=("−0.025",),
            within=((-0.02501, -0.02499),),
        ),
        Case(
            (("", "What is the gradient of the second step at this start?"),),
            "0.125",
            "0.5 · 0.5 · 0.5 is 0.125. It is positive, because a second step of 1 earns 1 and a second step of 0 earns "
            "0.",
            {
                "0.25": "That would be right if every run came to the second step. Half of them do.",
                "0.0625": "You multiplied by 0.5 once too often. The difference between the two rewards is 1.",
                "-0.125": "The size is right. Which of the two second steps earns more?",
                "0.5": "That is P₁, the share of the runs that come to the second step. Two factors are missing.",
                "-0.025": "That is the gradient of the first step.",
                "": "Put P₁ = 0.5 and P₂ = 0.5 into the second formula.",
            },
            "All three factors of the second formula are 0.5.",
            within=((0.12499, 0.12501),),
        ),
    ),
    need=2,
    labels=("less likely", "as likely", "more likely"),
)

# ── the smallest start from which a run escapes ──
RARER = "the first step is 1 more rarely"
SIGN = "the second gradient becomes negative"
RATE = "the learning rate falls"
TRAP = Sort(
    "Find the smallest start that escapes, and what holds the others",
    "The slider sets how likely 1 is as the second step before training, in steps of 0.01. The first step starts at "
    "even odds. A run has escaped if its mean reward is above 0.9 after 2,000 updates. Guess first, then move the "
    "slider.",
    (
        Case(
            (("", "What is the smallest of these starts from which the run escapes?"),),
            "0.09",
            "From 0.09 the mean reward ends at 0.9971, and from 0.08 at 0.6007. Close to this border, a hundredth "
            "decides.",
            {
                "0.08": "This run ends just above 0.6. It has only begun to rise.",
                "0.1": "This run escapes. Try the start just below it.",
                "0.11": "This run escapes, and so do some that start lower.",
                "0.2": "This run escapes, and so do many that start lower.",
                "0.01": "Move the slider to 0.01 and read the mean reward at the end.",
                "0.05": "Move the slider to 0.05. The mean reward stays just below 0.6.",
                "0.5": "The slider ends at 0.20, and that start escapes already.",
                "0.6": "Above 0.6 the first step is never pushed down at all. Starts far below it escape too.",
                "": "Move the slider down until the mean reward no longer rises above 0.9, then go back by one.",
            },
            "It lies between 0.08 and 0.10.",
            within=((0.0899, 0.0901), (8.99, 9.01)),
        ),
        Case(
            (("", "Start at 0.05. In how many of 1,000 runs is the first step 1 after 2,000 updates?"),),
            "1",
            "The probability is 0.00105, so about one run of 1,000 still comes to the second step.",
            {
                "500": "So it is at the start, before any update. Read the sentence below the curves.",
                "0": "It is rare, but never quite 0. Read the sentence below the curves.",
                "600": "0.6 is the mean reward. You are asked for the first step.",
                "5": "That belongs to a start of 0.08. Set the slider to 0.05.",
                "": "Set the slider to 0.05 and read the sentence below the curves.",
            },
            "The sentence below the curves says it, if the slider stands at 0.05.",
            within=((0.9, 1.1),),
        ),
        Case(
            (("", "From 0.05, every update pushes the second step up, but less and less. Why?"),),
            RARER,
            "The second gradient has P₁ as a factor, because only runs that begin with 1 come to the second step. As "
            "P₁ falls, so does the push.",
            {
                SIGN: "All three of its factors are positive, P₁, P₂ and 1 − P₂. Which of them falls?",
                RATE: "The learning rate is 1 in all updates. Look for a factor in the second formula.",
            },
            "Read the second formula once more. Which of its factors falls in the picture?",
        ),
    ),
    need=2,
    labels=(RARER, SIGN, RATE),
    must=(0,),
)

SORTS = {"predict": PREDICT, "trap": TRAP}
