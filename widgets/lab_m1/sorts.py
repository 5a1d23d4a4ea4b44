"""What readers judge on M1: how each of ten draws moves the pile of its arm, and how often runs fail under five
settings.
"""

from sim.lab import arms
from widgets.frame.contract.sorting import Case, Sort
from widgets.lab_m1 import figures

GROW, SHRINK, STAY = MOVES = ("grows", "shrinks", "stays")
OTHERS = {
    GROW: "The other three piles gave up the dots, although nobody drew them.",
    SHRINK: "The other three piles received the dots, although nobody drew them.",
    STAY: "A push of 0 leaves all four piles as they were.",
}


def move(push: arms.Push) -> str:
    if push.advantage == 0:
        return STAY
    return GROW if push.advantage > 0 else SHRINK


def against(push: arms.Push, answer: str) -> str:
    """The hint for a wrong answer."""
    right = move(push)
    if right == STAY:
        return "No reward came, and none was expected. What is there to push with?"
    if answer == STAY:
        return "A pile stays only if the reward is exactly what was expected. Compare the reward with b."
    if right == GROW:
        return "The reward is above the mean of the earlier ones. Should this arm become rarer?"
    return "The reward is below the mean of the earlier ones. Should this arm become more frequent?"


def prediction(draw: int) -> Case:
    push = figures.pushes(figures.WITH)[draw - 1]
    right, b = move(push), figures.plain(push.baseline)
    reward, signed = figures.plain(push.reward), figures.signed(push.advantage)
    before, after = (figures.many(figures.WITH, t)[push.arm] for t in (draw - 1, draw))
    pile = f"stays at {after}" if right == STAY else f"goes from {before} to {after}"
    return Case(
        (
            ("draw", f"{draw} of {figures.DRAWS}: arm {push.arm + 1}"),
            ("reward", reward),
            ("b", b if draw > 1 else "0, as there are no earlier rewards"),
            ("A = reward − b", signed),
        ),
        right,
        f"{reward} − {b} is {signed}, and the pile of arm {push.arm + 1} {pile}. {OTHERS[right]}",
        {answer: against(push, answer) for answer in MOVES if answer != right},
        f"Look at the sign of A, which is {'zero' if right == STAY else 'plus' if right == GROW else 'minus'} here.",
    )


PREDICT = Sort(
    "Predict eight of ten pushes",
    "Does the pile of the arm that was drawn grow, shrink or stay? b is the mean of all earlier rewards. A is the "
    "reward minus b. Each answer moves the picture above by one draw.",
    tuple(prediction(draw) for draw in range(1, figures.DRAWS + 1)),
    need=8,
    labels=MOVES,
    told="Five grew, four shrank and one stayed.",
    in_turn=True,
    figure="lab_m1.piles",
)

# ── which of four settings fails ──
NONE, FEW, MANY = AMOUNTS = ("none", "one to five", "more than fifteen")


def setting(i: int, asked: str, why: str, hints: dict[str, str], pointed: str) -> Case:
    fails = figures.low(i)
    return Case((("", asked),), NONE if not fails else FEW if fails <= 5 else MANY, why, hints, pointed)


FAILS = Sort(
    "Name the settings that fail, the mean with 10 added among them",
    "Each setting has fifty runs of 200 pushes, and a run fails if its policy ends with an expected reward below 0.7. "
    "How many of the fifty fail? Guess, and the picture below uncovers the setting.",
    (
        setting(
            0,
            "b is always 0, and the rewards are 0 and 1.",
            "4 of 50 fail. Every paid draw makes its arm more frequent, so early luck with a poor arm can settle a "
            "run.",
            {
                NONE: "Nothing holds back an arm that was lucky early. Fifty runs give luck many chances.",
                MANY: "A reward of 0 moves nothing, and the best arm pays most often. Most runs find it.",
            },
            "Most runs find arm 4, and a few settle too early.",
        ),
        setting(
            1,
            "b is the mean of all earlier rewards, and the rewards are 0 and 1.",
            "None of these fifty runs fail. A draw that earns less than the mean makes its arm rarer, so luck is taken "
            "back. With other seeds, a few runs in a hundred fail here as well.",
            {
                FEW: "Luck can be taken back now, because a draw below the mean shrinks its pile.",
                MANY: "You have seen ten of these pushes. Did any of them decide the run?",
            },
            "This setting does best of the first two.",
        ),
        setting(
            2,
            "b is always 0, and 10 is added to every reward.",
            "36 of 50 fail. A is 10 or 11 at every draw, so whichever arm is drawn first almost fills the policy.",
            {
                NONE: "The difference between two rewards is still 1. But what is A now?",
                FEW: "A is at least 10 at every draw, whether the arm paid or not. How far does one push go?",
            },
            "Each push is ten times as hard as before, and none of them is negative.",
        ),
        setting(
            3,
            "b is the mean of all earlier rewards, and 10 is added to every reward.",
            "21 of 50 fail. At the first draw there are no earlier rewards, so b is 0 and A is 10 or 11. One push then "
            "takes the arm that was drawn from 0.25 to 0.948 or 0.964.",
            {
                NONE: "From the second draw on, the mean removes the 10. What does it remove at the first draw?",
                FEW: "The first push decides here. How often is a poor arm the first to be drawn?",
            },
            "Work out A at the first draw, where there are no earlier rewards.",
        ),
        setting(
            4,
            "10 is added to every reward, and the first reward is its own b. After that, b is the mean.",
            "None of these fifty runs fail. A is 0 at the first draw, and from the second draw on the mean knows about "
            "the 10.",
            {
                FEW: "What is A at the first draw now? Where does the 10 still enter?",
                MANY: "What is A at the first draw now? Where does the 10 still enter?",
            },
            "The first push is 0, and all later ones are as large as without the 10.",
        ),
    ),
    need=4,
    labels=AMOUNTS,
    must=(3,),
    in_turn=True,
    figure="lab_m1.ends",
)

SORTS = {"predict": PREDICT, "fails": FAILS}
