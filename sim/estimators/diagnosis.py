"""Which test of a run fires first. Infrastructure comes before data, reward and optimizer, because an earlier fault
imitates later ones. Closed form: thresholds and comparisons, not a model.

A `Test` is data. The caller decides what the quantities are and which thresholds they are compared with.
"""

from dataclasses import dataclass
from math import inf

HEALTHY, UNDERTRAINED = "healthy", "undertrained"


@dataclass(frozen=True)
class Condition:
    quantity: str
    threshold: float
    below: bool = False  # true below the threshold instead of above it
    instead: "Condition | None" = None  # the condition to ask if the quantity is not known

    def known(self, found):
        """The condition that can be checked with these quantities, or None."""
        if self.quantity in found:
            return self
        return self.instead.known(found) if self.instead else None

    def holds(self, found):
        """Whether the condition holds; False if its quantity is not known."""
        asked = self.known(found)
        if asked is None:
            return False
        value = found[asked.quantity]
        return bool(value < asked.threshold if asked.below else value > asked.threshold)

    def times(self, found):
        """The quantity divided by its threshold, or the threshold by the quantity if that must lie below. It exceeds 1
        if and only if the condition holds, and is inf on division by 0.
        """
        asked = self.known(found)
        value, threshold = found[asked.quantity], asked.threshold
        over, under = (threshold, value) if asked.below and threshold > 0 else (value, threshold)
        return over / under if under else inf


@dataclass(frozen=True)
class Test:
    """Fires if the quantity is beyond its threshold and all further conditions hold."""

    __test__ = False  # not a pytest test

    name: str
    quantity: str
    threshold: float
    verdict: str
    below: bool = False
    also: tuple = ()
    lesson: str = ""  # the number of the lesson that explains the fault

    @property
    def conditions(self):
        return (Condition(self.quantity, self.threshold, self.below), *self.also)

    def runs(self, found):
        """Whether all quantities that it needs are known."""
        return all(condition.known(found) for condition in self.conditions)

    def times(self, found):
        """The `times` of the condition that is least beyond its threshold; it exceeds 1 exactly if the test fires."""
        return min(condition.times(found) for condition in self.conditions)

    def fires(self, found):
        return self.runs(found) and all(condition.holds(found) for condition in self.conditions)


@dataclass(frozen=True)
class Diagnosis:
    verdict: str  # of the first test that fired, otherwise "healthy" or "undertrained"
    fired: tuple  # the tests that fired, in order, as (Test, value)
    quiet: tuple
    not_run: tuple  # tests that need an unknown quantity

    @property
    def lesson(self):
        return self.fired[0][0].lesson if self.fired else ""


def diagnose(tests, found, learned):
    """The Diagnosis for a run's quantities {name: value}. If no test fires, it is "healthy" if the condition `learned`
    holds and "undertrained" otherwise.
    """
    fired = tuple((test, found[test.quantity]) for test in tests if test.fires(found))
    quiet = tuple((test, found[test.quantity]) for test in tests if test.runs(found) and not test.fires(found))
    not_run = tuple(test for test in tests if not test.runs(found))
    verdict = fired[0][0].verdict if fired else HEALTHY if learned.holds(found) else UNDERTRAINED
    return Diagnosis(verdict, fired, quiet, not_run)
