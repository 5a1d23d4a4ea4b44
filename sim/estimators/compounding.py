"""A chain of additions of which each may slip: how often its end is right. Closed form.

A slip is one of the nine wrong digits, all alike, and is carried on. Slips add modulo ten, so the law of the error
after n steps is a convolution power of a spike at 0 plus a uniform part, whose one other eigenvalue is 1 − 10e/9.
"""

import numpy as np

DIGITS = 10


def chain_accuracy(e, n):
    """Chance that the total of n steps is right, each of which slips with probability e."""
    return 1 / DIGITS + (1 - 1 / DIGITS) * (1 - e * DIGITS / (DIGITS - 1)) ** n


def slip_rate(accuracy, n):
    """The e at which `chain_accuracy` is this; a chain that is right no more often than a guess slips 9 times in 10."""
    spike = (np.maximum(accuracy, 1 / DIGITS) - 1 / DIGITS) / (1 - 1 / DIGITS)
    return (1 - spike ** (1 / n)) * (DIGITS - 1) / DIGITS
