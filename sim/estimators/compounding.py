"""A chain of additions, each of which may slip: how often the final digit is correct. Closed form.

A slip yields one of the nine wrong digits with equal probability, and the error is carried along. Slips add modulo ten,
so the error after n steps follows a convolution power of a spike at 0 plus a uniform part, whose only other eigenvalue
is 1 − 10e/9.
"""

import numpy as np

DIGITS = 10


def chain_accuracy(e, n):
    """Probability that the total of n steps is correct if each slips with probability e."""
    return 1 / DIGITS + (1 - 1 / DIGITS) * (1 - e * DIGITS / (DIGITS - 1)) ** n


def slip_rate(accuracy, n):
    """The e at which `chain_accuracy` equals `accuracy`; a chain no better than guessing slips 9 times in 10."""
    spike = (np.maximum(accuracy, 1 / DIGITS) - 1 / DIGITS) / (1 - 1 / DIGITS)
    return (1 - spike ** (1 / n)) * (DIGITS - 1) / DIGITS
