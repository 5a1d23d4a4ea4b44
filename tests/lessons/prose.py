"""Read a lesson as its reader does, and hold the numbers it states against the code that computes them."""

import re
from pathlib import Path

import pytest

LESSONS = Path(__file__).parents[2] / "lessons"


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
