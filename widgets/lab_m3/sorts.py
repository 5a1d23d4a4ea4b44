"""What readers judge on M3: how many choices a text takes, which action wins at a price, and three prices."""

from widgets.frame.contract.sorting import Case, Sort

COUNT = Sort(
    "Count the choices in four of five texts",
    "Count the squares in the picture. Each is a token, and the policy chooses one token after the other. Switch the "
    "tokenizer where a question names another one.",
    (
        Case(
            (("", "Digits in runs: how many tokens does the policy choose for “Final: 323”?"),),
            "4",
            "The tokens are “Final”, “:”, “␣3” and “23”. The blank and the first digit share a token.",
            {
                "10": "These are the characters. A token may hold several of them.",
                "5": "The blank has no square of its own here.",
                "6": "That is the number for single digits.",
                "": "Count the squares in the first row, with “digits in runs” chosen.",
            },
            "Both “␣3” and “23” are one token each.",
            within=((4, 4),),
        ),
        Case(
            (("", "Digits in runs: how many tokens does the wrong answer “Final: 324” take?"),),
            "5",
            "“23” is a token and “24” is not, because “23” occurs 19 times in the texts that the tokenizer was built "
            "from and “24” only twice. Rewards played no part in it.",
            {
                "4": "That is the first row. Look at the last digits of the second.",
                "10": "These are the characters. A token may hold several of them.",
                "6": "That is the number for single digits.",
                "": "Count the squares in the second row, with “digits in runs” chosen.",
            },
            "The last two digits, 2 and 4, have a square each.",
            within=((5, 5),),
        ),
        Case(
            (("", "Digits by threes: how many tokens does “Final:↵323” take, with a line break for the blank?"),),
            "4",
            "The tokens are “Final”, “:”, the line break and “323”. The verifier refuses it, because it has two lines, "
            "but to the policy it is as short as the correct answer.",
            {
                "5": "That is the number for digits in runs.",
                "6": "That is the number for single digits.",
                "2": "These are the lines. Count the squares in the last row.",
                "": "Switch to “digits by threes” and count the squares in the last row.",
            },
            "The line break is one square, and the three digits together are another.",
            within=((4, 4),),
        ),
        Case(
            (("", "Digits by threes: “Final: 0323” earns a reward of 0. How many choices led to that one number?"),),
            "6",
            "The verifier returns one number for the whole text. The six choices share it, and nothing says which of "
            "them was the mistake.",
            {
                "1": "One number came back. Count the choices that made the text.",
                "5": "That is the number for digits in runs.",
                "7": "That is the number for single digits.",
                "11": "These are the characters. Count the squares.",
                "": "Switch to “digits by threes” and count the squares in the fourth row.",
            },
            "The zero is one of the squares.",
            within=((6, 6),),
        ),
        Case(
            (("", "In all three tokenizers together, how many of the five rewards change when you switch?"),),
            "0",
            "The tokens change and the text does not. The verifier sees only the text, so every reward stays.",
            {
                "5": "The squares change in all five rows. Look at the rewards.",
                "1": "One text is paid. Is it paid only under some of the tokenizers?",
                "": "Switch between the tokenizers and watch the right side of the line.",
            },
            "Compare the rewards before and after the switch.",
            within=((0, 0),),
        ),
    ),
    need=4,
)

LABELS = ("action 1", "action 6", "action 7", "action 8")

GUESS = Sort(
    "Predict the most frequent action at two of three prices",
    "Decide before you touch the handle below. Which action will the best policy take most often?",
    (
        Case(
            (("", "The price is 5 per nat. Which action is the most frequent?"),),
            "action 1",
            "Leaving the reference costs far more than any pay can bring, so the policy stays almost where it was. "
            "Action 1 was the most frequent before.",
            {
                "action 6": "It is worth the most, but worth is not what the policy is paid for.",
                "action 7": "Its pay is 0.9. Getting to a rare action costs several times that at this price.",
                "action 8": "Its pay is 1. Getting to a rare action costs several times that at this price.",
            },
            "At a very high price nothing moves.",
        ),
        Case(
            (("", "The price is 0.1 per nat. Which action is the most frequent?"),),
            "action 7",
            "The best policy multiplies each share of the reference by e to the power pay/price. That is 0.04 × e⁹ ≈ "
            "324 for action 7 and 0.01 × e¹⁰ ≈ 220 for action 8.",
            {
                "action 1": "Its pay is the lowest of the eight, and leaving has become cheap.",
                "action 6": "It is worth the most, but worth is not what the policy is paid for.",
                "action 8": "It has the highest pay, but it is also the rarest, and distance still costs something.",
            },
            "One action is paid almost as much as the best one, and is four times as frequent in the reference.",
        ),
        Case(
            (("", "The price is 0.01 per nat. Which action is the most frequent?"),),
            "action 8",
            "Now distance costs almost nothing, and the highest pay wins although the action is worth nothing: 0.01 × "
            "e¹⁰⁰ is far more than 0.04 × e⁹⁰.",
            {
                "action 1": "Its pay is the lowest of the eight, and leaving costs almost nothing.",
                "action 6": "It is worth the most, but worth is not what the policy is paid for.",
                "action 7": "The distance to action 8 has become cheap, too.",
            },
            "If distance costs nothing, only pay counts.",
        ),
    ),
    need=2,
    labels=LABELS,
)

PRICES = Sort(
    "Find two of three prices on the handle",
    "Move the handle from 5 down to 0.01, and read the sentence below the bars. Type the price that stands at the "
    "handle.",
    (
        Case(
            (("", "At which price is the mean worth highest?"),),
            "0.35",
            "There the mean worth is 0.390. Down to this price, actions gain that are paid well and worth a lot. Below "
            "it, actions 7 and 8 gain most, which are paid well and worth little.",
            {
                "0.01": "There the mean pay is highest. The question asks for the worth.",
                "5": "There the policy has hardly moved, and its worth is still that of the reference.",
                "0.3": "You are close. One position up, the mean worth is a thousandth higher.",
                "0.4": "You are close. One position down, the mean worth is a thousandth higher.",
                "0.39": "That is the worth. Type the price at which it is reached.",
                "": "Move one position up and one down. Does the mean worth rise on one of the two sides?",
            },
            "It lies between 0.45 and 0.27.",
            within=((0.34, 0.36),),
        ),
        Case(
            (("", "At which price is the KL about 0.5 nats?"),),
            "0.24",
            "At 0.24 the KL is 0.493 nats. A lower price lets the policy move farther.",
            {
                "0.5": "That is the KL which is wanted. Which price leads to it?",
                "": "If the KL is below 0.5 nats, lower the price. If it is above, raise it.",
            },
            "It lies between 0.3 and 0.2.",
            within=((0.22, 0.26),),
        ),
        Case(
            (("", "The reference has a mean worth of 0.361. Which is the first price that takes it below this?"),),
            "0.19",
            "There the mean worth is 0.360, lower than without any training, although the mean pay never stopped "
            "rising.",
            {
                "0.2": "There the mean worth is still a little above 0.361.",
                "0.18": "There it is below, but it already was one position earlier.",
                "0.361": "That is the worth. Type the price at which the mean worth falls below it.",
                "": "Come from 5, past the highest worth, and stop when the mean worth is below 0.361.",
            },
            "Compare 0.2 with the next position.",
            within=((0.185, 0.1917),),
        ),
    ),
    need=2,
)

SORTS = {"count": COUNT, "guess": GUESS, "prices": PRICES}
