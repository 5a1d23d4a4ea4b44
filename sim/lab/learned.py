"""A scorer that is fitted to labeled completions instead of written: logistic regression on four features of a text.

It sees only the text and never the expected answer, so it learns what right answers look like. Logistic regression:
Cox (1958), doi 10.1111/j.2517-6161.1958.tb00292.x; the area under the curve is the statistic of Mann and Whitney
(1947), doi 10.1214/aoms/1177730491.
"""

import re

import numpy as np

from sim.lab import packs, selection
from sim.worlds.preferences import sigmoid
from sim.worlds.scorer import BLANKS, CANONICAL

STEPS, LEARNING_RATE = 2_000, 1.0  # of gradient descent on all rows, from zero weights
LONGEST = 100  # characters, from which on the length no longer counts
DIGITS = 12  # of a score, so that texts with the same features are tied on every processor


def features(text):
    """The features of a completion without surrounding blanks, (5,): 1; 1 if it is `Final: <int>` in the one spelling;
    1 if it has a line feed; its length over 100 characters, at most 1; the number of digits in its last run, over 10.
    """
    text = text.strip(BLANKS)
    in_form = text.startswith("Final: ") and CANONICAL.fullmatch(text.removeprefix("Final: ")) is not None
    runs = re.findall("[0-9]+", text)
    last_digits = len(runs[-1]) if runs else 0
    return np.array([1.0, in_form, "\n" in text, min(len(text), LONGEST) / LONGEST, last_digits / 10])


def fitted(rows, right):
    """The weights (k,) that make the labels `right` (n,) of zeros and ones likely, given the features `rows` (n, k)."""
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        weights = weights + LEARNING_RATE * rows.T @ (right - sigmoid(rows @ weights)) / len(right)
    return weights


def learned_score(weights, text):
    """The probability that a completion is right, as the weights say, rounded to twelve digits."""
    return round(float(sigmoid(features(text) @ weights)), DIGITS)


def picks(weights, sizes, split=""):
    """A selection.Picked for each N in `sizes` over the prompts of a split: the best of N by the learned score."""
    return selection.table(selection.first_best, lambda _, completion: learned_score(weights, completion), sizes, split)


def labeled(split=""):
    """(features (n, 5), right (n,)) of all completions of a split, in their order."""
    texts = [rollout.completion for row in packs.rollouts(split) for rollout in row]
    return np.array([features(text) for text in texts]), packs.passed(split).ravel().astype(np.float64)


def area_under_curve(scores, right):
    """The probability that a right row (right is 1) has a higher score than a wrong one; a tie counts as one half."""
    above = scores[right == 1][:, np.newaxis] - scores[right == 0]
    return float(np.mean((above > 0) + 0.5 * (above == 0)))
