"""Thresholds and the numbers that are shown."""

import numpy as np

from rlpt.doctor.marks import LIMIT, LIMITS, shown


def test_a_number_takes_few_digits_however_large():
    assert [shown(value) for value in (0.12345, 1234.5, 1e300, -np.inf)] == ["0.123", "1,234", "1e+300", "-∞"]


def test_every_threshold_has_its_words():
    assert {name: value for name, (_, value) in LIMITS.items()} == LIMIT
    assert all(words and value > 0 for words, value in LIMITS.values())
