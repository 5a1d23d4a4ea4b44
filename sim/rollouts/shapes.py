"""The forms that texts take: a text whose numbers are all written as #. Counting, not a model."""

import re
from collections import Counter
from dataclasses import dataclass

from sim.rollouts.blocks import base
from sim.rollouts.groups import well_paid

NUMBER = re.compile(r"\d+")
MOST = 3


@dataclass(frozen=True)
class Shape:
    """A form, `count` of the texts that have it, and how many had it at the run's `beginning`."""

    text: str
    count: int
    beginning: int


@dataclass(frozen=True)
class Shapes:
    """The most frequent forms of a step's paid texts, at most three that two texts have; of all texts, if no reward is
    known or none is paid. `total` and `beginning` are how many texts there are, at the step and at the beginning.
    """

    paid: bool
    total: int
    beginning: int
    found: list[Shape]


def shape(text):
    return NUMBER.sub("#", text)


def shapes(rollouts, step):
    here, first = rollouts.step == step, base(rollouts)
    paid = well_paid(rollouts.reward) if rollouts.reward is not None else here & False
    is_paid = bool((paid & here).any())
    if is_paid:
        here, first = here & paid, first & paid
    now, then = (Counter(shape(rollouts.completions[row]) for row in rows.nonzero()[0]) for rows in (here, first))
    found = [Shape(text, count, then[text]) for text, count in now.most_common(MOST) if count > 1]
    return Shapes(is_paid, int(here.sum()), int(first.sum()), found)
