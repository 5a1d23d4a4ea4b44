"""Read a lesson as its reader does, and hold the numbers it states against the code that computes them."""

import re
from pathlib import Path

import numpy as np
import pytest

LESSONS = Path(__file__).parents[2] / "lessons"
TWENTY = range(200, 220)  # the seeds of "mean ± standard deviation" and of "n of twenty" in a lesson


class Lesson:
    """One lesson's Markdown by its number, for instance Lesson("10")."""

    def __init__(self, number):
        (self.path,) = LESSONS.glob(f"{number}-*.md")
        self.text = self.path.read_text(encoding="utf-8")
        # the mark of an expensive test: at night, and on a push that changes the lesson or what its test imports
        self.when_changed = pytest.mark.when_changed(files=[self.path])

    def says(self, number, value):
        """The text states `number` as written, and `value` rounds to it: half a unit of the last digit shown is
        allowed.
        """
        assert re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", self.text), (
            f"{self.path.name} does not say {number}"
        )
        digits = number.replace("−", "-").replace(",", "").rstrip("%")
        decimals = len(digits.partition(".")[2])
        assert abs(float(digits) - float(value)) <= 0.5000001 * 10**-decimals, (
            f"{self.path.name} says {number}, the code says {value}"
        )

    def spread(self, words, values):
        """The text says `words`, "0.85 ± 0.03", mean and standard deviation over `TWENTY`; the values of all agree with
        both, to what another processor may change; those of a few lie within four standard deviations.
        """
        assert words in self.text, f"{self.path.name} does not say {words}"
        agrees(words, values)


def agrees(words, values):
    """As `Lesson.spread`, of a text that is known to have the words."""
    mean, deviation = (float(number.replace(",", "")) for number in words.split(" ± "))
    unit = 0.5000001 * 10 ** -len(words.split(" ± ")[0].partition(".")[2])
    values = np.asarray(values, float)
    if len(values) < len(TWENTY):
        assert abs(values - mean).max() <= 4 * deviation + unit, (words, values)
    else:
        assert abs(values.mean() - mean) <= deviation / 2 + unit, (words, values.mean())
        assert abs(values.std(ddof=1) - deviation) <= deviation / 2 + unit, (words, values.std(ddof=1))
