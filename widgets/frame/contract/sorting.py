"""Cases that a reader judges one by one: into which tray each belongs, or which number it has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One case. A wrong answer never locks anything: the first gets the hint for that answer, the second the pointed
    one, and the third the right answer with its reason.
    """

    shown: Sequence[tuple[str, str]]  # (what it is, its text, line ends and all); a single ("", sentence) is a question
    answer: str  # the right tray, or the number as it would be typed: "17/30"
    why: str  # one or two sentences that give the reason
    hints: Mapping[str, str] = field(default_factory=dict)  # {a wrong answer: sentence}; "" for all that are not named
    pointed: str = ""  # after a second wrong answer
    also: tuple[str, ...] = ()  # other answers that are right
    within: Sequence[tuple[float, float]] = ()  # if set, readers type a number, which is right in these ranges
    among: tuple[str, ...] = ()  # answers of its own instead of the trays, in words


@dataclass(frozen=True)
class Sort:
    """Several cases under one question."""

    goal: str  # what the reader has done once it is reached, in a few words: "Name the culprit of eight failures"
    ask: str  # at most 60 words
    cases: Sequence[Case]
    need: int  # so many must be judged correctly, within two attempts, to reach the goal
    labels: Sequence[str] = ()  # the trays
    told: str = ""  # a sentence that appears once every case was judged
    must: tuple[int, ...] = ()  # indices of cases that must be among the correct ones
    in_turn: bool = False  # a case appears once the one before it is judged
    figure: str = ""  # a scene that plays: once so many cases are judged, its time is moved to that moment


def judged(prompt: str, expected: str, completion: str, reward: str) -> tuple[tuple[str, str], ...]:
    """What is shown of a completion that a scorer has judged."""
    return ("prompt", prompt), ("expected", expected), ("completion", completion), ("reward", reward)


def attempts_with_a_hint(sort: Sort) -> list[tuple[int, str]]:
    """(index, wrong answer) of everything that a reader can choose and that is not right."""
    return [
        (i, label)
        for i, case in enumerate(sort.cases)
        for label in ([""] if case.within else case.among or sort.labels)
        if label not in (case.answer, *case.also)
    ]
