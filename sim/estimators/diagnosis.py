"""Which test of a run fires first: infrastructure, then data, then reward, then the optimizer, because an earlier fault
imitates the later ones. Closed form: thresholds and comparisons, not a model.

A `Test` is data. What the quantities are, and which thresholds they are held against, belongs to who has the run.
"""

from dataclasses import dataclass
from math import inf

HEALTHY, UNDERTRAINED = "healthy", "undertrained"


@dataclass(frozen=True)
class Condition:
    quantity: str
    threshold: float
    below: bool = False  # true below the threshold, not above
    instead: "Condition | None" = None  # what is asked where the quantity is not known

    def known(self, found):
        """The condition that can be asked of these quantities; None if neither can."""
        if self.quantity in found:
            return self
        return self.instead.known(found) if self.instead else None

    def holds(self, found):
        """Whether it does; False where it is not known."""
        asked = self.known(found)
        if asked is None:
            return False
        value = found[asked.quantity]
        return bool(value < asked.threshold if asked.below else value > asked.threshold)

    def times(self, found):
        """How many times its threshold the quantity is, or the threshold the quantity where it must lie below; above 1
        if and only if the condition holds, inf where it is divided by 0.
        """
        asked = self.known(found)
        value, threshold = found[asked.quantity], asked.threshold
        over, under = (threshold, value) if asked.below and threshold > 0 else (value, threshold)
        return over / under if under else inf


@dataclass(frozen=True)
class Test:
    """Fires where the quantity is beyond the threshold and every further condition holds."""

    __test__ = False  # no test of pytest's

    name: str
    quantity: str
    threshold: float
    verdict: str
    below: bool = False
    also: tuple = ()
    lesson: str = ""  # the number of the one that explains the fault

    @property
    def conditions(self):
        return (Condition(self.quantity, self.threshold, self.below), *self.also)

    def runs(self, found):
        """Whether everything that it asks for is known."""
        return all(condition.known(found) for condition in self.conditions)

    def times(self, found):
        """Times its threshold, of the condition that is least beyond it: above 1 if and only if the test fires."""
        return min(condition.times(found) for condition in self.conditions)

    def fires(self, found):
        return self.runs(found) and all(condition.holds(found) for condition in self.conditions)


@dataclass(frozen=True)
class Diagnosis:
    verdict: str  # of the first test that fired; else "healthy" or "undertrained"
    fired: tuple  # the tests that did, in order, (Test, value) each
    quiet: tuple
    not_run: tuple  # tests that ask for something that is not known

    @property
    def lesson(self):
        return self.fired[0][0].lesson if self.fired else ""


def diagnose(tests, found, learned):
    """The Diagnosis of a run's quantities {name: value}. Where no test fires it is "healthy" if the condition `learned`
    holds, else "undertrained".
    """
    fired = tuple((test, found[test.quantity]) for test in tests if test.fires(found))
    quiet = tuple((test, found[test.quantity]) for test in tests if test.runs(found) and not test.fires(found))
    not_run = tuple(test for test in tests if not test.runs(found))
    verdict = fired[0][0].verdict if fired else HEALTHY if learned.holds(found) else UNDERTRAINED
    return Diagnosis(verdict, fired, quiet, not_run)
