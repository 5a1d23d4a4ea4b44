"""M5: what its numbers are computed by."""

import re

from sim.lab import eight_actions, instruments
from sim.verifiers import checkers


def anchored(example, completion):
    """Version 0.9.5 with an end: nothing may follow the number."""
    text = completion.strip() if isinstance(completion, str) else ""
    found = re.fullmatch(r"Final:\s*([+-]?\d[\d,]*)", text)
    return float(found is not None and float(found[1].replace(",", "")) == float(example["expected_answer"]))


def through(version):
    """How many of the 76 that deserve nothing are paid."""
    leaks = instruments.leaks(dict(start=instruments.version_0_9_5, end=anchored)[version])
    return len(leaks.wrong) + len(leaks.exploits)


def climbed(steps):
    """(paid, worth) after so many steps."""
    return eight_actions.outcome(eight_actions.climbed(steps, 0.1))[:2]


def test_all_nine_checks_pay_the_golden_set_and_eight_are_paid_for_nothing():
    reports = {name: checkers.report(check) for name, check in checkers.CHECKERS.items()}
    assert not any(report.refused for report in reports.values())
    assert [name for name, report in reports.items() if not report.paid] == ["strict"]


def test_26_get_through_and_21_after_an_end_is_demanded():
    assert (through("start"), through("end")) == (26, 21)
