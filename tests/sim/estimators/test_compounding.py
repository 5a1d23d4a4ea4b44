import numpy as np
import pytest

from sim.estimators.compounding import chain_accuracy, slip_rate


def convolved(e, n):
    """Chance of error 0 after n additions mod 10 of independent slips, by convolution of the ten states."""
    one = np.full(10, e / 9)
    one[0] = 1 - e
    law = np.eye(10)[0]
    for _ in range(n):
        law = np.array([sum(law[i] * one[(k - i) % 10] for i in range(10)) for k in range(10)])
    return law[0]


@pytest.mark.parametrize(
    "e, n, expected", [(0.1, 3, 0.7320987654), (0.05, 3, 0.8581790123), (0.3, 3, 0.3666666667), (0.25, 1, 0.75)]
)
def test_a_chain_is_right_as_often_as_its_slips_cancel(e, n, expected):
    assert chain_accuracy(e, n) == pytest.approx(expected, abs=1e-9) == pytest.approx(convolved(e, n), abs=1e-9)


@pytest.mark.parametrize("accuracy, expected", [(0.8, 0.0723227471), (0.9, 0.0346502578)])
def test_the_slip_rate_is_read_off_the_accuracy(accuracy, expected):
    assert slip_rate(accuracy, 3) == pytest.approx(expected, abs=1e-9)
    assert convolved(slip_rate(accuracy, 3), 3) == pytest.approx(accuracy, abs=1e-12)


def test_a_chain_that_is_no_better_than_a_guess_always_slips():
    """Nine of ten: then every digit is as likely as any other."""
    assert slip_rate(0.1, 3) == slip_rate(0.04, 3) == pytest.approx(0.9)
    assert chain_accuracy(0.9, 3) == pytest.approx(0.1)
