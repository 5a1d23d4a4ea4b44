"""One pair of answers, two labelers, and what a policy of each then writes, in words.

The words illustrate two numbers of an answer, its quality and its style; the numbers are computed, the words are not.
"""

from typing import Any

import numpy as np

from sim.experiments import feedback
from sim.worlds import judged_pairs
from sim.worlds.judged_pairs import PRINCIPLES, STYLE, W
from widgets.frame.drawing import comparisons, scene
from widgets.frame.drawing.comparisons import Answer, Labeler

LIST = ("on topic", "true", "candid", "reasoned", "brief", "clear", "harmless", "polite")  # struck out from the end
ASKED = "How long do I boil an egg?"
LOUD = (0.35, 1.2, 2.2)  # style from which on an answer is a little louder, has a heading, shouts
HEADS = ("", "", "Great question!", "WHAT A QUESTION!!!")
ENDS = (".", "!", "!", "!!!")
GOOD = ((1.6, "Seven minutes"), (0.8, "Ten minutes"), (0.3, "Half an hour"), (-np.inf, "One hour"))  # by quality
PEOPLE, JUDGE = "people", "AI judge"

# the pair of the lesson: the first is better by 1 on the list, the second has a style of 2
BETTER, WORSE = W.copy(), np.zeros(STYLE + 1)
STYLED = 2.0
WORSE[STYLE] = STYLED
ALIKE = np.zeros(STYLE + 1)  # what is offered where pairs are alike in style


def in_words(quality: float, style: float) -> Answer:
    loud = sum(bool(style >= edge) for edge in LOUD)
    body = next(words for edge, words in GOOD if quality >= edge)
    return comparisons.answer(HEADS[loud], body + ENDS[loud], comparisons.KINDS[int(loud > 1)])


def offered(alike: bool) -> tuple[Answer, Answer]:
    """The better answer and the worse one."""
    return in_words(2.0, 0.0), in_words(-1.0, 0.0 if alike else 1.9)


def chances(judge: judged_pairs.Judge, flip: float = judged_pairs.FLIP, alike: bool = False) -> tuple[float, float]:
    """How likely people and the judge are to prefer the better answer of the pair."""
    pair = BETTER[np.newaxis], (ALIKE if alike else WORSE)[np.newaxis]
    return float(feedback.people_choose(*pair, flip)[0]), float(feedback.judge_chooses(judge, *pair)[0])


def sides(errors: feedback.Errors) -> tuple[int, int]:
    """Wrong choices of 100 pairs: (where the worse answer is the plainer one, where it is the more styled one), rounded
    so that they add up to all.
    """
    exact = [25 * float(errors.wrong[:2].sum()), 25 * float(errors.wrong[2:].sum())]
    left = round(sum(exact)) - sum(map(int, exact))
    nearest = sorted((0, 1), key=lambda side: int(exact[side]) - exact[side])
    more = {side: left // 2 + (left % 2 if place == 0 else 0) for place, side in enumerate(nearest)}
    return int(exact[0]) + more[0], int(exact[1]) + more[1]


def favoring(wrong: feedback.Errors) -> comparisons.Ring:
    """A ring around the styled answers among the wrong choices."""
    both = sides(wrong)
    return f"{both[1]} of {sum(both)} favor style", "styled"


def labelers(
    wrong: tuple[feedback.Errors, feedback.Errors],
    prefer: tuple[float, float],
    writes: Any,
    wins: tuple[float, float],
    ring: comparisons.Ring = comparisons.NO_RING,
) -> list[comparisons.Labeler]:
    """People and the judge, in this order; `writes`, (2, 2), is quality and style of what their policies write."""
    made = []
    for i, name in enumerate((PEOPLE, JUDGE)):
        of_the_pair = percent(prefer[i]), percent(1 - prefer[i])
        answer = in_words(*map(float, writes[i]))
        won = round(100 * wins[i])
        made.append(comparisons.labeler(name, of_the_pair, sides(wrong[i]), answer, won, ring if i else ("", "")))
    return made


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def view(
    key: str, both: list[Labeler], columns: tuple[int, int], rows: int, alike: bool = False, weights: Any = None
) -> scene.View:
    """`weights`, (17,), of the judge's list, where that is shown."""
    listed = [] if weights is None else [(LIST[i], bool(weights[2 * i] != 0)) for i in range(PRINCIPLES)]
    return comparisons.view(key, ASKED, offered(alike), both, columns, rows, listed)
