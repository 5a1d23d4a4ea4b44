"""Read a lesson as its reader does, and hold the numbers it states against the code that computes them."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.lessons import spreads
from tools.pages import bound

LESSONS = Path(__file__).parents[2] / "lessons"
TWENTY = spreads.SEEDS


class Lesson:
    """One lesson's Markdown by its number, for instance Lesson("10")."""

    def __init__(self, number):
        (self.path,) = LESSONS.glob(f"{number}-*.md")
        self.text = bound.shown(self.path.read_text(encoding="utf-8"))
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

    def kept(self, words):
        """(20,), the values of a quantity of this lesson's `MEASURED` at twenty seeds, as they are kept as data."""
        return spreads.values(self.path.stem.replace("-", "_"), words)

    def spread(self, words, values):
        """The text says `words`, "0.85 ± 0.03": mean and standard deviation of the twenty values."""
        assert words in self.text, f"{self.path.name} does not say {words}"
        agrees(words, values)

    def near(self, words, values):
        """The text says `words`, mean and standard deviation over the twenty seeds, of a lesson that keeps no values
        yet: see `near`.
        """
        assert words in self.text, f"{self.path.name} does not say {words}"
        near(words, values)

    def between(self, words, values):
        """The text says `words`, with two numbers in it: the lowest and the highest of the twenty values."""
        assert words in self.text, f"{self.path.name} does not say {words}"
        ends = re.findall(r"−?\d+(?:\.\d+)?", words)[:2]
        assert ends == [rounded(of(values), number) for of, number in zip((min, max), ends)], (words, sorted(values))

    def counts(self, words, holds):
        """The text says `words` with the number of the twenty of which something holds in place of {}, in digits."""
        words = words.format(sum(holds))
        assert words in self.text, f"{self.path.name} does not say {words}"


def agrees(words, values):
    """As `Lesson.spread`, of a text that is known to have the words."""
    assert len(values) == len(spreads.SEEDS)
    said = words.split(" ± ")
    found = [rounded(value, number) for value, number in zip(spreads.summary(values), said, strict=True)]
    assert found == said, f"the text says {words}, the values {' ± '.join(found)}"


def near(words, values):
    """Values of today lie within four of the standard deviations that the text states; all twenty agree with both
    numbers, to what another processor may change.
    """
    mean, deviation = (float(number.replace(",", "")) for number in words.split(" ± "))
    unit = 0.5000001 * 10 ** -len(words.split(" ± ")[0].partition(".")[2])
    values = np.asarray(values, float)
    if len(values) < len(spreads.SEEDS):
        assert abs(values - mean).max() <= 4 * deviation + unit, (words, values)
    else:
        assert abs(values.mean() - mean) <= deviation / 2 + unit, (words, values.mean())
        assert abs(values.std(ddof=1) - deviation) <= deviation / 2 + unit, (words, values.std(ddof=1))


def rounded(value, number):
    """The value with as many decimals as a number of the text has, and written as there."""
    decimals = len(number.partition(".")[2])
    return f"{round(value, decimals) + 0:,.{decimals}f}".replace("-", "−")
